-- Accesses to lines that two threads touched, with names; one row per address, operation, code,
-- thread, CPU and source class. Lines have the trace's line size.
--
-- trace_id: trace.id
-- space_id: space.id
-- space: address space: kernel, or command name and pid
-- line_base: address of the line, signed
-- line: address of the line, hex
-- address: address accessed, hex
-- offset: bytes from the start of the line
-- width: bytes accessed, by the instruction; NULL: not known
-- op: atomic where the instruction is; else by the record; else by the instruction
-- field: field accessed, or variable without fields; NULL: not known
-- type: type of the object
-- object: variable, or type and address of the object; else in what it lies
-- function: function of the code
-- inlined: innermost function that the compiler put into it there; NULL: none, or not known
-- source_line: source file and line
-- dso: binary of the code
-- pc: code address at run time, hex
-- dso_offset: file offset of the code in the DSO, hex
-- pid: process
-- tid: thread
-- comm: the thread's last name
-- cpu: CPU
-- node: NUMA node of the CPU
-- kernel_code: 1: the code is the kernel's
-- source: where the data came from; NULL: not given
-- hitm: samples served from a line modified in another core; NULL: not told
-- peer: samples served from another core's cache, state not told or clean; NULL: not told
-- samples: samples
-- period: events that they stand for
-- l1_misses: samples known to have missed L1
-- latency_samples: samples with a latency
-- latency_sum: cycles
-- latency_max: cycles
-- latency_histogram: blob; common/histogram.h
-- first_ns: earliest sample
-- last_ns: latest sample
-- code_id: code.id
-- thread_id: thread.id
CREATE VIEW line_accesses AS
SELECT
	a.trace_id,
	a.space_id,
	p.name AS space,
	a.addr & ~(r.line_size - 1) AS line_base,
	printf('0x%x', a.addr & ~(r.line_size - 1)) AS line,
	printf('0x%x', a.addr) AS address,
	a.addr & (r.line_size - 1) AS offset,
	c.width,
	o.name AS op,
	x.field,
	x.type,
	x.object,
	f.name AS function,
	i.function AS inlined,
	c.file || ':' || c.line AS source_line,
	d.path AS dso,
	iif(c.ip IS NULL, NULL, printf('0x%x', c.ip)) AS pc,
	iif(c.offset IS NULL, NULL, printf('0x%x', c.offset)) AS dso_offset,
	t.pid,
	t.tid,
	t.comm,
	a.cpu,
	u.node,
	coalesce(d.kind IN ('kernel', 'module'), c.ip < 0) AS kernel_code,
	nullif(k.name, 'none') AS source,
	v.hitm * a.samples AS hitm,
	v.peer * a.samples AS peer,
	a.samples,
	a.period,
	a.l1_misses,
	a.latency_samples,
	a.latency_sum,
	a.latency_max,
	a.latency_histogram,
	a.first_ns,
	a.last_ns,
	a.code_id,
	a.thread_id
FROM access AS a
JOIN trace AS r ON r.id = a.trace_id
LEFT JOIN spaces AS p ON p.id = a.space_id
LEFT JOIN code AS c ON c.id = a.code_id
LEFT JOIN op AS o ON o.id = CASE WHEN c.op = 3 THEN 3 WHEN a.op = 0 THEN coalesce(c.op, 0) ELSE a.op END
LEFT JOIN function AS f ON f.id = c.function_id
LEFT JOIN inline_frame AS i ON i.code_id = c.id AND i.depth = 0
LEFT JOIN dso AS d ON d.id = c.dso_id
LEFT JOIN thread AS t ON t.id = a.thread_id
LEFT JOIN cpu AS u ON u.trace_id = a.trace_id AND u.cpu = a.cpu
LEFT JOIN source_class AS k ON k.id = a.source
LEFT JOIN data_fields AS x ON x.trace_id = a.trace_id AND x.space_id IS a.space_id AND x.addr = a.addr
LEFT JOIN transfers AS v ON v.event_id = a.event_id AND v.source = a.source
