/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * health: what a trace holds, what was lost or skipped, what cannot be measured from it. The
 * rows are made by schema/views/health.sql, so that the stock sqlite3 shell shows the same.
 */
#include "query/listing.h"

static const struct fs_query_column columns[] = {
	FS_COLUMN("severity", "SEVERITY", TEXT, FS_SHOW_DEFAULT | FS_SHOW_STATE, NULL,
		  "info, loss, error"),
	FS_COLUMN("name", "NAME", TEXT, FS_SHOW_DEFAULT, NULL, "Stable name of the row"),
	FS_COLUMN("scope", "SCOPE", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE | FS_SHOW_TAIL, NULL,
		  "What it concerns: file, an event, a DSO, a record type, a question"),
	FS_COLUMN("count", "COUNT", INTEGER, FS_SHOW_DEFAULT, NULL, "How many"),
	FS_COLUMN("bytes", "BYTES", INTEGER, 0, NULL, "Bytes of the file that it concerns"),
	FS_COLUMN(
		"first_offset", "OFFSET", OFFSET, 0, NULL,
		"File offset of the first occurrence; of records that were compressed or lie in a "
		"directory: in their joined copy"),
	FS_COLUMN("description", "DESCRIPTION", TEXT, FS_SHOW_DEFAULT | FS_SHOW_WRAP, NULL,
		  "A sentence"),
};

static const struct fs_listing listing = {
	.command = "health",
	.about = "Show what a trace holds, what was lost or skipped, how far symbols reach, and "
		 "what cannot be measured from it, with the recording that could.",
	.need = FS_NEED_ANY,
	.columns = columns,
	.count = sizeof(columns) / sizeof(*columns),
	.from = "health WHERE trace_id = :trace",
	.order = "CASE severity WHEN 'error' THEN 0 WHEN 'loss' THEN 1 ELSE 2 END",
	.nouns = "rows",
	.limit = FS_NO_LIMIT,
};

FS_COMMAND(health)
{
	return fs_listing_command(&listing, NULL, query, argc, argv, error);
}
