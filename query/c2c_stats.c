/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * c2c-stats: the counters of `perf c2c report --stats` by perf's own rules, next to fsight's
 * exclusive classes, with the reasons where they differ.
 *
 * One scan over the samples groups them by all that either side looks at; a capture has a few
 * hundred such groups. perf's rules (query/perf_c2c.h) and ours (the table `classes`) then judge
 * each group once. Where they count it differently, the first fitting line of `reasons` says why.
 */
#include <stdlib.h>
#include <string.h>

#include "common/access.h"
#include "common/table.h"
#include "query/database.h"
#include "query/listing.h"
#include "query/perf_c2c.h"
#include "query/perf_maps.h"

/* ---- fsight's side ---- */

/* What perf has no row for. X(enum suffix, label) */
#define OWN_ROWS(X)                                                                                \
	X(ATOMICS, "Atomic operations")                                                            \
	X(OTHER_OPERATIONS, "Other or unknown memory operations")                                  \
	X(PMEM, "Load PMEM")                                                                       \
	X(CXL, "Load CXL")                                                                         \
	X(MSC, "Load memory-side cache")                                                           \
	X(UNKNOWN_CODE, "Load source code unknown")                                                \
	X(NOT_TOLD, "Load source not told")                                                        \
	X(STORE_ELSEWHERE, "Store beyond L1D")

#define OWN_ENUM(suffix, label) ROW_##suffix,
enum { ROW_FIRST_OWN = FS_C2C_ROW_MAX - 1, OWN_ROWS(OWN_ENUM) ROW_MAX };

#define LABEL(suffix, label) label,
static const char *const labels[] = { FS_C2C_ROWS(LABEL) OWN_ROWS(LABEL) };

#define OP(name) (1u << FS_OP_##name)
#define FROM(name) (1u << FS_SOURCE_##name)
#define ANY_SOURCE ((1u << FS_SOURCE_MAX) - 1)
#define MEMORY (OP(LOAD) | OP(STORE) | OP(ATOMIC) | OTHERS)
#define OTHERS (OP(UNKNOWN) | OP(PREFETCH) | OP(EXEC) | OP(BRANCH) | OP(OTHER))
#define READS (MEMORY & ~OP(STORE))

/* The memory accesses that belong to a row. ops 0: we have no such class. Sources of READS and
 * of stores are partitions: each access is in one row of its kind. */
static const struct {
	uint16_t ops;
	uint32_t sources;
	uint32_t flags;	 /* of the access, all of which must be set */
	bool no_address; /* only those without a data address */
	bool never;	 /* none: we reject nothing */
} classes[ROW_MAX] = {
	[FS_C2C_RECORDS] = { .ops = MEMORY, .sources = ANY_SOURCE },
	[FS_C2C_LOCKS] = { .ops = MEMORY, .sources = ANY_SOURCE, .flags = FS_ACCESS_LOCKED },
	[FS_C2C_LOADS] = { .ops = OP(LOAD), .sources = ANY_SOURCE },
	[FS_C2C_LOAD_UNCACHED] = { .ops = READS, .sources = FROM(UNCACHED) },
	[FS_C2C_LOAD_IO] = { .ops = READS, .sources = FROM(IO) },
	[FS_C2C_LOAD_MISS] = { .ops = READS,
			       .sources = FROM(L1_MISS) | FROM(L2_MISS) | FROM(L3_MISS) },
	[FS_C2C_LOAD_NO_ADDRESS] = { .ops = READS, .sources = ANY_SOURCE, .no_address = true },
	[FS_C2C_LFB_HIT] = { .ops = READS, .sources = FROM(LFB) },
	[FS_C2C_L1_HIT] = { .ops = READS, .sources = FROM(L1) },
	[FS_C2C_L2_HIT] = { .ops = READS, .sources = FROM(L2) | FROM(L2_MHB) },
	[FS_C2C_LLC_HIT] = { .ops = READS, .sources = FROM(L3) | FROM(L3_SNOOP_HIT) },
	[FS_C2C_LOCAL_HITM] = { .ops = READS, .sources = FROM(HITM_LOCAL) },
	[FS_C2C_REMOTE_HITM] = { .ops = READS, .sources = FROM(HITM_REMOTE) },
	[FS_C2C_REMOTE_HIT] = { .ops = READS, .sources = FROM(FORWARD_REMOTE) },
	[FS_C2C_LOCAL_DRAM] = { .ops = READS, .sources = FROM(DRAM_LOCAL) },
	[FS_C2C_REMOTE_DRAM] = { .ops = READS, .sources = FROM(DRAM_REMOTE) },
	[FS_C2C_LLC_MISSES] = { .ops = READS,
				.sources = FROM(HITM_REMOTE) | FROM(PEER_REMOTE) |
					   FROM(FORWARD_REMOTE) | FROM(DRAM_LOCAL) |
					   FROM(DRAM_REMOTE) | FROM(PMEM) | FROM(CXL) },
	[FS_C2C_LOCAL_PEER] = { .ops = READS, .sources = FROM(PEER_LOCAL) },
	[FS_C2C_REMOTE_PEER] = { .ops = READS, .sources = FROM(PEER_REMOTE) },
	[FS_C2C_STORES] = { .ops = OP(STORE), .sources = ANY_SOURCE },
	[FS_C2C_STORE_UNCACHED] = { .ops = OP(STORE), .sources = FROM(UNCACHED) },
	[FS_C2C_STORE_NO_ADDRESS] = { .ops = OP(STORE), .sources = ANY_SOURCE, .no_address = true },
	[FS_C2C_STORE_L1_HIT] = { .ops = OP(STORE), .sources = FROM(L1) },
	[FS_C2C_STORE_L1_MISS] = { .ops = OP(STORE), .sources = FROM(L1_MISS) },
	[FS_C2C_STORE_NO_LEVEL] = { .ops = OP(STORE), .sources = FROM(NONE) | FROM(UNKNOWN) },
	[FS_C2C_NO_MAP] = { .ops = MEMORY, .sources = ANY_SOURCE, .never = true },
	[FS_C2C_NOT_PARSED] = { .ops = MEMORY, .sources = ANY_SOURCE, .never = true },
	[ROW_ATOMICS] = { .ops = OP(ATOMIC), .sources = ANY_SOURCE },
	[ROW_OTHER_OPERATIONS] = { .ops = OTHERS, .sources = ANY_SOURCE },
	[ROW_PMEM] = { .ops = READS, .sources = FROM(PMEM) },
	[ROW_CXL] = { .ops = READS, .sources = FROM(CXL) },
	[ROW_MSC] = { .ops = READS, .sources = FROM(MSC) },
	[ROW_UNKNOWN_CODE] = { .ops = READS, .sources = FROM(UNKNOWN) },
	[ROW_NOT_TOLD] = { .ops = READS, .sources = FROM(NONE) },
	[ROW_STORE_ELSEWHERE] = { .ops = OP(STORE),
				  .sources =
					  ANY_SOURCE & ~(FROM(UNCACHED) | FROM(L1) | FROM(L1_MISS) |
							 FROM(NONE) | FROM(UNKNOWN)) },
};

/* ---- what the two sides see of a sample ---- */

/* All that decides how a sample is counted. No padding: compared as bytes. */
struct group {
	uint64_t raw;
	uint32_t access;
	uint32_t event; /* index in events */
	uint32_t table; /* enum fs_perf_table */
	uint32_t traits;
};

enum { HAS_RAW = 1, HAS_ADDRESS = 2, MAPPED = 4, CUT_LOAD = 8, CUT_STORE = 16, CUT = 32 };

struct event {
	bool spe;
	bool data_source; /* sample_type has PERF_SAMPLE_DATA_SRC */
};

/* Why a sample is counted differently. */
enum {
	UNREADABLE = 1 << 0, /* this perf finds no sample in such SPE data */
	NO_ACCESS = 1 << 1,  /* not a memory access for us */
	NO_WORD = 1 << 2,    /* the event has no data_src */
	OPERATION = 1 << 3,  /* an access, but perf cannot read the operation */
	ATOMIC = 1 << 4,
	SPE = 1 << 5,
	NO_ADDRESS = 1 << 6,
	NO_CODE = 1 << 7,  /* load without a data source packet, and perf has a table */
	NO_TABLE = 1 << 8, /* the core's codes are ours to read, not perf's */
	OUR_HITM = 1 << 9,
	OUR_PEER = 1 << 10,
	OUR_FORWARD = 1 << 11,
	NUMBER_ONLY = 1 << 12, /* the level stands in lvl_num alone */
	TWICE = 1 << 13,       /* perf counts it in several rows of where the data came from */
	PERF_MORE = 1 << 14,
	PERF_FEWER = 1 << 15,
	UNMAPPED = 1 << 16,
	STORE = 1 << 17,
	JOINED = 1 << 18, /* perf has joined the record before to it, which a full buffer cut off */
};

#define ROW(name) (UINT64_C(1) << FS_C2C_##name)
#define HIT_ROWS (ROW(L2_HIT) | ROW(LLC_HIT))
#define STORE_ROWS (ROW(STORE_NO_LEVEL) | ROW(STORE_L1_HIT) | ROW(STORE_L1_MISS))

/* In order: the first whose conditions all hold, and whose rows are meant, is told. */
static const struct reason {
	uint32_t conditions;
	uint64_t rows; /* 0: all */
	const char *text;
} reasons[] = {
	{ UNREADABLE, 0, "this perf finds no samples in SPE data with per-CPU metadata" },
	{ NO_ACCESS, 0, "samples that are no memory access, which perf counts and then rejects" },
	{ NO_WORD, 0, "accesses of an event without a data_src word, which perf cannot parse" },
	{ OPERATION, 0, "accesses whose operation data_src does not name; perf drops them" },
	{ JOINED, 0,
	  "records that perf has joined to the one before on their CPU, which a full buffer cut "
	  "off" },
	{ ATOMIC | SPE, ROW(LOCKS), "Arm atomics, for which perf sets no lock bit" },
	{ ATOMIC, ROW(LOADS) | ROW(STORES),
	  "atomics, which perf counts as the load or store that the record calls them" },
	{ ATOMIC, STORE_ROWS, "atomics that the record calls stores" },
	{ SPE | STORE, STORE_ROWS,
	  "Arm stores, of which fsight takes a level from event bits; perf goes by the core" },
	{ UNMAPPED, ROW(NO_MAP),
	  "samples whose code or data lies in no recorded mapping; perf keeps them out of its line "
	  "tables, fsight does not" },
	{ NO_ADDRESS, 0, "samples without a data address, whose source perf does not look at" },
	{ NO_CODE, 0, "loads without a data source packet, for which perf takes code 0" },
	{ NO_TABLE, 0,
	  "samples of a core whose data source codes this perf does not know; it takes event "
	  "bits" },
	{ OUR_HITM | PERF_MORE, ROW(LLC_HIT), "local HITMs, which perf adds to this row" },
	{ OUR_HITM, ROW(LOCAL_PEER) | ROW(REMOTE_PEER) | ROW(REMOTE_HIT),
	  "HITMs, which perf also counts as peers" },
	{ OUR_HITM, ROW(L2_HIT) | ROW(LOCAL_HITM) | ROW(REMOTE_HITM),
	  "HITMs, for which perf goes by the level bits" },
	{ OUR_PEER | PERF_MORE, HIT_ROWS,
	  "transfers from another core, which perf also counts as a hit of this level" },
	{ OUR_PEER | PERF_MORE, ROW(REMOTE_HIT), "remote peers, which perf also counts here" },
	{ OUR_PEER, 0, "transfers from another core, for which perf goes by the level bits" },
	{ TWICE | PERF_MORE, 0, "samples that perf counts in several rows" },
	{ OUR_FORWARD, 0, "forwards from another socket, which perf takes for memory" },
	{ NUMBER_ONLY, 0,
	  "samples whose level stands in lvl_num only, which perf c2c never reads" },
	{ OUR_HITM, 0, "HITMs, which perf also counts in other rows" },
	{ 0, 0, "samples that perf's bit tests put elsewhere" },
};

enum { REASONS = sizeof(reasons) / sizeof(*reasons) };

/* Why the other side has nothing at all. */
static const struct {
	unsigned int row;
	const char *text;
} silent[] = {
	{ FS_C2C_EXCLUSIVE,
	  "fsight has no class by MESI state: perf means DRAM without a snoop hit." },
	{ FS_C2C_SHARED, "fsight has no class by MESI state: perf means DRAM with a snoop hit." },
	{ FS_C2C_BLOCKED_DATA, "fsight has no class for it; the bit is in sample.raw." },
	{ FS_C2C_BLOCKED_ADDRESS, "fsight has no class for it; the bit is in sample.raw." },
	{ ROW_ATOMICS, "perf has no row for it: they are among its loads and stores." },
	{ ROW_OTHER_OPERATIONS, "perf has no row for it." },
	{ ROW_PMEM, "perf has no row for it: it counts the operation only." },
	{ ROW_CXL, "perf has no row for it: it counts the operation only." },
	{ ROW_MSC, "perf has no row for it: it counts the operation only." },
	{ ROW_UNKNOWN_CODE, "perf has no row for it." },
	{ ROW_NOT_TOLD, "perf has no row for it." },
	{ ROW_STORE_ELSEWHERE, "perf has no row for it: it counts the operation only." },
};

/* ---- the scan ---- */

/* What was cut off before a sample. */
struct cut {
	int64_t operation; /* enum fs_op */
	uint64_t events;
};

struct stats {
	const struct fs_query *query;
	struct fs_table cuts; /* sample.rowid -> struct cut */
	int64_t trace_id;
	enum fs_perf_version version;
	bool unreadable; /* SPE data that this perf does not read */
	struct event *events;
	int64_t first_event;
	size_t event_count;
	uint8_t *tables; /* enum fs_perf_table by CPU */
	size_t cpu_count;
	uint8_t any_table; /* of a sample without a CPU, or of a CPU that is not described */
	uint8_t *codes;	   /* by code.id: CODE_* */
	uint64_t *addresses;
	int64_t first_code;
	size_t code_count;
	struct fs_perf_maps maps;
	struct fs_table groups; /* struct group -> int64_t samples */
	struct group last_group;
	int64_t *last; /* in groups */
	int64_t perf[ROW_MAX];
	int64_t ours[ROW_MAX];
	int64_t differing[ROW_MAX][REASONS]; /* perf's less ours */
};

enum { CODE_MAPPED = 1, CODE_UPPER_HALF = 2 };

enum { SAMPLE_DATA_SRC = 1 << 15, SAMPLE_READ = 1 << 4 };

/* The ids of a table's rows of this trace: first and how many; they are dense. */
static int id_range(const struct stats *stats, const char *table, int64_t *ret_first,
		    size_t *ret_count, struct fs_error *error)
{
	char sql[160];
	int64_t first;
	int64_t last;
	int64_t rows;

	snprintf(sql, sizeof(sql), "SELECT min(id) FROM %s WHERE trace_id = ?", table);
	FS_TRY(fs_database_integer(stats->query, sql, stats->trace_id, 1, &first, error));
	snprintf(sql, sizeof(sql), "SELECT max(id) FROM %s WHERE trace_id = ?", table);
	FS_TRY(fs_database_integer(stats->query, sql, stats->trace_id, 0, &last, error));
	snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s WHERE trace_id = ?", table);
	FS_TRY(fs_database_integer(stats->query, sql, stats->trace_id, 0, &rows, error));
	if (rows && (first < 0 || last < first || last - first >= 2 * rows + 8))
		return fs_fail(error, FS_REFUSED, "%s: the ids of the table %s have gaps",
			       stats->query->path, table);
	*ret_first = first;
	*ret_count = rows ? (size_t)(last - first) + 1 : 0;
	return 0;
}

/*
 * The place of a number in an array that begins with the number `first`; false: outside. The array
 * was made by what another statement said, and a stranger's tables may tell each something else.
 */
static bool place_of(int64_t number, int64_t first, size_t count, size_t *ret_place)
{
	uint64_t place = (uint64_t)number - (uint64_t)first; /* wraps for smaller numbers */

	*ret_place = (size_t)place;
	return place < count;
}

static int open_rows(const struct stats *stats, const char *sql, sqlite3_stmt **ret_row,
		     struct fs_error *error)
{
	FS_TRY(fs_database_prepare(stats->query, sql, ret_row, error));
	sqlite3_bind_int64(*ret_row, 1, stats->trace_id);
	return 0;
}

static int load_events(struct stats *stats, struct fs_error *error)
{
	sqlite3_stmt *row = NULL;

	FS_TRY(id_range(stats, "event", &stats->first_event, &stats->event_count, error));
	stats->events = calloc(stats->event_count + 1, sizeof(*stats->events));
	if (!stats->events)
		return fs_fail(error, FS_NOMEM, "out of memory");
	FS_TRY(open_rows(stats,
			 "SELECT id, role IS 'spe', sample_type FROM event WHERE trace_id = ?",
			 &row, error));
	while (sqlite3_step(row) == SQLITE_ROW) {
		int64_t type = sqlite3_column_int64(row, 2);
		size_t at;

		if (place_of(sqlite3_column_int64(row, 0), stats->first_event, stats->event_count,
			     &at))
			stats->events[at] = (struct event){ .spe = sqlite3_column_int(row, 1),
							    .data_source = type & SAMPLE_DATA_SRC };
	}
	sqlite3_finalize(row);
	return 0;
}

/*
 * Metadata version 1: perf takes the CPUID feature for all CPUs. Later versions tell the MIDR of
 * each CPU; a record without a CPU is then read only if all are alike.
 */
static int load_tables(struct stats *stats, struct fs_error *error)
{
	enum { CPUS_MAX = 1 << 16 };
	sqlite3_stmt *row = NULL;
	int64_t metadata;
	int64_t most;
	bool mixed = false;
	const char *text;

	FS_TRY(fs_database_integer(stats->query,
				   "SELECT CAST(value AS INTEGER) FROM fact WHERE trace_id = ? AND "
				   "name = 'spe_metadata_version'",
				   stats->trace_id, 1, &metadata, error));
	stats->unreadable = stats->version == FS_PERF_6_1 && metadata > 1;
	if (metadata <= 1) {
		FS_TRY(open_rows(stats, "SELECT cpuid FROM trace WHERE id = ?", &row, error));
		text = sqlite3_step(row) == SQLITE_ROW ? (const char *)sqlite3_column_text(row, 0)
						       : NULL;
		stats->any_table = (uint8_t)fs_perf_table_of(stats->version,
							     text ? strtoull(text, NULL, 16) : 0);
		sqlite3_finalize(row);
		return 0;
	}
	FS_TRY(fs_database_integer(stats->query,
				   "SELECT max(cpu) FROM cpu WHERE trace_id = ? AND midr NOTNULL",
				   stats->trace_id, -1, &most, error));
	if (most < 0 || most >= CPUS_MAX)
		return 0;
	stats->tables = calloc((size_t)most + 1, 1);
	if (!stats->tables)
		return fs_fail(error, FS_NOMEM, "out of memory");
	stats->cpu_count = (size_t)most + 1;
	FS_TRY(open_rows(stats,
			 "SELECT cpu, midr, min(midr) OVER () <> max(midr) OVER () FROM cpu "
			 "WHERE trace_id = ? AND midr NOTNULL AND cpu >= 0",
			 &row, error));
	while (sqlite3_step(row) == SQLITE_ROW) {
		enum fs_perf_table table =
			fs_perf_table_of(stats->version, (uint64_t)sqlite3_column_int64(row, 1));
		size_t at;

		if (place_of(sqlite3_column_int64(row, 0), 0, stats->cpu_count, &at))
			stats->tables[at] = (uint8_t)table;
		mixed = sqlite3_column_int(row, 2);
		stats->any_table = (uint8_t)table;
	}
	sqlite3_finalize(row);
	if (mixed)
		stats->any_table = FS_PERF_EVENTS_ONLY;
	return 0;
}

static int load_codes(struct stats *stats, struct fs_error *error)
{
	sqlite3_stmt *row = NULL;

	FS_TRY(id_range(stats, "code", &stats->first_code, &stats->code_count, error));
	stats->codes = calloc(stats->code_count + 1, sizeof(*stats->codes));
	stats->addresses = calloc(stats->code_count + 1, sizeof(*stats->addresses));
	if (!stats->codes || !stats->addresses)
		return fs_fail(error, FS_NOMEM, "out of memory");
	FS_TRY(open_rows(stats, "SELECT id, dso_id NOTNULL, ip FROM code WHERE trace_id = ?", &row,
			 error));
	while (sqlite3_step(row) == SQLITE_ROW) {
		int64_t ip = sqlite3_column_int64(row, 2);
		size_t index;

		if (!place_of(sqlite3_column_int64(row, 0), stats->first_code, stats->code_count,
			      &index))
			continue;
		stats->codes[index] = (sqlite3_column_int(row, 1) ? CODE_MAPPED : 0) |
				      (ip < 0 ? CODE_UPPER_HALF : 0);
		stats->addresses[index] = (uint64_t)ip;
	}
	sqlite3_finalize(row);
	return 0;
}

/* Columns of the scan. */
enum { S_ROWID, S_EVENT, S_ACCESS, S_RAW, S_ADDR, S_CODE, S_SPACE, S_TIME, S_CPU };

static const char scan_sql[] =
	"SELECT rowid, event_id, access, raw, addr, code_id, space_id, time_ns, cpu FROM sample";

/* perf looks data up in the kernel's mappings if the code ran there, else in the process's; code
 * in both. It takes SPE code in the upper half for the kernel. */
static bool is_mapped(const struct stats *stats, sqlite3_stmt *row, bool spe, uint32_t access,
		      uint64_t address)
{
	int64_t process = fs_perf_maps_process(&stats->maps, sqlite3_column_int64(row, S_SPACE));
	size_t code;
	int64_t time_ns = sqlite3_column_type(row, S_TIME) == SQLITE_NULL
				  ? INT64_MAX
				  : sqlite3_column_int64(row, S_TIME);
	uint8_t traits;
	bool kernel;

	if (!place_of(sqlite3_column_int64(row, S_CODE), stats->first_code, stats->code_count,
		      &code))
		return false;
	traits = stats->codes[code];
	kernel = spe ? traits & CODE_UPPER_HALF : access & FS_ACCESS_KERNEL;
	if (!fs_perf_maps_cover(&stats->maps, kernel ? FS_PERF_KERNEL : process, address, time_ns))
		return false;
	return traits & CODE_MAPPED ||
	       fs_perf_maps_cover(&stats->maps, FS_PERF_KERNEL, stats->addresses[code], time_ns) ||
	       fs_perf_maps_cover(&stats->maps, process, stats->addresses[code], time_ns);
}

static enum fs_perf_table table_of(const struct stats *stats, sqlite3_stmt *row)
{
	int64_t cpu = sqlite3_column_int64(row, S_CPU);

	if (!stats->tables || sqlite3_column_type(row, S_CPU) == SQLITE_NULL)
		return stats->any_table;
	return cpu >= 0 && cpu < (int64_t)stats->cpu_count ? stats->tables[cpu]
							   : FS_PERF_EVENTS_ONLY;
}

/* perf adds operation and events of what was cut off to those of the next record. */
static void join_cut(const struct stats *stats, int64_t sample, struct group *group)
{
	const struct cut *cut = fs_table_get(&stats->cuts, &sample);

	if (!cut)
		return;
	group->raw |= cut->events;
	group->traits |= CUT | (cut->operation == FS_OP_LOAD	? CUT_LOAD
				: cut->operation == FS_OP_STORE ? CUT_STORE
								: 0);
}

static int load_cuts(struct stats *stats, struct fs_error *error)
{
	sqlite3_stmt *row = NULL;
	int code = 0;

	FS_TRY(open_rows(
		stats,
		"SELECT sample_id, cut_operation, cut_events FROM spe_extra WHERE "
		"cut_operation NOTNULL AND event_id IN (SELECT id FROM event WHERE trace_id "
		"= ?)",
		&row, error));
	while (!code && sqlite3_step(row) == SQLITE_ROW) {
		int64_t sample = sqlite3_column_int64(row, 0);
		struct cut *cut = fs_table_put(&stats->cuts, &sample, NULL, NULL);

		if (!cut)
			code = fs_fail(error, FS_NOMEM, "out of memory");
		else
			*cut = (struct cut){ sqlite3_column_int64(row, 1),
					     (uint32_t)sqlite3_column_int64(row, 2) };
	}
	sqlite3_finalize(row);
	return code;
}

static int add_sample(struct stats *stats, sqlite3_stmt *row, int64_t times, struct fs_error *error)
{
	enum {
		DECIDING = 15 | 63 << FS_ACCESS_SOURCE_SHIFT | FS_ACCESS_LOCKED | FS_ACCESS_SIMD |
			   FS_ACCESS_STORE_SIDE
	};
	const uint64_t spe_raw = (UINT64_C(1) << 49) - 1; /* events and data source code */
	uint32_t access = (uint32_t)sqlite3_column_int64(row, S_ACCESS);
	uint64_t address = (uint64_t)sqlite3_column_int64(row, S_ADDR);
	struct group group = { .access = access & DECIDING };
	size_t event;
	bool spe;

	if (!place_of(sqlite3_column_int64(row, S_EVENT), stats->first_event, stats->event_count,
		      &event))
		return 0; /* another trace's */
	group.event = (uint32_t)event;
	spe = stats->events[event].spe;
	group.raw = (uint64_t)sqlite3_column_int64(row, S_RAW) & (spe ? spe_raw : UINT64_MAX);
	group.table = spe ? table_of(stats, row) : 0;
	if (sqlite3_column_type(row, S_RAW) != SQLITE_NULL)
		group.traits |= HAS_RAW;
	if (address)
		group.traits |= HAS_ADDRESS;
	if (address && is_mapped(stats, row, spe, access, address))
		group.traits |= MAPPED;
	if (stats->cuts.count)
		join_cut(stats, sqlite3_column_int64(row, S_ROWID), &group);
	if (stats->last && !memcmp(&group, &stats->last_group, sizeof(group))) {
		*stats->last += times;
		return 0;
	}
	stats->last_group = group;
	stats->last = fs_table_put(&stats->groups, &group, NULL, NULL);
	if (!stats->last)
		return fs_fail(error, FS_NOMEM, "out of memory");
	*stats->last += times;
	return 0;
}

/*
 * perf gives a sample that was read with counters once to each event of the group whose counter
 * moved, and to none if none did. `reads` walks these numbers in the order of the samples.
 */
static int64_t times_given(sqlite3_stmt *reads, bool *more, int64_t id)
{
	if (!reads)
		return 1;
	while (*more && sqlite3_column_int64(reads, 0) < id)
		*more = sqlite3_step(reads) == SQLITE_ROW;
	return *more && sqlite3_column_int64(reads, 0) == id ? sqlite3_column_int64(reads, 1) : 1;
}

static int scan(struct stats *stats, struct fs_error *error)
{
	static const char reads_sql[] =
		"SELECT sample_id, sum(coalesce(delta, value) <> 0) FROM sample_read WHERE "
		"event_id IN (SELECT id FROM event WHERE trace_id = ?) GROUP BY 1 ORDER BY 1";
	sqlite3_stmt *reads = NULL;
	sqlite3_stmt *row = NULL;
	int64_t with_reads;
	bool more = false;
	int step = SQLITE_DONE;
	int code;

	FS_TRY(fs_database_integer(stats->query,
				   "SELECT count(*) FROM event WHERE trace_id = ? AND "
				   "sample_type >> 4 & 1 AND samples > 0",
				   stats->trace_id, 0, &with_reads, error));
	if (with_reads) {
		FS_TRY(open_rows(stats, reads_sql, &reads, error));
		more = sqlite3_step(reads) == SQLITE_ROW;
	}
	code = fs_database_prepare(stats->query, scan_sql, &row, error);
	while (!code && (step = sqlite3_step(row)) == SQLITE_ROW)
		code = add_sample(stats, row,
				  times_given(reads, &more, sqlite3_column_int64(row, S_ROWID)),
				  error);
	if (!code && step != SQLITE_DONE)
		code = fs_database_fail(stats->query, error);
	sqlite3_finalize(row);
	sqlite3_finalize(reads);
	return code;
}

/* ---- judging ---- */

static bool is_access(const struct group *group)
{
	enum fs_op op = fs_access_op(group->access);

	return group->traits & HAS_ADDRESS || op == FS_OP_LOAD || op == FS_OP_STORE ||
	       op == FS_OP_ATOMIC || op == FS_OP_PREFETCH;
}

static bool is_in(const struct group *group, unsigned int row)
{
	enum fs_source source = fs_access_source(group->access);

	if (!is_access(group) || classes[row].never || source >= FS_SOURCE_MAX)
		return false;
	return classes[row].ops >> fs_access_op(group->access) & 1 &&
	       classes[row].sources >> source & 1 &&
	       (group->access & classes[row].flags) == classes[row].flags &&
	       !(classes[row].no_address && group->traits & HAS_ADDRESS);
}

/* The word that perf goes by; false: it makes no sample. Without PERF_SAMPLE_DATA_SRC it takes
 * "not available" everywhere. */
static bool perf_word(const struct stats *stats, const struct group *group, uint64_t *ret_word)
{
	enum { NOT_AVAILABLE = 0x5080021 };
	enum fs_op op = fs_access_op(group->access);
	bool stores =
		op == FS_OP_STORE || (op == FS_OP_ATOMIC && group->access & FS_ACCESS_STORE_SIDE);
	struct fs_perf_record record = {
		.events = (uint32_t)group->raw,
		.source = group->raw >> 32 ? (uint16_t)((group->raw >> 32) - 1) : 0,
		.load = (!stores && (op == FS_OP_LOAD || op == FS_OP_ATOMIC)) ||
			group->traits & CUT_LOAD,
		.store = stores || group->traits & CUT_STORE,
		.simd = group->access & FS_ACCESS_SIMD,
	};

	if (!stats->events[group->event].spe) {
		*ret_word = group->traits & HAS_RAW ? group->raw : NOT_AVAILABLE;
		return true;
	}
	return !stats->unreadable &&
	       fs_perf_data_src(stats->version, group->table, &record, ret_word);
}

/* The rows of where a load's data came from. */
static int sources_counted(const uint8_t *rows)
{
	return rows[FS_C2C_LOCAL_HITM] + rows[FS_C2C_REMOTE_HITM] + rows[FS_C2C_REMOTE_HIT] +
	       rows[FS_C2C_LOCAL_DRAM] + rows[FS_C2C_REMOTE_DRAM];
}

static uint32_t spe_facts(const struct stats *stats, const struct group *group)
{
	enum fs_op op = fs_access_op(group->access);
	bool coded = group->raw >> 32;
	enum fs_source source = fs_access_source(group->access);
	uint32_t facts =
		SPE | (stats->unreadable ? UNREADABLE : 0) | (group->traits & CUT ? JOINED : 0);

	if (!coded && op != FS_OP_STORE && group->table != FS_PERF_EVENTS_ONLY)
		facts |= NO_CODE;
	if (coded && group->table == FS_PERF_EVENTS_ONLY && source != FS_SOURCE_UNKNOWN)
		facts |= NO_TABLE;
	return facts;
}

static uint32_t facts_of(const struct stats *stats, const struct group *group, uint64_t word,
			 const uint8_t *rows)
{
	enum { LEVEL_NAMED = 0x3ff8, LEVEL_NUMBER_NA = 15 };
	enum fs_source source = fs_access_source(group->access);
	bool spe = stats->events[group->event].spe;
	unsigned int number = word >> 33 & 15;
	uint32_t facts = spe ? spe_facts(stats, group) : 0;

	facts |= is_access(group) ? 0 : NO_ACCESS;
	facts |= spe || group->traits & HAS_RAW ? 0 : NO_WORD;
	facts |= rows[FS_C2C_NOT_PARSED] ? OPERATION : 0;
	facts |= fs_access_op(group->access) == FS_OP_ATOMIC ? ATOMIC : 0;
	facts |= fs_access_op(group->access) == FS_OP_STORE ? STORE : 0;
	facts |= group->traits & HAS_ADDRESS ? 0 : NO_ADDRESS;
	facts |= group->traits & MAPPED ? 0 : UNMAPPED;
	facts |= source == FS_SOURCE_HITM_LOCAL || source == FS_SOURCE_HITM_REMOTE ? OUR_HITM : 0;
	facts |= source == FS_SOURCE_PEER_LOCAL || source == FS_SOURCE_PEER_REMOTE ? OUR_PEER : 0;
	facts |= source == FS_SOURCE_FORWARD_REMOTE ? OUR_FORWARD : 0;
	if (!spe && !(word >> 5 & LEVEL_NAMED) && number && number != LEVEL_NUMBER_NA)
		facts |= NUMBER_ONLY;
	return facts | (sources_counted(rows) > 1 ? TWICE : 0);
}

static size_t find_reason(uint32_t facts, unsigned int row)
{
	size_t i = 0;

	while ((reasons[i].conditions & ~facts) ||
	       (reasons[i].rows && !(row < FS_C2C_ROW_MAX && reasons[i].rows >> row & 1)))
		i++;
	return i;
}

static void judge(struct stats *stats, const struct group *group, int64_t samples)
{
	struct fs_c2c_counts counts = { 0 };
	uint64_t word = 0;
	uint32_t facts;

	if (perf_word(stats, group, &word))
		fs_perf_count(stats->version, word, group->traits & HAS_ADDRESS,
			      group->traits & MAPPED, &counts);
	facts = facts_of(stats, group, word, counts.rows);
	for (unsigned int row = 0; row < ROW_MAX; row++) {
		int perf = row < FS_C2C_ROW_MAX ? counts.rows[row] : 0;
		int ours = is_in(group, row);

		stats->perf[row] += perf * samples;
		stats->ours[row] += ours * samples;
		if (perf != ours)
			stats->differing[row][find_reason(
				facts | (perf > ours ? PERF_MORE : PERF_FEWER), row)] +=
				(perf - ours) * samples;
	}
}

/* ---- rows ---- */

/* Shares of all LLC misses, as perf prints them: one decimal. */
static const struct {
	unsigned int row, part;
} shares[] = {
	{ FS_C2C_SHARE_LOCAL_DRAM, FS_C2C_LOCAL_DRAM },
	{ FS_C2C_SHARE_REMOTE_DRAM, FS_C2C_REMOTE_DRAM },
	{ FS_C2C_SHARE_REMOTE_HIT, FS_C2C_REMOTE_HIT },
	{ FS_C2C_SHARE_REMOTE_HITM, FS_C2C_REMOTE_HITM },
};

static struct fs_cell share_cell(const int64_t *counts, unsigned int part)
{
	char text[32];

	if (!counts[FS_C2C_LLC_MISSES])
		return (struct fs_cell){ .kind = FS_CELL_NULL };
	snprintf(text, sizeof(text), "%.1f",
		 100.0 * (double)counts[part] / (double)counts[FS_C2C_LLC_MISSES]);
	return (struct fs_cell){ .kind = FS_CELL_REAL, .real = strtod(text, NULL) };
}

static void explain(const struct stats *stats, unsigned int row, FILE *out)
{
	const char *separator = "";

	for (size_t i = 0; i < sizeof(silent) / sizeof(*silent); i++) {
		if (silent[i].row == row && (stats->perf[row] || stats->ours[row])) {
			fputs(silent[i].text, out);
			return;
		}
	}
	if (stats->perf[row] == stats->ours[row] || row >= FS_C2C_ROW_MAX)
		return;
	for (size_t i = 0; i < REASONS; i++) {
		int64_t more = stats->differing[row][i];

		if (!more)
			continue;
		fprintf(out, "%sperf has %lld %s: %s", separator, (long long)llabs(more),
			more > 0 ? "more" : "fewer", reasons[i].text);
		separator = "; ";
	}
	fputs(".", out);
}

static int add_row(const struct stats *stats, unsigned int row, sqlite3_stmt *insert,
		   struct fs_error *error)
{
	struct fs_cell cells[4] = { fs_text_cell(labels[row]) };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int code;

	if (out) {
		explain(stats, row, out);
		fclose(out);
	}
	if (!text)
		return fs_fail(error, FS_NOMEM, "out of memory");
	if (row < FS_C2C_ROW_MAX)
		cells[1] = fs_integer_cell(stats->perf[row]);
	if (classes[row].ops)
		cells[2] = fs_integer_cell(stats->ours[row]);
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		if (shares[i].row == row) {
			cells[1] = share_cell(stats->perf, shares[i].part);
			cells[2] = share_cell(stats->ours, shares[i].part);
		}
	}
	cells[3] = fs_text_cell(*text ? text : NULL);
	code = fs_rows_add((struct fs_query *)stats->query, insert, cells, error);
	free(text);
	return code;
}

static int load_and_count(struct stats *stats, struct fs_error *error)
{
	FS_TRY(load_events(stats, error));
	FS_TRY(load_tables(stats, error));
	FS_TRY(load_codes(stats, error));
	FS_TRY(fs_perf_maps_load(&stats->maps, stats->query, stats->trace_id, error));
	FS_TRY(load_cuts(stats, error));
	FS_TRY(scan(stats, error));
	for (size_t i = 0; i < stats->groups.count; i++)
		judge(stats, fs_table_key(&stats->groups, i),
		      *(const int64_t *)fs_table_value(&stats->groups, i));
	return 0;
}

static void stats_free(struct stats *stats)
{
	fs_table_free(&stats->groups);
	fs_table_free(&stats->cuts);
	fs_perf_maps_free(&stats->maps);
	free(stats->events);
	free(stats->tables);
	free(stats->codes);
	free(stats->addresses);
}

static int fill(struct fs_options *options, struct fs_error *error)
{
	struct stats stats = { .query = options->query,
			       .trace_id = options->trace_id,
			       .version = *(const enum fs_perf_version *)options->own };
	sqlite3_stmt *insert = NULL;
	int code;

	fs_table_init(&stats.cuts, sizeof(int64_t), sizeof(struct cut));
	fs_table_init(&stats.groups, sizeof(struct group), sizeof(int64_t));
	code = load_and_count(&stats, error);
	if (!code && stats.unreadable)
		code = fs_options_note(options, error,
				       "perf 6.1 cannot read SPE data with per-CPU metadata: it "
				       "shows no samples and no error");
	if (!code)
		code = fs_rows_create(options, &insert, error);
	for (unsigned int row = 0; !code && row < ROW_MAX; row++)
		code = add_row(&stats, row, insert, error);
	sqlite3_finalize(insert);
	stats_free(&stats);
	return code;
}

enum { KEY_PERF_VERSION = 0x300 };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct fs_options *options = state->input;
	enum fs_perf_version *version = options->own;

	if (key != KEY_PERF_VERSION)
		return ARGP_ERR_UNKNOWN;
	if (!strcmp(arg, "6.1"))
		*version = FS_PERF_6_1;
	else if (!strcmp(arg, "7.3"))
		*version = FS_PERF_7_3;
	else
		return fs_options_fail(state, "--perf-version %s: known are 6.1 and 7.3", arg);
	return 0;
}

static const struct argp_option own_options[] = {
	{ "perf-version", KEY_PERF_VERSION, "6.1|7.3", 0, "By the rules of that perf [7.3]", 1 },
	{ 0 },
};

static const struct argp argp = { .options = own_options, .parser = parse };

static const struct fs_query_column columns[] = {
	FS_COLUMN("name", "COUNTER", TEXT, FS_SHOW_DEFAULT, NULL,
		  "As perf calls it; the last are rows that perf does not have"),
	FS_COLUMN("perf_value", "PERF", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "What perf shows; shares in per cent"),
	FS_COLUMN("fsight_value", "FSIGHT", INTEGER, FS_SHOW_DEFAULT, NULL,
		  "By fsight's classes, of which each access is in one"),
	FS_COLUMN("explanation", "EXPLANATION", TEXT, FS_SHOW_DEFAULT | FS_SHOW_WRAP, NULL,
		  "Why the two differ"),
};

static const struct fs_listing listing = {
	.command = "c2c-stats",
	.about = "Show the counters of `perf c2c report --stats' by perf's own rules, next to "
		 "fsight's exclusive classes, and say why they differ.",
	.need = FS_NEED_MEMORY,
	.columns = columns,
	.count = sizeof(columns) / sizeof(*columns),
	.from = "temp.rows WHERE 1",
	.limit = FS_NO_LIMIT,
	.nouns = "counters",
	.argp = &argp,
	.before = fill,
};

FS_COMMAND(c2c_stats)
{
	enum fs_perf_version version = FS_PERF_7_3;

	return fs_listing_command(&listing, &version, query, argc, argv, error);
}
