# SPDX-License-Identifier: GPL-2.0-only
# Pages and objects: nodes, TLB, page sizes, and the advice that follows.
. "$CLI/lib.sh"

PYTHONPATH=$CLI python3 -B "$CLI/query/places.py" nodes.data
"$FSINGEST" -q --db case.db nodes.data
say()
{
	echo "\$ fsquery $*"
	"$FSQUERY" -q --db case.db "$@"
}
say pages
say pages --node 1 --columns page,space,samples,loads,dram_local,dram_remote,tlb_misses,tlb_told,page_size,nodes,home --format csv
say objects
say objects --cpu 0 --columns object,kind,address,samples --format csv --sort object
rm case.db
"$FSINGEST" -q --db case.db --symbols "$SAMPLES/bin/x86_64" "$SAMPLES/chunk.before.x86.c2c.data"
say objects --limit 4 --columns object,kind,type,address,size,region,threads,lines,verdict,samples

# Blocks by allocation site: the chunks of the capture, from a log; two of them are one after the other at one address.
rm case.db
"$FSINGEST" -q --db case.db --symbols "$SAMPLES/bin/x86_64" "$SAMPLES/chunk.before.x86.c2c.data"
middle=$(query case.db 'SELECT (first_ns + last_ns) / 2 FROM trace')
begin=$(query case.db 'SELECT first_ns FROM trace')
pid=$(query case.db "SELECT pid FROM space WHERE kind = 'process'")
site()
{
	query case.db "SELECT min(c.ip) FROM code c JOIN function f ON f.id = c.function_id WHERE f.name = '$1'"
}
read -r first second < <(query case.db "SELECT min(start), max(start) FROM (SELECT DISTINCT start FROM data_field
	WHERE type_id IN (SELECT id FROM type WHERE name = 'struct chunk_before') ORDER BY start LIMIT 2)" | tr '|' ' ')
{
	echo '# time pid tid event address size site'
	echo "$begin $pid $pid alloc $first 120 $(site main)"
	printf '%d %d %d alloc 0x%x 0x78 0x%x\n' "$begin" "$pid" "$pid" "$second" "$(site main)"
	echo "$((middle / 1000000000)).$(printf '%09d' $((middle % 1000000000))) $pid $pid free $first"
	echo "$((middle + 1)) $pid $pid alloc $first 96 $(site worker)"
	echo "5 $pid $pid alloc 4096 120 $(site main)" # never sampled
	echo "5 999 999 alloc $first 120"                # another process
	echo "6 $pid $pid free 0x1234567"
} >blocks.log
printf '%s\n' '1 2 3 grow 5' "1 $pid $pid alloc 5" "1 $pid $pid alloc 5 0" "1 $pid $pid alloc 18446744073709551615 5 5" \
	"99999999999999999999 1 1 free 5" "1 $pid $pid alloc 5 5 5 5" "$(printf '%0300d' 1)" $'\xff\xfe' >bad.log
rm case.db
"$FSINGEST" -q --db case.db --symbols "$SAMPLES/bin/x86_64" --alloc-log blocks.log --alloc-log bad.log "$SAMPLES/chunk.before.x86.c2c.data"
query case.db 'SELECT count(*), sum(size), count(free_ns) FROM heap_block'
query case.db "SELECT count FROM loss WHERE kind = 'bad_allocation'"
say objects --limit 5 --columns object,kind,type,size,samples
expect 'samples of the two blocks' "$("$FSQUERY" -q --db case.db objects --format csv --columns object,samples | grep -c allocated)" 2

# Blocks that come later at the same address, however many, take no sample from those before.
last=$(query case.db 'SELECT last_ns FROM trace')
worker=$(site worker)
for ((i = 1; i <= 200; i++)); do
	echo "$((last + 2 * i)) $pid $pid alloc $first 96 $worker"
	echo "$((last + 2 * i + 1)) $pid $pid free $first"
done >reuse.log
by_object()
{
	"$FSQUERY" -q --db "$1" objects --format csv --columns object,samples --sort object
}
"$FSINGEST" -q --db reuse.db --symbols "$SAMPLES/bin/x86_64" --alloc-log blocks.log --alloc-log reuse.log \
	"$SAMPLES/chunk.before.x86.c2c.data"
expect 'blocks of one address' "$(query reuse.db 'SELECT count(*) FROM heap_block')" 203
expect 'samples after an address was used again' "$(by_object reuse.db)" "$(by_object case.db)"
status=0
"$FSINGEST" -q --db no.db --alloc-log missing.log "$SAMPLES/chunk.before.x86.c2c.data" || status=$?
expect 'a log that is not there' "$status" 2
# What contention costs an address that one site used is that site's; of two sites it is neither's.
cost()
{
	rm -f case.db
	"$FSINGEST" -q --db case.db --symbols "$SAMPLES/bin/x86_64" --alloc-log "$1" "$SAMPLES/chunk.before.x86.c2c.data"
	"$FSQUERY" -q --db case.db objects --format csv --columns cost_share,object | sed -n 's/,allocated in .*//p' | sort
}
grep " alloc $first " blocks.log | head -1 >one.log
[[ $(cost one.log) == 0.* ]] || fail "cost of the only site: '$(cost one.log)'"
grep " $first\b" blocks.log >two.log
expect 'costs of two sites' "$(cost two.log | tr '\n' ,)" ,,
