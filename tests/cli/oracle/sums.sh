# SPDX-License-Identifier: GPL-2.0-only
# No sample is counted twice or left out: sums over classes, lines, code and threads equal the
# number of samples, for the sample traces and all captures that stand beside the project.
. "$CLI/lib.sh"
need sqlite3

# c2c-stats also counts accesses whose data_src word came without an address, as perf does.
with_source="SELECT count(*) FROM sample s JOIN event e ON e.id = s.event_id
	WHERE s.addr IS NOT NULL OR s.raw IS NOT NULL AND s.access & 15 IN (1, 2, 3) AND e.role IS NOT 'spe'"

check_sums()
{
	local status=0 different

	rm -f case.db
	"$FSINGEST" --quiet --db case.db "$1" &>ingest.out || status=$?
	((status == 2)) && return
	((status == 0 || status == 3)) || fail "$1: exit status $status"
	different=$(sqlite3 -readonly -bail case.db <"$CLI/oracle/sums.sql")
	[[ -z $different ]] || fail "${1##*/}: not what it must be: $different"
	expect "${1##*/}: records that c2c-stats counts" \
		"$("$FSQUERY" --quiet --db case.db c2c-stats --format csv --columns name,fsight_value | sed -n 's/^Total records,//p')" \
		"$(query case.db "$with_source")"
}

for file in "$SAMPLES"/*.data "$SHARED"/traces/*/*.data "$SHARED"/corpus/files/*.data; do
	[[ -e $file ]] || continue
	(($(stat -c %s "$file") > ${LARGEST-2500000})) || attempt check_sums "$file"
done
finish_attempts
