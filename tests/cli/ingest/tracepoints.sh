# SPDX-License-Identifier: GPL-2.0-only
# Tracepoints by event and field, with plain sqlite3 too; the same from a file and from a stream; and
# without readable descriptions of them.
. "$CLI/lib.sh"
need sqlite3
trace=$SAMPLES/neighbours.tracepoints.data

"$FSINGEST" --db case.db "$trace" >/dev/null
"$FSQUERY" --db case.db sql --format csv "SELECT event, count(DISTINCT tracepoints.id) AS samples,
	group_concat(DISTINCT f.key) AS fields FROM tracepoints, json_each(fields) AS f GROUP BY event"
sqlite3 case.db "SELECT tid, json_extract(fields, '$.child_pid'), json_extract(fields, '$.child_comm')
	FROM tracepoints WHERE event = 'sched:sched_process_fork'"
sqlite3 case.db "SELECT json_extract(fields, '$.format') = '%u %u' || char(10) FROM tracepoints
	WHERE event = 'fsight:printf' ORDER BY time_ns DESC LIMIT 1"
sqlite3 case.db "SELECT p.system, p.name, f.name, f.type, f.offset, f.size, f.is_signed, f.location
	FROM tracepoint AS p JOIN tracepoint_field AS f USING (trace_id, tracepoint)
	WHERE p.name IN ('sched_switch', 'printf') AND NOT f.common"

# Everything that the samples say, without the numbers that differ by database.
rows()
{
	sqlite3 "$1" "SELECT event, time_ns, tid, cpu, fields FROM tracepoints"
}

mutate "$trace" stream.data stream
"$FSINGEST" --db stream.db stream.data >/dev/null
rows case.db >file.rows
rows stream.db >stream.rows
expect 'samples' "$(wc -l <file.rows)" "$(sqlite3 case.db 'SELECT count(*) FROM sample')"
cmp file.rows stream.rows || fail 'the stream gives other fields'

mutate "$trace" damaged.data feature-u32 1 0 0
rm case.db
status=0
"$FSINGEST" --db case.db damaged.data >/dev/null 2>&1 || status=$?
expect 'exit status' "$status" 3
"$FSQUERY" --db case.db sql --format csv "SELECT kind, count, scope FROM loss WHERE kind GLOB '*tracing*' OR kind GLOB '*raw'"
expect 'raw data as hex' \
	"$(sqlite3 case.db "SELECT count(*) FROM sample_raw WHERE json_extract(fields, '$.raw') GLOB '0x*'")" "$(wc -l <file.rows)"
