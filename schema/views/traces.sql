-- The traces of the case.
--
-- id: trace.id; --trace takes it
-- name: label; --trace takes it too
-- arch: architecture of the recording machine
-- cpu: its CPU, as it described itself
-- host: its name
-- perf_version: the perf that wrote the file
-- events: names of the events that sample, in file order
-- samples: sample_records + spe_records
-- sample_records: PERF_RECORD_SAMPLE records
-- spe_records: Arm SPE records
-- memory_samples: samples with a data address
-- first_ns: earliest sample
-- last_ns: latest sample
-- complete: 0: the file was damaged, cut off or partly undecodable
-- sha256: of the input file
CREATE VIEW traces AS
SELECT
	id,
	name,
	arch,
	coalesce(cpu_description, cpuid) AS cpu,
	hostname AS host,
	perf_version,
	(SELECT group_concat(e.name, ', ')
	 FROM (SELECT name FROM event
	  WHERE trace_id = trace.id AND role IS NOT 'tracking' ORDER BY idx) AS e) AS events,
	samples,
	sample_records,
	spe_records,
	memory_samples,
	first_ns,
	last_ns,
	complete,
	sha256
FROM trace
