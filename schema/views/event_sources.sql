-- What the data sources of each event tell of other cores' caches.
--
-- event_id: event.id
-- sees_source: 1: they tell a level of the memory hierarchy at least
-- sees_transfer: 1: they tell another core's cache from other places; not where they are hits and misses of levels only
-- sees_dirty: 1: they tell whether a line was modified in another core: some say so, or the CPU has the code or event bit for it, or nothing came from another core
CREATE VIEW event_sources AS
SELECT
	e.id AS event_id,
	coalesce(max(s.level <> '' OR s.name IN ('l1_miss', 'l2_miss', 'l3_miss')), 0) AS sees_source,
	coalesce(max(iif(s.name IN ('none', 'unknown'), NULL, s.transfer OR s.level IN ('peer', 'dram'))) OR
		NOT max(iif(s.name IN ('none', 'unknown'), NULL, s.name LIKE '%\_miss' ESCAPE '\')), 0) AS sees_transfer,
	coalesce(max(s.dirty), 0) OR NOT coalesce(max(s.transfer AND s.dirty IS NULL), 0)
		-- HIP12 has codes for modified lines; since SPEv1.4 an event bit can tell
		OR (e.role = 'spe' AND (coalesce(lower(x.cpuid) GLOB '0x*48?fd06?', 0)
			OR EXISTS (SELECT 1 FROM cpu AS c WHERE c.trace_id = e.trace_id
				AND ((c.midr >> 24 & 255 = 72 AND c.midr >> 4 & 4095 = 3334) OR c.spe_events >> 21 & 1))))
		AS sees_dirty
FROM event AS e
JOIN trace AS x ON x.id = e.trace_id
JOIN code_total AS t ON t.event_id = e.id
JOIN source_class AS s ON s.id = t.source
GROUP BY e.id
