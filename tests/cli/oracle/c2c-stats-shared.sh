# SPDX-License-Identifier: GPL-2.0-only
# The same comparison with perf for every capture that stands beside the project and that perf reads.
. "$CLI/lib.sh"
need perf
[[ $(perf --version) == 'perf version 6.1.'* ]] || skip "$(perf --version) is not 6.1"
[[ -d $SHARED/traces ]] || skip "$SHARED/traces is absent"

for file in "$SHARED"/traces/*/*.{spe,c2c}.data "$SHARED"/corpus/files/*.data; do
	compare_by c2c_stats.py "$file"
done
# Cores that perf 6.1 has no table for are read by their event bits.
for name in kunpeng920.meta1 n1.branches.datamaps.migrate; do
	python3 "$CLI/oracle/scramble.py" "$SHARED/traces/spe-variants/$name.spe.data" "$name.scrambled.data" 1
	compare_by c2c_stats.py "$name.scrambled.data"
done
finish_comparisons 90
