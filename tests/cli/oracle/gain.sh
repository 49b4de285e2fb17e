# SPDX-License-Identifier: GPL-2.0-only
# Predicted gains hold what the repairs gave in the simulator. One of eleven is known to be wrong:
# of a ring buffer whose waiting loops load sampling with a threshold does not show.
. "$CLI/lib.sh"
[[ -d $SHARED/traces ]] || skip "$SHARED/traces is absent"

python3 -B "$TOP_SOURCE/tests/accuracy/gain.py" --fsingest "$FSINGEST" --min-right 0.9 \
	--max-abstained 0.25 "$SHARED/traces/aarch64" "$SHARED/traces/x86_64" >&2
