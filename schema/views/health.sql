-- The state of each trace: what it holds, what was lost or skipped, how far symbols reach, and
-- what cannot be measured from it, with the recording that could.
--
-- trace_id: trace.id
-- name: stable name of the row
-- severity: info, loss, error
-- scope: what the row concerns: file, an event, a DSO, a record type, a question
-- count: how many
-- bytes: bytes of the file concerned; 0: none were skipped
-- first_offset: file offset of the first occurrence; NULL: not in one place
-- description: a sentence
CREATE VIEW health AS
WITH
-- What each trace's events asked for. Bits of sample_type and of the SPE config words are those
-- of the kernel's perf_event.h and arm_spe_pmu.c.
facts AS (
	SELECT
		t.id AS trace_id,
		t.arch LIKE 'aarch64%' OR t.arch LIKE 'arm64%' OR coalesce(max(e.role = 'spe'), 0) AS arm,
		t.memory_samples,
		coalesce(max(e.role = 'spe' AND e.samples > 0), 0) AS spe,
		coalesce(max(e.role = 'cycles' AND e.samples > 0), 0) AS cycles,
		coalesce(max(e.role LIKE 'stall%' AND e.samples > 0), 0) AS stalls,
		coalesce(max(e.sample_type >> 2 & 1), 0) AS times,
		coalesce(max(e.sample_type >> 7 & 1), 0) AS cpus,
		coalesce(max(e.sample_type >> 19 & 1 OR (e.role = 'spe' AND e.config >> 1 & 1)), 0)
			AS physical
	FROM trace AS t LEFT JOIN event AS e ON e.trace_id = t.id
	GROUP BY t.id
),
asked AS (
	SELECT *, iif(arm, '`perf record -e arm_spe_0/ts_enable=1,pa_enable=1,jitter=1,load_filter=1,store_filter=1/`',
		'`perf c2c record`') AS command,
		'Whether two threads use two offsets of a line at once, watchpoints show: '
			|| '`perf record -d -T -e mem:ADDRESS:rw -e mem:ADDRESS2:rw`.' AS watch
	FROM facts
),
wrote AS (
	SELECT trace_id, sum(stores + atomics) AS writes, sum(samples - stores) AS readers,
		sum(latency_samples) AS latencies
	FROM line_total GROUP BY trace_id
),
sourced AS (
	SELECT e.trace_id,
		sum(iif(k.name NOT IN ('none', 'unknown'), c.samples, 0)) AS samples,
		sum(iif(k.level IN ('peer', 'dram'), c.samples, 0)) AS beyond,
		sum(iif(k.name LIKE '%_miss', c.samples, 0)) AS missed,
		sum(iif(k.name LIKE 'hitm_%', c.samples, 0)) AS hitm,
		sum(iif(k.name LIKE 'peer_%', c.samples, 0)) AS peer
	FROM code_total AS c JOIN event AS e ON e.id = c.event_id
	JOIN source_class AS k ON k.id = c.source
	GROUP BY e.trace_id
),
lacking AS (
	SELECT trace_id, sum(iif(kind = 'aux_collision', count, 0)) AS collisions,
		sum(iif(kind = 'aux_truncated', count, 0)) AS truncations,
		sum(iif(kind = 'aux_blind', count, 0)) AS blind_ns, sum(kind = 'aux_blind') AS blind_cpus
	FROM loss GROUP BY trace_id
),
-- How each SPE event sampled, and on which cores (implementer and part of the MIDR).
spe AS (
	SELECT e.*, e.config & 1 AS times, e.config >> 1 & 1 AS physical, e.config >> 16 & 1 AS jitter,
		e.config >> 32 & 1 AS branches, e.config >> 33 & 1 AS loads, e.config >> 34 & 1 AS stores,
		e.config >> 36 & 127 AS masks, e.config2 & 4095 AS latency,
		EXISTS (SELECT 1 FROM cpu AS c WHERE c.trace_id = e.trace_id AND c.spe_events) AS events_told,
		coalesce(l.collisions, 0) AS collisions, coalesce(l.truncations, 0) AS truncations,
		EXISTS (SELECT 1 FROM cpu AS c WHERE c.trace_id = e.trace_id AND c.midr >> 24 & 255 = 65
			AND c.midr >> 4 & 4095 = 3340) OR lower(t.cpuid) GLOB '0x*41?fd0c?' AS n1
	FROM event AS e JOIN trace AS t ON t.id = e.trace_id
	LEFT JOIN lacking AS l ON l.trace_id = e.trace_id
	WHERE e.role = 'spe'
)
SELECT id AS trace_id, 'samples' AS name, 'info' AS severity, 'file' AS scope, samples AS count,
	bytes, NULL AS first_offset,
	printf('%d sample records and %d Arm SPE records in %d bytes.', sample_records, spe_records,
		bytes) AS description
FROM trace
UNION ALL
SELECT t.id, 'bytes', 'info', 'file', sum(iif(x.kind = 'record_read', x.count, 0)), t.bytes, NULL,
	printf('%d bytes: header %d, sections %d, %d records read %d, records skipped %d, gaps %d.', t.bytes,
		sum(iif(x.kind = 'header', x.bytes, 0)), sum(iif(x.kind = 'section', x.bytes, 0)),
		sum(iif(x.kind = 'record_read', x.count, 0)), sum(iif(x.kind = 'record_read', x.bytes, 0)),
		sum(iif(x.kind = 'record_skipped', x.bytes, 0)), sum(iif(x.kind = 'gap', x.bytes, 0)))
FROM trace AS t JOIN extent AS x ON x.trace_id = t.id GROUP BY t.id
UNION ALL
SELECT id, 'memory_samples', 'info', 'file', memory_samples, 0, NULL,
	printf('%.1f %% of the samples have a data address.', 100.0 * memory_samples / max(samples, 1))
FROM trace
UNION ALL
SELECT id, 'time_span', 'info', 'file', last_ns - first_ns, 0, NULL,
	printf('Nanoseconds from the first sample to the last: %.6f s%s.', (last_ns - first_ns) / 1e9,
		iif(last_ns > first_ns, printf(', %.0f samples per second', 1e9 * samples / (last_ns - first_ns)), ''))
FROM trace WHERE first_ns IS NOT NULL
UNION ALL
SELECT id, iif(complete, 'complete', 'damaged'), iif(complete, 'info', 'error'), 'file',
	(SELECT count(*) FROM loss WHERE trace_id = trace.id AND severity = 'error'),
	(SELECT coalesce(sum(bytes), 0) FROM loss WHERE trace_id = trace.id AND severity = 'error'),
	(SELECT min(first_offset) FROM loss WHERE trace_id = trace.id AND severity = 'error'),
	iif(complete, 'The whole file was read.',
		'The file was damaged, cut off or not decodable in part; what could be read was kept.'
		|| coalesce((SELECT printf(' %d bytes were skipped, first at offset 0x%x.', sum(bytes),
			min(first_offset)) FROM loss WHERE trace_id = trace.id AND severity = 'error'
			HAVING min(first_offset) IS NOT NULL), ''))
FROM trace
UNION ALL
SELECT trace_id, 'event', 'info', name, samples, 0, NULL,
	printf('%s; the samples stand for %d events%s.',
		CASE WHEN sample_period > 0 THEN printf('one sample per %d', sample_period)
			WHEN sample_freq IS NOT NULL THEN printf('%d samples per second asked for', sample_freq)
			WHEN sample_period = 0 AND read_format & 8 THEN 'read with its group'
			ELSE 'period not recorded' END,
		period_sum, coalesce('; read as ' || role, ''))
FROM event WHERE coalesce(role, '') <> 'tracking'
UNION ALL
SELECT id, 'line_size', 'info', 'file', line_size, 0, NULL,
	printf('Cache lines of %d bytes, %s.', line_size,
		CASE line_size_source WHEN 'assumed' THEN 'assumed: the file does not say'
			ELSE 'as the file''s ' || upper(line_size_source) || ' feature says' END)
FROM trace
UNION ALL
SELECT t.id, 'attribution', iif(coalesce(h.known, 0) < t.samples, 'loss', 'info'), 'threads',
	coalesce(h.known, 0), 0, NULL,
	printf('%.1f %% of the samples are attributed to a thread, %.1f %% to a thread of a known process.',
		100.0 * coalesce(h.known, 0) / t.samples, 100.0 * coalesce(h.with_pid, 0) / t.samples)
	|| iif(coalesce(h.known, 0) < t.samples AND t.spe_records > 0, ' The others count for no line. '
		|| 'Record as root, so that SPE writes context packets, or with `--switch-events`.', '')
FROM trace AS t
LEFT JOIN (SELECT trace_id, sum(samples) AS known, sum(iif(pid IS NULL, 0, samples)) AS with_pid
	FROM thread GROUP BY trace_id) AS h ON h.trace_id = t.id
WHERE t.samples > 0
UNION ALL
SELECT c.trace_id, 'symbol_coverage', 'info', 'all binaries',
	sum(iif(c.function_id IS NULL, 0, c.samples)), 0, NULL,
	printf('%.1f %% of the samples lie in a function with a name, %.1f %% have a source line.',
		100.0 * sum(iif(c.function_id IS NULL, 0, c.samples)) / max(sum(c.samples), 1),
		100.0 * sum(iif(c.line IS NULL, 0, c.samples)) / max(sum(c.samples), 1))
FROM code AS c GROUP BY c.trace_id
UNION ALL
SELECT d.trace_id, 'symbols_' || d.symbols,
	iif(d.symbols IN ('missing', 'stripped', 'failed') OR (d.symbols = 'verified' AND d.symbols_reason IS NOT NULL),
		'loss', 'info'), d.path, d.samples, 0, NULL,
	printf('%.1f %% of the samples; %s', 100.0 * d.samples / max(t.samples, 1),
		coalesce(d.symbols_reason, CASE d.symbols
			WHEN 'verified' THEN 'symbols from the binary with the recorded build-id'
			WHEN 'unverified' THEN 'symbols from a binary whose build-id is not in the trace'
			WHEN 'not_asked' THEN CASE d.kind
				WHEN 'kernel' THEN 'give fsingest --vmlinux or --kallsyms to get names'
				WHEN 'module' THEN 'give its directory with fsingest --symbols, or --kallsyms, to get names'
				WHEN 'user' THEN 'give its directory with fsingest --symbols to get names'
				ELSE 'no binary of it exists' END
			ELSE 'no symbols' END))
FROM dso AS d JOIN trace AS t ON t.id = d.trace_id
WHERE d.samples > 0
UNION ALL
SELECT trace_id, 'not_measurable', 'loss', 'contention', 0, 0, NULL,
	'No sample has a data address, so no cache line can be named. Record with ' || command || '.'
FROM asked WHERE memory_samples = 0
UNION ALL
SELECT t.id, 'not_measurable', 'loss', 'spe', 0, 0, NULL,
	'Arm SPE was switched on and recorded nothing. Most virtual machines have no SPE; on the machine '
	|| 'itself it needs the module arm_spe_pmu and a firmware table (ACPI or device tree) that names '
	|| 'its interrupt, and some kernels leave it dead unless booted with `kpti=off`: see `dmesg`. '
	|| 'Else the filters let no operation through, or discard=1 threw all away. Functions bound to memory are '
	|| 'told without SPE: `perf record -e cycles,stall_backend_mem`.'
FROM trace AS t WHERE t.spe_records = 0
	AND EXISTS (SELECT 1 FROM event AS e WHERE e.trace_id = t.id AND e.role = 'spe')
UNION ALL
SELECT a.trace_id, 'not_measurable', 'loss', 'writers', 0, 0, NULL,
	'No store was sampled: who writes a line is unknown, and store-store contention is invisible. '
	|| 'Record with ' || a.command || ', which samples loads and stores.'
FROM asked AS a LEFT JOIN wrote AS w ON w.trace_id = a.trace_id
WHERE a.memory_samples > 0 AND coalesce(w.writes, 0) = 0
UNION ALL
SELECT a.trace_id, 'not_measurable', 'loss', 'latency', 0, 0, NULL,
	'No memory sample has a latency, so cost can only be counted in samples. Record with '
	|| iif(a.arm, '', '`perf record -W` (PERF_SAMPLE_WEIGHT) or ') || a.command || '.'
FROM asked AS a LEFT JOIN wrote AS w ON w.trace_id = a.trace_id
WHERE a.memory_samples > 0 AND coalesce(w.latencies, 0) = 0
UNION ALL
SELECT a.trace_id, 'not_measurable', 'loss', 'data source', 0, 0, NULL,
	'No memory sample says where the data came from, so transfers between cores are told from '
	|| 'latency and overlap in time only. '
	|| CASE WHEN NOT a.arm THEN 'Record with `perf record -d` (PERF_SAMPLE_DATA_SRC) or ' || a.command || '.'
		WHEN NOT a.spe THEN 'Record with ' || a.command || '.'
		ELSE 'The CPU has no SPE data source packet that fsight can read. ' || a.watch END
FROM asked AS a LEFT JOIN sourced AS s ON s.trace_id = a.trace_id
WHERE a.memory_samples > 0 AND coalesce(s.samples, 0) = 0
UNION ALL
SELECT trace_id, 'not_measurable', 'info', 'call chains', sum(samples), 0, NULL,
	'Samples hold copies of the user stack, which are not unwound: their call chains end at the kernel, or with '
	|| 'the sampled function. Record with `perf record --call-graph fp`, or `--call-graph lbr` on Intel.'
FROM event WHERE samples > 0 AND sample_type >> 13 & 1 GROUP BY trace_id
UNION ALL
SELECT trace_id, 'not_measurable', 'info', 'physical addresses', 0, 0, NULL,
	'No physical addresses: memory that processes share at different addresses is not joined. '
	|| 'Record with ' || iif(spe, command, '`perf record --phys-data`') || ' as root.'
FROM asked WHERE memory_samples > 0 AND NOT physical
UNION ALL
SELECT trace_id, 'not_measurable', 'loss', 'CPUs', 0, 0, NULL,
	'Samples do not say their CPU, so threads on one core are not told apart from threads on two. '
	|| 'Record with `--sample-cpu`.'
FROM asked WHERE memory_samples > 0 AND NOT cpus AND NOT EXISTS
	(SELECT 1 FROM access WHERE access.trace_id = asked.trace_id AND access.cpu IS NOT NULL)
UNION ALL
SELECT a.trace_id, 'not_measurable', 'loss', 'overlap in time', 0, 0, NULL,
	'Samples have no time, so it is not known whether accesses overlapped. Record with '
	|| iif(a.spe, a.command, '`perf record -T`') || '.'
FROM asked AS a JOIN trace AS t ON t.id = a.trace_id
WHERE a.memory_samples > 0 AND t.first_ns IS NULL
UNION ALL
SELECT asked.trace_id, 'not_measurable', 'info', 'mem_bound', 0, 0, NULL,
	'No '
	|| CASE WHEN NOT cycles AND NOT stalls THEN 'cycles and no memory stall event was'
		WHEN NOT cycles THEN 'cycles event was' ELSE 'memory stall event was' END
	|| ' sampled, so the share of time bound to memory is not measured. Record with '
	|| '`perf record ' || (SELECT f.events FROM mem_bound_cpus AS c JOIN mem_bound_formulas AS f ON f.family = c.family
		WHERE f.rank = 1 AND lower(coalesce(t.cpuid, t.arch, '')) GLOB c.pattern ORDER BY c.rank LIMIT 1)
	|| '` or what `perf list` calls them on that CPU.'
FROM asked JOIN trace AS t ON t.id = asked.trace_id
WHERE NOT EXISTS (SELECT 1 FROM mem_bound_finding AS m WHERE m.trace_id = t.id AND m.mem_bound IS NOT NULL)
	AND (NOT cycles OR NOT stalls)
UNION ALL
SELECT a.trace_id, 'not_measurable', 'loss', 'readers', 0, 0, NULL,
	'No load was sampled: who reads a line is unknown, and contention of a writer with readers '
	|| 'is invisible. Record with ' || a.command || ', which samples loads and stores.'
FROM asked AS a JOIN wrote AS w ON w.trace_id = a.trace_id
WHERE a.memory_samples > 0 AND w.writes > 0 AND w.readers = 0
UNION ALL
SELECT s.trace_id, 'not_measurable', 'loss', 'transfers between cores', k.missed, 0, NULL,
	'Where data came from is known by event bits only: hit or miss of a level. An access that '
	|| 'got its line from another core looks like any other miss, so hitm and peer are empty, '
	|| 'and contention is told from latency and overlap in time. The CPU sends no data source '
	|| 'that fsight can read. ' || a.watch
FROM spe AS s JOIN sourced AS k ON k.trace_id = s.trace_id JOIN asked AS a ON a.trace_id = s.trace_id
WHERE k.samples > 0 AND k.missed > 0 AND k.beyond = 0
UNION ALL
SELECT s.trace_id, 'not_measurable', 'info', 'HITM', k.peer, 0, NULL,
	'No transfer between cores says whether the line was modified: it counts as peer, and hitm is empty. The '
	|| CASE WHEN s.events_told THEN 'CPU has no event for it.' ELSE 'CPU cannot tell, as far as the file says.' END
	|| ' Who writes the line, sampled stores tell: ' || a.command || '.'
FROM spe AS s JOIN sourced AS k ON k.trace_id = s.trace_id JOIN asked AS a ON a.trace_id = s.trace_id
JOIN event_sources AS v ON v.event_id = s.id
WHERE k.peer > 0 AND NOT v.sees_dirty
UNION ALL
SELECT s.trace_id, 'hitm_meaning', 'info', s.name, k.hitm, 0, NULL,
	'The CPU says of a transfer between cores whether the line was modified: hitm counts those, and 0 means that '
	|| 'none was.'
FROM spe AS s JOIN sourced AS k ON k.trace_id = s.trace_id
JOIN event_sources AS v ON v.event_id = s.id
WHERE k.peer + k.hitm > 0 AND v.sees_dirty
UNION ALL
SELECT trace_id, 'sampling', 'info', name, sample_period, 0, NULL,
	printf('SPE looked at one operation in %d, %s jitter, and kept those that its filters let '
		|| 'through.', sample_period, iif(jitter, 'with', 'without'))
FROM spe WHERE sample_period > 0
UNION ALL
SELECT trace_id, 'no_jitter', 'loss', name, 0, 0, NULL,
	'The sampling interval was not varied: of a loop whose length divides it, the same '
	|| 'operations are sampled every time and the others never. Record with jitter=1.'
FROM spe WHERE NOT jitter
UNION ALL
SELECT s.trace_id, 'collision_rate', 'loss', s.name, s.collisions, 0, NULL,
	printf('%d of %d AUX records (%.1f %%) say that samples fell due while one was in flight '
		|| 'and were dropped, at least one each: long operations take a larger part of '
		|| 'the samples than of what ran. Record with a longer interval, `-c %d`.',
		s.collisions, f.value, 100.0 * s.collisions / f.value,
		4 * max(coalesce(s.sample_period, 256), 256))
FROM spe AS s JOIN fact AS f ON f.trace_id = s.trace_id AND f.name = 'records.11'
WHERE s.collisions > 0
UNION ALL
SELECT trace_id, 'blind_time', 'loss', 'CPUs', blind_ns, 0, NULL,
	printf('Nanoseconds: AUX data did not fit %d times, and %d CPUs or threads were not seen for %.6f s in '
		|| 'all. What contended there then is missing. Record with a larger AUX buffer, '
		|| '`-m ,16M`, or a longer interval.', truncations, blind_cpus, blind_ns / 1e9)
FROM lacking WHERE blind_ns > 0
UNION ALL
SELECT trace_id, 'erratum', 'info', 'Neoverse N1 1694299', 0, 0, NULL,
	'The CPU has a known fault by which the operations that SPE samples are no fair choice of '
	|| 'all. Compare counts of the same code before and after a change, not those of '
	|| 'different code. How often code runs, `perf record -e cycles` tells without that fault.'
FROM spe WHERE n1
UNION ALL
-- as the kernel's perf_ibs driver treats it: fam 19h models 0-Fh
SELECT t.id, 'erratum', 'info', 'AMD 1293', 0, 0, NULL,
	'The CPU has a known fault by which software prefetches and loads that got no miss buffer seem to hit L2: of '
	|| 'those the kernel names the place behind L2, or none. How often L2 is hit, '
	|| '`perf stat -e cache-references,cache-misses` tells without that fault.'
FROM trace AS t
WHERE t.cpuid LIKE 'AuthenticAMD,25,%' AND CAST(substr(t.cpuid, 17) AS INTEGER) < 16
	AND EXISTS (SELECT 1 FROM event AS e WHERE e.trace_id = t.id AND e.role = 'ibs_op' AND e.samples > 0)
UNION ALL
SELECT trace_id, 'latency_filter', 'loss', name, cycles, 0, NULL,
	printf('Only %s of at least %d cycles were sampled: counts and shares are of slow ones, mean '
		|| 'latencies are too high, and fast %s of the same line are missing. %s',
		CASE role WHEN 'spe' THEN 'accesses' WHEN 'ibs_op' THEN 'loads that missed L1D' ELSE 'loads' END,
		cycles, iif(role = 'spe', 'stores and hits', 'hits'),
		CASE role WHEN 'spe' THEN '`perf c2c record` asks for 30; '
				|| '`perf record -e arm_spe_0/...,min_latency=0/` keeps all.'
			WHEN 'ibs_op' THEN 'No store was sampled either, so who writes a line is unknown. '
				|| '`perf c2c record` without --ldlat keeps all.'
			ELSE 'Stores have no such filter: do not compare their number with that of '
				|| 'loads. `perf c2c record --ldlat 3` keeps all.' END)
FROM (
	-- SPE: min_latency; AMD IBS (Zen 5): ldlat; Intel and Power, on any of their PMUs: ldlat
	SELECT trace_id, name, role, CASE role WHEN 'spe' THEN config2 & 4095 WHEN 'ibs_op' THEN config1 & 4095
		ELSE config1 & 65535 END AS cycles
	FROM event
	WHERE role IN ('spe', 'ibs_op') OR (role IN ('load', 'load_store') AND (type = 4 OR name LIKE '%ldlat=%'))
)
WHERE cycles > 0
UNION ALL
SELECT trace_id, 'event_filter', 'loss', name, 0, 0, NULL,
	'IBS kept only operations that missed L3: hits and transfers within an L3 are missing. Record '
	|| 'without l3missonly=1.'
FROM event WHERE role = 'ibs_op' AND config >> 16 & 1
UNION ALL
-- bits 4 and 5 of the attr's flags: exclude_user, exclude_kernel
SELECT trace_id, 'event_filter', 'info', name, 0, 0, NULL,
	iif(flags >> 5 & 1, 'Only user code was sampled: what the kernel does to the same lines is not seen. Record as '
		|| 'root, without `:u`.', 'Only the kernel was sampled: what programs do to the same lines is not seen. '
		|| 'Record without `:k`.')
FROM event
WHERE role IN ('spe', 'load', 'store', 'load_store', 'ibs_op') AND samples > 0
	AND flags >> 4 & 3 IN (1, 2)
UNION ALL
SELECT e.trace_id, 'latency_meaning', 'info', e.name, 0, 0, NULL,
	CASE WHEN e.role = 'spe' THEN 'SPE: cycles from dispatch to completion of the operation, waiting '
			|| 'for its operands included. The view samples has the cycles to issue and those of '
			|| 'address translation.'
		WHEN e.role = 'ibs_op' THEN 'AMD IBS: cycles until the line was there, of loads that missed '
			|| 'L1D; other operations have no latency. instruction_latency: from tag to retire.'
		WHEN t.arch LIKE 'ppc%' THEN 'Power: cycles of the load or store. instruction_latency: to '
			|| 'finish, weight3: to dispatch.'
		WHEN e.role = 'store' THEN 'Intel: cycles of the store, where the core measures it.'
		WHEN t.cpuid LIKE 'GenuineIntel%' THEN 'Intel: cycles from the load''s dispatch to its data, '
			|| 'queues included. instruction_latency: to completion, weight3: since the retirement before.'
		ELSE 'Cycles, as the event defines them; what CPU this is the file does not say.' END
	|| ' Do not average it with that of other events or CPUs.'
FROM event AS e JOIN trace AS t ON t.id = e.trace_id
WHERE e.samples > 0 AND t.memory_samples > 0
	AND (e.role = 'spe' OR (e.role IN ('load', 'store', 'load_store', 'ibs_op') AND e.sample_type & 16793600))
UNION ALL
-- fam 19h models 0-Fh and 20h-5Fh
SELECT t.id, 'not_measurable', 'loss', 'HITM', 0, 0, NULL,
	'Cores of this kind (AMD Zen 3) do not say whether a line was modified in another cache: no '
	|| 'transfer counts as hitm, and `perf c2c` shows no line. Transfers within and between core '
	|| 'complexes and who writes are told all the same: `perf record -d -W -e ibs_op//`.'
FROM trace AS t
WHERE t.cpuid LIKE 'AuthenticAMD,25,%'
	AND (CAST(substr(t.cpuid, 17) AS INTEGER) < 16 OR CAST(substr(t.cpuid, 17) AS INTEGER) BETWEEN 32 AND 95)
	AND EXISTS (SELECT 1 FROM event AS e WHERE e.trace_id = t.id AND e.role = 'ibs_op' AND e.samples > 0)
UNION ALL
SELECT trace_id, 'event_filter', 'loss', name, 0, 0, NULL,
	'SPE kept only records that its filters let through ('
	|| rtrim(iif(loads, 'loads, ', '') || iif(stores, 'stores, ', '') || iif(branches, 'branches, ', '')
		|| iif(masks & 8, 'SIMD, ', '') || iif(masks & 32, 'floating point, ', '')
		|| iif(masks & 87, 'of those only what is '
			|| iif(masks & 2, iif(loads, '', 'no ') || 'load, ', '')
			|| iif(masks & 4, iif(stores, '', 'no ') || 'store, ', '')
			|| iif(masks & 1, iif(branches, '', 'no ') || 'branch, ', '')
			|| iif(masks & 16, iif(masks & 8, '', 'no ') || 'SIMD, ', '')
			|| iif(masks & 64, iif(masks & 32, '', 'no ') || 'floating point, ', ''), '')
		|| iif(config1, printf('events 0x%x, ', config1), '')
		|| iif(config3, printf('not events 0x%x, ', config3), '')
		|| iif(config4, printf('not data sources 0x%x, ', config4), ''), ', ')
	|| '): shares are of those. Record with load_filter=1,store_filter=1 and no other filter.'
FROM spe
WHERE coalesce(config1, 0) <> 0 OR coalesce(config3, 0) <> 0 OR coalesce(config4, 0) <> 0
	OR masks OR (branches + loads + stores NOT IN (0, 3) AND NOT (loads AND stores))
UNION ALL
SELECT s.trace_id, 'better_recording', 'info', 'recording', 0, 0, NULL,
	'A recording without the limits that stand above: `perf record -e '
	|| 'arm_spe_0/ts_enable=1,pa_enable=1,load_filter=1,store_filter=1,jitter=1/ '
	|| iif(s.truncations, '-m ,16M ', '')
	|| printf('-c %d -a -- sleep 5` as root.', max(coalesce(s.sample_period, 1024), 1024)
		* iif(s.collisions OR s.truncations, 4, 1))
FROM spe AS s
WHERE NOT s.times OR NOT s.physical OR NOT s.jitter OR s.latency OR s.collisions OR s.truncations
	OR coalesce(s.config1, 0) <> 0 OR coalesce(s.config3, 0) <> 0 OR coalesce(s.config4, 0) <> 0
	OR s.masks OR (s.branches + s.loads + s.stores > 0 AND NOT (s.loads AND s.stores))
UNION ALL
SELECT l.trace_id, 'lost_share', 'loss', 'file', l.lost, 0, NULL,
	printf('%.1f %% of what fell due was lost: %d records or samples, and %d samples were kept.',
		100.0 * l.lost / (l.lost + t.samples), l.lost, t.samples)
	|| coalesce((SELECT printf(' %.0f %% of the losses with a known CPU were on %s: shares of lines '
			|| 'and functions that it touched are too low.', 100.0 * max(c.lost) / sum(c.lost),
			c.cpu)
		FROM (SELECT scope AS cpu, sum(count) AS lost FROM loss WHERE trace_id = t.id
			AND kind IN ('lost_records', 'lost_samples') AND scope LIKE 'cpu %' GROUP BY scope)
			AS c HAVING sum(c.lost) > 0), '')
	|| ' Record with a larger buffer, `-m 8M`, or a longer period.'
FROM trace AS t JOIN (SELECT trace_id, max(total(iif(kind = 'lost_records', count, 0)),
		total(iif(kind = 'lost_samples', count, 0))) AS lost
	FROM loss GROUP BY trace_id) AS l ON l.trace_id = t.id
WHERE l.lost > 0
UNION ALL
-- Where the CPU and the time are known: what that means for the findings.
SELECT l.trace_id, l.kind, l.severity, l.scope, l.count, l.bytes, l.first_offset, l.description
	|| iif(w.first_ns IS NULL OR t.first_ns IS NULL, '',
		iif(w.first_ns = w.last_ns, printf(' At %.6f s', (w.first_ns - t.first_ns) / 1e9),
			printf(' Between %.6f s and %.6f s', (w.first_ns - t.first_ns) / 1e9,
				(w.last_ns - t.first_ns) / 1e9))
		|| printf(' after the first sample, what %s did is underrepresented.',
			iif(w.cpu IS NULL, 'the machine', 'CPU ' || w.cpu)))
FROM loss AS l JOIN trace AS t ON t.id = l.trace_id
LEFT JOIN (SELECT trace_id, kind, cpu, coalesce('cpu ' || cpu, 'trace') AS scope,
		min(first_ns) AS first_ns, max(last_ns) AS last_ns
	FROM loss_window GROUP BY trace_id, kind, cpu) AS w
	ON w.trace_id = l.trace_id AND w.kind = l.kind AND w.scope = l.scope AND l.severity = 'loss'
