# SPDX-License-Identifier: GPL-2.0-only
# Samples, operations, transfers and threads of each line are the simulator's, for the sample traces.
. "$CLI/lib.sh"

for file in "$SAMPLES"/*.{spe,c2c}.data; do
	compare_by truth.py "$file"
done
finish_comparisons 10
