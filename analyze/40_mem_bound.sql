-- Functions by memory boundness.
--
-- From counters: the formula of the CPU (mem_bound_cpus, by MIDR or cpuid) on the sums that each
-- event has in the function. mem_bound_formulas lists the formulas; the first whose events are
-- all recorded counts, and `method` states it. An event is known by its name or by its raw code
-- (mem_bound_events). Where counters took turns, each sum is scaled by time_enabled / time_running.
-- The value stands as computed: below 0 or above 1 is told, not cut off.
--
-- The interval is two standard errors either way: an event of n samples in the function has the
-- relative error 1/sqrt(n), one of no samples that of one sample of the trace, and the formula
-- passes them on by its slopes (analyze/formula.h). Group reads credit the counts since the last
-- sample to where the sample fell: with few samples a function's share is as uncertain as its
-- ratio, and neither is shown. Functions that run shorter than the sampling interval all get the
-- ratio of the whole; one that differs from it by less than its error is told so.
--
-- From memory samples: the function's share of all sampled memory latency, under its own name. It
-- is occupancy, not stall (overlapping misses count several times), and so never mem_bound.

DROP TABLE IF EXISTS temp.t_mem_cpu;
CREATE TEMP TABLE t_mem_cpu AS
SELECT c.family, c.cpu, c.classes, f.formula AS wanted,
       '`perf record ' || f.events || '`' AS command
FROM (SELECT lower(coalesce(t.cpuid,
                            (SELECT printf('0x%016x', midr) FROM cpu
                             WHERE trace_id = :trace AND midr IS NOT NULL
                             GROUP BY midr ORDER BY count(*) DESC LIMIT 1),
                            t.arch, '')) AS cpuid
      FROM trace t WHERE t.id = :trace)
     JOIN mem_bound_cpus c ON cpuid GLOB c.pattern
     JOIN mem_bound_formulas f ON f.family = c.family AND f.rank = 1
ORDER BY c.rank LIMIT 1;

-- The event behind each symbol; of two, one that counted, and of large cores.
DROP TABLE IF EXISTS temp.t_mem_event;
CREATE TEMP TABLE t_mem_event AS
WITH named AS
       (SELECT e.id, e.idx, e.type, e.config, e.samples, e.period_sum, e.name,
               e.time_enabled, e.time_running,
               lower(substr(e.name, instr(e.name, '/') + 1)) AS term,
               e.type = 4 OR lower(e.name) GLOB 'r[0-9a-f]*' OR e.name GLOB 'cpu/*' OR
                   e.name GLOB 'cpu_core/*' OR e.name GLOB 'armv*/*' OR
                   coalesce(p.name IN ('cpu', 'cpu_core') OR p.name GLOB 'armv*', 0) AS on_core
        FROM event e LEFT JOIN pmu p ON p.trace_id = e.trace_id AND p.type = e.type
        WHERE e.trace_id = :trace),
     termed AS
       (SELECT *, CASE WHEN type = 0 AND config & 0xffffffff = 0 THEN 'cycles'
                       WHEN type = 0 AND config & 0xffffffff = 8 THEN 'stalled_cycles_backend'
                       -- without what follows the event's name: modifiers and other terms
                       ELSE replace(substr(term, 1, length(term) -
                                length(ltrim(term, 'abcdefghijklmnopqrstuvwxyz0123456789_-.'))),
                                    '-', '_') END AS plain
        FROM named),
     matched AS
       (SELECT m.symbol, t.*
        FROM termed t CROSS JOIN mem_bound_events m, t_mem_cpu c
        WHERE instr(m.names, ' ' || plain || ' ') OR
              (on_core AND type <> 0 AND instr(' ' || c.classes || ' ', ' ' || m.class || ' ') AND
               m.config = iif(m.class = 'intel', t.config & 0xffffffff, t.config)))
SELECT symbol, id, samples, period_sum, period_sum * 1.0 / nullif(samples, 0) AS step,
       coalesce(time_enabled * 1.0 / nullif(time_running, 0),
                (SELECT total(time_enabled) / nullif(total(time_running), 0) FROM counter
                 WHERE trace_id = :trace AND event_id = matched.id AND source = 'read'), 1) AS scale
FROM (SELECT *, row_number() OVER (PARTITION BY symbol ORDER BY samples = 0, name GLOB 'cpu_atom*',
                                                                idx) AS place
      FROM matched) AS matched
WHERE place = 1;

-- The formula to use, none or one; signal: has its memory part counted anything?
DROP TABLE IF EXISTS temp.t_mem_formula;
CREATE TEMP TABLE t_mem_formula AS
SELECT f.formula, f.base, f.note
FROM mem_bound_formulas f, t_mem_cpu c
WHERE f.family IN (c.family, 'any') AND
      NOT EXISTS (SELECT 1 FROM json_each(formula_names(f.formula))
                  WHERE value NOT IN (SELECT symbol FROM t_mem_event)) AND
      EXISTS (SELECT 1 FROM t_mem_event WHERE symbol = f.base AND samples > 0) AND
      (SELECT formula_value(f.signal, symbol, period_sum * scale, 0) FROM t_mem_event
       WHERE symbol IN (SELECT value FROM json_each(formula_names(f.signal)))) > 0
ORDER BY f.family = 'any', f.rank LIMIT 1;

WITH chosen AS MATERIALIZED
       (SELECT f.formula, coalesce(f.base, b.symbol) AS base, f.note, c.*,
               (SELECT group_concat(value, ', ')
                FROM (SELECT DISTINCT value FROM json_each(formula_names(c.wanted))
                      WHERE value NOT IN (SELECT symbol FROM t_mem_event WHERE samples > 0)))
                   AS missing
        FROM t_mem_cpu c LEFT JOIN t_mem_formula f ON true
             LEFT JOIN (SELECT symbol FROM t_mem_event
                        WHERE symbol IN ('CPU_CYCLES', 'TOPDOWN.SLOTS') AND samples > 0
                        ORDER BY symbol LIMIT 1) b ON true),
     used AS MATERIALIZED
       (SELECT e.* FROM t_mem_event e, chosen c
        WHERE e.symbol = c.base OR
              e.symbol IN (SELECT value FROM json_each(formula_names(c.formula)))),
     counted AS MATERIALIZED
       (SELECT c.function_id, coalesce(f.dso_id, c.dso_id) AS dso_id,
               CASE WHEN c.function_id IS NULL THEN c.offset END AS offset,
               e.symbol, total(p.value) AS value, total(p.samples) AS samples,
               max(p.method) AS method
        FROM used e CROSS JOIN profile p ON p.event_id = e.id LEFT JOIN code c ON c.id = p.code_id
             LEFT JOIN function f ON f.id = c.function_id
        GROUP BY 1, 2, 3, 4),
     place AS
       (SELECT function_id, dso_id, offset, max(method) AS method FROM counted GROUP BY 1, 2, 3),
     rated AS MATERIALIZED
       (SELECT p.function_id, p.dso_id, p.offset, max(method) AS method,
               total(iif(symbol = c.base, value, NULL)) AS cycles,
               total(iif(symbol = c.base, samples, NULL)) AS n,
               max(scale) > min(scale) AS scaled,
               formula_value(c.formula, symbol, value * scale, 0) AS ratio,
               formula_error(c.formula, symbol, value * scale,
                             iif(samples > 0, value / sqrt(samples), step) * scale) AS error
        FROM chosen c,
             (SELECT p.function_id, p.dso_id, p.offset, p.method, u.symbol, u.scale,
                     coalesce(u.step, 0) AS step, coalesce(k.value, 0) AS value,
                     coalesce(k.samples, 0) AS samples
              FROM place p CROSS JOIN used u LEFT JOIN counted k
                   ON k.function_id IS p.function_id AND k.dso_id IS p.dso_id AND
                      k.offset IS p.offset AND k.symbol = u.symbol) AS p
        GROUP BY 1, 2, 3),
     whole AS MATERIALIZED
       (SELECT formula_value(c.formula, symbol, value * scale, 0) AS all_ratio
        FROM chosen c, (SELECT u.symbol, u.scale, total(k.value) AS value
                        FROM used u LEFT JOIN counted k ON k.symbol = u.symbol
                        GROUP BY u.symbol)),
     shown AS
       (SELECT r.*, c.*, all_ratio, cycles / nullif(sum(cycles) OVER (), 0) AS share,
               n >= min_profile_samples AS enough,
               iif(n >= min_profile_samples, ratio, NULL) AS mem_bound,
               iif(method = 'group_read', 'group read', 'by period') ||
                   iif(scaled, ', scaled by time_enabled / time_running', '') AS how
        FROM rated r, chosen c, whole, t_parameter),
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
       function_id, dso_id, offset, source, samples, share, mem_bound, low, high, n, method, tip, 3
FROM (SELECT function_id, dso_id, offset, 'cycles' AS source,
             CAST(n AS INTEGER) AS samples,
             CASE WHEN method <> 'group_read' OR enough THEN share END AS share,
             mem_bound, mem_bound - 2 * error AS low, mem_bound + 2 * error AS high,
             CAST(n AS INTEGER) AS n,
             CASE WHEN formula IS NULL THEN 'unknown (cycles only)'
                  ELSE format('%s (%s; %s)', formula, cpu, how) END AS method,
             CASE WHEN formula IS NULL
                  THEN format('mem_bound is not computable from this file: on %s it needs %s. ' ||
                                  'Record with %s', cpu, missing, command)
                  WHEN NOT enough
                  THEN format('Only %d sample%s: a ratio needs %d', n, iif(n = 1, '', 's'),
                              min_profile_samples)
                  WHEN ratio IS NULL
                  THEN 'A count that the formula divides by is 0 in this function'
                  WHEN ratio > 1
                  THEN 'Above 1: the counts are samples of separate counters; read it as 1' ||
                       coalesce('. ' || note, '')
                  WHEN ratio < 0
                  THEN 'Below 0: the counts are samples of separate counters; read it as 0' ||
                       coalesce('. ' || note, '')
                  WHEN method = 'group_read' AND share < 0.5 AND
                       abs(ratio - all_ratio) <= 2 * error
                  THEN format('Not told apart from the whole trace, %.1f %%: a group read ' ||
                                  'counts all that ran since the last sample, also in other ' ||
                                  'functions', 100 * all_ratio) ||
                       coalesce('. ' || note, '')
                  ELSE note
             END AS tip
      FROM shown, t_parameter
      UNION ALL
      SELECT function_id, dso_id, offset, source, n, share, NULL,
             CASE WHEN n >= min_profile_samples THEN max(0, share * (1 - 2 / sqrt(n))) END,
             CASE WHEN n >= min_profile_samples THEN min(1, share * (1 + 2 / sqrt(n))) END,
             n, format('latency of the function / latency of all memory samples of %s', name),
             'Occupancy, not stall: overlapping misses count several times. For memory ' ||
                 'boundness record with ' || command
      FROM occupied, t_parameter, t_mem_cpu);

DROP TABLE t_mem_formula;
DROP TABLE t_mem_event;
DROP TABLE t_mem_cpu;
