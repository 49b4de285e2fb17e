# SPDX-License-Identifier: GPL-2.0-only
# The same comparison with perf for all files that stand beside the project and that perf reads.
. "$CLI/lib.sh"
need perf
[[ -d $SHARED/traces && -d $SHARED/corpus ]] || skip "$SHARED is absent"

# Files up to this size; LARGEST=100000000 takes all of them.
for file in "$SHARED"/traces/*/*.data "$SHARED"/corpus/files/*.data; do
	(($(stat -c %s "$file") > ${LARGEST-700000})) || compare_by perf-script.py "$file"
done
finish_comparisons 135
