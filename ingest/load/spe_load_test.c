/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arm SPE data in a perf.data file, loaded into a database: that each thing a record says can be
 * asked for by name, whose record it is, and what is lost.
 */
#include "ingest/load/test_database.h"

enum {
	TID = 1 << 1,
	TIME = 1 << 2,
	CPU = 1 << 7,
	IDENTIFIER = 1 << 16,
	TRAILER = IDENTIFIER | TID | TIME | CPU,
	APP = 100,
	NEXT = 200,
};

#define SAMPLE_ID_ALL (1ull << 18)
#define NOBODY UINT32_MAX

/* The SPE units of two kinds of cores. */
static const struct test_event events[] = {
	{ .type = 8,
	  .sample_type = TRAILER,
	  .flags = SAMPLE_ID_ALL,
	  .sample_period = 1000,
	  .ids = { 1 },
	  .id_count = 1 },
	{ .type = 9,
	  .sample_type = TRAILER,
	  .flags = SAMPLE_ID_ALL,
	  .sample_period = 500,
	  .ids = { 2 },
	  .id_count = 1 },
};

static void put_words(struct test_file *file, uint32_t type, const uint64_t *words, size_t count)
{
	struct test_bytes payload = { 0 };

	test_put(&payload, words, 8 * count);
	test_record(file, type, 0, &payload);
	free(payload.data);
}

/* A record of words that the kernel wrote: with a trailer. */
static void put_event(struct test_file *file, uint32_t type, uint16_t misc, const uint64_t *words,
		      size_t count, uint32_t tid, uint32_t cpu, uint64_t when)
{
	struct test_bytes payload = { 0 };

	test_put(&payload, words, 8 * count);
	test_put_u32(&payload, tid);
	test_put_u32(&payload, tid);
	test_put_u64(&payload, when);
	test_put_u32(&payload, cpu);
	test_put_u32(&payload, 0);
	test_put_u64(&payload, 1);
	test_record(file, type, misc, &payload);
	free(payload.data);
}

/* A file with the clock ns = ticks and the metadata of two cores: Neoverse N1 and HIP12. */
static void begin(struct test_file *file, bool clock)
{
	test_file_begin(file, events, 2, 136);
	test_put_string(test_feature(file, 6), "aarch64");
	if (clock)
		put_words(file, 79, (uint64_t[]){ 0, 1, 0 }, 3);
	put_words(file, 70,
		  (uint64_t[]){ 4, 2, 4, 8, 2, 0x1010, 0, 4, 0x410fd0c0, 8, 1024, 0, 0x1010, 1, 4,
				0x480fd060, 9, 1024, 0 },
		  19);
}

static void put_aux_data(struct test_file *file, uint32_t tid, uint32_t cpu, const void *data,
			 size_t size)
{
	put_words(file, 71, (uint64_t[]){ size, 0, 0, (uint64_t)tid << 32, cpu }, 5);
	test_put(&file->bytes, data, size);
}

static sqlite3 *load_file(struct test_file *file)
{
	sqlite3 *db = create_database();

	test_file_end(file);
	load(db, file, "spe");
	test_file_free(file);
	return db;
}

/* ---- what a record says ---- */

/* The bytes of one record, and what a column of the view must be then, as text. */
static const struct said {
	const char *bytes;
	size_t size;
	const char *column, *value;
} said[] = {
#define SAID(bytes, column, value)                                                                 \
	{                                                                                          \
		bytes, sizeof(bytes) - 1, column, value                                            \
	}
#define PC "\xb0\x10\x20\x40\x00\x00\x00\x00\x80"
#define VA "\xb2\x10\x00\x70\x00\x00\x00\x00\xb4"
#define PA "\xb3\x10\x00\x70\x00\x00\x00\x00\xd5"
	SAID("\xb0\x10\x20\x40\x00\x00\x00\x00\xc0", "ip", "0xff00000000402010"),
	SAID("\xb0\x10\x20\x40\x00\x00\x00\x00\xc0", "exception_level", "2"),
	SAID("\xb0\x10\x20\x40\x00\x00\x00\x00\xe0", "exception_level", "3"),
	SAID("\xb0\x10\x20\x40\x00\x00\x00\x00\xa0", "kernel", "1"),
	SAID(PC, "exception_level", "0"),
	SAID(PC, "security", "non-secure"),
	SAID("\xb0\x10\x20\x40\x00\x00\x00\x00\x20", "security", "secure"),
	SAID("\xb0\x10\x20\x40\x00\x00\x00\x00\x90", "security", "realm"),
	SAID("\xb0\x10\x20\x40\x00\x00\x00\x00\x70", "security", "root"),
	SAID("\x49\x00", "exception_level", "NULL"), /* no PC packet */
	SAID("\x49\x00", "security", "NULL"),
	SAID(VA, "address", "0x700010"),
	SAID(VA, "address_tag", "180"),
	SAID("\xb2\x10\x00\x70\x00\x00\x00\x00\x00", "address_tag", "0"),
	SAID(PC, "address_tag", "NULL"),
	SAID(PA, "physical_address", "0x700010"),
	SAID(PA, "physical_security", "realm"),
	SAID(PA, "physical_checked", "1"),
	SAID(PA, "physical_tag", "5"),
	SAID("\xb3\x10\x00\x70\x00\x00\x00\x00\x80", "physical_security", "non-secure"),
	SAID("\xb3\x10\x00\x70\x00\x00\x00\x00\x80", "physical_checked", "0"),
	SAID(PC, "physical_tag", "NULL"),
	SAID("\x98\x21\x00", "latency", "33"),
	SAID("\x98\xff\x0f", "saturated", "1"),
	SAID("\x99\x00\x00", "issue_latency", "0"),
	SAID("\x99\xff\xff", "issue_latency", "65535"),
	SAID("\x9a\x07\x00", "translation_latency", "7"),
	SAID("\x9a\x07\x00", "issue_latency", "NULL"),
	SAID("\x9b\x08\x01", "alternate_latency", "264"),
	SAID("\x9a\x07\x00", "alternate_latency", "NULL"),
	SAID("\x43\x00", "data_source_code", "0"),
	SAID("\x53\xff\xff", "data_source_code", "65535"),
	SAID("\x49\x00", "data_source_code", "NULL"),
	SAID("\x42\x16", "events", "retired l1d_access tlb_access"),
	SAID("\x42\x16", "event_bits", "0x16"),
	SAID("\x62\x01\xf8\xff\x03", "events",
	     "exception misaligned transaction partial_predicate empty_predicate l2d_access "
	     "l2d_miss "
	     "modified recently_fetched snooped streaming_sve coprocessor"),
	SAID("\x52\xe8\x07", "events",
	     "l1d_refill tlb_walk not_taken mispredicted llc_access llc_miss remote"),
	SAID("\x72\x02\x00\x00\x00\x00\x00\x01\x80", "event_bits", "0x8001000000000002"),
	SAID("\x49\x00", "events", ""),
	SAID("\x65\x64\x00\x00\x00", "context_level", "2"),
	SAID("\x64\x64\x00\x00\x00", "context_level", "1"),
	SAID("\x65\x00\x00\x00\x00", "context_level", "2"),
	SAID("\x64\x00\x00\x00\x00", "context_level", "1"),
	SAID("\x64\x00\x00\x00\x00", "tid", "NULL"),
	SAID("\x49\x00", "context_level", "NULL"),
	SAID("\x64\x64\x00\x00\x00", "tid", "100"),
	SAID("\x64\x64\x00\x00\x00", "attribution", "context"),
	SAID("\x64\x64\x00\x00\x00\x65\xc8\x00\x00\x00", "tid", "200"),
	SAID("\x64\x64\x00\x00\x00\x65\xc8\x00\x00\x00", "context_el1", "100"),
	SAID("\x65\x64\x00\x00\x00", "context_el1", "NULL"),
	SAID("\x4a\x00", "branch_target", "NULL"),
	SAID("\x4a\x00\xb1\x10\x20\x40\x00\x00\x00\x00\xa0", "branch_target", "0xff00000000402010"),
	SAID("\x4a\x00\xb1\x10\x20\x40\x00\x00\x00\x00\xa0", "branch_target_level", "1"),
	SAID("\x4a\x00\xb1\x10\x20\x40\x00\x00\x00\x00\xa0", "branch_target_security",
	     "non-secure"),
	SAID("\x4a\x00\xb1\x10\x20\x40\x00\x00\x00\x00\xa0", "previous_branch_target", "NULL"),
	SAID("\x49\x00\xb4\x10\x20\x40\x00\x00\x00\x00\x90", "previous_branch_target", "0x402010"),
	SAID("\x49\x00\xb4\x10\x20\x40\x00\x00\x00\x00\xd0", "previous_branch_target_level", "2"),
	SAID("\x49\x00\xb4\x10\x20\x40\x00\x00\x00\x00\x90", "previous_branch_target_security",
	     "realm"),

	/* operations */
	SAID(PC, "operation_class", "NULL"),
	SAID("\x48\x00", "operation_class", "other"),
	SAID("\x48\x00", "operation", "scalar"),
	SAID("\x48\x00", "conditional", "0"),
	SAID("\x48\x01", "conditional", "1"),
	SAID("\x48\x02", "floating_point", "1"),
	SAID("\x48\x04", "operation", "simd"),
	SAID("\x48\x3e", "operation", "sve"),
	SAID("\x48\x3e", "vector_bits", "256"),
	SAID("\x48\x3e", "predicated", "1"),
	SAID("\x48\x3e", "floating_point", "1"),
	SAID("\x48\x88", "operation", "sme"),
	SAID("\x48\x88", "vector_bits", "128"),
	SAID("\x48\x9c", "vector_bits", "1024"),
	SAID("\x49\x00", "operation_class", "load_store"),
	SAID("\x49\x01", "operation", "general"),
	SAID("\x49\x01", "op", "store"),
	SAID("\x49\x01", "operation_payload", "0x01"),
	SAID("\x49\x04", "operation", "simd_fp"),
	SAID("\x49\x10", "operation", "unspecified"),
	SAID("\x49\x14", "operation", "mte_tag"),
	SAID("\x49\x31", "operation", "system_register"),
	SAID("\x49\x07", "operation", "extended"),
	SAID("\x49\x07", "op", "atomic"),
	SAID("\x49\x07", "store_side", "1"),
	SAID("\x49\x1a", "exclusive", "1"),
	SAID("\x49\x1a", "acquire", "1"),
	SAID("\x49\xbc", "operation", "sve"),
	SAID("\x49\xbc", "vector_bits", "256"),
	SAID("\x49\xbc", "predicated", "1"),
	SAID("\x49\xbc", "gather_scatter", "1"),
	SAID("\x49\x08", "gather_scatter", "0"),
	SAID("\x49\x08", "vector_bits", "32"),
	SAID("\x49\x20", "operation", "memcpy"),
	SAID("\x49\x20", "op", "load"),
	SAID("\x49\x21", "op", "store"),
	SAID("\x49\x25", "operation", "memset"),
	SAID("\x49\x45", "operation", "gcs"),
	SAID("\x49\x45", "guarded_control_stack", "1"),
	SAID("\x49\x00", "guarded_control_stack", "0"),
	SAID("\x4a\x00", "operation", "branch"),
	SAID("\x4a\x09", "operation", "call"),
	SAID("\x4a\x09", "conditional", "1"),
	SAID("\x4a\x12", "operation", "return"),
	SAID("\x4a\x12", "indirect", "1"),
	SAID("\x4a\x1c", "operation", "jump"),
	SAID("\x4a\x1c", "guarded_control_stack", "1"),
	SAID("\x4b\x00", "operation_class", "reserved"),
	SAID("\x4b\x00", "operation", "NULL"),
};

START_TEST(a_record_by_name)
{
	struct test_bytes data = { 0 };
	struct test_file file;
	char sql[128];
	sqlite3 *db;

	test_put(&data, said[_i].bytes, said[_i].size);
	test_put(&data, "\x01", 1);
	begin(&file, true);
	put_aux_data(&file, NOBODY, 0, data.data, data.size);
	db = load_file(&file);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM samples"), 1);
	snprintf(sql, sizeof(sql), "SELECT %s FROM samples", said[_i].column);
	check_text(db, sql, said[_i].value);
	/* a branch target or another rare packet has a row of its own, others have none */
	ck_assert_int_eq(ask(db, "SELECT count(*) <= 1 FROM spe_extra"), 1);
	sqlite3_close(db);
	free(data.data);
}
END_TEST

/* Two pointers to one line with different tags are one address. */
START_TEST(tags_do_not_divide_lines)
{
	static const uint8_t data[] = {
		0xb2, 0x10, 0, 0x70, 0, 0, 0, 0, 0xb4, 0x49, 0, 0x01,
		0xb2, 0x10, 0, 0x70, 0, 0, 0, 0, 0x0a, 0x49, 1, 0x01,
	};
	struct test_file file;
	sqlite3 *db;

	begin(&file, true);
	put_aux_data(&file, NOBODY, 0, data, sizeof(data));
	db = load_file(&file);
	ck_assert_int_eq(ask(db, "SELECT count(DISTINCT addr) FROM sample"), 1);
	ck_assert_int_eq(ask(db, "SELECT count(DISTINCT address_tag) FROM samples"), 2);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM spe_extra"), 0);
	sqlite3_close(db);
}
END_TEST

/* ---- whose records they are ---- */

/* A load of code 1: in no table for N1, a HITM for HIP12. */
static void put_record(struct test_bytes *data, uint32_t context, uint64_t when)
{
	test_put(data, PC "\x49\x00\x43\x01", 9 + 4);
	if (context) {
		test_put(data, "\x65", 1);
		test_put_u32(data, context);
	}
	test_put(data, when ? "\x71" : "\x01", 1);
	if (when)
		test_put_u64(data, when);
}

/* Records go to the event of their CPU's kind of core and are read by its table. */
START_TEST(two_kinds_of_cores)
{
	struct test_bytes data = { 0 };
	struct test_file file;
	sqlite3 *db;

	put_record(&data, APP, 10);
	begin(&file, true);
	put_aux_data(&file, NOBODY, 0, data.data, data.size);
	put_aux_data(&file, NOBODY, 1, data.data, data.size);
	put_aux_data(&file, NOBODY, 1, data.data, data.size);
	put_aux_data(&file, APP, UINT32_MAX, data.data, data.size);
	db = load_file(&file);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM event WHERE role = 'spe'"), 2);
	ck_assert_int_eq(ask(db, "SELECT samples FROM event WHERE idx = 0"), 2);
	ck_assert_int_eq(ask(db, "SELECT samples FROM event WHERE idx = 1"), 2);
	ck_assert_int_eq(ask(db, "SELECT period FROM samples WHERE cpu = 1"), 500);
	check_text(db, "SELECT source FROM samples WHERE cpu = 0", "unknown");
	check_text(db, "SELECT source FROM samples WHERE cpu = 1", "hitm_local");
	check_text(db, "SELECT dirty FROM samples WHERE cpu = 1", "1");
	/* of a thread's buffer nobody knows on which kind of core it ran */
	check_text(db, "SELECT source || data_source_code FROM samples WHERE cpu IS NULL",
		   "unknown1");
	sqlite3_close(db);
	free(data.data);
}
END_TEST

/* What the file has, and how a record at time 50 on CPU 0 is attributed then. */
static const struct {
	uint32_t context;
	bool in, out, wide, itrace, per_thread, clock;
	const char *attribution;
	const char *tid; /* as text */
} evidence[] = {
	{ .context = 300,
	  .in = true,
	  .itrace = true,
	  .clock = true,
	  .attribution = "context",
	  .tid = "300" },
	{ .in = true, .itrace = true, .clock = true, .attribution = "switch", .tid = "100" },
	{ .in = true,
	  .out = true,
	  .itrace = true,
	  .clock = true,
	  .attribution = "none",
	  .tid = "NULL" },
	{ .wide = true,
	  .itrace = true,
	  .clock = true,
	  .attribution = "switch_cpu_wide",
	  .tid = "200" },
	{ .itrace = true, .clock = true, .attribution = "itrace", .tid = "400" },
	{ .clock = true, .attribution = "none", .tid = "NULL" },
	{ .per_thread = true, .clock = true, .attribution = "auxtrace", .tid = "500" },
	{ .per_thread = true, .clock = false, .attribution = "auxtrace", .tid = "500" },
	{ .per_thread = true,
	  .context = 300,
	  .clock = true,
	  .attribution = "context",
	  .tid = "300" },
	/* without times switches help nobody, context packets do */
	{ .in = true, .itrace = true, .clock = false, .attribution = "none", .tid = "NULL" },
	{ .context = 300, .in = true, .clock = false, .attribution = "context", .tid = "300" },
};

START_TEST(evidence_in_its_order)
{
	struct test_bytes data = { 0 };
	struct test_file file;
	sqlite3 *db;

	put_record(&data, evidence[_i].context, 50);
	begin(&file, evidence[_i].clock);
	if (evidence[_i].itrace)
		put_event(&file, 12, 0, (uint64_t[]){ 400ull << 32 | 400 }, 1, 400, 0, 5);
	if (evidence[_i].in)
		put_event(&file, 14, 0, NULL, 0, APP, 0, 20);
	if (evidence[_i].out)
		put_event(&file, 14, 1 << 13, NULL, 0, APP, 0, 30);
	if (evidence[_i].wide)
		put_event(&file, 15, 1 << 13, (uint64_t[]){ 200ull << 32 | 200 }, 1, APP, 0, 30);
	put_event(&file, 14, 0, NULL, 0, 999, 0, 60); /* later */
	put_event(&file, 14, 0, NULL, 0, 999, 1, 40); /* elsewhere */
	put_aux_data(&file, evidence[_i].per_thread ? 500 : NOBODY,
		     evidence[_i].per_thread ? UINT32_MAX : 0, data.data, data.size);
	db = load_file(&file);
	check_text(db, "SELECT attribution FROM samples", evidence[_i].attribution);
	check_text(db, "SELECT tid FROM samples", evidence[_i].tid);
	ck_assert_int_eq(ask(db, "SELECT coalesce(sum(count), 0) FROM loss WHERE kind = "
				 "'unattributed'"),
			 !strcmp(evidence[_i].tid, "NULL"));
	sqlite3_close(db);
	free(data.data);
}
END_TEST

/* Records without a time stamp, or without a clock to read it by, are rows; that overlap in time
 * is not known is said. */
START_TEST(records_without_times)
{
	struct test_bytes data = { 0 };
	struct test_file file;
	sqlite3 *db;

	for (uint32_t i = 0; i < 20; i++) {
		test_put(&data, VA, 9);
		put_record(&data, i % 2 ? APP : NEXT, _i ? 50 + i : 0);
	}
	begin(&file, !_i);
	put_aux_data(&file, NOBODY, 0, data.data, data.size / 2);
	put_aux_data(&file, NOBODY, 1, data.data + data.size / 2, data.size / 2);
	db = load_file(&file);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM samples WHERE tid IS NOT NULL"), 20);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM sample WHERE time_ns IS NOT NULL"), 0);
	ck_assert_int_eq(ask(db, "SELECT count FROM loss WHERE kind = 'spe_no_time'"), 20);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM health WHERE name = 'not_measurable' AND "
				 "scope = 'overlap in time'"),
			 1);
	sqlite3_close(db);
	free(data.data);
}
END_TEST

/* ---- what is lost ---- */

/* Buffers of CPUs and of threads that were full at 100 and seen again at 300, or never. */
START_TEST(blind_times_of_cpus_and_threads)
{
	struct test_bytes data = { 0 };
	struct test_file file;
	const char *scope = _i ? "thread 100" : "cpu 0";
	char sql[160];
	sqlite3 *db;

	begin(&file, true);
	put_event(&file, 11, 0, (uint64_t[]){ 0, 64, 1 }, 3, APP, 0, 100);
	put_event(&file, 11, 0, (uint64_t[]){ 0, 64, 5 }, 3, APP, 0, 120);
	put_event(&file, 11, 0, (uint64_t[]){ 0, 64, 1 }, 3, NEXT, 1, 450);
	put_record(&data, 0, 90);
	put_record(&data, 0, 300);
	put_record(&data, 0, 500);
	put_aux_data(&file, _i ? APP : NOBODY, _i ? UINT32_MAX : 0, data.data, data.size);
	db = load_file(&file);
	snprintf(sql, sizeof(sql),
		 "SELECT count FROM loss WHERE kind = 'aux_blind' AND scope = '%s'", scope);
	ck_assert_int_eq(ask(db, sql), 200);
	/* the other one was never seen again: to the last sample */
	ck_assert_int_eq(ask(db, "SELECT sum(count) FROM loss WHERE kind = 'aux_blind'"), 250);
	ck_assert_int_eq(ask(db, "SELECT count FROM health WHERE name = 'blind_time'"), 250);
	sqlite3_close(db);
	free(data.data);
}
END_TEST

/* Loads without a data source packet are told from events alone, and counted where the CPU sends
 * such packets: perf takes them for hits. Stores have none on any CPU. */
START_TEST(loads_without_a_source)
{
	static const uint8_t data[] = {
		0x49, 0, 0x42, 0x0e, 0x01, /* load that missed L1 */
		0x49, 0, 0x42, 0x02, 0x01, /* load of which nothing is told */
		0x49, 0, 0x43, 0x08, 0x01, /* load from L2 */
		0x49, 6, 0x42, 0x06, 0x01, /* atomic that hit L1 */
		0x49, 1, 0x42, 0x06, 0x01, /* store */
		0x4a, 1, 0x42, 0x02, 0x01, /* branch */
	};
	struct test_file file;
	sqlite3 *db;

	begin(&file, true);
	put_aux_data(&file, NOBODY, 0, data, sizeof(data));
	db = load_file(&file);
	check_text(
		db,
		"SELECT group_concat(coalesce(source, '-') || ' ' || certainty, ', ') FROM samples",
		"l1_miss inferred, - none, l2 hardware, l1 inferred, l1 inferred, - none");
	ck_assert_int_eq(ask(db, "SELECT count FROM health WHERE name = 'spe_no_source'"), 3);
	sqlite3_close(db);
}
END_TEST

/* Each way in which bytes give nothing is counted, with what they were. */
START_TEST(nothing_skipped_goes_uncounted)
{
	static const uint8_t bytes[] = {
		0xb0, 1, 0, 0, 0, 0, 0, 0, 0x80, 0x49, 0,    0x01,	       /* good */
		0x01,							       /* empty */
		0xb0, 1, 0, 0, 0, 0, 0, 0, 0x80, 0x66, 1,    2,	   3, 4, 0x01, /* reserved */
		0xb0, 1, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x01,		       /* damaged */
		0xb0, 1, 0, 0, 0, 0, 0, 0, 0x80, 0x49, 1,    0x01,	       /* good */
		0xb0, 1, 0, 0,						       /* cut */
	};
	struct test_file file;
	sqlite3 *db;

	begin(&file, true);
	put_aux_data(&file, NOBODY, 0, bytes, sizeof(bytes));
	db = load_file(&file);
	ck_assert_int_eq(ask(db, "SELECT spe_records FROM trace"), 3);
	ck_assert_int_eq(ask(db, "SELECT bytes FROM loss WHERE kind = 'spe_empty'"), 1);
	ck_assert_int_eq(ask(db, "SELECT bytes FROM loss WHERE kind = 'spe_reserved'"), 5);
	ck_assert_int_eq(ask(db, "SELECT bytes FROM loss WHERE kind = 'spe_resync'"), 11);
	ck_assert_int_eq(ask(db, "SELECT bytes FROM loss WHERE kind = 'spe_truncated'"), 4);
	ck_assert_int_eq(ask(db, "SELECT complete FROM trace"), 0);
	sqlite3_close(db);
}
END_TEST

/* Valid packets without an end, longer than the buffer that they are read into. */
START_TEST(a_record_without_end)
{
	size_t size = (size_t)5 << 19;
	uint8_t *bytes = malloc(size);
	struct test_file file;
	sqlite3 *db;

	for (size_t i = 0; i < size; i += 2)
		memcpy(bytes + i, "\x48\x00", 2);
	begin(&file, true);
	put_aux_data(&file, NOBODY, 0, bytes, size);
	db = load_file(&file);
	ck_assert_int_eq(ask(db, "SELECT spe_records FROM trace"), 0);
	ck_assert_int_eq(ask(db, "SELECT sum(bytes) FROM loss WHERE kind IN ('spe_resync', "
				 "'spe_truncated')"),
			 (int64_t)size);
	sqlite3_close(db);
	free(bytes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spe_load");
	TCase *tests = tcase_create("spe_load");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, a_record_by_name, 0, sizeof(said) / sizeof(said[0]));
	tcase_add_test(tests, tags_do_not_divide_lines);
	tcase_add_test(tests, two_kinds_of_cores);
	tcase_add_loop_test(tests, evidence_in_its_order, 0,
			    sizeof(evidence) / sizeof(evidence[0]));
	tcase_add_loop_test(tests, records_without_times, 0, 2);
	tcase_add_loop_test(tests, blind_times_of_cpus_and_threads, 0, 2);
	tcase_add_test(tests, loads_without_a_source);
	tcase_add_test(tests, nothing_skipped_goes_uncounted);
	tcase_add_test(tests, a_record_without_end);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
