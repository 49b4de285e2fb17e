# SPDX-License-Identifier: GPL-2.0-only
# The barrier's cycles capture puts pool_barrier first, more bound to memory than any other, and leads to its pairs in another trace.
. "$CLI/lib.sh"

traces=$SHARED/traces/aarch64
[ -d "$traces" ] || skip "no captures beside the project"
for kind in spe cyc; do
	"$FSINGEST" -q --db case.db --symbols "$traces/bin" "$traces/01_ggml_barrier.before.$kind.data"
done
"$FSQUERY" --db case.db mem-bound --format csv --columns function,mem_bound,see >rows.csv 2>notes
see=$(query case.db "SELECT see FROM mem_bound WHERE source = 'cycles' AND rank = 1")
[ "$see" = "fsquery pairs --trace 1 --sym 'pool_barrier'" ] || fail "leads to $see"
# The tip names the line, the fields of its costliest pair, and the command; it leads from the cycles of vec_dot nowhere.
"$FSQUERY" --db case.db mem-bound --format csv --columns function,tip --limit 2 2>/dev/null
query case.db "SELECT function, (SELECT count(*) FROM mem_bound AS o WHERE o.source = 'cycles'
	AND o.mem_bound >= m.mem_bound AND o.rank <> m.rank) FROM mem_bound AS m WHERE source = 'cycles' AND rank = 1"
"$FSQUERY" --db case.db pairs --trace 1 --sym pool_barrier --format csv --columns a_function 2>/dev/null | sed -n 2p
