-- Pairs of accesses that take a cache line from each other; a is at the lower offset.
--
-- trace_id: trace.id
-- rank: from 1, by score
-- line: address of the line, hex
-- space_id: space.id
-- space: address space: kernel, or command name and pid
-- class: FS: disjoint bytes, TS: common bytes
-- kind: SS: both write, SL: one loads
-- a_offset: bytes from the start of the line
-- a_width: bytes accessed; NULL: not known
-- a_op: operation
-- a_field: field, or variable without fields; NULL: not known
-- a_type: type of the object; NULL: not known
-- a_object: variable, or type and address of the object; else in what it lies
-- a_function: function with most of this side's samples
-- a_dso: its binary
-- a_pc: its code address at run time, hex
-- a_dso_offset: file offset of that code in the DSO, hex
-- a_file: source file
-- a_line: source line
-- a_tids: thread ids, the first 64
-- a_samples: samples
-- b_offset: bytes from the start of the line
-- b_width: bytes accessed; NULL: not known
-- b_op: operation
-- b_field: field, or variable without fields; NULL: not known
-- b_type: type of the object; NULL: not known
-- b_object: variable, or type and address of the object; else in what it lies
-- b_function: function with most of this side's samples
-- b_dso: its binary
-- b_pc: its code address at run time, hex
-- b_dso_offset: file offset of that code in the DSO, hex
-- b_file: source file
-- b_line: source line
-- b_tids: thread ids, the first 64
-- b_samples: samples
-- windows: time slices in which both sides were sampled
-- score: operations that missed because of this pair, by sampling period; for access_order that may have
-- cost_share: share of the run's memory latency; NULL: no miss of the pair has a latency
-- cost_low: lower bound, 95 %
-- cost_high: upper bound, 95 %
-- misses: samples behind the score; NULL: the file does not tell misses (access_order)
-- group_rank: line_groups.rank of the finding that its line belongs to
-- group_lines: lines of that finding
-- evidence: transfer, l1_miss, latency, access_order
-- verdict: false, true, adjacent, unknown
-- reason_code: the rule that gave the verdict
-- reason: the same in a sentence
CREATE VIEW pairs AS
SELECT
	f.trace_id,
	f.rank,
	printf('0x%x', f.line) AS line,
	f.space_id,
	p.name AS space,
	f.class,
	f.kind,
	f.a_offset,
	f.a_width,
	a_o.name AS a_op,
	a_x.field AS a_field,
	a_x.type AS a_type,
	a_x.object AS a_object,
	a_f.name AS a_function,
	a_d.path AS a_dso,
	iif(a_c.ip IS NULL, NULL, printf('0x%x', a_c.ip)) AS a_pc,
	iif(a_c.offset IS NULL, NULL, printf('0x%x', a_c.offset)) AS a_dso_offset,
	a_c.file AS a_file,
	a_c.line AS a_line,
	f.a_tids,
	f.a_samples,
	f.b_offset,
	f.b_width,
	b_o.name AS b_op,
	b_x.field AS b_field,
	b_x.type AS b_type,
	b_x.object AS b_object,
	b_f.name AS b_function,
	b_d.path AS b_dso,
	iif(b_c.ip IS NULL, NULL, printf('0x%x', b_c.ip)) AS b_pc,
	iif(b_c.offset IS NULL, NULL, printf('0x%x', b_c.offset)) AS b_dso_offset,
	b_c.file AS b_file,
	b_c.line AS b_line,
	f.b_tids,
	f.b_samples,
	f.windows,
	f.score,
	f.cost_share,
	f.cost_low,
	f.cost_high,
	iif(f.evidence = 'access_order', NULL, f.misses) AS misses,
	l.group_rank,
	q.lines AS group_lines,
	f.evidence,
	f.verdict,
	f.reason_code,
	f.reason
FROM pair_finding AS f
LEFT JOIN spaces AS p ON p.id = f.space_id
LEFT JOIN op AS a_o ON a_o.id = f.a_op
LEFT JOIN code AS a_c ON a_c.id = f.a_code_id
LEFT JOIN function AS a_f ON a_f.id = f.a_function_id
LEFT JOIN dso AS a_d ON a_d.id = a_c.dso_id
LEFT JOIN data_fields AS a_x ON a_x.trace_id = f.trace_id AND a_x.space_id IS f.space_id
	AND a_x.addr = f.line + f.a_offset
LEFT JOIN op AS b_o ON b_o.id = f.b_op
LEFT JOIN code AS b_c ON b_c.id = f.b_code_id
LEFT JOIN function AS b_f ON b_f.id = f.b_function_id
LEFT JOIN dso AS b_d ON b_d.id = b_c.dso_id
LEFT JOIN data_fields AS b_x ON b_x.trace_id = f.trace_id AND b_x.space_id IS f.space_id
	AND b_x.addr = f.line + f.b_offset
LEFT JOIN line_finding AS l ON l.trace_id = f.trace_id AND l.line = f.line AND l.space_id IS f.space_id
	AND l.verdict <> 'latent'
LEFT JOIN line_group AS q ON q.trace_id = f.trace_id AND q.rank = l.group_rank
