# SPDX-License-Identifier: GPL-2.0-only
# The same comparison with perf for the larger captures that stand beside the project.
. "$CLI/lib.sh"
need perf sqlite3
[[ -d $SHARED/traces ]] || skip "$SHARED/traces is absent"

for file in "$SHARED"/traces/*/*.{spe,c2c}.data; do
	(($(stat -c %s "$file") > 2500000)) || compare_by counts.py "$file"
done
finish_comparisons 30
