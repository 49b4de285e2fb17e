-- Functions by memory boundness.
--
-- From counters: mem_bound = stall cycles / cycles of the samples in the function, where the stall
-- event is the memory one of the CPU (MEM_STALL_ANYLOAD + MEM_STALL_ANYSTORE on HiSilicon,
-- STALL_BACKEND_MEM on Arm, CYCLE_ACTIVITY.STALLS_MEM_ANY on Intel), else all back-end stalls,
-- which hold more than memory; `method` names the events. membound.md sections 2 to 6. With
-- separately sampled events the relative error is sqrt(1/n_stall + 1/n_cycles); the interval is
-- twice that. Group reads credit the counts since the last sample to where the sample fell: with
-- few samples a function's share is as uncertain as its ratio, and neither is shown.
--
-- From memory samples: the function's share of all sampled memory latency, under its own name. It
-- is occupancy, not stall (overlapping misses count several times), and so never mem_bound.

WITH stall_event AS
       (SELECT id, name FROM event
        WHERE trace_id = :trace AND role IN ('stall_mem', 'stall_backend') AND samples > 0
          AND (instr(lower(name), 'mem_stall_any') OR
               name = (SELECT name FROM event
                       WHERE trace_id = :trace AND role IN ('stall_mem', 'stall_backend')
                         AND samples > 0
                       ORDER BY role = 'stall_backend', instr(lower(name), 'mem_stall_any') = 0, idx
                       LIMIT 1))),
     counted AS MATERIALIZED
       (SELECT c.function_id, coalesce(f.dso_id, c.dso_id) AS dso_id,
               CASE WHEN c.function_id IS NULL THEN c.offset END AS offset,
               total(CASE WHEN e.role = 'cycles' THEN p.value END) AS cycles,
               total(CASE WHEN e.role = 'cycles' THEN p.samples END) AS n_cycles,
               total(CASE WHEN s.id IS NOT NULL THEN p.value END) AS stalls,
               total(CASE WHEN s.id IS NOT NULL THEN p.samples END) AS n_stalls,
               max(p.method) AS method
        FROM profile p JOIN event e ON e.id = p.event_id LEFT JOIN stall_event s ON s.id = e.id
             LEFT JOIN code c ON c.id = p.code_id LEFT JOIN function f ON f.id = c.function_id
        WHERE e.trace_id = :trace AND (e.role = 'cycles' OR s.id IS NOT NULL)
        GROUP BY 1, 2, 3),
     formula AS MATERIALIZED
       (SELECT group_concat(name, ' + ') AS stall_names, count(*) AS events
        FROM (SELECT DISTINCT iif(event LIKE '%_/%', substr(event, 1, instr(event, '/') - 1), name)
                             AS name
              FROM (SELECT name, substr(name, instr(name, '/') + 1) AS event FROM stall_event))),
     rated AS
       (SELECT counted.*, cycles / nullif(sum(cycles) OVER (), 0) AS share,
               min(n_cycles, n_stalls) AS n,
               2 * sqrt(1 / nullif(n_stalls, 0) + 1 / nullif(n_cycles, 0)) AS error
        FROM counted WHERE cycles > 0),
     shown AS
       (SELECT *, CASE WHEN events > 0 AND n >= min_profile_samples THEN stalls / cycles END
                      AS ratio
        FROM rated, formula, t_parameter),
     weighed AS MATERIALIZED
       (SELECT CASE e.role WHEN 'spe' THEN 'spe_latency_share'
                           WHEN 'ibs_op' THEN 'ibs_latency_share'
                           ELSE 'load_latency_share' END AS source,
               max(e.name) AS name, c.function_id, coalesce(f.dso_id, c.dso_id) AS dso_id,
               CASE WHEN c.function_id IS NULL THEN c.offset END AS offset,
               sum(t.latency_samples) AS n,
               sum(t.latency_sum * (CASE WHEN t.period > 0 THEN t.period * 1.0 / t.samples
                                    ELSE 1 END)) AS latency
        FROM code_total t JOIN event e ON e.id = t.event_id
             LEFT JOIN code c ON c.id = t.code_id LEFT JOIN function f ON f.id = c.function_id
        WHERE t.trace_id = :trace AND e.role IN ('spe', 'load', 'load_store', 'ibs_op')
            AND t.latency_samples > 0 AND t.op IN (1, 2, 3)
        GROUP BY 1, 3, 4, 5),
     occupied AS
       (SELECT *, latency / sum(latency) OVER (PARTITION BY source) AS share FROM weighed)
INSERT INTO mem_bound_finding
 (trace_id, rank, function_id, dso_id, offset, source, samples, share, mem_bound, low, high, n,
  method, tip, pass_version)
SELECT :trace,
       row_number() OVER (ORDER BY source = 'cycles' DESC, source, share DESC NULLS LAST,
                                   samples DESC, dso_id, function_id, offset),
       function_id, dso_id, offset, source, samples, share, mem_bound, low, high, n, method, tip, 1
FROM (SELECT function_id, dso_id, offset, 'cycles' AS source,
             CAST(n_cycles AS INTEGER) AS samples,
             CASE WHEN method <> 'group_read' OR
                       iif(events, n, n_cycles) >= min_profile_samples THEN share END AS share,
             min(1, ratio) AS mem_bound,
             CASE WHEN ratio IS NOT NULL THEN min(1, max(0, ratio * (1 - error))) END AS low,
             CASE WHEN ratio IS NOT NULL THEN min(1, ratio * (1 + error)) END AS high,
             CAST(CASE WHEN events THEN n ELSE n_cycles END AS INTEGER) AS n,
             CASE WHEN events THEN format('%s / cycles (%s)',
                                    iif(events > 1, '(' || stall_names || ')', stall_names),
                                    iif(method = 'group_read', 'group read', 'by period'))
                  ELSE 'unknown (cycles only)' END AS method,
             CASE WHEN NOT events
                  THEN format('No stall event was recorded; record with -e ''{cycles,%s}:S''',
                              iif((SELECT arch FROM trace WHERE id = :trace) = 'x86_64',
                                  'cycle_activity.stalls_mem_any', 'stall_backend_mem'))
                  WHEN ratio IS NULL
                  THEN format('Only %d sample%s: a ratio needs %d', n, iif(n = 1, '', 's'),
                              min_profile_samples)
                  WHEN ratio > 1
                  THEN format('Measured %.2f, shown as 1: the two counts are samples', ratio)
                  WHEN stall_names NOT LIKE '%mem%'
                  THEN 'All back-end stalls: an upper bound of memory stalls'
             END AS tip
      FROM shown
      UNION ALL
      SELECT function_id, dso_id, offset, source, n, share, NULL,
             CASE WHEN n >= min_profile_samples THEN max(0, share * (1 - 2 / sqrt(n))) END,
             CASE WHEN n >= min_profile_samples THEN min(1, share * (1 + 2 / sqrt(n))) END,
             n, format('latency of the function / latency of all memory samples of %s', name),
             'Occupancy, not stall: overlapping misses count several times. For memory ' ||
                 'boundness record cycles with a stall event'
      FROM occupied, t_parameter);

DROP TABLE t_parameter;
