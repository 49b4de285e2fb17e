# SPDX-License-Identifier: GPL-2.0-only
# A recording from a big-endian machine gives the same content as its little-endian twin.
. "$CLI/lib.sh"

content()
{
	"$FSQUERY" --db "$1" digest --format csv | grep -v -e '^trace,' -e '^fact,' -e '^total,'
}

for name in barrier.before.x86.c2c chunk.after.x86.c2c; do
	mutate "$SAMPLES/$name.data" little.data keep-features 2,3,4,5,6,7,8,9,10,12,20,21
	mutate little.data big.data big-endian
	expect 'magic number' "$(head -c 8 big.data)" 2ELIFREP
	"$FSINGEST" -q --db "$name.little.db" --name one little.data
	"$FSINGEST" -q --db "$name.big.db" --name one big.data
	content "$name.little.db" >expected
	[[ $(query "$name.big.db" 'SELECT samples FROM trace') -gt 1000 ]] || fail "$name: no samples"
	content "$name.big.db" | diff expected - >&2 || fail "$name: the big-endian twin gives other content"
done
