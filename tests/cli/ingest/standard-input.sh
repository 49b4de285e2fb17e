# SPDX-License-Identifier: GPL-2.0-only
# A capture on standard input is imported like the file it is, or refused like it.
. "$CLI/lib.sh"

file=$SAMPLES/neighbours.watch.data
"$FSINGEST" --db file.db --name one "$file" >/dev/null
"$FSINGEST" --db pipe.db --name one - <"$file" >/dev/null
"$FSQUERY" --db file.db digest >file.digest
"$FSQUERY" --db pipe.db digest | diff file.digest - >&2 || fail 'standard input gives other content'

status=0
printf 'hello, world\n%.0s' {1..200} | "$FSINGEST" --db case.db - 2>err || status=$?
expect 'text on standard input: exit status' "$status" 2
expect 'files left behind' "$(compgen -G 'case.db*' || true)" ''
