-- What each sampled address of a shared line is, and the first byte of other judged lines.
--
-- trace_id: trace.id
-- space_id: space.id
-- addr: address, signed
-- address: address, hex
-- kind: variable, instance (of a type); else as in data_places
-- object: variable, or the type and address of an object that code points to; else in what it lies
-- type: type of the object; NULL: not known
-- start: address of the object's first byte, hex; NULL: none is known
-- offset: bytes from there
-- field: path in the object, such as free.head; of a variable without fields its name
-- method: symbol: a variable of the binary covers the address; else how code shows it
-- confidence: share of samples whose code agrees; NULL: no code tells a type
-- samples: samples at this address; NULL: no variable or type is known
CREATE VIEW data_fields AS
SELECT
	p.trace_id,
	p.space_id,
	p.addr,
	printf('0x%x', p.addr) AS address,
	CASE WHEN d.variable IS NOT NULL THEN 'variable' WHEN d.type_id IS NOT NULL THEN 'instance'
		ELSE p.kind END AS kind,
	coalesce(
		d.variable,
		t.name || printf(' at 0x%x', d.start) ||
			iif(p.kind IN ('block', 'stack'), ' (' || p.place || ')', ''),
		p.location) AS object,
	t.name AS type,
	iif(d.start IS NULL, NULL, printf('0x%x', d.start)) AS start,
	p.addr - d.start AS offset,
	CASE WHEN d.variable IS NOT NULL AND d.type_id IS NULL AND p.addr > d.start
			THEN d.variable || printf('+0x%x', p.addr - d.start)
		WHEN d.variable IS NOT NULL AND (d.field IS NULL OR d.field LIKE '[%')
			THEN d.variable || coalesce(d.field, '')
		ELSE d.field END AS field,
	d.method,
	d.confidence,
	d.samples
FROM data_places AS p
LEFT JOIN data_field AS d ON d.trace_id = p.trace_id AND d.space_id IS p.space_id AND d.addr = p.addr
LEFT JOIN type AS t ON t.id = d.type_id
