-- Formulas of memory boundness, the best of each family first; those of family 'any' serve all CPUs after their own.
--
-- family: as mem_bound_cpus has it
-- rank: from 1 in the family
-- formula: of events by their symbol in mem_bound_events, each the sum over a function; analyze/formula.h has the grammar
-- base: what the formula is a share of, and what a function's own share is taken of
-- signal: part of the formula that must have counted something in the trace, else the events are taken for dead
-- note: what the number holds beside memory stalls; NULL: nothing
-- events: what to ask `perf record` for, of the first formula of each family
CREATE VIEW mem_bound_formulas AS
SELECT column1 AS family, column2 AS rank, column3 AS formula, column4 AS base, column5 AS signal, column6 AS note,
	column7 AS events
FROM (VALUES
	-- perf's metrics.json of HIP08 and HIP12: memory_bound, a share of cycles
	('hip08', 1, '(MEM_STALL_ANYLOAD + MEM_STALL_ANYSTORE) / CPU_CYCLES', 'CPU_CYCLES',
		'MEM_STALL_ANYLOAD + MEM_STALL_ANYSTORE', NULL, '-e ''{cycles,r7004,r7005}:S'''),
	('hip12', 1, '(MEM_STALL_ANYLOAD + MEM_STALL_ANYSTORE) / CPU_CYCLES', 'CPU_CYCLES',
		'MEM_STALL_ANYLOAD + MEM_STALL_ANYSTORE', NULL, '-e ''{cycles,r7005,r7006}:S'''),
	-- libkperfx: mem_bound, a share of execution stalls times back-end bound; bad speculation and retiring,
	-- (INST_SPEC - INST_RETIRED) and INST_RETIRED of six slots, add up to INST_SPEC
	('hip09', 1, '(MEM_STALL_ANYLOAD + MEM_STALL_ANYSTORE) / EXE_STALL_CYCLE '
		|| '* (1 - (FETCH_BUBBLE + INST_SPEC) / (6 * CPU_CYCLES))', 'CPU_CYCLES',
		'MEM_STALL_ANYLOAD + MEM_STALL_ANYSTORE', NULL,
		'-e ''{cycles,r7005,r7006,r7001,r2011,inst_spec}:S'''),
	-- Arm's telemetry data: N1 splits no back-end stalls; the slots of V1, N2 and V2 are the back-end's, too
	('n1', 1, 'STALL_BACKEND / CPU_CYCLES', 'CPU_CYCLES', 'STALL_BACKEND',
		'All back-end stalls: an upper bound of memory stalls', '-e ''{cycles,stall_backend}:S'''),
	('v1', 1, 'STALL_BACKEND_MEM / CPU_CYCLES', 'CPU_CYCLES', 'STALL_BACKEND_MEM', NULL,
		'-e ''{cycles,stall_backend_mem}:S'''),
	('v1', 2, 'STALL_SLOT_BACKEND / (8 * CPU_CYCLES)', 'CPU_CYCLES', 'STALL_SLOT_BACKEND',
		'All back-end stalls: an upper bound of memory stalls', NULL),
	('n2', 1, 'STALL_BACKEND_MEM / CPU_CYCLES', 'CPU_CYCLES', 'STALL_BACKEND_MEM', NULL,
		'-e ''{cycles,stall_backend_mem}:S'''),
	('n2', 2, 'STALL_SLOT_BACKEND / (5 * CPU_CYCLES) - 3 * BR_MIS_PRED / CPU_CYCLES', 'CPU_CYCLES',
		'STALL_SLOT_BACKEND', 'All back-end stalls: an upper bound of memory stalls', NULL),
	('v2', 1, 'STALL_BACKEND_MEM / CPU_CYCLES', 'CPU_CYCLES', 'STALL_BACKEND_MEM', NULL,
		'-e ''{cycles,stall_backend_mem}:S'''),
	('v2', 2, 'STALL_SLOT_BACKEND / (8 * CPU_CYCLES) - 3 * BR_MIS_PRED / CPU_CYCLES', 'CPU_CYCLES',
		'STALL_SLOT_BACKEND', 'All back-end stalls: an upper bound of memory stalls', NULL),
	('n3', 1, 'STALL_BACKEND_MEMBOUND / CPU_CYCLES', 'CPU_CYCLES', 'STALL_BACKEND_MEMBOUND', NULL,
		'-e ''{cycles,r8164}:S'''),
	('n3', 2, 'STALL_BACKEND_MEM / CPU_CYCLES', 'CPU_CYCLES', 'STALL_BACKEND_MEM',
		'Stalls on misses of L2 only: a lower bound of memory stalls', NULL),
	('n3', 3, 'STALL_SLOT_BACKEND / (5 * CPU_CYCLES)', 'CPU_CYCLES', 'STALL_SLOT_BACKEND',
		'All back-end stalls: an upper bound of memory stalls', NULL),
	('v3', 1, 'STALL_BACKEND_MEMBOUND / CPU_CYCLES', 'CPU_CYCLES', 'STALL_BACKEND_MEMBOUND', NULL,
		'-e ''{cycles,r8164}:S'''),
	('v3', 2, 'STALL_BACKEND_MEM / CPU_CYCLES', 'CPU_CYCLES', 'STALL_BACKEND_MEM',
		'Stalls on misses of L2 only: a lower bound of memory stalls', NULL),
	('v3', 3, 'STALL_SLOT_BACKEND / (10 * CPU_CYCLES)', 'CPU_CYCLES', 'STALL_SLOT_BACKEND',
		'All back-end stalls: an upper bound of memory stalls', NULL),
	('arm', 1, 'STALL_BACKEND_MEM / CPU_CYCLES', 'CPU_CYCLES', 'STALL_BACKEND_MEM', NULL,
		'-e ''{cycles,stall_backend_mem}:S'''),
	-- Intel's top-down method: of the kernel's level-2 metric, and for Skylake of pmu-tools
	('spr', 1, 'TOPDOWN.MEMORY_BOUND_SLOTS / (TOPDOWN.RETIRING + TOPDOWN.BAD_SPECULATION + TOPDOWN.FRONTEND_BOUND '
		|| '+ TOPDOWN.BACKEND_BOUND)', 'TOPDOWN.SLOTS', 'TOPDOWN.MEMORY_BOUND_SLOTS', NULL,
		'-e ''{slots,topdown-mem-bound}:S'''),
	('spr', 2, 'TOPDOWN.MEMORY_BOUND_SLOTS / TOPDOWN.SLOTS', 'TOPDOWN.SLOTS', 'TOPDOWN.MEMORY_BOUND_SLOTS', NULL, NULL),
	('skx', 1, '(1 - (IDQ_UOPS_NOT_DELIVERED.CORE + UOPS_ISSUED.ANY + 4 * INT_MISC.RECOVERY_CYCLES) '
		|| '/ (4 * CPU_CYCLES)) * (CYCLE_ACTIVITY.STALLS_MEM_ANY + EXE_ACTIVITY.BOUND_ON_STORES) '
		|| '/ (CYCLE_ACTIVITY.STALLS_TOTAL + EXE_ACTIVITY.1_PORTS_UTIL + UOPS_RETIRED.RETIRE_SLOTS / (4 * CPU_CYCLES) '
		|| '* EXE_ACTIVITY.2_PORTS_UTIL + EXE_ACTIVITY.BOUND_ON_STORES)', 'CPU_CYCLES',
		'CYCLE_ACTIVITY.STALLS_MEM_ANY', NULL, '-e cycles,cycle_activity.stalls_mem_any,'
		|| 'cycle_activity.stalls_total,exe_activity.bound_on_stores,exe_activity.1_ports_util,'
		|| 'exe_activity.2_ports_util,uops_retired.retire_slots,uops_issued.any,int_misc.recovery_cycles,'
		|| 'idq_uops_not_delivered.core'),
	('intel', 1, 'CYCLE_ACTIVITY.STALLS_MEM_ANY / CPU_CYCLES', 'CPU_CYCLES', 'CYCLE_ACTIVITY.STALLS_MEM_ANY', NULL,
		'-e ''{cycles,cycle_activity.stalls_mem_any}:S'''),
	-- perf's pipeline.json of Zen 4
	('zen4', 1, 'DE_NO_DISPATCH_PER_SLOT.BACKEND_STALLS / (6 * CPU_CYCLES) * EX_NO_RETIRE.LOAD_NOT_COMPLETE '
		|| '/ EX_NO_RETIRE.NOT_COMPLETE', 'CPU_CYCLES', 'EX_NO_RETIRE.LOAD_NOT_COMPLETE', NULL,
		'-e ''{ls_not_halted_cyc,de_no_dispatch_per_slot.backend_stalls,ex_no_retire.load_not_complete,'
		|| 'ex_no_retire.not_complete}:S'''),
	('other', 1, 'STALL_BACKEND / CPU_CYCLES', 'CPU_CYCLES', 'STALL_BACKEND',
		'All back-end stalls: an upper bound of memory stalls', '-e ''{cycles,stalled-cycles-backend}:S'''),
	('any', 1, '(MEM_STALL_ANYLOAD + MEM_STALL_ANYSTORE) / CPU_CYCLES', 'CPU_CYCLES',
		'MEM_STALL_ANYLOAD + MEM_STALL_ANYSTORE', NULL, NULL),
	('any', 2, 'MEM_STALL_ANYLOAD / CPU_CYCLES', 'CPU_CYCLES', 'MEM_STALL_ANYLOAD',
		'Stalls of loads only: a lower bound of memory stalls', NULL),
	('any', 3, 'STALL_BACKEND_MEMBOUND / CPU_CYCLES', 'CPU_CYCLES', 'STALL_BACKEND_MEMBOUND', NULL, NULL),
	('any', 4, 'STALL_BACKEND_MEM / CPU_CYCLES', 'CPU_CYCLES', 'STALL_BACKEND_MEM', NULL, NULL),
	('any', 5, 'CYCLE_ACTIVITY.STALLS_MEM_ANY / CPU_CYCLES', 'CPU_CYCLES', 'CYCLE_ACTIVITY.STALLS_MEM_ANY', NULL, NULL),
	('any', 6, 'TOPDOWN.MEMORY_BOUND_SLOTS / TOPDOWN.SLOTS', 'TOPDOWN.SLOTS', 'TOPDOWN.MEMORY_BOUND_SLOTS', NULL, NULL),
	('any', 7, 'STALL_BACKEND / CPU_CYCLES', 'CPU_CYCLES', 'STALL_BACKEND',
		'All back-end stalls: an upper bound of memory stalls', NULL)
)
