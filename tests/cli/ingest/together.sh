# SPDX-License-Identifier: GPL-2.0-only
# Imports and readers of one database at the same time: nothing is lost, and who must wait is told.
. "$CLI/lib.sh"
need sqlite3

first=$SAMPLES/neighbours.watch.data
second=$SAMPLES/barrier.before.x86.c2c.data
third=$SAMPLES/chunk.before.x86.c2c.data

# ends CODES WHAT PID: wait for it
ends()
{
	local status=0

	wait "$3" || status=$?
	[[ "|$1|" == *"|$status|"* ]] || { cat ./*.err >&2; fail "$2: exit status $status, expected $1"; }
	last=$status
}

# Into one database that exists: both, one after the other, or a sentence about the other.
for round in 1 2 3 4 5; do
	rm -f case.db
	"$FSINGEST" -q --db case.db "$first"
	"$FSINGEST" -q --db case.db "$second" 2>a.err & a=$!
	"$FSINGEST" -q --db case.db "$third" 2>b.err & b=$!
	added=0
	for pid in "$a" "$b"; do
		ends '0|4' "an import beside another, round $round" "$pid"
		((last != 0)) || added=$((added + 1))
	done
	expect 'traces that were added' "$(query case.db 'SELECT count(*) FROM trace')" $((1 + added))
	((added == 2)) || grep -qE 'another import|in use' ./*.err || fail 'no word about the other import'
	expect_sound case.db
done

# A new one: one of them makes it, the other adds to it or is told to run again.
for round in 1 2 3 4 5; do
	rm -f case.db
	"$FSINGEST" -q --db case.db "$second" 2>a.err & a=$!
	"$FSINGEST" -q --db case.db "$third" 2>b.err & b=$!
	added=0
	for pid in "$a" "$b"; do
		ends '0|4' "a new database made twice, round $round" "$pid"
		((last != 0)) || added=$((added + 1))
	done
	((added > 0)) || fail 'each import gave way to the other'
	((added == 2)) || grep -qE 'appeared while|another import|in use' ./*.err || fail 'no word about the other'
	expect 'traces of a new database' "$(query case.db 'SELECT count(*) FROM trace')" "$added"
	expect_sound case.db
	expect 'files left' "$(echo .case.db* case.db*)" '.case.db* case.db'
done

# A reader that is at work keeps nobody's import from being written, only waiting.
rm -f case.db
"$FSINGEST" -q --db case.db "$first"
python3 - <<'END' &
import sqlite3, time
db = sqlite3.connect("file:case.db?mode=ro", uri=True)
rows = db.execute("SELECT * FROM sample")
rows.fetchone()
open("reading", "w").close()
time.sleep(3)
rows.fetchall()
END
reader=$!
until [[ -e reading ]]; do sleep 0.1; done
"$FSINGEST" -q --db case.db "$second"
wait "$reader"
expect 'traces beside a reader' "$(query case.db 'SELECT count(*) FROM trace')" 2
# And fsquery answers while an import has begun to write, with what was there before.
sqlite3 case.db 'BEGIN IMMEDIATE' 'UPDATE trace SET name = "half"' \
	".shell \"$FSQUERY\" --db case.db traces --format csv --columns id >during" 'ROLLBACK'
expect 'answer beside an import' "$(cat during)" $'id\n1\n2'
