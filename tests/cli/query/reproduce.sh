# SPDX-License-Identifier: GPL-2.0-only
# reproduce says that untouched findings and imports are equal, and of changed ones which row is not.
. "$CLI/lib.sh"
need sqlite3

chunk=$SAMPLES/chunk.before.x86.c2c.data
symbols=$SAMPLES/bin/x86_64

# exits CODE ARGUMENT...: of fsquery on case.db, which stays as it is; rows go to rows.csv, the rest to err
exits()
{
	local wanted=$1 status=0 before

	before=$(sha256sum <case.db)
	"$FSQUERY" --db case.db reproduce --format csv "${@:2}" >rows.csv 2>err || status=$?
	((status == wanted)) || { cat rows.csv err >&2; fail "reproduce ${*:2}: exit status $status, expected $wanted"; }
	expect "the database after reproduce ${*:2}" "$(sha256sum <case.db)" "$before"
	expect "files after reproduce ${*:2}" "$(compgen -G 'case.db*')" case.db
}

# differing: which tables, and where first
differing()
{
	python3 -c 'import csv
print(*(row["item"] + ": " + row["difference"] for row in csv.DictReader(open("rows.csv"))
	if row["kind"] == "table" and row["result"] != "equal"), sep="\n")'
}

# The second trace, so that ids are not those of a new import.
"$FSINGEST" -q --db case.db "$SAMPLES/neighbours.watch.data"
"$FSINGEST" -q --db case.db --symbols "$symbols" "$chunk"
cp case.db kept.db
exits 0
expect 'tables of findings' "$(grep -c '^table,' rows.csv)" \
	"$("$FSQUERY" schema --format csv | awk -F, '$2 == "FINDING" || $2 == "finding" { print $1 }' | sort -u | wc -l)"
exits 0 --trace 1
exits 0 --from "$chunk" --symbols "$symbols"
"$FSQUERY" --db case.db --trace 2 digest --format csv | grep -v -e '^total' -e '^table,' >digest
python3 -c 'import csv
print(*(",".join((row["item"], row["stored"].split()[0], row["stored_sha256"]))
	for row in csv.DictReader(open("rows.csv")) if row["kind"] == "table"), sep="\n")' >sums
diff digest sums >&2 || fail 'the sums are not those of digest'
exits 0 --from "$SAMPLES/neighbours.watch.data"

# What was changed is found, and the first row of it named.
sqlite3 case.db "UPDATE line_finding SET verdict = 'true' WHERE trace_id = 2 AND rank = 2"
exits 10
expect 'a changed verdict' "$(differing)" 'line_finding: row 2: verdict is true, again false'
exits 0 --trace 1
"$FSQUERY" -q --db case.db analyze --trace 2
exits 0
sqlite3 case.db "DELETE FROM pair_finding WHERE trace_id = 2 AND rank = (SELECT max(rank) FROM pair_finding WHERE
	trace_id = 2); UPDATE parameter SET value = 0.5 WHERE trace_id = 2 AND name = 'min_pair_share'"
pairs=$(query kept.db 'SELECT count(*) FROM pair_finding WHERE trace_id = 2')
exits 10
differing | grep -qx "pair_finding: row $pairs is only in the result now" || fail "$(differing)"
grep -q '^parameter,min_pair_share,0.5,.*differs' rows.csv || fail 'the changed parameter is not shown'

# Samples are compared with the file only.
cp kept.db case.db
sqlite3 case.db "UPDATE sample SET cpu = 77 WHERE rowid = (SELECT min(rowid) + 4 FROM sample WHERE event_id IN
	(SELECT id FROM event WHERE trace_id = 2))"
exits 0
exits 10 --from "$chunk" --symbols "$symbols"
differing | grep -qE '^sample: row 5: cpu is 77, again [0-9]+$' || fail "$(differing)"

# Without the binaries, names differ and the reason is said. Recorded options are used again.
cp kept.db case.db
exits 10 --from "$chunk"
grep -q 'binaries gave names to the trace, 0 do now' err || fail "$(cat err)"
differing | grep -q '^function: row 1 is only in the database' || fail "$(differing)"
rm case.db
"$FSINGEST" -q --db case.db --no-samples "$chunk"
exits 0 --from "$chunk"
grep -q '^input,options,.*no_samples.*,equal,' rows.csv || fail 'the options are not shown'

# Other files count where they are given again.
rm case.db
read -r pid addr time < <(query kept.db "SELECT pid, addr, min(time_ns) FROM sample JOIN thread ON thread.id = thread_id
	WHERE event_id IN (SELECT id FROM event WHERE trace_id = 2) AND addr > 0" | tr '|' ' ')
echo "$((time - 1)) $pid $pid alloc $addr 64" >blocks.log
"$FSINGEST" -q --db case.db --alloc-log blocks.log "$chunk"
expect 'heap blocks' "$(query case.db 'SELECT count(*) FROM heap_block')" 1
exits 0 --from "$chunk" --alloc-log blocks.log
exits 10 --from "$chunk"
differing | grep -qx 'heap_block: row 1 is only in the database' || fail "$(differing)"

# Another file is refused.
exits 2 --from "$SAMPLES/chunk.after.x86.c2c.data"
exits 2 --from "$SAMPLES/README.md"
exits 1 --from -
exits 1 --symbols "$symbols"
