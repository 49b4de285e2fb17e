-- Samples with names in place of numbers; one row per sample.
--
-- id: sample.rowid
-- trace_id: trace.id
-- event: name of the event
-- time_ns: time of the sample
-- pid: process; NULL: not known
-- tid: thread; NULL: not known
-- comm: the thread's last name
-- cpu: CPU
-- function: function of the code address
-- function_offset: bytes from its start
-- dso: binary of the code address
-- source_line: source file and line
-- ip: code address, hex
-- space: address space of the data address
-- address: data address, hex
-- physical_address: hex
-- op: operation by the record; see the table op
-- source: where the data came from; see the table source_class; NULL: not given
-- certainty: how the source is known
-- attribution: how the thread is known: record, context, switch, switch_cpu_wide, sched_switch, itrace, auxtrace, none
-- locked: 1: x86 lock prefix or SPE atomic
-- exclusive: 1: load or store exclusive
-- acquire: 1: acquire or release
-- misaligned: 1: SPE says misaligned
-- not_retired: 1: wrong path or faulted
-- tlb_miss: 1: second-level TLB miss or page walk; NULL: not told
-- l1_miss: 1: missed L1; NULL: not told
-- simd: 1: a vector operation
-- kernel: 1: executed in the kernel
-- guest: 1: executed in a virtual machine, whose code and data addresses are its own
-- exact_ip: 1: ip is that of the operation itself
-- dirty_snoop: 1: SPE says modified in another cache
-- latency: cycles
-- saturated: 1: the latency is "at least"
-- period: events that the sample stands for
CREATE VIEW samples AS
SELECT
	s.rowid AS id,
	e.trace_id,
	e.name AS event,
	s.time_ns,
	t.pid,
	t.tid,
	t.comm,
	s.cpu,
	f.name AS function,
	c.function_offset,
	d.path AS dso,
	c.file || ':' || c.line AS source_line,
	iif(c.ip IS NULL, NULL, printf('0x%x', coalesce(s.ip, c.ip))) AS ip,
	p.name AS space,
	iif(s.addr IS NULL, NULL, printf('0x%x', s.addr)) AS address,
	iif(s.phys_addr IS NULL, NULL, printf('0x%x', s.phys_addr)) AS physical_address,
	o.name AS op,
	nullif(k.name, 'none') AS source,
	CASE s.access >> 10 & 3
		WHEN 0 THEN 'none' WHEN 1 THEN 'hardware' WHEN 2 THEN 'inferred' WHEN 3 THEN 'assumed'
	END AS certainty,
	CASE s.access >> 12 & 7
		WHEN 0 THEN 'none' WHEN 1 THEN 'record' WHEN 2 THEN 'context'
		WHEN 3 THEN 'switch' WHEN 4 THEN 'itrace' WHEN 5 THEN 'auxtrace'
		WHEN 6 THEN 'switch_cpu_wide' WHEN 7 THEN 'sched_switch'
	END AS attribution,
	s.access >> 15 & 1 AS locked,
	s.access >> 16 & 1 AS exclusive,
	s.access >> 17 & 1 AS acquire,
	s.access >> 18 & 1 AS misaligned,
	s.access >> 19 & 1 AS not_retired,
	CASE WHEN s.access >> 21 & 1 THEN s.access >> 20 & 1 END AS tlb_miss,
	CASE WHEN s.access >> 26 & 1 THEN s.access >> 25 & 1 END AS l1_miss,
	s.access >> 22 & 1 AS simd,
	s.access >> 23 & 1 AS kernel,
	s.access >> 30 & 1 AS guest,
	s.access >> 24 & 1 AS exact_ip,
	s.access >> 28 & 1 AS dirty_snoop,
	s.latency,
	s.access >> 27 & 1 AS saturated,
	s.period
FROM sample AS s
LEFT JOIN event AS e ON e.id = s.event_id
LEFT JOIN thread AS t ON t.id = s.thread_id
LEFT JOIN code AS c ON c.id = s.code_id
LEFT JOIN function AS f ON f.id = c.function_id
LEFT JOIN dso AS d ON d.id = c.dso_id
LEFT JOIN spaces AS p ON p.id = s.space_id
LEFT JOIN op AS o ON o.id = s.access & 15
LEFT JOIN source_class AS k ON k.id = s.access >> 4 & 63
