-- SPDX-License-Identifier: GPL-2.0-only
-- Of a database with one trace: what must be the same number, where it is not. One row per pair
-- that differs: name, number, number that it must be.
WITH
memory AS (
	SELECT s.*, s.access & 15 AS op, s.access >> 4 & 63 AS source FROM sample s WHERE s.addr IS NOT NULL
),
pairs(name, got, wanted) AS (
	-- each record that could be read is one row
	SELECT 'rows', count(*), (SELECT samples FROM trace) -
		(SELECT ifnull(sum(count), 0) FROM loss
		 WHERE kind = 'bad_sample' OR kind = 'unknown_id' AND scope = 'record type 9')
	FROM sample
	UNION ALL SELECT 'rowids without gaps', ifnull(max(rowid) - min(rowid) + 1, 0), count(*) FROM sample
	UNION ALL SELECT 'rows of SPE records', count(*), (SELECT spe_records FROM trace)
	FROM sample s JOIN event e ON e.id = s.event_id WHERE e.role = 'spe'
	UNION ALL SELECT 'trace.samples', sample_records + spe_records, samples FROM trace
	UNION ALL SELECT 'view samples', count(*), (SELECT count(*) FROM sample) FROM samples
	UNION ALL SELECT 'view samples, ids', count(DISTINCT id), (SELECT count(*) FROM sample) FROM samples
	UNION ALL SELECT 'thread.samples', ifnull(sum(samples), 0), (SELECT count(thread_id) FROM sample) FROM thread
	UNION ALL SELECT 'code.samples', ifnull(sum(samples), 0), (SELECT count(code_id) FROM sample) FROM code
	UNION ALL SELECT 'dso.samples', ifnull(sum(samples), 0),
		(SELECT count(*) FROM sample s JOIN code c ON c.id = s.code_id WHERE c.dso_id IS NOT NULL) FROM dso
	-- memory samples, and their classes
	UNION ALL SELECT 'memory samples', count(*), (SELECT memory_samples FROM trace) FROM memory
	UNION ALL SELECT 'samples with a source class', count(*), (SELECT memory_samples FROM trace)
	FROM memory m JOIN source_class c ON c.id = m.source JOIN op o ON o.id = m.op
	UNION ALL SELECT 'code_total', ifnull(sum(samples), 0), (SELECT memory_samples FROM trace) FROM code_total
	UNION ALL SELECT 'code_total of source ' || c.name,
		(SELECT ifnull(sum(samples), 0) FROM code_total WHERE source = c.id),
		(SELECT count(*) FROM memory WHERE source = c.id)
	FROM source_class c
	UNION ALL SELECT 'code_total of op ' || o.name,
		(SELECT ifnull(sum(samples), 0) FROM code_total WHERE op = o.id),
		(SELECT count(*) FROM memory WHERE op = o.id)
	FROM op o
	UNION ALL SELECT 'code_total.latency_samples', ifnull(sum(latency_samples), 0),
		(SELECT count(latency) FROM memory) FROM code_total
	UNION ALL SELECT 'code_total.latency_sum', ifnull(sum(latency_sum), 0),
		(SELECT ifnull(sum(latency), 0) FROM memory) FROM code_total
	-- lines
	UNION ALL SELECT 'line_total', ifnull(sum(samples), 0), (SELECT memory_samples FROM trace) FROM line_total
	UNION ALL SELECT 'line_total.loads', ifnull(sum(loads), 0), (SELECT count(*) FROM memory WHERE op = 1) FROM line_total
	UNION ALL SELECT 'line_total.stores', ifnull(sum(stores), 0), (SELECT count(*) FROM memory WHERE op = 2) FROM line_total
	UNION ALL SELECT 'line_total.atomics', ifnull(sum(atomics), 0), (SELECT count(*) FROM memory WHERE op = 3)
	FROM line_total
	UNION ALL SELECT 'line_total.transfers', ifnull(sum(transfers), 0),
		(SELECT count(*) FROM memory m JOIN source_class c ON c.id = m.source WHERE c.transfer) FROM line_total
	UNION ALL SELECT 'line_total of lines', count(*), count(DISTINCT printf('%d %d', space_id, line)) FROM line_total
	UNION ALL SELECT printf('line_total of line 0x%x', l.line), l.samples, m.n
	FROM line_total l LEFT JOIN
		(SELECT space_id, addr & ~63 AS line, count(*) AS n FROM memory GROUP BY 1, 2) m
		ON m.space_id = l.space_id AND m.line = l.line
	-- blocks of four lines that more than one thread touched and that were written or passed between caches, in detail
	UNION ALL SELECT printf('access of line 0x%x', a.line), a.n, l.samples
	FROM (SELECT space_id, line, sum(samples) AS n FROM access GROUP BY 1, 2) a LEFT JOIN line_total l
		ON l.space_id = a.space_id AND l.line = a.line
	UNION ALL SELECT printf('access of line 0x%x, source %d', a.line, a.source), a.n, m.n
	FROM (SELECT space_id, line, source, sum(samples) AS n FROM access GROUP BY 1, 2, 3) a LEFT JOIN
		(SELECT space_id, addr & ~63 AS line, source, count(*) AS n FROM memory GROUP BY 1, 2, 3) m
		ON m.space_id = a.space_id AND m.line = a.line AND m.source = a.source
	UNION ALL SELECT printf('access_window of line 0x%x', w.line), w.n, m.n
	FROM (SELECT space_id, line, sum(samples) AS n FROM access_window GROUP BY 1, 2) w LEFT JOIN
		(SELECT space_id, addr & ~63 AS line, count(*) AS n FROM memory WHERE time_ns GROUP BY 1, 2) m
		ON m.space_id = w.space_id AND m.line = w.line
	UNION ALL SELECT 'blocks in access', count(DISTINCT printf('%d %d', space_id, line & ~255)),
		(SELECT min(4096, count(*)) FROM (
			SELECT 1 FROM memory m JOIN source_class c ON c.id = m.source GROUP BY space_id, addr & ~255
			HAVING count(DISTINCT ifnull(thread_id, -1)) > 1 AND sum(m.op IN (2, 3) OR c.transfer) > 0))
	FROM access
)
SELECT name, got, wanted FROM pairs WHERE got IS NOT wanted LIMIT 5;
