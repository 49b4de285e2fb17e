-- Pairs of accesses that take a line from each other, from the evidence of the passes before.
--
-- A missing access meets the writes of other cores. If its bytes were not written (probability
-- 1 - p_true) the miss belongs to the writers of other bytes, in proportion to their rate: FS.
-- Else it belongs to the writers of its bytes: TS. The two directions, threads, and code
-- addresses of one function are one pair. Only lines with a verdict have pairs, at most
-- candidate_lines of each kind of evidence. A pair's cost is its part
-- of the line's, by the misses that have a latency; a pair with none (both sides are stores of an
-- event without latencies) has no cost.

DROP TABLE IF EXISTS temp.t_pair;
CREATE TEMP TABLE t_pair (line_id INTEGER, a INTEGER, b INTEGER, class, score, costed, misses,
    slices, place, share);
INSERT INTO t_pair
SELECT line_id, a, b, class, score,
       costed / nullif(sum(costed) OVER (PARTITION BY line_id), 0) AS costed, misses, slices,
       row_number() OVER (PARTITION BY line_id ORDER BY score DESC, a, b) AS place,
       score / sum(score) OVER (PARTITION BY line_id) AS share
FROM (SELECT m.line_id, min(m.side_id, t.side_id) AS a, max(m.side_id, t.side_id) AS b,
             CASE WHEN t.same THEN 'TS' ELSE 'FS' END AS class,
             sum(m.operations * t.writes * CASE WHEN t.same THEN r.p_true / r.same
                                           ELSE (1 - r.p_true) / (r.writes - r.same) END) AS score,
             sum(m.operations * m.costed * t.writes *
                 CASE WHEN t.same THEN r.p_true / r.same
                 ELSE (1 - r.p_true) / (r.writes - r.same) END) AS costed,
             sum(m.misses * t.writes * CASE WHEN t.same THEN r.p_true / r.same
                                       ELSE (1 - r.p_true) / (r.writes - r.same) END) AS misses,
             bit_or(t.slices) AS slices
      FROM t_verdict v CROSS JOIN t_missing m ON m.line_id = v.line_id
           CROSS JOIN t_attributed r ON r.missing_id = m.id
           CROSS JOIN t_meeting t ON t.missing_id = m.id
      WHERE v.verdict IN ('false', 'true', 'mixed', 'adjacent')
      GROUP BY m.line_id, a, b)
WHERE score > 0;
DELETE FROM t_pair WHERE share < (SELECT min_pair_share FROM t_parameter)
    OR place > (SELECT pairs_per_line FROM t_parameter);

-- What stands on each side: the samples, the code with most of them, the first 64 threads.
DROP TABLE IF EXISTS temp.t_side_part;
CREATE TEMP TABLE t_side_part (side_id INTEGER, code_id INTEGER, tid INTEGER, samples INTEGER);
INSERT INTO t_side_part
SELECT s.id, c.code_id, t.tid, sum(c.samples)
FROM t_cell c
     CROSS JOIN t_side s ON s.line_id = c.line_id AND s.offset = c.offset AND s.width = c.width
         AND s.op = c.op AND s.site = c.site
     LEFT JOIN thread t ON t.id = c.thread_id
-- (+ keeps SQLite from looking every side up by its id)
WHERE +s.id IN (SELECT a FROM t_pair UNION ALL SELECT b FROM t_pair)
GROUP BY s.id, t.tid, c.code_id;
DROP TABLE IF EXISTS temp.t_side_use;
CREATE TEMP TABLE t_side_use (side_id INTEGER PRIMARY KEY, samples INTEGER, code_id INTEGER, tids);
INSERT INTO t_side_use (side_id, samples, tids)
SELECT side_id, sum(samples), group_concat(tid) FILTER (WHERE place <= 64)
FROM (SELECT side_id, tid, sum(samples) AS samples,
             row_number() OVER (PARTITION BY side_id ORDER BY tid) AS place
      FROM t_side_part GROUP BY side_id, tid)
GROUP BY side_id;
WITH code AS MATERIALIZED
       (SELECT side_id, code_id, max(samples) -- SQLite takes code_id from the row of the maximum
        FROM (SELECT side_id, code_id, sum(samples) AS samples FROM t_side_part
              GROUP BY side_id, code_id)
        GROUP BY side_id)
UPDATE t_side_use SET code_id = code.code_id FROM code WHERE code.side_id = t_side_use.side_id;

-- What the writes of other bytes cost each thread. A miss without a latency costs what the trace's
-- others do. `waiting` is the part of loads that look at their bytes far more often than others
-- write them, or that may, where hits are not seen: loops that wait. At most, requests to own a copy
-- (upgrades) cost something too, and of each thread's misses as many are false as of the line's.
INSERT INTO thread_cost
 (trace_id, space_id, line, thread_id, misses, operations, cycles, cycles_most, waiting)
SELECT :trace, nullif(l.space, -1), l.line, nullif(m.thread_id, -1),
       sum(m.misses * others), sum(m.operations * others), sum(m.cycles * others),
       max(sum(m.cycles * others), sum(m.cycles * (1 - v.share))) +
           sum(m.upgrades * m.mean * (1 - v.share)) * (SELECT upgrade_share FROM t_parameter),
       total(CASE WHEN m.op = 1 AND m.same > 0 AND
                       (u.hits_hidden OR
                        u.operations > m.same * (SELECT wait_loads_per_write FROM t_parameter))
                  THEN m.cycles * others END)
FROM t_verdict v
     CROSS JOIN t_line l ON l.id = v.line_id
     -- misses that no sampled write can have caused are as the line's others
     CROSS JOIN (SELECT m.line_id, m.thread_id, m.misses, m.operations, s.op, s.offset, r.same,
                        1 - coalesce(r.p_true, w.share) AS others, m.upgrades, mean,
                        m.paid + m.operations * (1 - m.costed) * mean AS cycles
                 FROM (SELECT coalesce(sum(paid) / nullif(sum(operations * costed), 0),
                                       (SELECT assumed_miss_cycles FROM t_parameter)) AS mean
                       FROM t_missing)
                      CROSS JOIN t_verdict w CROSS JOIN t_missing m USING (line_id)
                      CROSS JOIN t_side s ON s.id = m.side_id
                      LEFT JOIN t_attributed r ON r.missing_id = m.id
                 WHERE w.verdict IN ('false', 'mixed')) m ON m.line_id = v.line_id
     LEFT JOIN (SELECT line_id, offset, coalesce(thread_id, -1) AS thread_id,
                       sum(operations) AS operations, max(hits_hidden) AS hits_hidden
                FROM t_cell WHERE op = 1 GROUP BY 1, 2, 3) u
         ON u.line_id = v.line_id AND u.offset = m.offset AND u.thread_id = m.thread_id
WHERE v.verdict IN ('false', 'mixed')
GROUP BY l.id, m.thread_id
HAVING sum(m.misses * others) > 0;

-- All misses of each thread on the lines looked at.
DROP TABLE IF EXISTS temp.t_thread;
CREATE TEMP TABLE t_thread AS
SELECT thread_id, sum(paid) AS paid FROM t_missing GROUP BY thread_id;

INSERT INTO pair_finding
 (trace_id, rank, line, space_id, class, kind, a_offset, a_width, a_op, a_code_id, a_function_id,
  a_tids, a_samples, b_offset, b_width, b_op, b_code_id, b_function_id, b_tids, b_samples, windows,
  score, cost_share, cost_low, cost_high, misses, evidence, verdict, reason_code, reason,
  pass_version)
SELECT :trace, row_number() OVER (ORDER BY p.score DESC, l.line, l.space, p.a, p.b), l.line,
       nullif(l.space, -1), p.class,
       CASE WHEN a.op IN (2, 3) AND b.op IN (2, 3) THEN 'SS' ELSE 'SL' END,
       a.offset, nullif(a.width, 0), a.op, ua.code_id, ka.function_id, coalesce(ua.tids, ''),
       ua.samples,
       b.offset, nullif(b.width, 0), b.op, ub.code_id, kb.function_id, coalesce(ub.tids, ''),
       ub.samples,
       popcount(p.slices), p.score, p.cost, min(p.cost * (1 - below), p.cost * (1 + above)),
       max(p.cost * (1 - below), p.cost * (1 + above)), p.misses,
       CASE WHEN t.method = 1 THEN 'access_order' WHEN t.transfers > 0 THEN 'transfer'
            WHEN t.method = 2 OR (l.pair AND t.costed > 0) THEN 'latency' ELSE 'l1_miss' END,
       CASE WHEN p.class <> 'FS' THEN 'true' WHEN l.pair THEN 'adjacent' ELSE 'false' END,
       CASE WHEN p.class <> 'FS' THEN 'common_bytes' WHEN l.pair THEN 'neighbouring_lines'
            ELSE 'disjoint_bytes' END,
       format('%s; %.0f %% of the line''s %s (%.1f samples%s), %d of %d time slices shared%s',
              CASE p.class WHEN 'FS' THEN 'Different bytes' ELSE 'Common bytes' END,
              100 * p.share, iif(t.method = 1, 'sampled accesses fit this pair',
                             'missing operations fit this pair'), p.misses,
              CASE WHEN t.method = 1 THEN ''
                   WHEN p.costed > 0 THEN ', each counted by its period'
                   ELSE ', each counted by its period; none has a latency, so no cost' END,
              popcount(p.slices), max(coalesce(f.slices, 1), popcount(p.slices)),
              CASE WHEN a.width = 0 OR b.width = 0 THEN '; an unknown width is taken as one byte'
              ELSE '' END), 1
FROM (SELECT p.*, CASE WHEN p.costed > 0
                       THEN p.costed * t.excess / nullif(g.whole, 0) END AS cost,
             -- fewer misses than the line has are known less well
             (1 - u.low) * sqrt(max(1, e.n / p.misses)) AS below,
             (u.high - 1) * sqrt(max(1, e.n / p.misses)) AS above
      FROM t_pair p JOIN t_total t USING (line_id) JOIN t_evidence e USING (line_id)
           JOIN t_bounds u USING (line_id), t_program g) p
     JOIN t_line l ON l.id = p.line_id JOIN t_total t ON t.line_id = p.line_id
     LEFT JOIN t_life f ON f.line_id = p.line_id
     JOIN t_side a ON a.id = p.a JOIN t_side b ON b.id = p.b
     JOIN t_side_use ua ON ua.side_id = p.a JOIN t_side_use ub ON ub.side_id = p.b
     LEFT JOIN code ka ON ka.id = ua.code_id LEFT JOIN code kb ON kb.id = ub.code_id;

DROP TABLE t_source;
DROP TABLE t_code;
DROP TABLE t_base;
DROP TABLE t_line;
DROP TABLE t_line_part;
DROP TABLE t_line_pair;
DROP TABLE t_cell;
DROP TABLE t_elsewhere;
DROP TABLE t_expected;
DROP TABLE t_core;
DROP TABLE t_life;
DROP TABLE t_use;
DROP TABLE t_side;
DROP TABLE t_missing;
DROP TABLE t_writing;
DROP TABLE t_meeting;
DROP TABLE t_attributed;
DROP TABLE t_total;
DROP TABLE t_evidence;
DROP TABLE t_verdict;
DROP TABLE t_bounds;
DROP TABLE t_p95;
DROP TABLE t_quiet;
DROP TABLE t_reason;
DROP TABLE t_pair;
DROP TABLE t_side_part;
DROP TABLE t_side_use;
