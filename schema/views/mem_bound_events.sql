-- Events that the formulas of memory boundness use: by their names, and by the raw codes that each kind of CPU gives them.
--
-- symbol: its name in mem_bound_formulas
-- class: of CPUs for which the code holds, as mem_bound_cpus.classes has it
-- config: event.config of the core's PMU; NULL: known by name only
-- names: what perf calls it, each between spaces, lower case, '_' for '-', without PMU and modifiers
CREATE VIEW mem_bound_events AS
SELECT column1 AS symbol, column2 AS class, column3 AS config, ' ' || lower(column1) || ' ' || column4 || ' ' AS names
FROM (VALUES
	('CPU_CYCLES', 'arm', 0x11, 'cycles cpu_clk_unhalted.thread cpu_clk_unhalted.thread_p ls_not_halted_cyc'),
	('CPU_CYCLES', 'intel', 0x3c, ''),
	('CPU_CYCLES', 'amd', 0x76, ''),
	('INST_SPEC', 'arm', 0x1b, ''),
	('STALL_BACKEND', 'arm', 0x24, 'stalled_cycles_backend'),
	('STALL_BACKEND_MEM', 'arm', 0x4005, ''),
	('STALL_BACKEND_MEMBOUND', 'arm', 0x8164, ''),
	('STALL_SLOT_BACKEND', 'arm', 0x3d, ''),
	('BR_MIS_PRED', 'arm', 0x10, ''),
	-- HiSilicon: each generation has codes of its own
	('FETCH_BUBBLE', 'hip09', 0x2011, ''),
	('EXE_STALL_CYCLE', 'hip09', 0x7001, 'exe_stall exec_stall'),
	('MEM_STALL_ANYLOAD', 'hip08', 0x7004, 'memstall_anyload'),
	('MEM_STALL_ANYLOAD', 'hip09', 0x7005, ''),
	('MEM_STALL_ANYLOAD', 'hip12', 0x7005, ''),
	('MEM_STALL_ANYSTORE', 'hip08', 0x7005, 'memstall_anystore'),
	('MEM_STALL_ANYSTORE', 'hip09', 0x7006, ''),
	('MEM_STALL_ANYSTORE', 'hip12', 0x7006, ''),
	-- Intel: event, umask << 8, cmask << 24
	('TOPDOWN.SLOTS', 'intel', 0x400, 'slots'),
	('TOPDOWN.SLOTS', 'intel', 0x1a4, 'topdown.slots_p'),
	('TOPDOWN.MEMORY_BOUND_SLOTS', 'intel', 0x8700, 'topdown_mem_bound'),
	('TOPDOWN.MEMORY_BOUND_SLOTS', 'intel', 0x10a4, ''),
	('TOPDOWN.RETIRING', 'intel', 0x8000, 'topdown_retiring'),
	('TOPDOWN.BAD_SPECULATION', 'intel', 0x8100, 'topdown_bad_spec'),
	('TOPDOWN.FRONTEND_BOUND', 'intel', 0x8200, 'topdown_fe_bound'),
	('TOPDOWN.BACKEND_BOUND', 'intel', 0x8300, 'topdown_be_bound'),
	('CYCLE_ACTIVITY.STALLS_MEM_ANY', 'intel', 0x140014a3, ''),
	('CYCLE_ACTIVITY.STALLS_TOTAL', 'intel', 0x40004a3, ''),
	('EXE_ACTIVITY.BOUND_ON_STORES', 'intel', 0x40a6, ''),
	('EXE_ACTIVITY.BOUND_ON_STORES', 'intel', 0x20040a6, ''),
	('EXE_ACTIVITY.1_PORTS_UTIL', 'intel', 0x2a6, ''),
	('EXE_ACTIVITY.2_PORTS_UTIL', 'intel', 0x4a6, ''),
	('UOPS_RETIRED.RETIRE_SLOTS', 'intel', 0x2c2, ''),
	('UOPS_ISSUED.ANY', 'intel', 0x10e, ''),
	('INT_MISC.RECOVERY_CYCLES', 'intel', 0x10d, ''),
	('IDQ_UOPS_NOT_DELIVERED.CORE', 'intel', 0x19c, ''),
	-- AMD: event bits 7:0, umask << 8, event bits 11:8 << 32
	('DE_NO_DISPATCH_PER_SLOT.BACKEND_STALLS', 'amd', 0x100001ea0, ''),
	('EX_NO_RETIRE.LOAD_NOT_COMPLETE', 'amd', 0xa2d6, ''),
	('EX_NO_RETIRE.NOT_COMPLETE', 'amd', 0x2d6, '')
)
