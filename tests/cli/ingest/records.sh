# SPDX-License-Identifier: GPL-2.0-only
# What records say beside threads and mappings can be asked of the database, in either byte order, and is the
# same from a file and from a stream; samples without an address or without code are profile samples; guests
# are not resolved as programs of this machine.
. "$CLI/lib.sh"

# Every row that the records made, as text.
rows()
{
	sqlite3 -readonly -bail -list -nullvalue - "$1" <<-'SQL'
		.print -- system_event
		SELECT kind, time_ns, cpu, pid, tid, event_id, printf('%x', address), length, number, name, detail
		FROM system_event;
		.print -- counter
		SELECT e.name, source, time_ns, c.cpu, pid, tid, value, c.time_enabled, c.time_running
		FROM counter AS c JOIN event AS e ON e.id = c.event_id;
		.print -- pmu_capability, event_instance, event.cpus
		SELECT pmu, name, value FROM pmu_capability;
		SELECT perf_id, cpu, tid, machine_pid, vcpu FROM event_instance;
		SELECT name, cpus, samples, period_sum FROM event;
		.print -- fact
		SELECT name, value FROM fact WHERE name NOT LIKE 'records.%' AND name <> 'fingerprint' ORDER BY name;
		.print -- code: what is named, mapped, or neither
		SELECT printf('%x', ip), d.path, d.kind, d.symbols, f.name, function_offset, c.samples
		FROM code AS c LEFT JOIN dso AS d ON d.id = c.dso_id LEFT JOIN function AS f ON f.id = c.function_id
		ORDER BY c.id;
		.print -- chains: callers of each sample, innermost first
		WITH RECURSIVE up(sample, depth, chain, code) AS (
			SELECT s.rowid, 1, n.parent_id, n.code_id FROM sample AS s JOIN chain AS n ON n.id = s.chain_id
			UNION ALL SELECT sample, depth + 1, n.parent_id, n.code_id FROM up JOIN chain AS n ON n.id = up.chain)
		SELECT sample, group_concat(printf('%x', ip) || ' ' || coalesce(d.path, '-'), ', ')
		FROM (SELECT * FROM up ORDER BY sample, depth) JOIN code AS c ON c.id = code
		LEFT JOIN dso AS d ON d.id = c.dso_id GROUP BY sample;
		.print -- map
		SELECT pid, path, d.kind, length FROM map AS m JOIN dso AS d ON d.id = m.dso_id;
		.print -- profile
		SELECT e.name, p.samples, value, method FROM profile AS p JOIN event AS e ON e.id = p.event_id
		ORDER BY event_id, code_id;
		.print -- loss_window
		SELECT kind, cpu, first_ns, last_ns, count FROM loss_window ORDER BY kind, cpu, first_ns;
		.print -- loss
		SELECT kind, scope, count FROM loss ORDER BY kind, scope;
		.print -- health
		SELECT name, scope, count, description FROM health WHERE name IN ('lost_share', 'lost_records', 'throttled_time');
	SQL
}

export PYTHONPATH=$CLI
for order in little big; do
	for form in file stream; do
		python3 "$CLI/ingest/records.py" "$order.$form" "$order" "$form"
		"$FSINGEST" -q --db "$order.$form.db" "$order.$form" >/dev/null
		expect_sound "$order.$form.db"
		rows "$order.$form.db" >"$order.$form.rows"
		diff little.file.rows "$order.$form.rows" >&2 || fail "$order $form: other content"
	done
done
cat little.file.rows
