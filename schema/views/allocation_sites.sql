-- Code by the words for what it allocates.
--
-- code_id: code.id
-- site: allocated in FUNCTION at FILE:LINE, or as much of it as is known
CREATE VIEW allocation_sites AS
SELECT
	c.id AS code_id,
	'allocated ' || coalesce(
		'in ' || f.name || coalesce(' at ' ||
			substr(c.file, length(rtrim(c.file, replace(c.file, '/', ''))) + 1) || ':' || c.line, ''),
		'at ' || substr(d.path, length(rtrim(d.path, replace(d.path, '/', ''))) + 1) ||
			format('+0x%x', c.offset),
		format('at 0x%x', c.ip)) AS site
FROM code AS c
LEFT JOIN function AS f ON f.id = c.function_id
LEFT JOIN dso AS d ON d.id = c.dso_id
