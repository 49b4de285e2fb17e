# SPDX-License-Identifier: GPL-2.0-only
# c2c-stats --perf-version 6.1 shows the counters of perf 6.1, also for data sources at random.
. "$CLI/lib.sh"
need perf
[[ $(perf --version) == 'perf version 6.1.'* ]] || skip "$(perf --version) is not 6.1"

compared=0
compare()
{
	local status=0

	rm -f case.db
	"$FSINGEST" --db case.db "$1" >/dev/null 2>&1
	python3 "$CLI/oracle/c2c_stats.py" "$1" case.db >&2 || status=$?
	((status == 0)) && compared=$((compared + 1))
	((status == 0 || status == 77)) || fail "$2: counters differ from perf's"
}

for file in "$SAMPLES"/*.data; do
	compare "$file" "${file##*/}"
done
# perf 6.1 reads no SPE data with per-CPU metadata: the two hip12 captures.
((compared >= 11)) || fail "only $compared captures could be compared"

for name in barrier.before.x86.c2c chunk.after.x86.c2c barrier.before.n1.spe chunk.after.n1.spe; do
	for seed in 1 2; do
		python3 "$CLI/oracle/scramble.py" "$SAMPLES/$name.data" scrambled.data $seed
		compare scrambled.data "$name scrambled with seed $seed"
	done
done
((compared >= 19)) || fail "perf reads no scrambled capture"
