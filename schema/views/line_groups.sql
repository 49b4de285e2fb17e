-- Contended lines that are one finding, the costliest first: lines of one array, of one object, of objects of one type,
-- or for which the same code contends. Each contended line is in one group, perhaps alone.
--
-- trace_id: trace.id
-- rank: from 1, by cost
-- kind: line, array, object, instances, neighbours, code
-- verdict: of all its lines; mixed where they differ
-- lines: how many
-- first_line: address of the first, hex
-- last_line: address of the last, hex
-- space_id: space.id
-- space: address space: kernel, or command name and pid
-- object: variable, or type of the objects; NULL: not known
-- type: type of the variable or of the objects; NULL: not known
-- functions: functions of the pair that contends most for the costliest line
-- stride: bytes from thread to thread; NULL: no array
-- slots_per_line: line size by stride; NULL: no array, or the stride is no less
-- threads: threads
-- samples: samples
-- misses: samples that left the core's private caches
-- cost_share: share of the run's memory latency; NULL: no line has a cost
-- cost_low: lower bound, 95 %
-- cost_high: upper bound, 95 %
-- gain_low: how many times faster the program is at least when the false sharing of these lines has ended; NULL: not computed
-- gain_high: the same, at most
-- reason: what makes them one, in a sentence
CREATE VIEW line_groups AS
SELECT
	g.trace_id,
	g.rank,
	g.kind,
	g.verdict,
	g.lines,
	printf('0x%x', g.first_line) AS first_line,
	printf('0x%x', g.last_line) AS last_line,
	g.space_id,
	p.name AS space,
	coalesce(g.variable, t.name) AS object,
	t.name AS type,
	(
		SELECT group_concat(name, ', ') FROM (
			SELECT DISTINCT f.name FROM function AS f WHERE f.id IN (x.a_function_id, x.b_function_id)
			ORDER BY 1)) AS functions,
	g.stride,
	g.slots_per_line,
	g.threads,
	g.samples,
	g.misses,
	g.cost_share,
	g.cost_low,
	g.cost_high,
	n.gain_low,
	n.gain_high,
	g.reason
FROM line_group AS g
LEFT JOIN spaces AS p ON p.id = g.space_id
LEFT JOIN type AS t ON t.id = g.type_id
LEFT JOIN gain_finding AS n ON n.trace_id = g.trace_id AND n.unit = g.gain_unit AND n.lines = g.lines
LEFT JOIN (
	SELECT f.trace_id, f.group_rank, min(y.rank) AS pair, y.a_function_id, y.b_function_id
	FROM line_finding AS f
	JOIN pair_finding AS y ON y.trace_id = f.trace_id AND y.line = f.line AND y.space_id IS f.space_id
	GROUP BY 1, 2
) AS x ON x.trace_id = g.trace_id AND x.group_rank = g.rank
