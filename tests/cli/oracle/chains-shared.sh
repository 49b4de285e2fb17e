# SPDX-License-Identifier: GPL-2.0-only
# Call chains are those of perf, for every capture beside the project that has them.
. "$CLI/lib.sh"
need perf
[[ -d $SHARED/corpus ]] || skip "$SHARED/corpus is absent"

for file in "$SHARED"/corpus/files/*.data; do
	(($(stat -c %s "$file") > 2500000)) || compare_by chains.py "$file"
done
finish_comparisons 14
