# SPDX-License-Identifier: GPL-2.0-only
# The fields that fsight names are those that pahole has at the simulator's addresses.
. "$CLI/lib.sh"
need pahole

python3 -B "$TOP_SOURCE/tests/accuracy/fields.py" --fsingest "$FSINGEST" "$SAMPLES" >&2
[[ -d $SHARED/traces ]] || skip "$SHARED/traces is absent; the sample traces are right"
python3 -B "$TOP_SOURCE/tests/accuracy/fields.py" --fsingest "$FSINGEST" "$SHARED/traces" >&2
