/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * traces: what lies in the case.
 */
#include "query/listing.h"

/* As it described itself; else its kinds of cores, the most frequent first; else its id. */
#define CPU                                                                                        \
	"CASE WHEN (SELECT cpu_description FROM trace WHERE trace.id = traces.id) NOTNULL "        \
	"OR arch NOT IN ('aarch64', 'arm64') THEN cpu ELSE coalesce("                              \
	"(SELECT group_concat(name, ', ') FROM (SELECT coalesce(arm_core(midr), "                  \
	"printf('MIDR 0x%08x', midr)) AS name FROM cpu WHERE trace_id = traces.id AND midr <> 0 "  \
	"GROUP BY 1 ORDER BY count(*) DESC, 1)), arm_core(cpu), cpu) END"

static const struct fs_query_column columns[] = {
	FS_COLUMN("id", "ID", INTEGER, FS_SHOW_DEFAULT, NULL, "Number of the trace"),
	FS_COLUMN("name", "NAME", TEXT, FS_SHOW_DEFAULT, NULL, "Label"),
	FS_COLUMN("arch", "ARCH", TEXT, FS_SHOW_DEFAULT, NULL, "Architecture"),
	FS_COLUMN("cpu", "CPU", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE | FS_SHOW_WIDE, CPU,
		  "CPU of the recording machine; of arm64, its cores by their MIDR"),
	FS_COLUMN("host", "HOST", TEXT, 0, NULL, "Its host name"),
	FS_COLUMN("perf_version", "PERF", TEXT, 0, NULL, "perf that wrote the file"),
	FS_COLUMN("events", "EVENTS", TEXT, FS_SHOW_DEFAULT | FS_SHOW_TRUNCATE, NULL, "Events"),
	FS_COLUMN("samples", "SAMPLES", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "sample_records + spe_records"),
	FS_COLUMN("sample_records", "RECORDS", INTEGER, 0, NULL, "PERF_RECORD_SAMPLE records"),
	FS_COLUMN("spe_records", "SPE", INTEGER, 0, NULL, "Arm SPE records"),
	FS_COLUMN("memory_samples", "MEMORY", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "Samples with a data address"),
	FS_COLUMN("first_ns", "FIRST s", TIME, 0, NULL, "Earliest sample"),
	FS_COLUMN("last_ns", "LAST s", TIME, 0, NULL, "Latest sample"),
	FS_COLUMN("complete", "COMPLETE", FLAG, FS_SHOW_DEFAULT, NULL,
		  "0: damaged, cut off or partly undecodable"),
	FS_COLUMN("sha256", "SHA256", TEXT, 0, NULL, "Of the input file"),
};

static const struct fs_listing listing = {
	.command = "traces",
	.about = "List the traces of the case.",
	.need = FS_NEED_NONE,
	.columns = columns,
	.count = sizeof(columns) / sizeof(*columns),
	.from = "traces WHERE 1",
	.order = "id",
	.filters = { [FS_FILTER_MIN_SAMPLES] = { "samples" } },
	.nouns = "traces",
	.empty = "no traces; `fsingest` adds one",
};

FS_COMMAND(traces)
{
	return fs_listing_command(&listing, NULL, query, argc, argv, error);
}
