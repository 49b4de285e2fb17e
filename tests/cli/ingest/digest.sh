# SPDX-License-Identifier: GPL-2.0-only
# The same bytes give the same content, whatever the path, the day and the number of threads.
. "$CLI/lib.sh"
need sqlite3

jobs()
{
	if "$FSINGEST" --help | grep -q -- --jobs; then
		echo "--jobs=$1"
	fi
}

for name in neighbours.watch barrier.before.n1.spe barrier.before.x86.c2c barrier.before.n1.cyc; do
	file=$SAMPLES/$name.data
	mkdir -p elsewhere
	cp "$file" elsewhere
	"$FSINGEST" --db "$name.1.db" $(jobs 1) "$file" >/dev/null 2>&1
	"$FSINGEST" --db "$name.2.db" $(jobs 3) "elsewhere/$name.data" >/dev/null 2>&1
	"$FSQUERY" --db "$name.1.db" digest >"$name.1"
	"$FSQUERY" --db "$name.2.db" digest >"$name.2"
	[[ -s $name.1 ]] || fail "$name: empty digest"
	diff "$name.1" "$name.2" >&2 || fail "$name: two imports differ"
done
cmp -s neighbours.watch.1 barrier.before.n1.spe.1 && fail 'two different traces have one digest'

# Again into the same database: nothing to do, and it says so. With --replace: the same content.
db=neighbours.watch.1.db
"$FSINGEST" --db $db "$SAMPLES/neighbours.watch.data" >again 2>&1
[[ -s again ]] || fail 'a repeated import says nothing'
expect 'traces after a repeated import' "$(query $db 'SELECT count(*) FROM trace')" 1
"$FSINGEST" --db $db --replace "$SAMPLES/neighbours.watch.data" >/dev/null 2>&1
expect 'traces after --replace' "$(query $db 'SELECT count(*) FROM trace')" 1
"$FSQUERY" --db $db digest | diff - neighbours.watch.1 >&2 || fail '--replace changed the content'
expect_sound $db
