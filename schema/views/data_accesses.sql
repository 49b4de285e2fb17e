-- Accesses to data with what they cost: those to lines that two threads touched by address, all
-- others by code, where the code tells a type. No sample is in two rows. The cost of a line is
-- divided among its accesses by their samples that missed L1, else by their samples.
--
-- trace_id: trace.id
-- space_id: space.id
-- addr: address, signed; NULL: by code, and so are all columns that need an address
-- line_base: address of the line, signed
-- verdict: of the line
-- variable: variable that holds it
-- object_start: address of the object's first byte, signed
-- type_id: type.id of the object
-- type_offset: bytes from the object's start; by code, those in the first element of an array
-- field: path in the object
-- code_id: code.id
-- thread_id: thread.id
-- cpu: CPU
-- reads: 1: a load or an atomic
-- writes: 1: a store or an atomic
-- level: level of the source, such as dram; empty: not told
-- remote: 1: served from another node; NULL: not told
-- samples: samples
-- hitm: samples served from a line modified in another core; NULL: not told
-- peer: samples served from another core's cache, state not told or clean; NULL: not told
-- l1_misses: samples known to have missed L1; NULL: not kept
-- latency_samples: samples with a latency
-- latency_sum: cycles
-- cost_share: part of the line's cost that these accesses pay; NULL: none is known
CREATE VIEW data_accesses AS
SELECT
	a.trace_id,
	a.space_id,
	a.addr,
	a.line_base,
	l.verdict,
	d.variable,
	d.start AS object_start,
	iif(a.addr IS NULL, c.type_id, d.type_id) AS type_id,
	iif(a.addr IS NULL, c.type_offset, a.addr - d.start) AS type_offset,
	iif(a.addr IS NULL, c.field, d.field) AS field,
	a.code_id,
	a.thread_id,
	a.cpu,
	o.reads,
	o.writes,
	k.level,
	k.remote,
	a.samples,
	v.hitm * a.samples AS hitm,
	v.peer * a.samples AS peer,
	a.l1_misses,
	a.latency_samples,
	a.latency_sum,
	l.cost_share * iif(l.l1_misses > 0, a.l1_misses / l.l1_misses, a.samples / nullif(l.samples, 0))
		AS cost_share
FROM (
	SELECT b.trace_id, b.space_id, b.addr, b.addr & ~(t.line_size - 1) AS line_base, b.event_id,
		b.op, b.code_id, b.thread_id, b.cpu, b.source, b.samples, b.l1_misses,
		b.latency_samples, b.latency_sum
	FROM access AS b
	JOIN trace AS t ON t.id = b.trace_id
	UNION ALL
	SELECT trace_id, NULL, NULL, NULL, event_id, op, code_id, NULL, NULL, source,
		CAST(total(samples) AS INTEGER), NULL, CAST(total(latency_samples) AS INTEGER),
		CAST(total(latency_sum) AS INTEGER)
	FROM (
		SELECT trace_id, event_id, op, code_id, source, samples, latency_samples, latency_sum
		FROM code_total
		UNION ALL
		SELECT trace_id, event_id, op, code_id, source, -samples, -latency_samples, -latency_sum
		FROM access)
	GROUP BY trace_id, event_id, op, code_id, source
	HAVING total(samples) > 0
) AS a
LEFT JOIN code AS c ON c.id = a.code_id
LEFT JOIN op AS o ON o.id = CASE WHEN c.op = 3 THEN 3 WHEN a.op = 0 THEN coalesce(c.op, 0) ELSE a.op END
LEFT JOIN source_class AS k ON k.id = a.source
LEFT JOIN transfers AS v ON v.event_id = a.event_id AND v.source = a.source
LEFT JOIN data_field AS d ON d.trace_id = a.trace_id AND d.space_id IS a.space_id AND d.addr = a.addr
LEFT JOIN (
	SELECT trace_id, space_id, part, verdict, cost_share, sum(samples) OVER of_line AS samples,
		sum(l1_misses) OVER of_line AS l1_misses
	FROM (
		SELECT b.trace_id, b.space_id, f.part, f.line, f.verdict, f.cost_share,
			total(b.samples) AS samples, total(b.l1_misses) AS l1_misses
		FROM access AS b
		JOIN trace AS t ON t.id = b.trace_id
		JOIN (
			SELECT trace_id, space_id, line, line AS part, verdict, cost_share FROM line_finding
			WHERE verdict <> 'latent'
			UNION ALL
			-- of two neighbours judged as one, the second
			SELECT trace_id, space_id, line, line + size / 2, verdict, cost_share FROM line_finding
			WHERE verdict = 'adjacent'
		) AS f ON f.trace_id = b.trace_id AND f.space_id IS b.space_id
			AND f.part = b.addr & ~(t.line_size - 1)
		GROUP BY 1, 2, 3)
	WINDOW of_line AS (PARTITION BY trace_id, space_id, line)
) AS l ON l.trace_id = a.trace_id AND l.space_id IS a.space_id AND l.part = a.line_base
WHERE a.addr IS NOT NULL OR c.type_id IS NOT NULL
