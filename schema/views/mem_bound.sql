-- Functions by memory boundness; where the file cannot tell, by memory latency under that name.
--
-- trace_id: trace.id
-- rank: from 1
-- function: its name; without a symbol the code's file offset in dso, hex
-- dso: binary
-- source: where the number comes from: cycles, spe_latency_share, load_latency_share
-- samples: samples of the function
-- share: its share of the trace's cycles, or of its sampled memory latency; NULL: too few samples
-- mem_bound: 0 to 1 by the formula in method; NULL: the tip says why
-- low: lower bound of mem_bound, else of share, 95 %
-- high: upper bound
-- n: samples behind the number
-- method: the formula of the ratio, with the events' names
-- tip: what to do, or why there is no number
CREATE VIEW mem_bound AS
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
	m.tip
FROM mem_bound_finding AS m
LEFT JOIN function AS f ON f.id = m.function_id
LEFT JOIN dso AS d ON d.id = coalesce(m.dso_id, f.dso_id)
