-- Cache lines, judged; the costliest first.
--
-- trace_id: trace.id
-- rank: from 1
-- line: address of the line, hex
-- size: bytes of the line; twice as many where two neighbours were judged as one: adjacent, latent
-- space_id: space.id
-- space: address space: kernel, or command name and pid
-- verdict: false, true, mixed, adjacent, latent, private, read-only, unknown
-- confidence: high, medium, low; NULL: the verdict is unknown or latent
-- object: data objects on the line, of a variable with the distance of the line in it; else in what it lies; NULL: not known
-- object_kind: kinds of these objects: variable, instance (of a type), block (of the heap, by what allocates it), heap, stack, file, shared, anonymous, kernel, unknown
-- type: its type; NULL: not known
-- samples: samples of the line
-- loads: of them, loads
-- stores: of them, stores
-- atomics: of them, read-modify-writes and locked accesses
-- hitm_local: served from a line modified in another core, same node; NULL: no sample tells, or only one thread
-- hitm_remote: the same, other node
-- peer_local: served from another core's cache, state not told or clean, same node
-- peer_remote: the same, other node
-- transfers: the four together; NULL: not known
-- threads: threads that touched it
-- cpus: CPUs that touched it; NULL: not recorded
-- nodes: NUMA nodes of those CPUs; NULL: not known
-- latency_mean: cycles, over the samples that have a latency
-- latency_p95: cycles
-- excess_latency: cycles above what hits would have paid, signed, over the run
-- cost_share: what the contention costs, as a share of what cost_of says; NULL: not computed
-- cost_low: lower bound, 95 %
-- cost_high: upper bound, 95 %
-- cost_of: what the cost is a share of: latency (all sampled memory latency), cycles (all sampled cycles)
-- gain_low: how many times faster the program is at least when the false sharing of the line and of the other lines of its object has ended; NULL: gain_reason says why
-- gain_high: the same, at most
-- gain_lines: lines that this repair ends
-- gain_reason_code: the rule that gave the gain, or why there is none; NULL: no false sharing
-- gain_reason: the same in a sentence, with its assumptions
-- group_rank: line_groups.rank of the finding that it belongs to, NULL: not contended
-- group_lines: lines of that finding
-- offsets: distinct sampled offsets
-- fields: struct fields at those offsets; NULL: not known
-- split: samples that reach into the next line; NULL: no width is known
-- writer_sampled: 1: a store or atomic of another CPU was sampled
-- evidence: transfer, l1_miss, latency, access_order; NULL: none
-- reason_code: the rule that gave the verdict
-- reason: the same in a sentence
CREATE VIEW top_lines AS
SELECT
	f.trace_id,
	f.rank,
	printf('0x%x', f.line) AS line,
	f.size,
	f.space_id,
	p.name AS space,
	f.verdict,
	f.confidence,
	coalesce((
		SELECT group_concat(object, ', ') FROM (
			SELECT object || iif(kind = 'variable' AND x.addr - x.offset < f.line,
				printf('+0x%x', f.line - (x.addr - x.offset)), '') AS object, min(x.addr)
			FROM data_fields AS x
			WHERE x.trace_id = f.trace_id AND x.space_id IS f.space_id
				AND x.addr BETWEEN f.line AND f.line + f.size - 1
				AND kind IN ('variable', 'instance')
			GROUP BY x.object ORDER BY min(x.addr))), (
		SELECT group_concat(location, ', ') FROM (
			SELECT location, min(x.addr)
			FROM data_places AS x
			WHERE x.trace_id = f.trace_id AND x.space_id IS f.space_id
				AND x.addr BETWEEN f.line AND f.line + f.size - 1
			GROUP BY place ORDER BY min(x.addr)))) AS object,
	(
		SELECT group_concat(kind, ', ') FROM (
			SELECT kind FROM data_fields AS x
			WHERE x.trace_id = f.trace_id AND x.space_id IS f.space_id
				AND x.addr BETWEEN f.line AND f.line + f.size - 1
			GROUP BY kind ORDER BY min(x.addr))) AS object_kind,
	(
		SELECT group_concat(type, ', ') FROM (
			SELECT type FROM data_fields AS x
			WHERE x.trace_id = f.trace_id AND x.space_id IS f.space_id
				AND x.addr BETWEEN f.line AND f.line + f.size - 1 AND type IS NOT NULL
			GROUP BY type ORDER BY min(x.addr))) AS type,
	f.samples,
	f.loads,
	f.stores,
	f.atomics,
	f.hitm_local,
	f.hitm_remote,
	f.peer_local,
	f.peer_remote,
	coalesce(f.hitm_local + f.hitm_remote, 0) + f.peer_local + f.peer_remote AS transfers,
	f.threads,
	f.cpus,
	f.nodes,
	f.latency_mean,
	f.latency_p95,
	f.excess_latency,
	f.cost_share,
	f.cost_low,
	f.cost_high,
	f.cost_of,
	g.gain_low,
	g.gain_high,
	g.lines AS gain_lines,
	g.reason_code AS gain_reason_code,
	g.reason AS gain_reason,
	f.group_rank,
	q.lines AS group_lines,
	f.offsets,
	(
		SELECT group_concat(field, ', ') FROM (
			SELECT field FROM data_fields AS x
			WHERE x.trace_id = f.trace_id AND x.space_id IS f.space_id
				AND x.addr BETWEEN f.line AND f.line + f.size - 1 AND field IS NOT NULL
			GROUP BY field ORDER BY min(x.addr))) AS fields,
	f.split,
	f.writer_sampled,
	f.evidence,
	f.reason_code,
	f.reason
FROM line_finding AS f
LEFT JOIN spaces AS p ON p.id = f.space_id
LEFT JOIN gain_finding AS g ON g.trace_id = f.trace_id AND g.unit = f.gain_unit
LEFT JOIN line_group AS q ON q.trace_id = f.trace_id AND q.rank = f.group_rank
