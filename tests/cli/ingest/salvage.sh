# SPDX-License-Identifier: GPL-2.0-only
# Of 40 damaged files nearly all records that can be found are read: docs/salvage.md has the figure of more.
. "$CLI/lib.sh"

python3 "$TOP_SOURCE/tests/tools/salvage.py" "$FSINGEST" --count 40 --seed 7 --least 99.5 "$SAMPLES"/*.data >report ||
	fail "$(cat report)"
grep -q '^all 40: [1-9]' report || fail "no figure: $(cat report)"
