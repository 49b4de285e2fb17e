# SPDX-License-Identifier: GPL-2.0-only
# A recording gives the same content as a file and as a stream, saved or on standard input, and a
# stream that is cut off is salvaged.
. "$CLI/lib.sh"

# The digest of a database without what differs by nature: size and hash of the input, the counts
# and bytes of the records that only a stream has, and file offsets.
content()
{
	"$FSQUERY" --db "$1" digest --format csv | grep -v -e '^trace,' -e '^fact,' -e '^loss,' -e '^extent,' -e '^total,'
}

for name in neighbours.watch barrier.before.x86.c2c barrier.before.n1.cyc barrier.before.hip12.spe; do
	mutate "$SAMPLES/$name.data" stream.data stream
	"$FSINGEST" -q --db "$name.file.db" --name one "$SAMPLES/$name.data"
	"$FSINGEST" -q --db "$name.stream.db" --name one stream.data
	"$FSINGEST" -q --db "$name.pipe.db" --name one - <stream.data
	content "$name.file.db" >expected
	[[ $(wc -l <expected) -gt 20 ]] || fail "$name: no digest"
	content "$name.stream.db" | diff expected - >&2 || fail "$name: a saved stream gives other content"
	content "$name.pipe.db" | diff expected - >&2 || fail "$name: a piped stream gives other content"
	expect "$name: samples" "$(query "$name.stream.db" 'SELECT samples FROM trace')" \
		"$(query "$name.file.db" 'SELECT samples FROM trace')"
done

mutate "$SAMPLES/barrier.before.x86.c2c.data" stream.data stream
status=0
head -c 100001 stream.data | "$FSINGEST" -q --db cut.db - || status=$?
expect 'cut stream: exit status' "$status" 3
[[ $(query cut.db 'SELECT samples > 500 FROM trace') == 1 ]] || fail 'cut stream: samples are missing'
