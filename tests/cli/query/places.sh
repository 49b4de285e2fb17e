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
