-- Which object and field each sampled address of a shared line is.
--
-- Two kinds of evidence name an address. A variable of the binary that covers it is certain. Code
-- whose access has a known type and offset (analysis of the instruction's registers, table code)
-- gives an instance of the type: the address less the offset is where an object of that type
-- begins. An access by a bare pointer to a number names nothing itself; it belongs to the instance
-- that other code shows there. Of several instances that cover an address the one with most
-- samples counts, then the larger; the others are told as a share against it.

DROP TABLE IF EXISTS temp.t_spot;
CREATE TEMP TABLE t_spot (id INTEGER PRIMARY KEY, space INTEGER, addr INTEGER, width INTEGER,
    samples INTEGER);
INSERT INTO t_spot (space, addr, width, samples)
SELECT coalesce(a.space_id, -1), a.addr, max(coalesce(c.width, 1)), sum(a.samples)
FROM access a LEFT JOIN code c ON c.id = a.code_id
GROUP BY 1, 2;
CREATE UNIQUE INDEX temp.t_spot_place ON t_spot (space, addr);

-- Objects that accesses point to. Those by an index within an array do not tell where their object
-- begins.
DROP TABLE IF EXISTS temp.t_claim;
CREATE TEMP TABLE t_claim (spot INTEGER, base INTEGER, type INTEGER, samples INTEGER, method);
INSERT INTO t_claim
SELECT s.id, a.addr - c.type_offset, c.type_id, sum(a.samples), max(c.type_method)
FROM access a JOIN code c ON c.id = a.code_id JOIN type t ON t.id = c.type_id
     JOIN t_spot s ON s.space = coalesce(a.space_id, -1) AND s.addr = a.addr
WHERE NOT c.type_within AND t.kind IN ('struct', 'union', 'class') AND t.size > 0
      AND c.type_offset >= 0
GROUP BY 1, 2, 3;

DROP TABLE IF EXISTS temp.t_instance;
CREATE TEMP TABLE t_instance (space INTEGER, base INTEGER, type INTEGER, size INTEGER,
    samples INTEGER, method, PRIMARY KEY (space, base, type)) WITHOUT ROWID;
INSERT INTO t_instance
SELECT s.space, c.base, c.type, t.size, sum(c.samples), max(c.method)
FROM t_claim c JOIN t_spot s ON s.id = c.spot JOIN type t ON t.id = c.type
GROUP BY 1, 2, 3;

-- The best instance of each address. Objects larger than the search distance are found by the
-- claims at the address itself only.
DROP TABLE IF EXISTS temp.t_choice;
CREATE TEMP TABLE t_choice (spot INTEGER PRIMARY KEY, base INTEGER, type INTEGER, samples INTEGER,
    method, variable, field, confidence REAL);
INSERT INTO t_choice (spot, base, type, samples, method)
SELECT spot, base, type, samples, method
FROM (SELECT s.id AS spot, i.base, i.type, i.samples, i.method,
             row_number() OVER (PARTITION BY s.id
                                ORDER BY i.samples DESC, i.size DESC, i.base, i.type) AS place
      FROM t_spot s JOIN t_instance i ON i.space = s.space AND i.base <= s.addr
           AND i.base > s.addr - 4096
      WHERE s.addr < i.base + i.size
      UNION ALL
      SELECT c.spot, i.base, i.type, i.samples, i.method, 1
      FROM t_claim c JOIN t_spot s ON s.id = c.spot
           JOIN t_instance i ON i.space = s.space AND i.base = c.base AND i.type = c.type
      WHERE i.base <= s.addr - 4096)
WHERE place = 1
ON CONFLICT (spot) DO UPDATE SET base = excluded.base, type = excluded.type,
    samples = excluded.samples, method = excluded.method WHERE excluded.samples > t_choice.samples;

-- A variable is certain, unless it is a block of bytes that something typed lives in.
INSERT INTO t_choice (spot, base, type, samples, method, variable, field)
SELECT s.id, v.start, v.type_id, s.samples, 'symbol', v.name, v.field
FROM variable v JOIN t_spot s ON s.space = coalesce(v.space_id, -1) AND s.addr = v.addr
     LEFT JOIN type t ON t.id = v.type_id
WHERE v.trace_id = :trace
ON CONFLICT (spot) DO UPDATE SET base = excluded.base, type = excluded.type,
    method = excluded.method, variable = excluded.variable, field = excluded.field
    WHERE NOT EXISTS (SELECT 1 FROM type t LEFT JOIN field f ON f.type_id = t.id
                      WHERE t.id = excluded.type AND t.kind = 'array' AND f.size = f.elements);
UPDATE t_choice SET variable = (SELECT v.name FROM variable v JOIN t_spot s ON s.id = spot
                                WHERE v.trace_id = :trace AND v.addr = s.addr
                                  AND coalesce(v.space_id, -1) = s.space)
WHERE variable IS NULL;

-- The path to each address, down from its object. Members of a union overlap: the one as wide as
-- the access is taken, else the first.
DROP TABLE IF EXISTS temp.t_path;
CREATE TEMP TABLE t_path (spot INTEGER, path, depth INTEGER, fits INTEGER, idx INTEGER);
INSERT INTO t_path
WITH RECURSIVE walk (spot, type, offset, width, path, depth, fits, idx) AS (
  SELECT c.spot, c.type, s.addr - c.base, s.width, '', 0, 0, 0
  FROM t_choice c JOIN t_spot s ON s.id = c.spot WHERE c.field IS NULL AND c.type IS NOT NULL
  UNION ALL
  SELECT w.spot, f.member_id,
         CASE WHEN f.elements > 0 AND f.size >= f.elements
              THEN (w.offset - f.offset) % (f.size / f.elements) ELSE w.offset - f.offset END,
         w.width,
         w.path || CASE WHEN f.name IS NULL OR f.base_class THEN ''
                        WHEN w.path = '' THEN f.name ELSE '.' || f.name END
                || CASE WHEN f.elements > 0 AND f.size >= f.elements
                        THEN format('[%d]', (w.offset - f.offset) / (f.size / f.elements))
                        ELSE '' END,
         w.depth + 1, f.size = w.width, f.idx
  FROM walk w JOIN field f ON f.type_id = w.type
  WHERE w.depth < 32 AND w.offset >= f.offset AND (w.offset < f.offset + f.size OR f.size = 0)
  LIMIT 1000000)
SELECT spot, path, depth, fits, idx FROM walk WHERE depth > 0;
UPDATE t_choice SET field = p.path
FROM (SELECT spot, path, row_number() OVER (PARTITION BY spot
                                            ORDER BY fits DESC, depth DESC, idx) AS place
      FROM t_path) p
WHERE p.spot = t_choice.spot AND p.place = 1 AND p.path <> '';

-- How much of what the code itself claims agrees.
UPDATE t_choice SET confidence = a.agreeing
FROM (SELECT c.spot, sum(iif(c.base BETWEEN h.base AND h.base + t.size - 1, c.samples, 0)) * 1.0 /
             sum(c.samples) AS agreeing
      FROM t_claim c JOIN t_choice h ON h.spot = c.spot JOIN type t ON t.id = h.type
      GROUP BY c.spot) a
WHERE a.spot = t_choice.spot;

INSERT INTO data_field (trace_id, space_id, addr, variable, type_id, start, field, method,
                        confidence, samples)
SELECT :trace, nullif(s.space, -1), s.addr, c.variable, c.type, c.base, c.field, c.method,
       c.confidence, s.samples
FROM t_choice c JOIN t_spot s ON s.id = c.spot
ORDER BY s.space, s.addr;

-- All fields on the judged lines, those that no sample touched as well: the neighbours. Of an array
-- the elements on the line. The limits are there for types that somebody made up.
DROP TABLE IF EXISTS temp.t_step;
CREATE TEMP TABLE t_step (k INTEGER PRIMARY KEY);
INSERT INTO t_step
WITH RECURSIVE n (k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM n WHERE k < 255) SELECT k FROM n;
DROP TABLE IF EXISTS temp.t_part;
CREATE TEMP TABLE t_part (type INTEGER, idx INTEGER, name, type_name, member INTEGER,
    offset INTEGER, element INTEGER, elements INTEGER, is_array INTEGER);
INSERT INTO t_part
SELECT type_id, idx, name, iif(split, substr(type_name, 1, instr(type_name || '[', '[') - 1),
                            type_name), member_id, offset,
       iif(split, size / elements, size), iif(split, elements, 1), split
FROM (SELECT f.type_id, f.idx, iif(f.base_class, NULL, f.name) AS name, f.type_name, f.member_id,
             f.offset, f.size, f.elements,
             -- texts and paddings stay whole
             coalesce(f.elements > 0 AND f.size / f.elements >= 4, 0) AS split
      FROM field f JOIN type t ON t.id = f.type_id WHERE t.trace_id = :trace AND f.size > 0);
CREATE INDEX temp.t_part_type ON t_part (type);

INSERT INTO line_field (trace_id, space_id, line, offset, size, type_id, start, variable, field,
                        type_name)
WITH RECURSIVE
  here (space, line, size, type, base, variable) AS (
    SELECT DISTINCT s.space, l.line, l.size, c.type, c.base, c.variable
    FROM line_finding l JOIN t_spot s ON s.space = coalesce(l.space_id, -1)
         AND s.addr BETWEEN l.line AND l.line + l.size - 1
         JOIN t_choice c ON c.spot = s.id
    WHERE l.trace_id = :trace AND l.verdict IN ('false', 'true', 'mixed', 'adjacent') AND c.type IS NOT NULL),
  walk (space, line, size, type, base, variable, at, length, path, type_name, member, depth) AS (
    SELECT space, line, h.size, h.type, base, variable, base, t.size, '', t.name, h.type, 0
    FROM here h JOIN type t ON t.id = h.type
    UNION ALL
    SELECT w.space, w.line, w.size, w.type, w.base, w.variable,
           w.at + f.offset + f.element * (e.k + max(0, (w.line - w.at - f.offset) / f.element)),
           f.element,
           w.path || CASE WHEN f.name IS NULL THEN '' WHEN w.path = '' THEN f.name
                     ELSE '.' || f.name END
                  || iif(f.is_array, format('[%d]', e.k + max(0, (w.line - w.at - f.offset) /
                                                              f.element)), ''),
           f.type_name, f.member, w.depth + 1
    FROM walk w JOIN t_part f ON f.type = w.member
         JOIN t_step e ON e.k <= (w.size / f.element + 1) * f.is_array
    WHERE w.depth < 32 AND e.k + max(0, (w.line - w.at - f.offset) / f.element) < f.elements
      AND w.at + f.offset + f.element * (e.k + max(0, (w.line - w.at - f.offset) / f.element))
          < w.line + w.size
      AND w.at + f.offset + f.element * (e.k + 1 + max(0, (w.line - w.at - f.offset) / f.element))
          > w.line
    LIMIT 200000)
SELECT DISTINCT :trace, nullif(space, -1), line, at - line, length, type, base, variable,
       nullif(path, ''), type_name
FROM walk w
-- what has no parts on the line: numbers, pointers, a variable that is one
WHERE NOT EXISTS (SELECT 1 FROM t_part f WHERE f.type = w.member)
ORDER BY space, line, at - line, length, path;

DROP TABLE t_spot;
DROP TABLE t_claim;
DROP TABLE t_instance;
DROP TABLE t_choice;
DROP TABLE t_path;
DROP TABLE t_step;
DROP TABLE t_part;
