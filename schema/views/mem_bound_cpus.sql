-- CPUs and their families of formulas for memory boundness; the first row that fits a trace's CPU counts.
--
-- rank: from 1, the order in which the rows are tried
-- family: what mem_bound_formulas calls it
-- cpu: its name
-- pattern: GLOB of trace.cpuid, of the MIDR as 0x and 16 hex digits, or of trace.arch where neither is told
-- classes: classes of mem_bound_events whose raw codes hold there
CREATE VIEW mem_bound_cpus AS
SELECT column1 AS rank, column2 AS family, column3 AS cpu, column4 AS pattern, column5 AS classes
FROM (VALUES
	(1, 'hip08', 'HiSilicon HIP08', '0x*48?fd01?', 'arm hip08'),
	(2, 'hip09', 'HiSilicon HIP09', '0x*48?fd02?', 'arm hip09'),
	(3, 'hip12', 'HiSilicon HIP12', '0x*48?fd06?', 'arm hip12'),
	(4, 'n1', 'Neoverse N1', '0x*41?fd0c?', 'arm'),
	(5, 'n2', 'Neoverse N2', '0x*[46][1d]?fd49?', 'arm'),
	(6, 'n3', 'Neoverse N3', '0x*41?fd8e?', 'arm'),
	(7, 'v1', 'Neoverse V1', '0x*41?fd40?', 'arm'),
	(8, 'v2', 'Neoverse V2', '0x*41?fd4f?', 'arm'),
	(9, 'v3', 'Neoverse V3', '0x*41?fd8[34]?', 'arm'),
	(10, 'arm', 'Arm', '0x*', 'arm'),
	(11, 'arm', 'Arm', 'a*64*', 'arm'),
	(12, 'skx', 'Intel Skylake or Cascade Lake', 'genuineintel,6,85,*', 'intel'),
	(13, 'spr', 'Intel Sapphire Rapids', 'genuineintel,6,143,*', 'intel'),
	(14, 'spr', 'Intel Emerald Rapids', 'genuineintel,6,207,*', 'intel'),
	(15, 'spr', 'Intel Granite Rapids', 'genuineintel,6,17[34],*', 'intel'),
	(16, 'spr', 'Intel Alder Lake', 'genuineintel,6,15[14],*', 'intel'),
	(17, 'spr', 'Intel Raptor Lake', 'genuineintel,6,18[36],*', 'intel'),
	(18, 'spr', 'Intel Raptor Lake', 'genuineintel,6,191,*', 'intel'),
	(19, 'spr', 'Intel Meteor Lake', 'genuineintel,6,17[02],*', 'intel'),
	(20, 'spr', 'Intel Lunar Lake', 'genuineintel,6,189,*', 'intel'),
	(21, 'spr', 'Intel Arrow Lake', 'genuineintel,6,19[78],*', 'intel'),
	(22, 'intel', 'Intel', 'genuineintel*', 'intel'),
	-- models 0x10 to 0x1f, 0x60 to 0x7f and 0xa0 to 0xaf of family 25; the others are Zen 3
	(23, 'zen4', 'AMD Zen 4', 'authenticamd,25,1[6-9],*', 'amd'),
	(24, 'zen4', 'AMD Zen 4', 'authenticamd,25,2[0-9],*', 'amd'),
	(25, 'zen4', 'AMD Zen 4', 'authenticamd,25,3[01],*', 'amd'),
	(26, 'zen4', 'AMD Zen 4', 'authenticamd,25,9[6-9],*', 'amd'),
	(27, 'zen4', 'AMD Zen 4', 'authenticamd,25,1[0-2][0-9],*', 'amd'),
	(28, 'zen4', 'AMD Zen 4', 'authenticamd,25,1[67][0-9],*', 'amd'),
	(29, 'other', 'AMD', 'authenticamd*', 'none'),
	(30, 'intel', 'x86', 'x86*', 'none'),
	(31, 'other', 'this CPU', '*', 'none')
)
