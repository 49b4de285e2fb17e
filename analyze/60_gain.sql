-- What ending the false sharing of an object would give: how many times faster the program is.
--
-- The model is Cheetah's (Liu and Liu, CGO 2016): the object's phase lasts while at least two of
-- the threads that pay for it have begun, and as long as the slowest of them; what a thread
-- paid for false sharing is taken off its time, and the rest of the run stays as it is. Other
-- threads that were active in the phase count as they are. True sharing on the same lines stays.
--
-- A thread's time in the phase is that from its first to its last sample, less slices in which it
-- was not sampled. Cycles become time by the clock: sampled cycles tell it, else clock_low and
-- clock_high bound it. The clock's uncertainty and that of the number of misses, two standard
-- errors, make the range; which of a thread's misses are false is known less well than of the line's,
-- and the upper end takes what gives more. What remains is at least access_cycles_low for each access, and where
-- more than half of the time goes, at most access_cycles_high for each access and the other misses.
--
-- Loads in loops that wait for a write (thread_cost.waiting) only look at what delays the writer:
-- they count for the upper end alone. Where they are most of the cost (wait_share), the writers'
-- misses queue up, so that at most the cost of all threads together is on the critical path.
--
-- What is repaired at once: the lines of one type or variable, or lines side by side without a name;
-- and everything (unit 0).

DROP TABLE IF EXISTS temp.t_unit;
CREATE TEMP TABLE t_unit (space INTEGER, line INTEGER, unit INTEGER,
    PRIMARY KEY (line, space, unit));
WITH named AS MATERIALIZED
       (SELECT space, line, name, max(samples) -- SQLite takes name from the row of the maximum
        FROM (SELECT coalesce(space_id, -1) AS space,
                     addr & -(SELECT line_size FROM t_program) AS line,
                     coalesce('v' || variable, 't' || type_id) AS name, sum(samples) AS samples
              FROM data_field
              WHERE trace_id = :trace AND coalesce(variable, type_id) IS NOT NULL
              GROUP BY 1, 2, 3)
        GROUP BY space, line),
     contended AS
       (SELECT coalesce(space_id, -1) AS space, line,
               line - size IS lag(line) OVER (PARTITION BY space_id ORDER BY line) AS goes_on
        FROM line_finding WHERE trace_id = :trace AND verdict IN ('false', 'mixed')),
     island AS
       (SELECT *, sum(NOT goes_on) OVER (PARTITION BY space ORDER BY line) AS number FROM contended)
INSERT INTO t_unit
SELECT i.space, i.line, dense_rank() OVER (ORDER BY i.space, coalesce(n.name, i.number))
FROM island i LEFT JOIN named n USING (space, line);
INSERT INTO t_unit SELECT space, line, 0 FROM t_unit;

-- The clock in GHz, from cycles sampled over the threads' time, or assumed.
DROP TABLE IF EXISTS temp.t_clock;
CREATE TEMP TABLE t_clock AS
SELECT coalesce(measured * 0.9, clock_low) AS low, coalesce(measured * 1.1, clock_high) AS high,
       measured
FROM t_parameter,
     (SELECT CASE WHEN count(*) > 0 AND sum(p.samples) >= 30 AND
                       sum(p.value) / nullif(busy, 0) BETWEEN 0.5 AND 6
                  THEN sum(p.value) / busy END AS measured
      FROM profile p JOIN event e ON e.id = p.event_id,
           (SELECT total(popcount(active)) * (SELECT slice_ns FROM trace WHERE id = :trace) AS busy
            FROM thread WHERE trace_id = :trace)
      WHERE e.trace_id = :trace AND e.role = 'cycles');

-- Threads: what they did, and when.
DROP TABLE IF EXISTS temp.t_life;
CREATE TEMP TABLE t_life (thread_id INTEGER PRIMARY KEY, first, last, active INTEGER, idle,
    accesses, paid);
WITH sliced AS
       (SELECT t.id, t.first_sample_ns AS first, t.last_sample_ns AS last, t.active, t.samples,
               r.slice_ns,
               ((1 << ((t.last_sample_ns - r.slice_first_ns) / r.slice_ns -
                       (t.first_sample_ns - r.slice_first_ns) / r.slice_ns + 1)) - 1) <<
               ((t.first_sample_ns - r.slice_first_ns) / r.slice_ns) AS span
        FROM thread t JOIN trace r ON r.id = t.trace_id
        WHERE t.trace_id = :trace AND t.first_sample_ns IS NOT NULL),
     empty AS
       (SELECT *, ~active & span AS bits FROM sliced)
INSERT INTO t_life
SELECT id, first, last, active,
       -- a single empty slice is chance, and so are all of a thread with few samples
       iif(samples >= (SELECT samples_per_slice FROM t_parameter) * popcount(span),
           popcount(bits & (bits << 1 | bits >> 1)) * slice_ns, 0),
       (SELECT operations FROM t_program) * samples / sum(samples) OVER (), coalesce(p.paid, 0)
FROM empty LEFT JOIN t_thread p ON p.thread_id = id;

-- What each thread pays for a unit; under a hundredth of what the worst pays is no part in it.
DROP TABLE IF EXISTS temp.t_payer;
CREATE TEMP TABLE t_payer (unit INTEGER, thread_id INTEGER, misses, cycles, most, waiting,
    PRIMARY KEY (unit, thread_id)) WITHOUT ROWID;
INSERT INTO t_payer
SELECT unit, thread_id, misses, cycles, most, waiting
FROM (SELECT *, max(cycles) OVER (PARTITION BY unit) AS worst
      FROM (SELECT u.unit, c.thread_id, sum(c.misses) AS misses, sum(c.cycles) AS cycles,
                   sum(c.cycles_most) AS most, sum(c.waiting) AS waiting
            FROM thread_cost c
                 JOIN t_unit u ON u.line = c.line AND u.space = coalesce(c.space_id, -1)
                 JOIN t_life l ON l.thread_id = c.thread_id
            WHERE c.trace_id = :trace
            GROUP BY u.unit, c.thread_id))
WHERE cycles >= worst / 100 AND cycles > 0;

DROP TABLE IF EXISTS temp.t_phase;
CREATE TEMP TABLE t_phase AS
SELECT unit, count(*) AS threads, sum(misses) AS misses, sum(cycles) AS cycles,
       sum(waiting) > sum(cycles) * (SELECT wait_share FROM t_parameter) AS waits,
       sum(waiting) / sum(cycles) AS waiting,
       max(CASE WHEN from_start <= 2 THEN first END) AS start,
       max(last) AS finish
FROM (SELECT p.*, l.first, l.last,
             row_number() OVER (PARTITION BY unit ORDER BY l.first) AS from_start
      FROM t_payer p JOIN t_life l USING (thread_id))
GROUP BY unit;

-- The time of each thread in the phase, now and with the false sharing ended: at least, at most.
DROP TABLE IF EXISTS temp.t_time;
CREATE TEMP TABLE t_time AS
WITH payer AS
       (SELECT h.unit, p.cycles, p.waiting, l.accesses, l.paid,
               max(0, min(l.last, h.finish) - max(l.first, h.start) - l.idle) AS now,
               -- relative: of the clock, and two standard errors of the misses
               sqrt(pow((c.high - c.low) / (c.high + c.low), 2) + 4 / p.misses) AS spread,
               (c.low + c.high) / 2 AS clock, iif(h.waits, h.cycles, p.most) AS cycles_most
        FROM t_payer p JOIN t_phase h USING (unit) JOIN t_life l USING (thread_id), t_clock c),
     saved AS
       (SELECT *, (cycles - waiting) * (cycles / max(paid, cycles)) / clock / (1 + spread)
                   AS least,
               cycles_most / clock * (1 + spread) AS most,
               min(now, accesses * access_cycles_low / high) AS floor,
               iif(hidden, now, (accesses * access_cycles_high + max(0, paid - cycles)) / low)
                   AS ceiling
        FROM payer, t_clock, t_parameter,
             (SELECT max(threshold IS NOT NULL) AS hidden FROM t_event)),
     bounded AS
       (SELECT unit, now, now - least < now / 2 AS little_left, now - most AS shortest,
               now - least AS longest, floor, max(floor, ceiling) AS ceiling
        FROM saved)
-- the difference of two large numbers tells little of what is left: then the work left does
SELECT unit, now, iif(little_left, floor, max(floor, shortest)) AS shortest,
       iif(little_left, iif(longest > floor, min(longest, ceiling), ceiling), longest) AS longest
FROM bounded
UNION ALL
SELECT h.unit, busy, min(busy, l.accesses / clock_high), busy
FROM (SELECT unit, h.start, h.finish, l.thread_id, accesses,
             popcount(l.active &
                      (((1 << max(0, (h.finish - r.slice_first_ns) / r.slice_ns -
                                     (h.start - r.slice_first_ns) / r.slice_ns - 1)) - 1) <<
                       ((h.start - r.slice_first_ns) / r.slice_ns + 1))) * r.slice_ns AS busy
      FROM t_phase h, t_life l, (SELECT * FROM trace WHERE id = :trace) r) h
     JOIN t_life l USING (thread_id), t_parameter
WHERE NOT EXISTS (SELECT 1 FROM t_payer p WHERE p.unit = h.unit AND p.thread_id = h.thread_id);

-- The run less the phase and the slowest thread in its place.
INSERT INTO gain_finding
 (trace_id, unit, lines, threads, misses, phase_share, waiting_share, gain_low, gain_high,
  reason_code, reason, pass_version)
SELECT :trace, unit, lines, coalesce(threads, 0), coalesce(misses, 0), phase / run, waiting,
       CASE WHEN code IN ('parallel_phase', 'wait_loop') THEN low END,
       CASE WHEN code IN ('parallel_phase', 'wait_loop') THEN high END, code,
       CASE code
       WHEN 'no_times' THEN
           'The file does not tell which threads ran when, so what a repair gives is not known'
       WHEN 'no_latency' THEN
           'No miss of the trace has a latency, so what a repair gives is not known'
       WHEN 'too_few_samples' THEN
           format('%.0f misses tell too little of what a repair gives', misses)
       ELSE
           format('%d thread%s slowed for %.0f %% of the run; the slowest decides; %s; %s',
                  threads, iif(threads = 1, ' is', 's are'), 100 * phase / run,
                  iif(measured IS NULL,
                      format('clock taken as %.1f to %.1f GHz', clock_low, clock_high),
                      format('clock measured as %.2f GHz', measured)),
                  iif(waits,
                      format('%.0f %% of the cost is on loads that wait for a write, so at most ' ||
                             'the misses of all threads stand one behind the other', 100 * waiting),
                      'each loses what its misses cost')) ||
           iif(code = 'wide_range',
               format('; %.1f to %s times faster is too wide a range to act on', low,
                      iif(high < 1000, format('%.1f', high), 'many')), '')
       END, 1
FROM (SELECT *, CASE WHEN threads IS NULL THEN 'no_times'
                     WHEN NOT EXISTS (SELECT 1 FROM line_finding
                                      WHERE trace_id = :trace AND excess_latency IS NOT NULL)
                     THEN 'no_latency'
                     WHEN misses < min_miss_samples THEN 'too_few_samples'
                     WHEN high > max_gain_ratio * low THEN 'wide_range'
                     WHEN waits THEN 'wait_loop'
                     ELSE 'parallel_phase' END AS code
      FROM (SELECT *, run / (run - phase + min(phase, max(0, longest))) AS low,
                   run / (run - phase + min(phase, max(0, shortest))) AS high
            FROM (SELECT u.unit, count(*) AS lines, h.threads, h.misses, h.waits, h.waiting,
                         max(0.0, h.finish - h.start) AS phase
                  FROM t_unit u LEFT JOIN t_phase h USING (unit) GROUP BY u.unit)
                 LEFT JOIN (SELECT unit, max(shortest) AS shortest, max(longest) AS longest
                            FROM t_time GROUP BY unit) USING (unit),
                 (SELECT last_ns - first_ns + 1.0 AS run FROM trace WHERE id = :trace)),
           (SELECT low AS clock_low, high AS clock_high, measured FROM t_clock),
           (SELECT min_miss_samples, max_gain_ratio FROM t_parameter));

UPDATE line_finding SET gain_unit = u.unit
FROM t_unit u
WHERE trace_id = :trace AND u.unit > 0 AND u.line = line_finding.line
    AND u.space = coalesce(space_id, -1);

DROP TABLE t_program;
DROP TABLE t_thread;
DROP TABLE t_unit;
DROP TABLE t_clock;
DROP TABLE t_life;
DROP TABLE t_payer;
DROP TABLE t_phase;
DROP TABLE t_time;
DROP TABLE t_parameter;
DROP TABLE t_event;
