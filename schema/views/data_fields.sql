-- What each sampled address of a shared line is.
--
-- trace_id: trace.id
-- space_id: space.id
-- addr: address, signed
-- address: address, hex
-- object: variable, or the type and address of an object that code points to
-- type: type of the object; NULL: not known
-- start: address of the object's first byte, hex
-- offset: bytes from there
-- field: path in the object, such as free.head; of a variable without fields its name
-- method: symbol: a variable of the binary covers the address; else how code shows it
-- confidence: share of samples whose code agrees; NULL: no code tells a type
-- samples: samples at this address
CREATE VIEW data_fields AS
SELECT
	d.trace_id,
	d.space_id,
	d.addr,
	printf('0x%x', d.addr) AS address,
	coalesce(d.variable, t.name || printf(' at 0x%x', d.start)) AS object,
	t.name AS type,
	printf('0x%x', d.start) AS start,
	d.addr - d.start AS offset,
	iif(d.variable IS NOT NULL AND (d.field IS NULL OR d.field LIKE '[%'),
	    d.variable || coalesce(d.field, ''), d.field) AS field,
	d.method,
	d.confidence,
	d.samples
FROM data_field AS d
LEFT JOIN type AS t ON t.id = d.type_id
