-- Lines with their verdict, from the evidence of the pass before.
--
-- false or true: at least class_share of the attributed misses found other bytes, or the same
-- bytes, written by another core. mixed: neither, or both classes are established and the share is
-- within a standard error of the limit (mixed claims less). adjacent: two lines side by side, each
-- of a thread of its own, that are not contended by themselves and yet pass between caches or are
-- waited for slow_factor times as often as the same code waits elsewhere; latent: the same where
-- nothing tells that, on a CPU that moves such lines together (line_pairs). Otherwise unknown;
-- reason_code says why:
--     writer_not_sampled  misses, but no write of another core was sampled
--     threads_unknown     misses, but the file does not tell the threads
--     no_overlap          another core wrote, but never while the missing threads used the line
--     too_few_samples     too few misses, and the capture is too thin to say that there were none;
--                         or too few writes to say which bytes were written
--     below_threshold     misses are rarer than min_line_share or min_program_share
-- Ranked by cost: the excess latency of the misses; for misses without a latency the trace's mean
-- excess per miss stands in. cost_share is the excess as a share of all sampled cycles where cycles
-- were sampled, else of all sampled memory latency (cost_of); its bounds hold 95 %.

DROP TABLE IF EXISTS temp.t_total;
CREATE TEMP TABLE t_total (line_id INTEGER PRIMARY KEY, samples, operations, loads, stores,
    atomics, writes, told, dirty_told, transfers, hitm_local, hitm_remote, peer_local, peer_remote,
    dirty_snoops, misses, hits_hidden, method, latency_samples, latency_sum, excess, costed,
    offsets, threads, cpus, nodes, split);
INSERT INTO t_total
SELECT c.line_id, sum(samples), sum(operations), total(CASE WHEN op = 1 THEN samples END),
       total(CASE WHEN op = 2 THEN samples END), total(CASE WHEN op = 3 THEN samples END),
       sum(writes), sum(told), sum(dirty_told), sum(transfers), sum(hitm_local), sum(hitm_remote),
       sum(peer_local), sum(peer_remote), sum(dirty_snoops), sum(misses), max(hits_hidden),
       max(method),
       sum(latency_samples), sum(latency_sum), total(excess), total(miss_operations - uncosted),
       count(DISTINCT offset), count(DISTINCT thread_id), count(DISTINCT c.cpu),
       count(DISTINCT o.node),
       CASE WHEN max(width) > 0 THEN total(CASE WHEN offset + width > size THEN samples END) END
FROM t_cell c JOIN t_line l ON l.id = c.line_id LEFT JOIN t_core o ON o.cpu = c.cpu
GROUP BY c.line_id;

-- All misses of a line, and those that a write of another core explains.
DROP TABLE IF EXISTS temp.t_evidence;
CREATE TEMP TABLE t_evidence (line_id INTEGER PRIMARY KEY, n, operations, n_attributed, attributed,
    n_true, attributed_true, unknown_width);
INSERT INTO t_evidence
SELECT m.line_id, sum(m.misses), sum(m.operations),
       total(CASE WHEN a.p_true IS NOT NULL THEN m.misses END),
       total(CASE WHEN a.p_true IS NOT NULL THEN m.operations END), total(m.misses * a.p_true),
       total(m.operations * a.p_true), total(CASE WHEN s.width = 0 THEN m.misses END)
FROM t_missing m JOIN t_side s ON s.id = m.side_id LEFT JOIN t_attributed a ON a.missing_id = m.id
GROUP BY m.line_id;

-- What the CPU moves together, where that is known.
DROP TABLE IF EXISTS temp.t_line_pair;
CREATE TEMP TABLE t_line_pair AS
SELECT p.cpu, p.bytes, p.why
FROM (SELECT lower(coalesce(t.cpuid,
                            (SELECT printf('0x%016x', midr) FROM cpu
                             WHERE trace_id = :trace AND midr IS NOT NULL
                             GROUP BY midr ORDER BY count(*) DESC LIMIT 1),
                            t.arch, '')) AS cpuid
      FROM trace t WHERE t.id = :trace)
     JOIN line_pairs p ON cpuid GLOB p.pattern
ORDER BY p.rank LIMIT 1;

DROP TABLE IF EXISTS temp.t_verdict;
CREATE TEMP TABLE t_verdict (line_id INTEGER PRIMARY KEY, verdict, reason_code, share,
    writes_sampled, places_written, writes_needed, writer_sampled, confidence, cost);
WITH writer AS MATERIALIZED
       (SELECT line_id, min(core) AS one, max(core) AS other, sum(samples) AS samples,
               count(DISTINCT first) AS places
        FROM t_writing GROUP BY line_id),
     -- a thread whose code writes several places of the line, each sampled so rarely that it may
     -- write more: also the bytes of a miss that nobody was seen to write
     walker AS MATERIALIZED
       (SELECT w.line_id, w.thread_id, s.site
        FROM t_writing w JOIN t_side s ON s.id = w.side_id
        GROUP BY w.line_id, w.thread_id, s.site
        HAVING count(DISTINCT w.first) > 1 AND
               sum(w.samples) < (SELECT min_writes_per_place FROM t_parameter) *
                                (count(DISTINCT w.first) + 1)),
     doubtful AS MATERIALIZED
       (SELECT line_id, sum(operations) AS operations
        FROM (SELECT m.line_id, m.operations
              FROM walker k CROSS JOIN t_missing m USING (line_id)
                   CROSS JOIN t_attributed r ON r.missing_id = m.id
                   CROSS JOIN t_meeting t ON t.missing_id = m.id
                   CROSS JOIN t_writing w ON w.line_id = m.line_id AND w.id = t.writing_id
                   CROSS JOIN t_side s ON s.id = w.side_id
              WHERE r.same = 0 AND w.thread_id = k.thread_id AND s.site = k.site
              GROUP BY m.id)
        GROUP BY line_id),
     mean AS MATERIALIZED
       (SELECT coalesce(sum(excess) / nullif(sum(costed), 0),
                        (SELECT assumed_miss_cycles FROM t_parameter)) AS cycles
        FROM t_total WHERE costed > 0),
     facts AS
       (SELECT t.*, e.n, e.operations AS evidence, e.n_attributed, e.attributed, e.n_true,
               e.unknown_width,
               w.samples AS writes_sampled, w.places AS places_written,
               coalesce(d.operations, 0) / nullif(e.attributed, 0) AS doubt,
               e.attributed_true / nullif(e.attributed, 0) AS share,
               w.one IS NOT NULL AND
               (w.one <> w.other OR (e.n IS NULL AND t.cpus > 1) OR
                EXISTS (SELECT 1 FROM t_missing m WHERE m.line_id = t.line_id AND m.core <> w.one))
                   AS writer_sampled,
               -- misses that the capture would show of a line at min_program_share
               p.min_program_share * g.operations / (t.operations / t.samples) AS visible,
               coalesce(e.n, 0) < p.min_miss_samples AS few,
               t.method <> 1 AND
               (e.operations * (1 - 2 / sqrt(max(e.n, 4))) < p.min_program_share * g.operations OR
                (NOT t.hits_hidden AND e.operations < p.min_line_share * t.operations)) AS rare,
               l.pair, coalesce(x.samples, 0) AS expected,
               -- another thread that read the line, and made its owner wait, would be seen
               e.operations >= p.min_miss_samples * (SELECT max(period) FROM t_event WHERE reads)
                   AS readers_visible,
               p.*
        FROM t_total t JOIN t_line l ON l.id = t.line_id LEFT JOIN t_evidence e USING (line_id)
             LEFT JOIN writer w USING (line_id) LEFT JOIN doubtful d USING (line_id)
             LEFT JOIN t_expected x USING (line_id), t_parameter p, t_program g),
     rated AS
       (SELECT *, -- never 0: at least what one miss of the other class would give
               sqrt(max(share * (1 - share), 1 / n_attributed * (1 - 1 / n_attributed)) /
                    n_attributed) AS deviation,
               min(n_true, n_attributed - n_true) >= min_miss_samples AS both_seen
        FROM facts),
     judged AS
       (SELECT *, CASE WHEN pair AND NOT few AND NOT rare AND n >= slow_factor * expected
                            AND coalesce(readers_visible, 0) AND n_attributed >= min_miss_samples
                            AND share <= 1 - class_share
                       THEN 'neighbour_written'
                       WHEN pair THEN 'neighbours'
                       WHEN writes = 0 AND few THEN 'read_only'
                       WHEN few AND visible < min_miss_samples THEN 'too_few_samples'
                       WHEN few OR rare THEN 'below_threshold'
                       WHEN threads = 0 THEN 'threads_unknown'
                       WHEN NOT writer_sampled THEN 'writer_not_sampled'
                       WHEN n_attributed = 0 THEN 'no_overlap'
                       WHEN n_attributed < min_miss_samples THEN 'too_few_samples'
                       WHEN share + both_seen * deviation <= 1 - class_share
                       THEN CASE WHEN doubt > 1 - class_share OR
                                      (share > 0 AND
                                       writes_sampled < min_writes_per_place * places_written)
                                 THEN 'too_few_samples'
                                 ELSE 'other_bytes_written' END
                       WHEN share - both_seen * deviation >= class_share THEN 'same_bytes_written'
                       ELSE 'both_classes' END AS reason_code
        FROM rated)
INSERT INTO t_verdict
-- the shares of a mixed line are those of its writers' rates, each from the writes of one place
SELECT line_id,
       CASE reason_code
       WHEN 'other_bytes_written' THEN 'false'
       WHEN 'same_bytes_written' THEN 'true'
       WHEN 'both_classes' THEN 'mixed'
       WHEN 'read_only' THEN 'read-only'
       WHEN 'neighbour_written' THEN 'adjacent'
       WHEN 'neighbours' THEN 'latent'
       ELSE 'unknown' END,
       reason_code, share, writes_sampled, places_written, writes_needed, writer_sampled,
       CASE WHEN reason_code NOT IN ('other_bytes_written', 'same_bytes_written', 'both_classes',
                                     'neighbour_written')
            THEN NULL
            WHEN method = 1 THEN 'medium'
            WHEN min(n_attributed, writes_sampled) < confident_samples / 3 OR method = 2 OR
                 writes_sampled < writes_needed * places_written OR
                 unknown_width > 0.5 * n OR n_attributed < 0.5 * n
            THEN 'low'
            WHEN min(n_attributed, writes_sampled) < confident_samples OR
                 (pair AND NOT EXISTS (SELECT 1 FROM t_line_pair)) OR
                 unknown_width > (1 - confident_share) * n OR n_attributed < confident_share * n OR
                 min(abs(share - class_share), abs(share - 1 + class_share)) < 2 * deviation
            THEN 'medium'
            ELSE 'high' END,
       excess + max(0, coalesce(evidence, 0) - costed) * (SELECT cycles FROM mean)
FROM (SELECT *, iif(reason_code = 'both_classes', min_miss_samples, min_writes_per_place)
                    AS writes_needed
      FROM judged);

-- Neighbours count where neither line is contended by itself. Those that paid for it stand for both
-- lines; of the others those are worth a word where the CPU moves such lines together and the
-- capture, without sources and latencies, could not have told.
DELETE FROM t_verdict
WHERE line_id IN (SELECT l.id FROM t_line l JOIN t_line h ON h.space = l.space AND NOT h.pair
                      AND h.line BETWEEN l.line AND l.line + l.size - 1
                      JOIN t_verdict v ON v.line_id = h.id
                  WHERE l.pair AND (v.confidence IS NOT NULL OR v.reason_code IN
                            ('writer_not_sampled', 'threads_unknown', 'no_overlap')))
   OR (reason_code = 'neighbours' AND
       ((SELECT method <> 2 OR latency_samples > 0 FROM t_total t
         WHERE t.line_id = t_verdict.line_id) OR
        (SELECT size FROM t_line WHERE id = line_id) IS NOT (SELECT bytes FROM t_line_pair)));
DELETE FROM t_verdict
WHERE line_id IN (SELECT h.id FROM t_verdict v JOIN t_line l ON l.id = v.line_id
                      JOIN t_line h ON h.space = l.space AND NOT h.pair
                      AND h.line BETWEEN l.line AND l.line + l.size - 1
                  WHERE v.reason_code = 'neighbour_written');

-- The bounds of each line's cost as factors of it, by drawing the slices of its life anew, each with
-- what its transfers paid above hits (its slow accesses, where no transfers are seen). Where there
-- are fewer than min_slices, two standard errors of the number of misses.
DROP TABLE IF EXISTS temp.t_bounds;
CREATE TEMP TABLE t_bounds (line_id INTEGER PRIMARY KEY, low, high);
INSERT INTO t_bounds
SELECT v.line_id,
       coalesce(b.factors ->> 0, 1 - 2 / sqrt(e.n)), coalesce(b.factors ->> 1, 1 + 2 / sqrt(e.n))
FROM t_verdict v JOIN t_evidence e USING (line_id)
     LEFT JOIN (SELECT line_id, resampled_sum(paid, slices) AS factors
                FROM (SELECT f.line_id, f.slices,
                             total(w.latency_sum - w.samples *
                                   (SELECT max(base) FROM t_base b
                                    WHERE b.op = w.op AND b.code_id = -1)) AS paid
                      FROM access_window w
                           CROSS JOIN t_line l
                               ON l.line = w.line & -(SELECT line_size FROM t_program)
                               AND l.space = coalesce(w.space_id, -1)
                           CROSS JOIN t_life f ON f.line_id = l.id
                           CROSS JOIN t_total t ON t.line_id = l.id
                      WHERE w.trace_id = :trace AND w.latency_sum > 0 AND
                            (w.transfers > 0 OR t.transfers = 0)
                      GROUP BY l.id, (w.window - f.first) * f.slices / f.span)
                GROUP BY line_id
                HAVING max(slices) >= (SELECT min_slices FROM t_parameter) AND sum(paid) > 0) b
         ON b.line_id = v.line_id
WHERE v.confidence IS NOT NULL;

DROP TABLE IF EXISTS temp.t_p95;
CREATE TEMP TABLE t_p95 (line_id INTEGER PRIMARY KEY, latency);
INSERT INTO t_p95
SELECT CAST(key AS INTEGER), value
FROM json_each((SELECT quantiles_by(l.line_id, a.latency_histogram, 0.95)
                FROM access a
                     CROSS JOIN t_line_part l ON l.line = a.line AND l.space = coalesce(a.space_id, -1)
                WHERE a.trace_id = :trace));

-- Lines of one thread, or never written: reported by latency, so that the list also says what
-- was slow without contention.
DROP TABLE IF EXISTS temp.t_quiet;
CREATE TEMP TABLE t_quiet AS
WITH picked AS MATERIALIZED
       (SELECT DISTINCT coalesce(space_id, -1) AS space, line & -line_size AS line,
                        line_size AS size
        FROM (SELECT space_id, line FROM line_total
              WHERE trace_id = :trace AND (threads = 1 OR (stores + atomics = 0 AND transfers = 0))
                AND samples >= (SELECT min_miss_samples FROM t_parameter)
              ORDER BY latency_sum DESC, line, space_id
              LIMIT (SELECT quiet_lines FROM t_parameter)),
             t_program)
SELECT nullif(p.space, -1) AS space_id, p.line, p.size, sum(t.samples) AS samples,
       sum(t.loads) AS loads, sum(t.stores) AS stores, sum(t.atomics) AS atomics,
       sum(t.transfers) AS transfers, max(t.threads) AS threads,
       sum(t.latency_samples) AS latency_samples, sum(t.latency_sum) AS latency_sum
FROM line_total t CROSS JOIN picked p ON p.line = t.line & -(SELECT line_size FROM t_program)
    AND p.space = coalesce(t.space_id, -1)
WHERE t.trace_id = :trace AND
      NOT EXISTS (SELECT 1 FROM t_line_part h JOIN t_line l ON l.id = h.line_id
                  WHERE h.line = p.line AND h.space = p.space
                    AND (NOT l.pair OR EXISTS (SELECT 1 FROM t_verdict v WHERE v.line_id = l.id
                                               AND v.reason_code = 'neighbour_written')))
GROUP BY p.space, p.line
-- two halves of a wide line may belong to two threads
HAVING count(*) = 1 OR sum(t.stores + t.atomics) = 0;

-- The sentence of each verdict, with its numbers.
DROP TABLE IF EXISTS temp.t_reason;
CREATE TEMP TABLE t_reason (line_id INTEGER PRIMARY KEY, text);
INSERT INTO t_reason
SELECT v.line_id,
       CASE v.reason_code
       WHEN 'read_only' THEN
           format('No store or atomic among %d samples of %d threads', t.samples, t.threads)
       WHEN 'too_few_samples' THEN
           CASE WHEN coalesce(e.n, 0) >= p.min_miss_samples
           THEN format('%d misses, but only %d sampled writes at %d places can be set against ' ||
                       'them: record longer or sample stores more often',
                       e.n, v.writes_sampled, v.places_written)
           ELSE format('%d misses among %d samples; a line at %.2f %% of the program''s ' ||
                       'accesses would show about %.1f, and a verdict needs %d: record ' ||
                       'longer or sample more often',
                       coalesce(e.n, 0), t.samples, 100 * p.min_program_share,
                       p.min_program_share * g.operations / (t.operations / t.samples),
                       p.min_miss_samples)
           END
       WHEN 'below_threshold' THEN
           format('%d misses among %d samples: %.3f %% of the program''s accesses, %.2f %% of ' ||
                  'the line''s; contention starts at %.2f %% and %.1f %%',
                  coalesce(e.n, 0), t.samples, 100 * coalesce(e.operations, 0) / g.operations,
                  100 * coalesce(e.operations, 0) / t.operations, 100 * p.min_program_share,
                  100 * p.min_line_share)
       WHEN 'neighbours' THEN
           format('Two lines side by side, each written by a thread of its own, and %s moves ' ||
                  'both at once: %s; whether they pay for it, samples without data source and ' ||
                  'latency do not tell', c.cpu, c.why)
       WHEN 'neighbour_written' THEN
           format('Two lines side by side, each of a thread of its own: %d of %d samples ' ||
                  'missed them or waited to own them, while the other line was written, and ' ||
                  'by what the same code does elsewhere %.1f would; %s', round(e.n), t.samples,
                  coalesce(x.samples, 0),
                  coalesce(c.cpu || ' moves both at once: ' || c.why,
                           'that this CPU moves both at once is not known otherwise'))
       WHEN 'writer_not_sampled' THEN
           format('%d %s, but no store or atomic of another CPU on this line was sampled, ' ||
                  'so whose bytes were written is not known', e.n,
                  iif(t.method = 1, 'sampled accesses', 'misses'))
       WHEN 'threads_unknown' THEN
           format('%d %s, but the file does not tell which threads ran: record with ' ||
                  'context switches', e.n, iif(t.method = 1, 'sampled accesses', 'misses'))
       WHEN 'no_overlap' THEN
           format('%d %s, but the threads that write and those that miss never used the ' ||
                  'line in the same slice of time', e.n,
                  iif(t.method = 1, 'sampled accesses', 'misses'))
       ELSE
           CASE t.method
           WHEN 1 THEN 'No data source: verdict from bytes, threads and overlap in time. '
           WHEN 2 THEN 'No data source: misses are slow accesses. '
           ELSE '' END ||
           format('%.0f %% of %d %s found other bytes written by another CPU, %.0f %% the ' ||
                  'same bytes (%d threads on %s CPUs; %d %% of the %s have a writer%s%s%s)',
                  100 * (1 - v.share), round(e.n_attributed),
                  iif(t.method = 1, 'sampled accesses', 'misses'), 100 * v.share, t.threads,
                  coalesce(nullif(t.cpus, 0), 'unknown'), round(100 * e.n_attributed / e.n),
                  iif(t.method = 1, 'accesses', 'misses'),
                  CASE WHEN v.writes_sampled < v.writes_needed * v.places_written
                  THEN format('; low confidence: %d sampled write%s at %d place%s, fewer than ' ||
                              '%d each', v.writes_sampled, iif(v.writes_sampled = 1, '', 's'),
                              v.places_written, iif(v.places_written = 1, '', 's'),
                              v.writes_needed)
                  ELSE '' END,
                  CASE WHEN e.unknown_width > 0
                  THEN format('; width unknown for %.0f %%, taken as one byte',
                              100 * e.unknown_width / e.n)
                  ELSE '' END,
                  CASE WHEN f.first IS NULL
                  THEN '; no time stamps: overlap in time was not checked' ELSE '' END)
       END
FROM t_verdict v JOIN t_total t USING (line_id) LEFT JOIN t_evidence e USING (line_id)
     LEFT JOIN t_life f USING (line_id) LEFT JOIN t_expected x USING (line_id)
     LEFT JOIN t_line_pair c, t_parameter p, t_program g;

-- tier 0: contention, or evidence of it without a writer; 1: nothing established; 2: quiet lines.
INSERT INTO line_finding
 (trace_id, rank, line, size, space_id, verdict, confidence, samples, loads, stores, atomics,
  hitm_local, hitm_remote, peer_local, peer_remote, misses, misses_false, misses_true,
  miss_operations, threads, cpus, nodes, latency_mean, latency_p95, excess_latency,
  cost_share, cost_low, cost_high, cost_of, offsets, split, writer_sampled, evidence, reason_code, reason,
  pass_version)
SELECT :trace, row_number() OVER (ORDER BY tier, cost DESC, latency_sum DESC, line, space_id),
       line, size, space_id, verdict, confidence, samples, CAST(loads AS INTEGER),
       CAST(stores AS INTEGER), CAST(atomics AS INTEGER), hitm_local, hitm_remote, peer_local,
       peer_remote, misses, misses_false, misses_true, miss_operations, threads, cpus, nodes,
       latency_sum * 1.0 / nullif(latency_samples, 0), latency_p95, excess,
       share, min(share * low, share * high), max(share * low, share * high),
       iif(share IS NULL, NULL, (SELECT whole_of FROM t_program)),
       offsets, CAST(split AS INTEGER), writer_sampled, evidence, reason_code, reason, 1
FROM (SELECT CASE WHEN v.confidence IS NOT NULL THEN 0
                  WHEN v.reason_code IN ('writer_not_sampled', 'threads_unknown', 'no_overlap')
                  THEN 0
                  ELSE 1 END AS tier,
             v.cost, l.line, l.size, nullif(l.space, -1) AS space_id, v.verdict, v.confidence,
             t.samples, t.loads, t.stores, t.atomics,
             CASE WHEN t.dirty_told THEN t.hitm_local END AS hitm_local,
             CASE WHEN t.dirty_told THEN t.hitm_remote END AS hitm_remote,
             CASE WHEN t.told THEN t.peer_local END AS peer_local,
             CASE WHEN t.told THEN t.peer_remote END AS peer_remote, t.misses,
             e.n_attributed - e.n_true AS misses_false,
             e.n_true AS misses_true, e.operations AS miss_operations, t.threads,
             nullif(t.cpus, 0) AS cpus, nullif(t.nodes, 0) AS nodes, t.latency_samples,
             t.latency_sum, q.latency AS latency_p95,
             CASE WHEN t.costed > 0 THEN t.excess END AS excess,
             CASE WHEN t.costed > 0 AND v.confidence IS NOT NULL
                  THEN t.excess / nullif(g.whole, 0) END AS share, u.low, u.high,
             t.offsets, t.split, v.writer_sampled,
             CASE WHEN t.method = 1 THEN 'access_order'
                  WHEN t.transfers > 0 THEN 'transfer'
                  WHEN t.misses > 0 AND (t.method = 2 OR (l.pair AND t.costed > 0)) THEN 'latency'
                  WHEN t.misses > 0 THEN 'l1_miss' END AS evidence,
             v.reason_code, r.text AS reason
      FROM t_verdict v JOIN t_total t USING (line_id) JOIN t_line l ON l.id = v.line_id
           JOIN t_reason r USING (line_id) LEFT JOIN t_evidence e USING (line_id)
           LEFT JOIN t_p95 q USING (line_id) LEFT JOIN t_bounds u USING (line_id), t_program g
      UNION ALL
      SELECT 2, 0, line, size, space_id,
             CASE reason_code WHEN 'read_only' THEN 'read-only' WHEN 'one_thread' THEN 'private'
                              ELSE 'unknown' END,
             CASE WHEN reason_code = 'writer_not_sampled' THEN NULL
                  WHEN samples >= (SELECT confident_samples FROM t_parameter) THEN 'high'
                  ELSE 'medium' END,
             samples, loads, stores, atomics, NULL, NULL, NULL, NULL, transfers, NULL, NULL, NULL,
             threads, NULL, NULL, latency_samples, latency_sum, NULL, NULL, NULL, NULL, NULL, 0,
             NULL, 0,
             CASE WHEN transfers >= (SELECT min_miss_samples FROM t_parameter)
                  THEN 'transfer' END, reason_code,
             CASE reason_code
             WHEN 'read_only' THEN
                 format('No store or atomic among %d samples of several threads', samples)
             WHEN 'one_thread' THEN format('All %d samples are of one thread', samples)
             ELSE format('%d of %d samples came from another core''s cache, but only one thread ' ||
                         'was sampled here', transfers, samples) END
      FROM (SELECT *, CASE WHEN threads > 1 THEN 'read_only'
                           -- of few samples one is enough to ask who had the line
                           WHEN transfers >= (SELECT min_miss_samples FROM t_parameter) OR
                                (transfers > 0 AND
                                 samples < (SELECT confident_samples FROM t_parameter))
                           THEN 'writer_not_sampled'
                           ELSE 'one_thread' END AS reason_code
            FROM t_quiet));
