# SPDX-License-Identifier: GPL-2.0-only
# Threads of SPE samples by sched_switch alone are those that the context packets gave; where switches
# were lost, a thread is not known rather than wrong.
. "$CLI/lib.sh"
need sqlite3

# threads DATABASE: time, address, code and thread of each SPE sample
threads()
{
	sqlite3 "$1" "SELECT s.time_ns, coalesce(s.addr, 0), c.ip, coalesce(t.tid, -1)
		FROM sample AS s JOIN event AS e ON e.id = s.event_id JOIN code AS c ON c.id = s.code_id
		LEFT JOIN thread AS t ON t.id = s.thread_id WHERE e.role = 'spe'" | sort
}

# check TRACE FOLD
check()
{
	local name=${1##*/} all unknown wrong ambiguous

	rm -f ./*.db
	"$FSINGEST" --db contexts.db "$1" >/dev/null
	threads contexts.db >contexts
	all=$(wc -l <contexts)
	expect "$name: how it was known" "$(sqlite3 contexts.db \
		"SELECT DISTINCT attribution FROM samples WHERE event GLOB 'arm_spe*'")" context

	ambiguous=$(python3 -B "$CLI/ingest/attribution.py" "$1" switches.data "$2" 0)
	"$FSINGEST" --db switches.db switches.data >/dev/null
	expect "$name: how it is known" "$(sqlite3 switches.db \
		"SELECT DISTINCT attribution FROM samples WHERE event GLOB 'arm_spe*'")" sched_switch
	threads switches.db >switches
	wrong=$(comm -13 contexts switches | wc -l)
	(((wrong - ambiguous) * 1000 <= all)) || fail "$name: $wrong of $all threads differ"

	python3 -B "$CLI/ingest/attribution.py" "$1" lost.data "$2" 5 >/dev/null
	"$FSINGEST" --db lost.db lost.data >/dev/null
	threads lost.db >lost
	unknown=$(grep -c -- '|-1$' lost || true)
	wrong=$(comm -13 contexts lost | grep -vc -- '|-1$' || true)
	((unknown > 0 && unknown * 2 < all)) || fail "$name: with lost switches $unknown of $all are unknown"
	(((wrong - ambiguous) * 1000 <= all)) || fail "$name: with lost switches $wrong of $all threads are wrong"
	echo "$name: $all samples, $ambiguous at ambiguous times, $unknown unknown, $wrong wrong where switches were lost" >&2
}

check "$SAMPLES/barrier.before.n1.spe.data" 3
check "$SAMPLES/chunk.after.n1.spe.data" 4
if [[ -d $SHARED/traces ]]; then
	check "$SHARED/traces/spe-variants/n1.branches.datamaps.migrate.spe.data" 0
fi
