# SPDX-License-Identifier: GPL-2.0-only
# A recording gives the same content as a file and as a stream, saved or on standard input, and a
# stream that is cut off is salvaged.
. "$CLI/lib.sh"

# Each table by its digest. Five of them hold something that the container changes, and are compared
# without just that:
#
#   trace   hash and size of the input
#   fact    fingerprint of the input; counts of the records that only a stream has (HEADER_ATTR 64,
#           TRACING_DATA 66, BUILD_ID 67, HEADER_FEATURE 80)
#   loss    offsets; padding between the sections of a file
#   extent  offsets; the header, the sections of a file and its padding; those records of a stream
#   total   (the digest's own last line: the number of rows of all tables)
content()
{
	local columns

	"$FSQUERY" --db "$1" digest --format csv |
		grep -v -e '^trace,' -e '^fact,' -e '^loss,' -e '^extent,' -e '^total,'
	columns=$(query "$1" "SELECT group_concat(name, ', ') FROM pragma_table_info('trace')
		WHERE name NOT IN ('sha256', 'bytes')")
	query "$1" "SELECT $columns FROM trace"
	query "$1" "SELECT * FROM fact WHERE name NOT IN
		('fingerprint', 'records.64', 'records.66', 'records.67', 'records.80') ORDER BY name"
	query "$1" "SELECT kind, severity, scope, count, bytes, description FROM loss
		WHERE (kind, scope) <> ('trailing_bytes', 'between sections') ORDER BY kind, scope"
	query "$1" "SELECT kind, name, count, bytes FROM extent WHERE kind LIKE 'record%' AND name NOT IN
		('HEADER_ATTR', 'HEADER_TRACING_DATA', 'HEADER_BUILD_ID', 'HEADER_FEATURE') ORDER BY kind, name"
}

for name in neighbours.watch barrier.before.x86.c2c barrier.before.n1.cyc barrier.before.hip12.spe; do
	mutate "$SAMPLES/$name.data" stream.data stream
	"$FSINGEST" -q --db "$name.file.db" --name one "$SAMPLES/$name.data"
	"$FSINGEST" -q --db "$name.stream.db" --name one stream.data
	"$FSINGEST" -q --db "$name.pipe.db" --name one - <stream.data
	content "$name.file.db" >expected
	[[ $(wc -l <expected) -gt 50 ]] || fail "$name: no digest"
	grep -Eq '^record_read.(SAMPLE|AUXTRACE)' expected || fail "$name: no records"
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
