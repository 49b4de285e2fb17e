# SPDX-License-Identifier: GPL-2.0-only
# Each field of each sample is what perf script shows, for the sample traces.
. "$CLI/lib.sh"
need perf

for file in "$SAMPLES"/*.data; do
	compare_by perf-script.py "$file"
done
# The SPE captures have no samples outside their AUX data.
finish_comparisons 7
