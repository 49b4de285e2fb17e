# SPDX-License-Identifier: GPL-2.0-only
# The manual explains every option that --help lists, and no other.
. "$CLI/lib.sh"

"$FSINGEST" --help | grep -oE -- '--[a-z-]+' | sort -u | grep -v -- '--usage' >help
sed -n 's/^\.It \(Fl .*\)/\1/p' "$TOP_SOURCE/docs/man/fsingest.1" | grep -oE 'Fl -[a-z-]+' |
	sed 's/^Fl /-/' | sort -u >manual
diff help manual >&2 || fail 'the manual (>) and --help (<) name different options'
