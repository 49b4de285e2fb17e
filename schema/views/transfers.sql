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
-- events that tell another core's cache from other places, and whether they tell that a line was
-- modified there, as in analyze/10_contention_evidence.sql
LEFT JOIN (
	SELECT c.event_id, coalesce(max(s.dirty), 0)
		OR NOT coalesce(max(s.transfer AND s.dirty IS NULL), 0)
		OR EXISTS (SELECT 1 FROM cpu AS h WHERE h.trace_id = c.trace_id
			AND h.midr >> 24 & 255 = 72 AND h.midr >> 4 & 4095 = 3334) AS sees_dirty
	FROM code_total AS c
	JOIN source_class AS s ON s.id = c.source
	WHERE s.name NOT IN ('none', 'unknown')
	GROUP BY c.event_id
	HAVING max(s.transfer OR s.level IN ('peer', 'dram')) OR NOT max(s.name LIKE '%\_miss' ESCAPE '\')
) AS m ON m.event_id = e.id
