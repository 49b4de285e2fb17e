-- What each data source says, for each event, of other cores' caches.
--
-- event_id: event.id
-- source: source_class.id
-- hitm: 1: served from a line modified in another core; NULL: not told
-- peer: 1: served from another core's cache, state not told or clean; NULL: not told
CREATE VIEW transfers AS
SELECT
	e.id AS event_id,
	k.id AS source,
	CASE WHEN k.dirty = 1 THEN 1 WHEN m.sees_dirty AND k.name NOT IN ('none', 'unknown') THEN 0
	     END AS hitm,
	CASE WHEN k.transfer = 1 AND k.dirty IS NOT 1 THEN 1 WHEN k.dirty = 1 OR (m.event_id
	     IS NOT NULL AND k.name NOT IN ('none', 'unknown')) THEN 0 END AS peer
FROM event AS e
CROSS JOIN source_class AS k
LEFT JOIN event_sources AS m ON m.event_id = e.id AND m.sees_transfer
