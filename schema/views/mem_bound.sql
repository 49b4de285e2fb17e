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
-- tip: what to do, or why there is no number
-- see: command for the pairs that the function takes part in, of this trace, else of the newest that has such; NULL: none
CREATE VIEW mem_bound AS
WITH paired AS MATERIALIZED (
	SELECT DISTINCT f.name, p.trace_id
	FROM pair_finding AS p
	JOIN function AS f ON f.id IN (p.a_function_id, p.b_function_id)
)
SELECT
	m.trace_id,
	m.rank,
	coalesce(f.name, iif(m.offset IS NULL, NULL, printf('0x%x', m.offset))) AS function,
	d.path AS dso,
	m.source,
	m.samples,
	m.share,
	m.mem_bound,
	m.low,
	m.high,
	m.n,
	m.method,
	m.tip,
	(SELECT printf('fsquery pairs --trace %d --sym ''%s''', own.trace_id, replace(own.name, '''', '''\'''''))
	 FROM (SELECT name, coalesce(max(iif(trace_id = m.trace_id, trace_id, NULL)), max(trace_id)) AS trace_id
		FROM paired WHERE name = f.name GROUP BY name) AS own) AS see
FROM mem_bound_finding AS m
LEFT JOIN function AS f ON f.id = m.function_id
LEFT JOIN dso AS d ON d.id = coalesce(m.dso_id, f.dso_id)
