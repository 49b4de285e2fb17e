-- CPUs whose caches move two neighbouring lines together; the first row that fits a trace's CPU counts. A CPU that is
-- not listed may do so, too: then only accesses that paid for it tell.
--
-- rank: from 1, the order in which the rows are tried
-- cpu: its name
-- pattern: GLOB of trace.cpuid in lower case, of the MIDR as 0x and 16 hex digits, or of trace.arch where neither is told
-- bytes: what moves together, aligned to itself
-- why: what moves them
CREATE VIEW line_pairs AS
SELECT column1 AS rank, column2 AS cpu, column3 AS pattern, column4 AS bytes, column5 AS why
FROM (VALUES
	(1, 'HiSilicon HIP08', '0x*48?fd01?', 128, 'its L3 cache has lines of 128 bytes'),
	(2, 'Intel', 'genuineintel,6,*', 128, 'its L2 cache fetches the other line of a pair of 128 bytes, too')
)
