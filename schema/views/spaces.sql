-- Address spaces with a name to show.
--
-- id: space.id
-- trace_id: trace.id
-- name: kernel, unknown, or command name and pid
-- kind: kernel, process, unknown
-- pid: process
CREATE VIEW spaces AS
SELECT
	id,
	trace_id,
	CASE kind WHEN 'process' THEN coalesce(name, '?') || ' ' || coalesce(pid, '?') ELSE kind END
		AS name,
	kind,
	pid
FROM space
