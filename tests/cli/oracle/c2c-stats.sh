# SPDX-License-Identifier: GPL-2.0-only
# c2c-stats --perf-version 6.1 shows the counters of perf 6.1, also for data sources at random.
. "$CLI/lib.sh"
need perf
[[ $(perf --version) == 'perf version 6.1.'* ]] || skip "$(perf --version) is not 6.1"

for file in "$SAMPLES"/*.data; do
	compare_by c2c_stats.py "$file"
done
# perf 6.1 reads no SPE data with per-CPU metadata: the two hip12 captures.
finish_comparisons 11

for name in barrier.before.x86.c2c chunk.after.x86.c2c barrier.before.n1.spe chunk.after.n1.spe; do
	for seed in 1 2; do
		python3 "$CLI/oracle/scramble.py" "$SAMPLES/$name.data" "$name.scrambled.$seed.data" $seed
		compare_by c2c_stats.py "$name.scrambled.$seed.data"
	done
done
finish_comparisons 19

# Records that the end of a buffer cuts off: perf joins them to the next of their CPU.
PYTHONPATH=$CLI python3 -B "$CLI/oracle/cut_records.py" cut.data
before=$compared
compare_by c2c_stats.py cut.data
expect 'perf reads the cut records' "$((compared - before))" 1
expect 'records joined' "$(query case.db 'SELECT count(*) > 10 FROM spe_extra WHERE cut_operation NOTNULL')" 1
finish_comparisons 20
