-- Samples with names in place of numbers; one row per sample. What only Arm SPE tells is NULL for
-- other samples, and what only data_src and weight tell is NULL for SPE's.
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
-- inlined: innermost function that the compiler put into it there; NULL: none, or not known
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
-- dirty: 1: SPE's data source code says that the line was modified where it came from
-- store_side: 1: an atomic that SPE reports as a store
-- latency: cycles; what from and to: the health row latency_meaning
-- saturated: 1: the latency is "at least"
-- period: events that the sample stands for
-- data_src: the word as recorded, hex
-- blocked: data: a load waited for a store's data; address: for a store's address; NULL: not told
-- hops: 1 another core of the node, 2 another node, 3 another socket, 4 another board; NULL: not told
-- region: Intel's memory region, mem_region of data_src; NULL: not told
-- instruction_latency: second weight: Intel dispatch to completion, AMD tag to retire, Power finish cycles
-- weight3: third weight: Intel cycles since the previous retirement, Power dispatch cycles
-- data_page_size: bytes of the page of the data address
-- code_page_size: bytes of the page of the code address
-- data_source_code: SPE's data source code; its meaning depends on the CPU
-- issue_latency: cycles from dispatch to issue
-- translation_latency: cycles of address translation
-- alternate_latency: cycles; SPE counter 3
-- events: SPE's events by name; those without one stand in event_bits only
-- event_bits: SPE's events packet, hex
-- operation_class: other, load_store, branch, reserved
-- operation: kind within the class: general, simd_fp, sve, extended, memcpy, call ...
-- operation_payload: byte of SPE's operation packet, hex
-- conditional: 1: conditional branch or select
-- indirect: 1: indirect branch
-- floating_point: 1: a floating-point operation that accesses no memory
-- predicated: 1: a predicated vector operation
-- gather_scatter: 1: a vector access to many addresses
-- vector_bits: vector length, or tile size, of an SVE or SME operation
-- guarded_control_stack: 1: uses the guarded control stack
-- exception_level: 0 to 3, of the operation
-- security: secure, non-secure, root, realm, of the operation
-- address_tag: top byte of the data address as sent: TBI or MTE tag
-- physical_security: secure, non-secure, root, realm, of the physical address
-- physical_checked: 1: the access was tag-checked
-- physical_tag: MTE physical address tag
-- context_level: exception level of the context packet; NULL: none
-- context_el1: CONTEXTIDR_EL1, where the record has EL2's too
-- branch_target: where the branch went, hex
-- branch_target_level: its exception level
-- branch_target_security: its security state
-- previous_branch_target: where the last branch before went, hex
-- previous_branch_target_level: its exception level
-- previous_branch_target_security: its security state
CREATE VIEW samples AS
SELECT
	s.id,
	s.trace_id,
	s.event,
	s.time_ns,
	t.pid,
	t.tid,
	t.comm,
	s.cpu,
	f.name AS function,
	i.function AS inlined,
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
	s.access >> 31 & 1 AS dirty,
	s.access >> 29 & 1 AS store_side,
	s.latency,
	s.access >> 27 & 1 AS saturated,
	s.period,
	iif(s.word IS NULL, NULL, printf('0x%x', s.word)) AS data_src,
	nullif(trim(iif(s.word >> 41 & 1, 'data', '') || iif(s.word >> 42 & 1, ' address', '')), '')
		AS blocked,
	nullif(s.word >> 43 & 7, 0) AS hops,
	nullif(s.word >> 46 & 31, 0) AS region,
	nullif(s.weights & 65535, 0) AS instruction_latency,
	nullif(s.weights >> 16 & 65535, 0) AS weight3,
	iif(s.weights >> 32 & 255, 1 << (s.weights >> 32 & 255), NULL) AS data_page_size,
	iif(s.weights >> 40 & 255, 1 << (s.weights >> 40 & 255), NULL) AS code_page_size,
	nullif(s.spe_raw >> 32 & 131071, 0) - 1 AS data_source_code,
	nullif(s.spe_extra & 131071, 0) - 1 AS issue_latency,
	nullif(s.spe_extra >> 17 & 131071, 0) - 1 AS translation_latency,
	x.alternate_latency,
	rtrim(
		iif(s.spe_raw >> 0 & 1, 'exception ', '') || iif(s.spe_raw >> 1 & 1, 'retired ', '') ||
		iif(s.spe_raw >> 2 & 1, 'l1d_access ', '') || iif(s.spe_raw >> 3 & 1, 'l1d_refill ', '') ||
		iif(s.spe_raw >> 4 & 1, 'tlb_access ', '') || iif(s.spe_raw >> 5 & 1, 'tlb_walk ', '') ||
		iif(s.spe_raw >> 6 & 1, 'not_taken ', '') || iif(s.spe_raw >> 7 & 1, 'mispredicted ', '') ||
		iif(s.spe_raw >> 8 & 1, 'llc_access ', '') || iif(s.spe_raw >> 9 & 1, 'llc_miss ', '') ||
		iif(s.spe_raw >> 10 & 1, 'remote ', '') || iif(s.spe_raw >> 11 & 1, 'misaligned ', '') ||
		iif(s.spe_raw >> 16 & 1, 'transaction ', '') || iif(s.spe_raw >> 17 & 1, 'partial_predicate ', '') ||
		iif(s.spe_raw >> 18 & 1, 'empty_predicate ', '') || iif(s.spe_raw >> 19 & 1, 'l2d_access ', '') ||
		iif(s.spe_raw >> 20 & 1, 'l2d_miss ', '') || iif(s.spe_raw >> 21 & 1, 'modified ', '') ||
		iif(s.spe_raw >> 22 & 1, 'recently_fetched ', '') || iif(s.spe_raw >> 23 & 1, 'snooped ', '') ||
		iif(s.spe_raw >> 24 & 1, 'streaming_sve ', '') || iif(s.spe_raw >> 25 & 1, 'coprocessor ', '')) AS events,
	iif(s.spe_raw IS NULL, NULL,
		printf('0x%x', (s.spe_raw & 4294967295) | (coalesce(x.events_high, 0) << 32)))
		AS event_bits,
	CASE s.class WHEN 0 THEN 'other' WHEN 1 THEN 'load_store' WHEN 2 THEN 'branch'
		WHEN 3 THEN 'reserved' END AS operation_class,
	s.kind AS operation,
	iif(s.payload IS NULL, NULL, printf('0x%02x', s.payload)) AS operation_payload,
	CASE WHEN s.class = 2 OR s.kind IN ('scalar', 'simd') THEN s.payload & 1 END AS conditional,
	CASE WHEN s.class = 2 THEN s.payload >> 1 & 1 END AS indirect,
	CASE WHEN s.class = 0 THEN s.payload >> 1 & 1 END AS floating_point,
	CASE WHEN s.kind = 'sve' THEN s.payload >> 2 & 1 END AS predicated,
	CASE WHEN s.class = 1 AND s.kind = 'sve' THEN s.payload >> 7 & 1 END AS gather_scatter,
	CASE s.kind WHEN 'sve' THEN 32 << (s.payload >> 4 & 7)
		WHEN 'sme' THEN 128 << ((s.payload >> 4 & 7) * 2 + (s.payload >> 2 & 1)) END AS vector_bits,
	CASE WHEN s.class = 2 THEN s.payload >> 2 & 1 WHEN s.class = 1 THEN s.kind = 'gcs' END
		AS guarded_control_stack,
	CASE WHEN c.id IS NOT NULL THEN s.spe_raw >> 50 & 3 END AS exception_level,
	CASE WHEN c.id IS NOT NULL THEN CASE s.spe_raw >> 49 & 9
		WHEN 8 THEN 'secure' WHEN 0 THEN 'non-secure' WHEN 9 THEN 'root' WHEN 1 THEN 'realm' END
	END AS security,
	CASE WHEN s.addr IS NOT NULL AND s.spe_raw IS NOT NULL THEN coalesce(s.spe_extra, 0) >> 45 & 255
	END AS address_tag,
	CASE WHEN s.phys_addr IS NOT NULL AND s.spe_raw IS NOT NULL
		THEN CASE coalesce(s.spe_extra, 0) >> 57 & 9
		WHEN 8 THEN 'secure' WHEN 0 THEN 'non-secure' WHEN 9 THEN 'root' WHEN 1 THEN 'realm' END
	END AS physical_security,
	CASE WHEN s.phys_addr IS NOT NULL AND s.spe_raw IS NOT NULL
		THEN coalesce(s.spe_extra, 0) >> 59 & 1 END AS physical_checked,
	CASE WHEN s.phys_addr IS NOT NULL AND s.spe_raw IS NOT NULL
		THEN coalesce(s.spe_extra, 0) >> 53 & 15 END AS physical_tag,
	CASE WHEN s.access >> 12 & 7 = 2 OR s.spe_extra >> 62 & 1 THEN 2 - (coalesce(s.spe_extra, 0) >> 61 & 1)
	END AS context_level,
	x.context_el1,
	iif(x.branch_target IS NULL, NULL, printf('0x%x', x.branch_target)) AS branch_target,
	iif(x.branch_target IS NULL, NULL, x.attributes >> 5 & 3) AS branch_target_level,
	CASE WHEN x.branch_target IS NOT NULL THEN CASE x.attributes & 144
		WHEN 0 THEN 'secure' WHEN 128 THEN 'non-secure' WHEN 16 THEN 'root' WHEN 144 THEN 'realm' END
	END AS branch_target_security,
	iif(x.previous_branch_target IS NULL, NULL, printf('0x%x', x.previous_branch_target))
		AS previous_branch_target,
	iif(x.previous_branch_target IS NULL, NULL, x.attributes >> 13 & 3)
		AS previous_branch_target_level,
	CASE WHEN x.previous_branch_target IS NOT NULL THEN CASE x.attributes >> 8 & 144
		WHEN 0 THEN 'secure' WHEN 128 THEN 'non-secure' WHEN 16 THEN 'root' WHEN 144 THEN 'realm' END
	END AS previous_branch_target_security
FROM (
	-- an operation packet is class << 8 | payload; the payload's tests stand in their order
	SELECT *,
		operation >> 8 AS class,
		operation & 255 AS payload,
		CASE
			WHEN operation >> 8 = 2 THEN CASE operation >> 3 & 3
				WHEN 1 THEN 'call' WHEN 2 THEN 'return' WHEN 3 THEN 'jump' ELSE 'branch' END
			WHEN operation & 0x7f8 = 0 THEN iif(operation & 4, 'simd', 'scalar')
			WHEN operation & 0x789 = 0x008 THEN 'sve'
			WHEN operation & 0x789 = 0x088 THEN 'sme'
			WHEN operation >> 8 <> 1 THEN NULL
			WHEN operation & 0xfe = 0x00 THEN 'general'
			WHEN operation & 0xfe = 0x04 THEN 'simd_fp'
			WHEN operation & 0xfe = 0x10 THEN 'unspecified'
			WHEN operation & 0xfe = 0x30 THEN 'system_register'
			WHEN operation & 0xfe = 0x14 THEN 'mte_tag'
			WHEN operation & 0xe2 = 0x02 THEN 'extended'
			WHEN operation & 0x0a = 0x08 THEN 'sve'
			WHEN operation & 0xfe = 0x20 THEN 'memcpy'
			WHEN operation & 0xff = 0x25 THEN 'memset'
			WHEN operation & 0xfa = 0x40 THEN 'gcs'
		END AS kind
	FROM (
		SELECT a.rowid AS id, a.event_id, a.time_ns, a.thread_id, a.cpu, a.code_id, a.space_id,
			a.addr, a.phys_addr, a.access, a.latency, a.period, a.ip, e.trace_id, e.name AS event,
			iif(e.role IS 'spe', NULL, a.raw) AS word,
			iif(e.role IS 'spe', NULL, a.extra) AS weights,
			iif(e.role IS 'spe', a.raw, NULL) AS spe_raw,
			iif(e.role IS 'spe', a.extra, NULL) AS spe_extra,
			iif(e.role IS 'spe', nullif(a.extra >> 34 & 2047, 0) - 1, NULL) AS operation
		FROM sample AS a LEFT JOIN event AS e ON e.id = a.event_id)
) AS s
LEFT JOIN spe_extra AS x ON x.sample_id = s.id
LEFT JOIN thread AS t ON t.id = s.thread_id
LEFT JOIN code AS c ON c.id = s.code_id
LEFT JOIN function AS f ON f.id = c.function_id
LEFT JOIN inline_frame AS i ON i.code_id = c.id AND i.depth = 0
LEFT JOIN dso AS d ON d.id = c.dso_id
LEFT JOIN spaces AS p ON p.id = s.space_id
LEFT JOIN op AS o ON o.id = s.access & 15
LEFT JOIN source_class AS k ON k.id = s.access >> 4 & 63
