# SPDX-License-Identifier: GPL-2.0-only
# Verdicts agree with the ground truth of the larger captures that stand beside the project.
. "$CLI/lib.sh"
[[ -d $SHARED/traces ]] || skip "$SHARED/traces is absent"

python3 -B "$TOP_SOURCE/tests/accuracy/accuracy.py" --fsingest "$FSINGEST" --fsquery "$FSQUERY" \
	--minimum 90 "$SHARED/traces" >&2

# With fewer samples verdicts are lost, but none turns into its opposite, whoever leaves them out.
for keep in 4 16; do
	python3 -B "$TOP_SOURCE/tests/accuracy/accuracy.py" --fsingest "$FSINGEST" \
		--fsquery "$FSQUERY" --minimum 75 --thin $keep "$SHARED/traces" >&2
	python3 -B "$TOP_SOURCE/tests/accuracy/accuracy.py" --fsingest "$FSINGEST" \
		--fsquery "$FSQUERY" --minimum 75 --thin $keep \
		--simcap "$TOP_SOURCE/simcap/simcap" "$SHARED/traces" >&2
done
