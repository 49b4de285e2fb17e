-- In what the sampled addresses of shared lines lie, and the first byte of other judged lines.
--
-- trace_id: trace.id
-- space_id: space.id
-- addr: address, signed
-- kind: block (of the heap, by what allocates it), heap, stack, file, shared, anonymous, kernel, unknown
-- place: what allocated the block; else stack of thread T, a file, heap, and so on; NULL: the file does not tell
-- location: place with the offset in the block, mapping or file, or with the address of a mapping without a name
-- region: what is mapped there, also where a block is known
-- thread_id: thread.id of the stack's owner; NULL: no stack, or not known
-- method: how a stack is known: name, base_register, creation
-- confidence: of the method, 0 to 1; NULL: no stack, or nothing tells
CREATE VIEW data_places AS
SELECT
	p.trace_id,
	p.space_id,
	p.addr,
	iif(p.block_start IS NOT NULL, 'block', coalesce(r.kind, 'unknown')) AS kind,
	CASE WHEN p.block_start IS NULL THEN r.name
		WHEN p.sites > 1 THEN 'allocated at ' || p.sites || ' places'
		ELSE coalesce(s.site, 'allocated at a place not told') END AS place,
	CASE WHEN p.block_start IS NULL THEN r.name || CASE r.kind
			WHEN 'anonymous' THEN printf(' at 0x%x', r.start)
			WHEN 'stack' THEN ''
			WHEN 'kernel' THEN ''
			ELSE printf('+0x%x', p.addr - r.start + coalesce(r.file_offset, 0)) END
		WHEN p.sites > 1 THEN 'allocated at ' || p.sites || ' places'
		ELSE coalesce(s.site, 'allocated at a place not told') ||
			printf(' +0x%x', p.addr - p.block_start) END AS location,
	r.name AS region,
	r.thread_id,
	r.method,
	r.confidence
FROM data_place AS p
LEFT JOIN region AS r ON r.trace_id = p.trace_id AND r.space_id = p.region_space_id
	AND r.start = p.region_start
LEFT JOIN allocation_sites AS s ON s.code_id = p.code_id
