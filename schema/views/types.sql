-- Types of accessed data, with what the contention of their objects costs. Debug information may
-- state a type several times; the same name, kind and size in one binary count as one.
--
-- trace_id: trace.id
-- type: as C has it, such as struct pool
-- kind: struct, union, class, array, pointer, base, other
-- dso: binary whose debug information has it
-- size: bytes
-- instances: objects of it on lines that two threads touched
-- lines: these lines
-- samples: samples of accesses to objects of it
-- shared_samples: of them, on these lines; instances, lines, threads and l1_misses are from these
-- reads: samples that read: loads and atomics
-- writes: samples that write: stores and atomics
-- threads: threads; NULL: no line is shared, and not kept
-- hitm: samples served from a line modified in another core; NULL: not told
-- peer: samples served from another core's cache, state not told or clean; NULL: not told
-- l1_misses: samples known to have missed L1
-- latency_mean: cycles, over the samples that have a latency
-- verdict: worst of its lines: false, mixed, adjacent, true, unknown, read-only, private
-- cost_share: share of the run's memory latency that contention costs its objects
CREATE VIEW types AS
SELECT
	a.trace_id,
	t.name AS type,
	t.kind,
	d.path AS dso,
	t.size,
	nullif(count(DISTINCT a.space_id || ' ' || a.object_start), 0) AS instances,
	nullif(count(DISTINCT a.space_id || ' ' || a.line_base), 0) AS lines,
	CAST(total(a.samples) AS INTEGER) AS samples,
	CAST(total(iif(a.addr IS NULL, 0, a.samples)) AS INTEGER) AS shared_samples,
	CAST(total(a.reads * a.samples) AS INTEGER) AS reads,
	CAST(total(a.writes * a.samples) AS INTEGER) AS writes,
	nullif(count(DISTINCT a.thread_id), 0) AS threads,
	iif(count(a.hitm), CAST(total(a.hitm) AS INTEGER), NULL) AS hitm,
	iif(count(a.peer), CAST(total(a.peer) AS INTEGER), NULL) AS peer,
	iif(count(a.l1_misses), CAST(total(a.l1_misses) AS INTEGER), NULL) AS l1_misses,
	total(a.latency_sum) / nullif(total(a.latency_samples), 0) AS latency_mean,
	substr(min(CASE a.verdict WHEN 'false' THEN 1 WHEN 'mixed' THEN 2 WHEN 'adjacent' THEN 3
		WHEN 'true' THEN 4 WHEN 'unknown' THEN 5 WHEN 'read-only' THEN 6 WHEN 'private' THEN 7 END
		|| a.verdict), 2)
		AS verdict,
	sum(a.cost_share) AS cost_share
FROM data_accesses AS a
JOIN type AS t ON t.id = a.type_id
LEFT JOIN dso AS d ON d.id = t.dso_id
GROUP BY a.trace_id, t.dso_id, t.name, t.kind, t.size
