-- Contended lines that are one finding, since one change repairs them all.
--
-- Lines belong together when most samples of each are of the same variable or of objects of the
-- same type, or lie side by side without a name, as in the pass before; else without a name, when
-- the same two places of code contend most for them. False and mixed lines go together, true and
-- adjacent ones each by themselves. A line alone is a group of one. The cost is the sum; its error that of independent sums.
--
-- An array of slots is told by the writes of one function: nine tenths (class_share) of the places
-- that it writes belong to one thread each, as do the threads that write at all to it. The first
-- place of each thread, the begin of its object where that is known, marks its slot; where half of
-- the distances or more are the smallest, and all are multiples of it, that is the stride. Slots
-- that have lines of their own are none, what they contend with is within them; nor are places on
-- lines with more lines between them.

DROP TABLE IF EXISTS temp.t_member;
CREATE TEMP TABLE t_member (rank INTEGER PRIMARY KEY, line INTEGER, size INTEGER, space INTEGER,
    verdict, key, name, type_id INTEGER, variable, start INTEGER, starts, number INTEGER);
INSERT INTO t_member (rank, line, size, space, verdict, key, name, type_id, variable, start, starts)
WITH contended AS MATERIALIZED
       (SELECT rank, line, size, coalesce(space_id, -1) AS space, verdict,
               (SELECT 'u' || g.unit FROM gain_finding g
                WHERE g.trace_id = :trace AND g.unit = f.gain_unit AND g.lines > 1) AS unit
        FROM line_finding f
        WHERE trace_id = :trace AND verdict IN ('false', 'true', 'mixed', 'adjacent')),
     named AS MATERIALIZED
       (SELECT rank, name, type_id, variable, start, starts, max(samples)
        FROM (SELECT c.rank, coalesce('v' || d.variable, 't' || d.type_id) AS name,
                     min(d.type_id) AS type_id, d.variable, min(d.start) AS start,
                     count(DISTINCT d.start) AS starts, sum(d.samples) AS samples
              FROM data_field d, trace t
                   CROSS JOIN contended c ON c.space = coalesce(d.space_id, -1) AND c.line =
                        d.addr & -iif(c.verdict = 'adjacent', 2 * t.line_size, t.line_size)
              WHERE d.trace_id = :trace AND t.id = :trace
                AND coalesce(d.variable, d.type_id) IS NOT NULL
              GROUP BY c.rank, 2)
        GROUP BY rank),
     coded AS MATERIALIZED
       (SELECT c.rank, min(p.rank), min(k.a, k.b) || ' ' || max(k.a, k.b) AS name
        FROM contended c JOIN pair_finding p ON p.trace_id = :trace AND p.line = c.line
                 AND coalesce(p.space_id, -1) = c.space
             JOIN (SELECT p.rank, coalesce(p.a_function_id, -p.a_code_id) || ':' || p.a_op AS a,
                          coalesce(p.b_function_id, -p.b_code_id) || ':' || p.b_op AS b
                   FROM pair_finding p WHERE p.trace_id = :trace) k ON k.rank = p.rank
        GROUP BY c.rank)
SELECT c.rank, c.line, c.size, c.space, c.verdict,
       c.space || ' ' || iif(c.verdict = 'mixed', 'false', c.verdict) || ' ' ||
           coalesce(n.name, c.unit, d.name, c.rank),
       coalesce(n.name, c.unit, d.name), n.type_id, n.variable, n.start, n.starts
FROM contended c LEFT JOIN named n USING (rank) LEFT JOIN coded d USING (rank);
UPDATE t_member SET number = n.number
FROM (SELECT rank, dense_rank() OVER (ORDER BY key) AS number FROM t_member) n
WHERE n.rank = t_member.rank;
CREATE INDEX temp.t_member_line ON t_member (line, space);

-- Where the threads are in each group.
DROP TABLE IF EXISTS temp.t_use;
CREATE TEMP TABLE t_use (number INTEGER, place INTEGER, thread_id INTEGER, site INTEGER,
    writes INTEGER);
INSERT INTO t_use
SELECT m.number, iif(d.variable IS NULL AND d.type_id IS NOT NULL, d.start, a.addr), a.thread_id,
       coalesce(k.function_id, -k.id), total(iif(a.op IN (2, 3), a.samples, 0))
FROM access a
     CROSS JOIN trace t ON t.id = :trace
     CROSS JOIN t_member m ON m.space = coalesce(a.space_id, -1) AND
         m.line = a.addr & -iif(m.verdict = 'adjacent', 2 * t.line_size, t.line_size)
     LEFT JOIN data_field d ON d.trace_id = :trace AND d.space_id IS a.space_id AND d.addr = a.addr
     LEFT JOIN code k ON k.id = a.code_id
WHERE a.trace_id = :trace AND a.thread_id IS NOT NULL
GROUP BY 1, 2, 3, 4;
DROP TABLE IF EXISTS temp.t_slot;
CREATE TEMP TABLE t_slot (number INTEGER PRIMARY KEY, writers INTEGER, stride INTEGER);
WITH site AS MATERIALIZED
       (SELECT number, site, max(writes) -- SQLite takes site from the row of the maximum
        FROM (SELECT number, site, sum(writes) AS writes FROM t_use WHERE writes > 0
              GROUP BY number, site)
        GROUP BY number),
     writer AS MATERIALIZED
       (SELECT number, place, thread_id, max(u.site IS s.site) AS same
        FROM t_use u JOIN site s USING (number) WHERE u.writes > 0
        GROUP BY number, place, thread_id),
     apart AS
       (SELECT number FROM (SELECT number, count(*) AS threads FROM writer WHERE same
                            GROUP BY number, place)
        GROUP BY number
        HAVING total(threads = 1) >= (SELECT value FROM parameter
                                      WHERE trace_id = :trace AND name = 'class_share') * count(*)),
     distance AS MATERIALIZED
       (SELECT number, place - lag(place) OVER (PARTITION BY number ORDER BY place) AS step
        FROM (SELECT number, min(place) AS place FROM writer JOIN apart USING (number) WHERE same
              GROUP BY number, thread_id)),
     least AS
       (SELECT number, count(*) AS writers, nullif(min(step), 0) AS stride FROM distance
        GROUP BY number)
INSERT INTO t_slot
SELECT number, l.writers, l.stride
FROM least l JOIN distance d USING (number)
GROUP BY number
HAVING l.stride > 0 AND total(d.step % l.stride <> 0) = 0
   AND 2 * total(d.step = l.stride) >= count(d.step)
   AND l.writers >= (SELECT value FROM parameter
                     WHERE trace_id = :trace AND name = 'class_share') *
                    (SELECT count(DISTINCT thread_id) FROM writer w WHERE w.number = l.number);

INSERT INTO line_group
 (trace_id, rank, kind, verdict, lines, first_line, last_line, space_id, variable, type_id, stride,
  slots_per_line, threads, samples, misses, cost_share, cost_low, cost_high, gain_unit, reason,
  pass_version)
SELECT :trace,
       row_number() OVER (ORDER BY coalesce(cost, 0) DESC, operations DESC, rank), kind,
       verdict, lines, first_line, last_line, nullif(space, -1), variable, type_id,
       iif(kind = 'array', stride, NULL),
       iif(kind = 'array' AND stride < size, size * 1.0 / stride, NULL), threads, samples, misses,
       cost, cost - error, cost + error, unit,
       CASE kind
       WHEN 'line' THEN 'One line'
       WHEN 'array' THEN
           format('%d lines of an array in which each of %d threads writes a place of its own, %d ' ||
                  'bytes apart, while a line has %d: align each place to the line', lines, writers,
                  stride, size)
       WHEN 'object' THEN format('%d lines of one object', lines)
       WHEN 'neighbours' THEN format('%d lines side by side; no name is known', lines)
       WHEN 'instances' THEN format('%d lines with objects of one type', lines)
       ELSE format('%d lines for which the same two places of code contend', lines) END, 1
FROM (SELECT *, CASE WHEN lines = 1 THEN 'line'
                     WHEN stride % size <> 0 AND 2 * lines * size > last_line - first_line
                     THEN 'array'
                     WHEN name GLOB 'u*' THEN 'neighbours'
                     WHEN coalesce(variable, type_id) IS NULL THEN 'code'
                     WHEN variable IS NOT NULL OR objects = 1 THEN 'object'
                     ELSE 'instances' END AS kind
      FROM (SELECT m.number, min(m.rank) AS rank, count(*) AS lines, min(m.line) AS first_line,
                   max(m.line) AS last_line, m.space, max(m.size) AS size,
                   iif(count(DISTINCT m.verdict) = 1, max(m.verdict), 'mixed') AS verdict,
                   max(m.name) AS name, max(m.variable) AS variable, max(m.type_id) AS type_id,
                   iif(max(m.starts) = 1, count(DISTINCT m.start), 2) AS objects,
                   s.stride, s.writers,
                   (SELECT count(DISTINCT thread_id) FROM t_use u WHERE u.number = m.number)
                       AS threads,
                   sum(f.samples) AS samples, sum(f.misses) AS misses, sum(f.cost_share) AS cost,
                   sqrt(sum((f.cost_share - f.cost_low) * (f.cost_share - f.cost_low))) AS error,
                   total(f.miss_operations) AS operations,
                   iif(count(DISTINCT coalesce(f.gain_unit, 0)) = 1, max(f.gain_unit), NULL) AS unit
            FROM t_member m JOIN line_finding f ON f.trace_id = :trace AND f.rank = m.rank
                 LEFT JOIN t_slot s USING (number)
            GROUP BY m.number));

UPDATE line_finding SET group_rank = g.rank
FROM t_member m JOIN t_member one ON one.number = m.number
     JOIN line_group g ON g.trace_id = :trace AND g.first_line = one.line
         AND coalesce(g.space_id, -1) = one.space
WHERE line_finding.trace_id = :trace AND m.rank = line_finding.rank;

DROP TABLE t_member;
DROP TABLE t_use;
DROP TABLE t_slot;
