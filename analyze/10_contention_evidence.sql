-- Contention evidence: which accesses of which lines left their core's private caches, and which
-- writes of other CPUs can have caused it. Makes TEMP tables for the next two passes.
--
-- Definition (design.md, "Verdicts"): contention needs two threads on two cores, at least one
-- writer, and overlap in time. An access is a miss when the hardware says that it was served from
-- another core's cache, or that it missed L1 and was not served by L2, a fill buffer or memory;
-- where a file has neither sources nor cache events, when it was slow for its operation. A miss
-- is put down to the writes that other cores made to the line while the missing thread used it,
-- in proportion to their rate.
--
-- Was it the write of the same bytes? Let f be the share of such writes among those of other
-- cores, and q the probability of any write by another core since the thread's last access. For
-- random arrival a renewal argument gives
--     P(same bytes written | miss) = f / (q f + 1 - q):
-- f where a thread looks often and rarely misses (the first write is the one it sees), 1 where it
-- always misses (sooner or later its bytes were written). The other misses found only other bytes
-- written: false sharing. q is the share of accesses that miss, of the code that misses most often
-- at that place: what a thread finds when it comes back after its longest absence.
--
-- Events are sampled at different rates, so all shares are of operations (samples x period). An
-- event with a latency threshold shows misses but no hits. With M the thread's misses and F the
-- others' writes, random arrival gives q = 1 - M / F (1/M = 1/accesses + 1/F). The thread's own
-- writes of the bytes tell more: it comes to a place at least as often as it writes there, so q is
-- at most the misses per own write; and where there are more misses than own writes it waits
-- there, so that only one miss per own write comes after an absence and the others have q = 0.

DROP TABLE IF EXISTS temp.t_event;
CREATE TEMP TABLE t_event AS
SELECT e.id, e.role, coalesce(e.role, '') IN ('watch_write', 'watch_access') AS watch,
       e.config2 AS watch_length,
       CASE e.role
       WHEN 'load' THEN CASE WHEN e.config1 BETWEEN 1 AND 65535 THEN e.config1 END
       WHEN 'spe' THEN nullif(e.config2 & 4095, 0)
       END AS threshold,
       -- x86 counts a locked operation in both events: its misses are seen at the load, its
       -- writes at the store
       coalesce(e.role, '') = 'load' AND x.store AS write_elsewhere,
       coalesce(e.role, '') = 'store' AND x.load AS load_elsewhere,
       -- a thread that reads a line is among its samples
       e.samples > 0 AND coalesce(e.role, '') IN ('load', 'load_store', 'spe', 'ibs_op') AS reads,
       -- how many operations one sample stands for, where the samples do not say
       coalesce(nullif(e.period_sum, 0) * 1.0 / nullif(e.samples, 0), e.sample_period, 1) AS period,
       -- what its data sources tell
       v.sees_source, v.sees_transfer, v.sees_dirty
FROM event e,
     (SELECT coalesce(max(role = 'store'), 0) AS store, coalesce(max(role = 'load'), 0) AS load
      FROM event WHERE trace_id = :trace AND samples > 0) x
JOIN event_sources v ON v.event_id = e.id
WHERE e.trace_id = :trace;

-- Where an access was served: 1 another core's cache, 0 nearer or from memory, NULL not told. owned:
-- in L1, or not told, as of stores; where it was slow and did not miss, it waited to own its line.
DROP TABLE IF EXISTS temp.t_source;
CREATE TEMP TABLE t_source (id INTEGER PRIMARY KEY, name, missed, transfer, level, owned);
INSERT INTO t_source
SELECT id, name,
       CASE WHEN transfer THEN 1
            WHEN name IN ('l3', 'l2_miss', 'l3_miss') THEN 1
            WHEN level = '' THEN NULL
            ELSE 0 END,
       transfer, level, level = 'l1' OR name = 'none'
FROM source_class;

-- Codes with a locked or atomic sample: then their store samples are atomic too. The instruction
-- alone does not tell: `add $1, (mem)` reads and writes, but its two halves collide one by one.
DROP TABLE IF EXISTS temp.t_code;
CREATE TEMP TABLE t_code (id INTEGER PRIMARY KEY, op INTEGER, width INTEGER, site INTEGER,
    instruction INTEGER);
INSERT INTO t_code
SELECT k.id,
       CASE WHEN k.id IN (SELECT code_id FROM code_total WHERE trace_id = :trace AND op = 3)
            THEN 3 END,
       k.width, coalesce(k.function_id, -k.id), k.op
FROM code k WHERE k.trace_id = :trace;

-- What a hit of each operation takes: the median of L1 hits; of all samples where hits are not
-- marked; at most the threshold where the event has one, since its hits lie below. Too few samples
-- may all come from the contended lines themselves: then the event's quickest operation that has
-- enough stands in; without one there is no baseline, and no cost. An atomic that found its line in
-- L1 may have waited there for the line, which more samples do not cure: its baseline is at most
-- slow_factor times that of the quickest operation, and there is none by code.
DROP TABLE IF EXISTS temp.t_base;
CREATE TEMP TABLE t_base (event_id INTEGER, op INTEGER, code_id INTEGER, base,
    PRIMARY KEY (event_id, op, code_id)) WITHOUT ROWID;
INSERT INTO t_base
SELECT event_id, op, -1,
       CASE WHEN threshold IS NOT NULL THEN threshold
            WHEN n < min_base_samples OR median IS NULL THEN quickest
            WHEN op = 3 THEN min(median, coalesce(slow_factor * quickest, median))
            ELSE median END
FROM (SELECT *, min(CASE WHEN n >= min_base_samples THEN median END)
                    OVER (PARTITION BY event_id) AS quickest
      FROM (SELECT t.event_id, t.op, e.threshold,
                   total(CASE WHEN s.level = 'l1' OR NOT e.sees_source
                              THEN t.latency_samples END) AS n,
                   histogram_quantile(t.latency_histogram, 0.5)
                       FILTER (WHERE s.level = 'l1' OR NOT e.sees_source) AS median
            FROM code_total t JOIN t_event e ON e.id = t.event_id JOIN t_source s ON s.id = t.source
            WHERE t.trace_id = :trace AND t.latency_samples > 0
            GROUP BY t.event_id, t.op), t_parameter);
INSERT INTO t_base
SELECT t.event_id, t.op, t.code_id, histogram_quantile(t.latency_histogram, 0.5)
FROM code_total t JOIN t_event e ON e.id = t.event_id JOIN t_source s ON s.id = t.source
WHERE t.trace_id = :trace AND s.level = 'l1' AND e.threshold IS NULL AND t.code_id IS NOT NULL
    AND t.op <> 3
GROUP BY t.event_id, t.op, t.code_id
HAVING sum(t.latency_samples) >= (SELECT min_base_samples FROM t_parameter);

-- All accesses of the program and their latency, as far as the file can tell, and what costs are a
-- share of.
DROP TABLE IF EXISTS temp.t_program;
CREATE TEMP TABLE t_program AS
SELECT max(loads + stores, CASE WHEN hidden THEN stores * (1 + loads_per_store) ELSE 0 END)
           AS operations,
       latency, coalesce(cycles, latency) AS whole, iif(cycles IS NULL, 'latency', 'cycles')
           AS whole_of,
       (SELECT line_size FROM trace WHERE id = :trace) AS line_size
FROM (SELECT total(CASE WHEN op <> 2 AND NOT load_elsewhere THEN weight * samples END) AS loads,
             total(CASE WHEN op = 2 OR load_elsewhere THEN weight * samples END) AS stores,
             total(latency_sum * weight) AS latency,
             max(role = 'load' AND threshold IS NOT NULL) AS hidden
      FROM (SELECT t.op, t.samples, t.latency_sum, e.load_elsewhere, e.threshold,
                   coalesce(e.role, '') AS role,
                   CASE WHEN t.period > 0 THEN t.period * 1.0 / t.samples ELSE e.period END
                       AS weight
            FROM code_total t JOIN t_event e ON e.id = t.event_id
            WHERE t.trace_id = :trace AND t.op IN (1, 2, 3))), t_parameter,
     (SELECT CASE WHEN total(p.samples) >= (SELECT min_profile_samples FROM t_parameter)
                  THEN sum(p.value) END AS cycles
      FROM profile p JOIN event e ON e.id = p.event_id
      WHERE e.trace_id = :trace AND e.role = 'cycles');

-- Lines worth a look: shared, written or snooped, with enough samples to reach min_program_share
-- if all of them were misses; the strongest by each kind of evidence.
DROP TABLE IF EXISTS temp.t_line;
CREATE TEMP TABLE t_line (id INTEGER PRIMARY KEY, space INTEGER, line INTEGER, size INTEGER,
    pair INTEGER, UNIQUE (line, space, size));
WITH shared AS MATERIALIZED
       (SELECT coalesce(space_id, -1) AS space, line, transfers, latency_sum,
               stores + atomics AS writes
        FROM line_total
        WHERE trace_id = :trace AND threads > 1 AND (stores + atomics > 0 OR transfers > 0)
          AND samples >= (SELECT max(min_miss_samples, min_program_share * operations /
                                                       (SELECT max(period) FROM t_event))
                          FROM t_parameter, t_program)),
     strongest AS
       (SELECT * FROM (SELECT space, line FROM shared WHERE transfers > 0
                       ORDER BY transfers DESC, line, space
                       LIMIT (SELECT candidate_lines FROM t_parameter))
        UNION
        SELECT * FROM (SELECT space, line FROM shared ORDER BY latency_sum DESC, line, space
                       LIMIT (SELECT candidate_lines FROM t_parameter))
        UNION
        SELECT * FROM (SELECT space, line FROM shared ORDER BY writes DESC, line, space
                       LIMIT (SELECT candidate_lines FROM t_parameter)))
INSERT INTO t_line (space, line, size, pair)
SELECT DISTINCT space, line & -line_size, line_size, 0 FROM strongest, t_program ORDER BY 2, 1;

-- Two halves of a wide line may belong to two threads: which, only the accesses tell.
INSERT OR IGNORE INTO t_line (space, line, size, pair)
SELECT coalesce(space_id, -1), line & -line_size AS wide, line_size, 0
FROM access, t_program, t_parameter
WHERE trace_id = :trace AND line_size > 64
GROUP BY 1, 2
HAVING min(coalesce(thread_id, -1)) < max(coalesce(thread_id, -1))
   AND max(op IN (2, 3) OR source IN (SELECT id FROM t_source WHERE transfer))
   AND sum(samples) >= max(min_miss_samples, min_program_share * operations /
                                             (SELECT max(period) FROM t_event))
ORDER BY total(samples) DESC, wide, 1
LIMIT (SELECT candidate_lines FROM t_parameter);

-- Neighbours that are one line where the hardware moves both: each belongs to a thread of its own,
-- both are written, at the same time. They are lines of twice the size here, and 20 judges whether
-- they paid for it.
INSERT OR IGNORE INTO t_line (space, line, size, pair)
WITH share AS MATERIALIZED
       (SELECT coalesce(space_id, -1) AS space, line & -line_size AS line, thread_id,
               sum(samples) AS samples, total(CASE WHEN op IN (2, 3) THEN samples END) AS writes,
               min(first_ns) AS first_ns, max(last_ns) AS last_ns
        FROM access, t_program
        WHERE trace_id = :trace AND thread_id IS NOT NULL AND op IN (1, 2, 3)
          AND line_size BETWEEN 64 AND 128
        GROUP BY 1, 2, 3),
     -- SQLite takes the other columns from the row of the maximum
     owned AS MATERIALIZED
       (SELECT space, line, thread_id, max(samples) AS samples, writes, first_ns, last_ns
        FROM share, t_parameter
        GROUP BY space, line
        HAVING max(samples) >= class_share * sum(samples) AND max(samples) >= min_miss_samples)
SELECT a.space, a.line, 2 * line_size, 1
FROM owned a JOIN t_program JOIN owned b ON b.space = a.space AND b.line = a.line + line_size
WHERE a.line & line_size = 0 AND a.thread_id <> b.thread_id AND a.writes > 0 AND b.writes > 0
  AND (a.first_ns IS NULL OR b.first_ns IS NULL OR
       (a.first_ns <= b.last_ns AND b.first_ns <= a.last_ns))
ORDER BY min(a.writes, b.writes) DESC, a.line, a.space
LIMIT (SELECT candidate_lines FROM t_parameter);

-- The lines of the roll-ups, of 64 bytes, that each of them is made of.
DROP TABLE IF EXISTS temp.t_line_part;
CREATE TEMP TABLE t_line_part (line INTEGER, space INTEGER, line_id INTEGER,
    PRIMARY KEY (line, space, line_id)) WITHOUT ROWID;
INSERT INTO t_line_part
SELECT l.line + 64 * k.value, l.space, l.id
FROM t_line l JOIN json_each('[0, 1, 2, 3]') k ON k.value < max(1, l.size / 64);

-- Their accesses, one row per place, code, operation, thread and CPU.
DROP TABLE IF EXISTS temp.t_cell;
CREATE TEMP TABLE t_cell (line_id INTEGER, offset INTEGER, op INTEGER, code_id INTEGER,
    thread_id INTEGER, cpu INTEGER, width INTEGER, site INTEGER, samples, operations, writes,
    misses, miss_operations, unsure_operations, uncosted, hits_hidden, method, told, dirty_told,
    transfers, hitm_local, hitm_remote, peer_local, peer_remote, dirty_snoops, latency_samples, latency_sum,
    excess, paid, first_ns INTEGER, last_ns INTEGER);
INSERT INTO t_cell
SELECT line_id, offset, op, code_id, thread_id, cpu, coalesce(max(width), 0) AS width,
       coalesce(max(site), 0) AS site,
       sum(samples) AS samples, sum(samples * weight) AS operations,
       total(CASE WHEN writing THEN samples * weight END) AS writes,
       sum(misses) AS misses, sum(misses * weight) AS miss_operations,
       total(CASE WHEN unsure THEN misses * weight END) AS unsure_operations,
       total(CASE WHEN latency_samples = 0 OR base IS NULL THEN misses * weight END) AS uncosted,
       max(hits_hidden) AS hits_hidden, max(method) AS method,
       sum(told * samples) AS told, sum(told * sees_dirty * samples) AS dirty_told,
       sum(transfer * samples) AS transfers,
       sum((source = 7) * samples) AS hitm_local, sum((source = 8) * samples) AS hitm_remote,
       sum((source IN (6, 9)) * samples) AS peer_local,
       sum((source IN (10, 11)) * samples) AS peer_remote,
       sum(dirty_snoops) AS dirty_snoops,
       sum(latency_samples) AS latency_samples, sum(latency_sum) AS latency_sum,
       total(CASE WHEN misses > 0 OR method = 2
                  THEN weight * (latency_sum - latency_samples * base) END) AS excess,
       -- the same, where hits are below the event's threshold with what they cost at most
       total(CASE WHEN misses > 0 OR method = 2
                  THEN weight * (latency_sum - latency_samples *
                                 iif(hits_hidden, min(base, assumed_hit_cycles), base)) END)
           AS paid,
       min(first_ns), max(last_ns)
FROM (SELECT l.id AS line_id, a.addr - l.line AS offset,
             CASE WHEN k.op = 3 THEN 3 ELSE a.op END AS op, a.code_id, a.thread_id, a.cpu, k.width,
             k.site, a.samples,
             CASE WHEN a.period > 0 THEN a.period * 1.0 / a.samples ELSE e.period END AS weight,
             (a.op IN (2, 3) OR k.op = 3) AND NOT e.write_elsewhere AS writing,
             CASE WHEN s.transfer OR (l.pair AND s.name = 'l1_miss') THEN a.samples
                  WHEN e.load_elsewhere AND k.op = 3 THEN 0
                  WHEN s.missed IS NOT NULL AND NOT l.pair THEN s.missed * a.samples
                  WHEN a.l1_misses > 0 AND NOT l.pair THEN a.l1_misses
                  WHEN iif(l.pair, s.owned AND a.l1_misses = 0, NOT e.sees_source) AND
                       a.latency_samples > 0 AND coalesce(bc.base, bo.base) IS NOT NULL
                  THEN histogram_above(a.latency_histogram, coalesce(bc.base, bo.base) *
                                       (SELECT slow_factor FROM t_parameter))
                  ELSE 0 END AS misses,
             -- a store that missed L1, or a locked access that found clean copies, may only have
             -- had to make a shared copy its own
             coalesce(e.role, '') = 'store' OR (a.source = 6 AND (a.op = 3 OR k.op = 3)) AS unsure,
             e.threshold IS NOT NULL AS hits_hidden,
             CASE WHEN e.sees_source THEN 0 ELSE 2 END AS method,
             e.sees_transfer AND s.name NOT IN ('none', 'unknown') AS told,
             e.sees_dirty, a.source, s.transfer, a.dirty_snoops, a.latency_samples, a.latency_sum,
             coalesce(bc.base, bo.base) AS base, a.first_ns, a.last_ns,
             (SELECT assumed_hit_cycles FROM t_parameter) AS assumed_hit_cycles
      FROM access a
           CROSS JOIN t_line_part p ON p.line = a.line AND p.space = coalesce(a.space_id, -1)
           CROSS JOIN t_line l ON l.id = p.line_id
           JOIN t_event e ON e.id = a.event_id
           JOIN t_source s ON s.id = a.source
           LEFT JOIN t_code k ON k.id = a.code_id
           LEFT JOIN t_base bc ON bc.event_id = a.event_id AND bc.op = a.op
               AND bc.code_id = a.code_id
           LEFT JOIN t_base bo ON bo.event_id = a.event_id AND bo.op = a.op AND bo.code_id = -1
      WHERE a.trace_id = :trace AND a.op IN (0, 1, 2, 3) AND NOT e.watch)
GROUP BY line_id, offset, op, code_id, thread_id, cpu;

-- Watchpoints. The access event fires for writes too: the loads of a code are what is left when
-- the samples of the write event are taken off, and the two are never added. There is no source
-- and no latency, so any access may have missed; overlap in time decides (method 1).
INSERT INTO t_cell
SELECT line_id, offset, op, code_id, thread_id, cpu, coalesce(width, 0), coalesce(site, 0),
       samples, samples * weight, CASE WHEN op IN (2, 3) THEN samples * weight ELSE 0.0 END,
       samples, samples * weight, 0.0, samples * weight,
       0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0, first_ns, last_ns
FROM (SELECT line_id, offset, code_id, thread_id, cpu, width, site, weight, kind.op,
             first_ns, last_ns,
             CASE WHEN kind.op = 1 THEN any_access - writes ELSE writes END AS samples
      FROM (SELECT l.id AS line_id, a.addr - l.line AS offset, a.code_id, a.thread_id, a.cpu,
                   coalesce(k.width, max(e.watch_length)) AS width, k.site,
                   k.instruction AS code_op,
                   max(e.period) AS weight, min(a.first_ns) AS first_ns, max(a.last_ns) AS last_ns,
                   total(CASE WHEN e.role = 'watch_access' THEN a.samples END) AS any_access,
                   total(CASE WHEN e.role = 'watch_write' THEN a.samples END) AS writes
            FROM access a
                 CROSS JOIN t_line_part p ON p.line = a.line AND p.space = coalesce(a.space_id, -1)
                 CROSS JOIN t_line l ON l.id = p.line_id AND NOT l.pair
                 JOIN t_event e ON e.id = a.event_id
                 LEFT JOIN t_code k ON k.id = a.code_id
            WHERE a.trace_id = :trace AND e.watch
            GROUP BY line_id, offset, a.code_id, a.thread_id, a.cpu),
           (SELECT 1 AS op UNION ALL SELECT 2 UNION ALL SELECT 3) kind
      WHERE kind.op = CASE WHEN code_op IN (2, 3) THEN code_op WHEN kind.op = 1 THEN 1 ELSE 2 END)
WHERE samples > 0;

-- Samples that a pair of neighbours would count as misses at the rate of the same code elsewhere, or
-- of the program: want of room, interrupts and threads that move between CPUs make such misses, too.
DROP TABLE IF EXISTS temp.t_elsewhere;
CREATE TEMP TABLE t_elsewhere (op INTEGER, code_id INTEGER, samples, misses,
    PRIMARY KEY (op, code_id)) WITHOUT ROWID;
WITH part AS
       (SELECT 1 AS sign, event_id, op, code_id, source, samples, latency_samples, latency_histogram
        FROM code_total WHERE trace_id = :trace
        UNION ALL
        SELECT -1, event_id, op, code_id, source, samples, latency_samples, latency_histogram
        FROM access
        WHERE trace_id = :trace AND (line, coalesce(space_id, -1)) IN
              (SELECT line, space FROM t_line_part)),
     missing AS MATERIALIZED
       (SELECT CASE WHEN k.op = 3 THEN 3 ELSE t.op END AS op, coalesce(t.code_id, -1) AS code_id,
               sum(sign * samples) AS samples,
               total(sign * CASE WHEN s.transfer OR s.name = 'l1_miss' THEN samples
                            WHEN s.owned AND latency_samples > 0 AND
                                 coalesce(bc.base, bo.base) IS NOT NULL
                            THEN histogram_above(latency_histogram,
                                                 coalesce(bc.base, bo.base) * slow_factor)
                            ELSE 0 END) AS misses
        FROM part t JOIN t_event e ON e.id = t.event_id JOIN t_source s ON s.id = t.source
             LEFT JOIN t_code k ON k.id = t.code_id
             LEFT JOIN t_base bc ON bc.event_id = t.event_id AND bc.op = t.op
                 AND bc.code_id = t.code_id
             LEFT JOIN t_base bo ON bo.event_id = t.event_id AND bo.op = t.op AND bo.code_id = -1,
             t_parameter
        WHERE NOT e.watch AND EXISTS (SELECT 1 FROM t_line WHERE pair)
        GROUP BY 1, 2)
INSERT INTO t_elsewhere
SELECT op, code_id, samples, misses FROM missing
WHERE code_id >= 0 AND samples >= (SELECT min_base_samples FROM t_parameter)
UNION ALL
SELECT op, -1, sum(samples), sum(misses) FROM missing GROUP BY op HAVING sum(samples) > 0;
DROP TABLE IF EXISTS temp.t_expected;
CREATE TEMP TABLE t_expected (line_id INTEGER PRIMARY KEY, samples);
INSERT INTO t_expected
SELECT c.line_id, total(c.samples * max(0, coalesce(k.misses / k.samples, o.misses / o.samples)))
FROM t_cell c JOIN t_line l ON l.id = c.line_id
     LEFT JOIN t_elsewhere k ON k.op = c.op AND k.code_id = c.code_id
     LEFT JOIN t_elsewhere o ON o.op = c.op AND o.code_id = -1
WHERE l.pair
GROUP BY c.line_id;

-- Cores of the cells: two SMT threads share one cache. Without a CPU the thread stands for it.
DROP TABLE IF EXISTS temp.t_core;
CREATE TEMP TABLE t_core (cpu INTEGER PRIMARY KEY, core INTEGER, node INTEGER);
INSERT INTO t_core SELECT cpu, coalesce(core, cpu), node FROM cpu WHERE trace_id = :trace;

-- When each thread used each place: a bit per slice of the line's life.
DROP TABLE IF EXISTS temp.t_use;
CREATE TEMP TABLE t_use (line_id INTEGER, offset INTEGER, thread_id INTEGER, slices INTEGER,
    PRIMARY KEY (line_id, offset, thread_id)) WITHOUT ROWID;
DROP TABLE IF EXISTS temp.t_life;
CREATE TEMP TABLE t_life (line_id INTEGER PRIMARY KEY, first INTEGER, span INTEGER, slices INTEGER);
INSERT INTO t_life
SELECT line_id, first, last - first + 1,
       max(1, min(last - first + 1, time_slices, CAST(samples / samples_per_slice AS INTEGER)))
FROM (SELECT c.line_id, min(c.first_ns) / t.window_ns AS first,
             max(c.last_ns) / t.window_ns AS last, sum(c.samples) AS samples
      FROM t_cell c, (SELECT window_ns FROM trace WHERE id = :trace) t
      GROUP BY c.line_id), t_parameter;
INSERT INTO t_use
SELECT l.id, w.addr - l.line, coalesce(w.thread_id, -1),
       bit_or(1 << min(max((w.window - f.first) * f.slices / f.span, 0), 62))
FROM access_window w
     CROSS JOIN t_line_part p ON p.line = w.line AND p.space = coalesce(w.space_id, -1)
     CROSS JOIN t_line l ON l.id = p.line_id
     CROSS JOIN t_life f ON f.line_id = l.id
WHERE w.trace_id = :trace
GROUP BY 1, 2, 3;

-- Sides of pairs: the same bytes, operation and function are one side. Ids rise with the offset.
DROP TABLE IF EXISTS temp.t_side;
CREATE TEMP TABLE t_side (id INTEGER PRIMARY KEY, line_id INTEGER, offset INTEGER, width INTEGER,
    op INTEGER, site INTEGER, UNIQUE (line_id, offset, width, op, site));
INSERT INTO t_side (line_id, offset, width, op, site)
SELECT DISTINCT line_id, offset, width, op, site FROM t_cell WHERE misses > 0 OR writes > 0
ORDER BY 1, 2, 3, 4, 5;

-- The missing accesses. Some events cannot tell a miss from a request to own a copy that the core
-- holds already (Intel's stores: data-src.md 3.5). Each such request takes away copies that other
-- cores had fetched by missing, so there are no more of them than misses; what exceeds the line's
-- certain misses, beyond twice the sampling error of both, counts.
DROP TABLE IF EXISTS temp.t_missing;
CREATE TEMP TABLE t_missing (id INTEGER PRIMARY KEY, line_id INTEGER, core INTEGER,
    thread_id INTEGER, side_id INTEGER, first INTEGER, last INTEGER, misses, operations, costed,
    paid, upgrades, q, q_limit, slices INTEGER);
WITH doubt AS MATERIALIZED
       (SELECT line_id,
               CASE WHEN sure = 0 THEN 1
                    WHEN sure + 2 * sure / sqrt(n_sure) < unsure - 2 * unsure / sqrt(n_unsure)
                    THEN 1 - sure / unsure
                    ELSE 0 END AS kept
        FROM (SELECT line_id, sum(unsure_operations) AS unsure,
                     total(CASE WHEN unsure_operations > 0 THEN misses END) AS n_unsure,
                     sum(miss_operations - unsure_operations) AS sure,
                     max(1, total(CASE WHEN unsure_operations = 0 THEN misses END)) AS n_sure
              FROM t_cell GROUP BY line_id)
        WHERE unsure > 0),
     visit AS MATERIALIZED
       (SELECT line_id, offset, thread_id,
               (total(miss_operations) - total(unsure_operations)) / nullif(total(writes), 0)
                   AS q_limit
        FROM t_cell GROUP BY line_id, offset, thread_id),
     place AS MATERIALIZED
       (SELECT line_id, offset, max(q) AS q
        FROM (SELECT line_id, offset,
                     CASE WHEN max(hits_hidden) OR max(method) = 1 THEN NULL
                          WHEN sum(samples) < (SELECT min_miss_samples FROM t_parameter) THEN 0
                          ELSE total(miss_operations) / sum(operations) END AS q
              FROM t_cell GROUP BY line_id, offset, op, code_id)
        GROUP BY line_id, offset)
INSERT INTO t_missing (line_id, core, thread_id, side_id, first, last, misses, operations, costed,
    paid, upgrades, q, q_limit, slices)
SELECT c.line_id, coalesce(o.core, c.cpu, -1 - c.thread_id), coalesce(c.thread_id, -1), s.id,
       c.offset, c.offset + max(s.width, 1),
       c.misses * (1 - c.unsure_operations * (1 - coalesce(d.kept, 0)) / c.miss_operations),
       c.miss_operations - c.unsure_operations * (1 - coalesce(d.kept, 0)),
       1 - c.uncosted / c.miss_operations,
       c.paid * (1 - c.unsure_operations * (1 - coalesce(d.kept, 0)) / c.miss_operations),
       c.unsure_operations * (1 - coalesce(d.kept, 0)),
       CASE WHEN NOT c.hits_hidden THEN p.q END, v.q_limit,
       coalesce(u.slices, -1)
FROM t_cell c
     LEFT JOIN doubt d ON d.line_id = c.line_id
     CROSS JOIN place p ON p.line_id = c.line_id AND p.offset = c.offset
     CROSS JOIN visit v ON v.line_id = c.line_id AND v.offset = c.offset
         AND v.thread_id IS c.thread_id
     CROSS JOIN t_side s ON s.line_id = c.line_id AND s.offset = c.offset AND s.width = c.width
         AND s.op = c.op AND s.site = c.site
     LEFT JOIN t_core o ON o.cpu = c.cpu
     LEFT JOIN t_use u ON u.line_id = c.line_id AND u.offset = c.offset
         AND u.thread_id = coalesce(c.thread_id, -1)
WHERE c.misses > 0
ORDER BY c.line_id;
CREATE INDEX temp.t_missing_line ON t_missing (line_id);

DROP TABLE IF EXISTS temp.t_writing;
CREATE TEMP TABLE t_writing (line_id INTEGER, id, core INTEGER, thread_id INTEGER, side_id INTEGER,
    first INTEGER, last INTEGER, samples, operations, slices INTEGER,
    PRIMARY KEY (line_id, id)) WITHOUT ROWID;
INSERT INTO t_writing
SELECT c.line_id, row_number() OVER (), coalesce(o.core, c.cpu, -1 - c.thread_id) AS actor,
       coalesce(c.thread_id, -1), s.id, c.offset,
       c.offset + max(s.width, 1), sum(c.samples), sum(c.writes), coalesce(u.slices, -1)
FROM t_cell c
     CROSS JOIN t_side s ON s.line_id = c.line_id AND s.offset = c.offset AND s.width = c.width
         AND s.op = c.op AND s.site = c.site
     LEFT JOIN t_core o ON o.cpu = c.cpu
     LEFT JOIN t_use u ON u.line_id = c.line_id AND u.offset = c.offset
         AND u.thread_id = coalesce(c.thread_id, -1)
WHERE c.writes > 0
GROUP BY c.line_id, s.id, actor, c.thread_id;

-- Who can have caused what: the writes of another thread on another core, as far as they fall
-- into slices in which the missing thread used its place.
DROP TABLE IF EXISTS temp.t_meeting;
CREATE TEMP TABLE t_meeting (missing_id INTEGER, writing_id INTEGER, side_id INTEGER, writes, same,
    slices INTEGER, PRIMARY KEY (missing_id, writing_id)) WITHOUT ROWID;
INSERT INTO t_meeting
SELECT m.id, w.id, w.side_id, w.operations * popcount(m.slices & w.slices) / popcount(w.slices),
       m.first < w.last AND w.first < m.last, m.slices & w.slices
FROM t_missing m CROSS JOIN t_writing w ON w.line_id = m.line_id
WHERE w.core <> m.core AND w.thread_id <> m.thread_id AND m.slices & w.slices <> 0
    AND m.operations > 0;

DROP TABLE IF EXISTS temp.t_attributed;
CREATE TEMP TABLE t_attributed (missing_id INTEGER PRIMARY KEY, line_id INTEGER, writes, same,
    p_true);
WITH seen AS
       (SELECT m.id, m.line_id, m.thread_id, m.q, m.q_limit, m.operations,
               sum(t.writes) AS writes, total(CASE WHEN t.same THEN t.writes END) AS same
        FROM t_meeting t CROSS JOIN t_missing m ON m.id = t.missing_id
        GROUP BY t.missing_id),
     rated AS
       (SELECT *, same / writes AS f,
               min(1, coalesce(q, min(coalesce(q_limit, 1),
                                      max(0, 1 - sum(operations) OVER thread
                                          / max(writes) OVER thread)))) AS ratio
        FROM seen WINDOW thread AS (PARTITION BY line_id, thread_id))
INSERT INTO t_attributed
SELECT id, line_id, writes, same,
       CASE WHEN f >= 1 THEN 1.0
            WHEN f <= 0 THEN 0.0 -- also where q is 1 and the ratio would be 0 / 0
            WHEN q IS NULL AND q_limit > 1 THEN (f / (ratio * f + 1 - ratio) + (q_limit - 1) * f)
                / q_limit
            ELSE f / (ratio * f + 1 - ratio) END
FROM rated;
