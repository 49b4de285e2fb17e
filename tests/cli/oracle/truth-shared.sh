# SPDX-License-Identifier: GPL-2.0-only
# The same for the captures that stand beside the project: many encodings, with migration, without
# context packets, cut off, filtered by latency.
. "$CLI/lib.sh"
[[ -d $SHARED/traces ]] || skip "$SHARED/traces is absent"

for file in "$SHARED"/traces/*/*.{spe,c2c}.data; do
	compare_by truth.py "$file"
done
finish_comparisons 50
