-- What lies at each address of a judged line or of a line that threads share: which mapping, which
-- thread's stack, which allocation site's blocks.
--
-- Mappings come from the records. They name the stack of the first thread only, and older kernels
-- those of the others; elsewhere a stack is an anonymous mapping, or nothing that the file tells.
-- Whose stack that is, is known by
--   base_register  accesses whose instruction addresses memory through the stack pointer are of the
--                  stack of the thread that makes them. The whole mapping is the stack of the
--                  thread with class_share of them; where several threads have parts of one mapping,
--                  or no mapping is recorded, runs of pages are.
--   creation       the last thing that a process mapped before it made a thread is that thread's
--                  stack, if it is anonymous. Confidence is how often this is right among the
--                  threads whose stack is known by the base register.
-- Where threads contradict each other it is a stack of no certain thread.

DROP TABLE IF EXISTS temp.t_mapped;
CREATE TEMP TABLE t_mapped (id INTEGER PRIMARY KEY, pid INTEGER, space INTEGER, start INTEGER,
    size INTEGER, time INTEGER, pgoff INTEGER, kind, path);
DROP TABLE IF EXISTS temp.t_image;
CREATE TEMP TABLE t_image (pid INTEGER, begin INTEGER, space INTEGER,
    PRIMARY KEY (pid, begin, space)) WITHOUT ROWID;
INSERT INTO t_image SELECT pid, coalesce(start_ns, -1), id FROM space
WHERE trace_id = :trace AND kind = 'process' AND pid IS NOT NULL;

-- A mapping belongs to the image that its process had then; to the first, if it is older than all.
INSERT INTO t_mapped
SELECT m.rowid, m.pid,
       coalesce((SELECT space FROM t_image i
                 WHERE i.pid = m.pid AND begin <= coalesce(m.time_ns, -1)
                 ORDER BY begin DESC LIMIT 1),
                (SELECT space FROM t_image i WHERE i.pid = m.pid ORDER BY begin LIMIT 1)) AS space,
       m.addr, m.length, m.time_ns, m.pgoff,
       CASE WHEN d.path = '[heap]' THEN 'heap'
            WHEN d.path LIKE '[stack%' THEN 'stack'
            WHEN d.path LIKE '/SYSV%' OR d.path LIKE '/memfd:%' OR d.path LIKE '/dev/shm/%' OR
                 d.path LIKE '/dev/zero%' THEN 'shared'
            WHEN d.path LIKE '//anon%' OR d.path LIKE '/anon_hugepage%' OR d.path = ''
            THEN iif(m.flags & 1, 'shared', 'anonymous')
            WHEN d.path LIKE '/%' THEN 'file'
            ELSE 'unknown' END, d.path
FROM map m JOIN dso d ON d.id = m.dso_id
WHERE m.trace_id = :trace AND m.pid >= 0 AND m.addr >= 0 AND m.length > 0
      AND m.length <= 9223372036854775807 - m.addr;
DROP TABLE t_image;

-- The last mapping at each address stands for all there were.
INSERT OR REPLACE INTO region (trace_id, space_id, start, size, kind, name, file_offset, thread_id,
                               method, confidence)
SELECT :trace, m.space, m.start, m.size, m.kind,
       CASE m.kind WHEN 'anonymous' THEN 'anonymous mapping'
                   WHEN 'heap' THEN 'heap'
                   WHEN 'stack' THEN coalesce('stack of thread ' || t.tid, 'stack')
                   WHEN 'shared' THEN 'shared memory' ||
                        iif(m.path LIKE '//anon%' OR m.path = '', '', ' ' || m.path)
                   ELSE m.path END,
       iif(m.kind = 'file', m.pgoff, NULL), t.id, iif(m.kind = 'stack', 'name', NULL),
       iif(t.id IS NULL, NULL, 1.0)
FROM t_mapped m LEFT JOIN
     (SELECT trace_id, pid, tid, min(id) AS id FROM thread WHERE trace_id = :trace
      GROUP BY pid, tid) t
     ON m.kind = 'stack' AND t.pid = m.pid AND t.tid = CASE WHEN m.path = '[stack]' THEN m.pid
        ELSE CAST(substr(m.path, 8) AS INTEGER) END
WHERE m.space IS NOT NULL
ORDER BY m.id;
INSERT OR IGNORE INTO region (trace_id, space_id, start, size, kind, name)
SELECT :trace, id, -9223372036854775807 - 1, 9223372036854775807, 'kernel', 'kernel'
FROM space WHERE trace_id = :trace AND kind = 'kernel';

-- Accesses by the stack pointer, by page. A part of the samples tells: what is looked at grows no
-- further with the trace.
DROP TABLE IF EXISTS temp.t_stack_code;
CREATE TEMP TABLE t_stack_code (id INTEGER PRIMARY KEY);
INSERT INTO t_stack_code SELECT id FROM code
WHERE trace_id = :trace AND base_register IN ('sp', 'rsp', 'esp');
DROP TABLE IF EXISTS temp.t_stack_page;
CREATE TEMP TABLE t_stack_page (space INTEGER, page INTEGER, thread INTEGER, samples INTEGER);
INSERT INTO t_stack_page
WITH RECURSIVE
  bounds (low, high) AS (SELECT (SELECT min(id) FROM sample), (SELECT max(id) FROM sample)),
  part (first, step) AS (
    SELECT low, max(64, (high - low) / 1024) FROM bounds WHERE low IS NOT NULL
    UNION ALL SELECT first + step, step FROM part, bounds WHERE first + step <= high)
SELECT s.space_id, s.addr >> 12, s.thread_id, count(*)
FROM part p CROSS JOIN sample s ON s.id BETWEEN p.first AND p.first + 63
     CROSS JOIN t_stack_code c ON c.id = s.code_id
WHERE (SELECT count(*) FROM t_stack_code) AND s.addr > 0 AND s.space_id IS NOT NULL
      AND s.thread_id IS NOT NULL
GROUP BY 1, 2, 3;
DROP TABLE t_stack_code;

-- Each page with the mapping around it, and runs of pages of one thread in it.
DROP TABLE IF EXISTS temp.t_stack_run;
CREATE TEMP TABLE t_stack_run (space INTEGER, mapping INTEGER, size INTEGER, run INTEGER,
    page INTEGER, thread INTEGER, samples INTEGER);
INSERT INTO t_stack_run
SELECT space, mapping, size, sum(new) OVER (ORDER BY space, page, thread), page, thread, samples
FROM (SELECT *, coalesce(thread <> lag(thread) OVER places
                         OR mapping IS NOT lag(mapping) OVER places
                         OR page > lag(page) OVER places + 256
                         OR space <> lag(space) OVER places, 1)
                -- a page of several threads does not part them
                AND page IS NOT iif(space IS lag(space) OVER places, lag(page) OVER places, NULL)
                AS new
      FROM (SELECT p.*, r.start AS mapping, r.size, r.kind
            FROM (SELECT p.*, (SELECT start FROM (SELECT start, size FROM region r
                                                  WHERE r.trace_id = :trace AND r.space_id = p.space
                                                        AND r.start <= p.page << 12
                                                  ORDER BY r.start DESC LIMIT 64)
                               WHERE (p.page << 12) - start < size LIMIT 1) AS at
                  FROM t_stack_page p) p
            LEFT JOIN region r ON r.trace_id = :trace AND r.space_id = p.space AND r.start = p.at)
      WHERE kind IS NULL OR kind = 'anonymous'
      WINDOW places AS (ORDER BY space, page, thread));
DROP TABLE t_stack_page;

-- The thread with most of the accesses to a mapping, else to a run.
DROP TABLE IF EXISTS temp.t_stack;
CREATE TEMP TABLE t_stack (space INTEGER, start INTEGER, size INTEGER, thread INTEGER,
    share REAL, PRIMARY KEY (space, start)) WITHOUT ROWID;
INSERT INTO t_stack
SELECT space, mapping, size, thread, samples * 1.0 / total
FROM (SELECT space, mapping, size, thread, sum(samples) AS samples,
             sum(sum(samples)) OVER (PARTITION BY space, mapping) AS total
      FROM t_stack_run WHERE mapping IS NOT NULL GROUP BY space, mapping, thread)
WHERE samples >= (SELECT value FROM parameter
                WHERE trace_id = :trace AND name = 'class_share') * total;
INSERT INTO t_stack
SELECT space, first << 12, (last - first + 1) << 12, thread, samples * 1.0 / total
FROM (SELECT r.space, r.thread, sum(r.samples) AS samples,
             min(min(r.page)) OVER runs AS first, max(max(r.page)) OVER runs AS last,
             sum(sum(r.samples)) OVER runs AS total,
             row_number() OVER (PARTITION BY run ORDER BY sum(r.samples) DESC, r.thread) AS place
      FROM t_stack_run r
      WHERE NOT EXISTS (SELECT 1 FROM t_stack s WHERE s.space = r.space AND s.start = r.mapping)
      GROUP BY r.run, r.thread
      WINDOW runs AS (PARTITION BY run))
WHERE place = 1
ON CONFLICT DO NOTHING;
DROP TABLE t_stack_run;

-- What was mapped last before each thread began, and after the one before it. Where there were more
-- mappings of that size than threads, threads begin later than their stacks show.
DROP TABLE IF EXISTS temp.t_created;
CREATE TEMP TABLE t_created (space INTEGER, start INTEGER, thread INTEGER,
    PRIMARY KEY (space, start)) WITHOUT ROWID;
INSERT OR IGNORE INTO t_created
SELECT m.space, m.start, e.thread
FROM (SELECT thread, place, lag(id) OVER events AS id, lag(place) OVER events AS mapped
      FROM (SELECT pid, time, 0 AS is_thread, id, NULL AS thread,
                   row_number() OVER (PARTITION BY pid, kind, size ORDER BY time, id) AS place
            FROM t_mapped WHERE time NOTNULL
            UNION ALL
            SELECT pid, start_ns, 1, NULL, id,
                   row_number() OVER (PARTITION BY pid ORDER BY start_ns, id) FROM thread
            WHERE trace_id = :trace AND tid <> pid AND start_ns NOTNULL)
      WINDOW events AS (PARTITION BY pid ORDER BY time, is_thread, id, thread)) e
     JOIN t_mapped m ON m.id = e.id
WHERE e.thread IS NOT NULL AND e.mapped <= e.place AND m.kind = 'anonymous'
      AND m.space IS NOT NULL
ORDER BY e.thread DESC;

UPDATE region SET kind = 'stack', thread_id = c.thread, method = 'creation', confidence =
       (SELECT avg(s.thread = o.thread) FROM t_created o JOIN t_stack s USING (space, start)),
       name = 'stack of thread ' || (SELECT tid FROM thread WHERE id = c.thread)
FROM t_created c
WHERE trace_id = :trace AND region.space_id = c.space AND region.start = c.start
      AND kind = 'anonymous'
      AND NOT EXISTS (SELECT 1 FROM t_stack s WHERE s.space = c.space
                      AND s.start BETWEEN c.start AND c.start + region.size - 1);
INSERT INTO region (trace_id, space_id, start, size, kind, name, thread_id, method, confidence)
SELECT :trace, space, start, size, 'stack',
       coalesce('stack of thread ' || iif(sure, tid, NULL), 'stack of several threads'),
       iif(sure, thread, NULL), 'base_register', share
FROM (SELECT s.*, t.tid, share >= (SELECT value FROM parameter
                WHERE trace_id = :trace AND name = 'class_share') AS sure
      FROM t_stack s JOIN thread t ON t.id = s.thread) WHERE true
ON CONFLICT DO UPDATE SET kind = excluded.kind, name = excluded.name, size = excluded.size,
    thread_id = excluded.thread_id, method = excluded.method, confidence = excluded.confidence;
DROP TABLE t_created;
DROP TABLE t_stack;
DROP TABLE t_mapped;

-- The addresses, and the space whose mappings are theirs: a process that was forked and mapped
-- nothing itself has what its parent had.
DROP TABLE IF EXISTS temp.t_address;
CREATE TEMP TABLE t_address (space INTEGER, addr INTEGER, owner INTEGER,
    PRIMARY KEY (space, addr)) WITHOUT ROWID;
INSERT INTO t_address
SELECT a.space, a.addr, coalesce((SELECT r.space_id FROM region r WHERE r.trace_id = :trace
                                  AND r.space_id = s.id LIMIT 1), s.parent_id, s.id)
FROM (SELECT coalesce(space_id, -1) AS space, addr FROM access
      UNION SELECT coalesce(space_id, -1), line FROM line_finding
      WHERE trace_id = :trace AND verdict IN ('private', 'read-only', 'unknown')) a
LEFT JOIN space s ON s.id = a.space;

-- Blocks by address: those that lay there one after the other count for one site if they are.
DROP TABLE IF EXISTS temp.t_block;
CREATE TEMP TABLE t_block (space INTEGER, addr INTEGER, size INTEGER, sites INTEGER, site INTEGER,
    PRIMARY KEY (space, addr)) WITHOUT ROWID;
INSERT INTO t_block
SELECT space_id, addr, max(size), count(DISTINCT coalesce(code_id, -1)), max(code_id)
FROM heap_block WHERE trace_id = :trace AND size > 0 GROUP BY space_id, addr;

INSERT INTO data_place (trace_id, space_id, addr, region_space_id, region_start, block_start,
                        code_id, sites)
SELECT :trace, nullif(a.space, -1), a.addr, a.owner,
       (SELECT start FROM (SELECT start, size FROM region r
                           WHERE r.trace_id = :trace AND r.space_id = a.owner AND r.start <= a.addr
                           ORDER BY r.start DESC LIMIT 64)
        WHERE a.addr - start < size LIMIT 1),
       b.addr, iif(b.sites = 1, b.site, NULL), b.sites
FROM t_address a LEFT JOIN t_block b ON b.space = a.space AND b.addr =
     (SELECT addr FROM (SELECT addr, size FROM t_block k
                        WHERE k.space = a.space AND k.addr <= a.addr ORDER BY k.addr DESC LIMIT 64)
      WHERE a.addr - addr < size LIMIT 1);
DROP TABLE t_address;
DROP TABLE t_block;
