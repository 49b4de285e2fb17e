# SPDX-License-Identifier: GPL-2.0-only
# The same comparison with perf for the files with tracepoints that stand beside the project.
. "$CLI/lib.sh"
need perf
[[ -d $SHARED/corpus ]] || skip "$SHARED is absent"

while read -r file; do
	compare_by tracepoints.py "$file"
done < <(grep -lF $'\x17\x08Dtracing' "$SHARED"/corpus/files/*.data)
finish_comparisons 1
