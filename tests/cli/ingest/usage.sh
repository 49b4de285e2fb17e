# SPDX-License-Identifier: GPL-2.0-only
# Wrong use is told apart from bad input: exit status 1.
. "$CLI/lib.sh"

for arguments in '--no-such-option' '--jobs many' '--jobs 0' '--time 5' '--cpu x' '--db'; do
	status=0
	# shellcheck disable=SC2086 # words are meant
	"$FSINGEST" "$SAMPLES/neighbours.watch.data" $arguments >out 2>err || status=$?
	expect "fsingest $arguments: exit status" "$status" 1
	[[ -s err ]] || fail "fsingest $arguments: no word on stderr"
	expect "fsingest $arguments: files left behind" "$(compgen -G '*.db*' || true)" ''
done
"$FSINGEST" --help >out
grep -q -- --db out || fail '--help does not explain --db'
"$FSINGEST" --version | grep -q fsingest || fail '--version does not name the program'
