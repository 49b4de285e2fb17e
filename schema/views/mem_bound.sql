-- Functions by memory boundness; where the file cannot tell, by memory latency under that name.
--
-- trace_id: trace.id
-- rank: from 1
-- function: its name; without a symbol the code's file offset in dso, hex
-- dso: binary
-- source: where the number comes from: cycles, spe_latency_share, load_latency_share
-- samples: samples of the function
-- share: its share of the trace's cycles, or of its sampled memory latency; NULL: too few samples
-- mem_bound: by the formula in method, as computed: the tip tells of values below 0 and above 1; NULL: it says why
-- low: lower bound of mem_bound, else of share, 95 %
-- high: upper bound
-- n: samples behind the number
-- method: the formula of the ratio, with the events' names
-- tip: what to do, or why there is no number; and `contends` with `see`, where they are known
-- contends: the costliest pair that the function takes part in, of this trace, else of the newest that has such; NULL: none
-- see: command that lists all such pairs and their lines; NULL: none
CREATE VIEW mem_bound AS
WITH paired AS MATERIALIZED (
	SELECT f.name, s.trace_id, min(s.rank) AS rank, count(*) AS pairs
	FROM (SELECT trace_id, rank, a_function_id AS function_id FROM pair_finding
		UNION SELECT trace_id, rank, b_function_id FROM pair_finding) AS s
	JOIN function AS f ON f.id = s.function_id
	GROUP BY f.name, s.trace_id
), led AS (
	SELECT
		m.*,
		f.name,
		coalesce(m.dso_id, f.dso_id) AS binary_id,
		printf('fsquery pairs --trace %d --sym ''%s''', w.trace_id, replace(w.name, '''', '''\''''')) AS command,
		(SELECT printf('Contends on line %s: %s against %s (%s)%s', p.line,
			coalesce(p.a_field, printf('offset 0x%x', p.a_offset)),
			coalesce(p.b_field, printf('offset 0x%x', p.b_offset)),
			iif(p.class = 'FS', 'false sharing', 'true sharing'),
			iif(w.pairs > 1, printf(' and %d pair%s more', w.pairs - 1, iif(w.pairs > 2, 's', '')), ''))
		 FROM pairs AS p WHERE p.trace_id = w.trace_id AND p.rank = w.rank) AS contends
	FROM mem_bound_finding AS m
	LEFT JOIN function AS f ON f.id = m.function_id
	LEFT JOIN paired AS w ON w.name = f.name AND w.trace_id =
		(SELECT coalesce(max(iif(trace_id = m.trace_id, trace_id, NULL)), max(trace_id))
		 FROM paired WHERE name = f.name)
)
SELECT
	l.trace_id,
	l.rank,
	coalesce(l.name, iif(l.offset IS NULL, NULL, printf('0x%x', l.offset))) AS function,
	d.path AS dso,
	l.source,
	l.samples,
	l.share,
	l.mem_bound,
	l.low,
	l.high,
	l.n,
	l.method,
	iif(l.contends IS NULL, l.tip,
		iif(l.tip IS NULL, '', l.tip || '. ') || l.contends || ': ' || l.command) AS tip,
	l.contends,
	iif(l.contends IS NULL, NULL, l.command) AS see
FROM led AS l
LEFT JOIN dso AS d ON d.id = l.binary_id
