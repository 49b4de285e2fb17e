-- Raw data of samples by field, with names; one row per sample that has any.
--
-- id: sample.rowid
-- trace_id: trace.id
-- event: name of the event, such as sched:sched_switch
-- time_ns: time of the sample
-- pid: process; NULL: not known
-- tid: thread; NULL: not known
-- comm: the thread's last name
-- cpu: CPU
-- fields: JSON object; json_extract(fields, '$.NAME') gives a field
CREATE VIEW tracepoints AS
SELECT
	r.sample_id AS id,
	e.trace_id,
	e.name AS event,
	s.time_ns,
	t.pid,
	t.tid,
	t.comm,
	s.cpu,
	r.fields
FROM sample_raw AS r
LEFT JOIN event AS e ON e.id = r.event_id
LEFT JOIN sample AS s ON s.rowid = r.sample_id
LEFT JOIN thread AS t ON t.id = s.thread_id
