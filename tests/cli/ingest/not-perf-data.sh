# SPDX-License-Identifier: GPL-2.0-only
# What is no perf.data file is refused in a sentence that names the file, and nothing is written.
. "$CLI/lib.sh"

: >empty.data
head -c 60 "$SAMPLES/barrier.before.x86.c2c.data" >short.data
head -c 5000 /dev/urandom >noise.data
printf 'PERFILE2' >magic.data
printf 'PERF' >tiny.data
printf 'hello, world\n%.0s' {1..200} >text.data
mkdir directory
for file in empty.data short.data noise.data magic.data tiny.data text.data directory missing.data; do
	ingest_exits 2 "$file" "$file"
	grep -q "$file" ingest.err || fail "$file: the complaint does not name the file: $(cat ingest.err)"
done
ingest_exits 2 tiny.data tiny.data
grep -q 'ends at offset 4' ingest.err || fail "4 bytes are shown as more: $(cat ingest.err)"

# One bad file among several refuses the lot or keeps only whole traces.
status=0
"$FSINGEST" --db case.db "$SAMPLES/neighbours.watch.data" text.data >/dev/null 2>&1 || status=$?
[[ $status == 2 || $status == 3 ]] || fail "a good and a bad file: exit status $status"
if [[ -e case.db ]]; then
	expect_sound case.db
fi
