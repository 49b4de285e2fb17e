/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/perfdata/host.h"

#include <check.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/test_random.h"
#include "ingest/perfdata/test_writer.h"

struct opened {
	struct fs_perf_file file;
	struct fs_host host;
	struct fs_loss loss;
};

/* Write the file, read it back; its features are then in opened->host. */
static void open_file(struct opened *opened, struct test_file *file)
{
	struct fs_error error = { 0 };
	struct test_bytes nothing = { 0 };
	char path[64];

	*opened = (struct opened){ 0 };
	fs_loss_init(&opened->loss);
	test_record(file, 68, 0, &nothing); /* without a record it were an unfinished file */
	test_file_end(file);
	test_save(file->bytes.data, file->bytes.size, path);
	ck_assert_int_eq(fs_perf_open(&opened->file, path, &opened->loss, &error), 0);
	ck_assert_int_eq(fs_host_read(&opened->file, &opened->host, &opened->loss, &error), 0);
	unlink(path);
	test_file_free(file);
}

static void close_opened(struct opened *opened)
{
	fs_host_free(&opened->host);
	fs_host_free(&opened->host); /* twice does no harm */
	fs_perf_close(&opened->file);
	fs_loss_free(&opened->loss);
}

static uint64_t lost(const struct opened *opened, enum fs_loss_kind kind)
{
	uint64_t count = 0;

	for (size_t i = 0; i < opened->loss.entries.count; i++) {
		const struct fs_loss_key *key = fs_table_key(&opened->loss.entries, i);
		const struct fs_loss_value *value = fs_table_value(&opened->loss.entries, i);

		count += key->kind == (uint32_t)kind ? value->count : 0;
	}
	return count;
}

static const struct test_event one_event = { .ids = { 5 }, .id_count = 1 };

static void begin(struct test_file *file)
{
	test_file_begin(file, &one_event, 1, 136);
}

START_TEST(plain_features)
{
	struct test_bytes *bytes;
	struct test_file file;
	struct opened opened;
	const struct fs_host *host = &opened.host;

	begin(&file);
	test_put_string(test_feature(&file, FS_FEATURE_HOSTNAME), "host");
	test_put_string(test_feature(&file, FS_FEATURE_OSRELEASE), "6.6.0");
	test_put_string(test_feature(&file, FS_FEATURE_VERSION), "7.3");
	test_put_string(test_feature(&file, FS_FEATURE_ARCH), "aarch64");
	bytes = test_feature(&file, FS_FEATURE_NRCPUS);
	test_put_u32(bytes, 4);
	test_put_u32(bytes, 3);
	test_put_string(test_feature(&file, FS_FEATURE_CPUDESC), "a CPU");
	test_put_string(test_feature(&file, FS_FEATURE_CPUID), "0x410fd0c0");
	test_put_u64(test_feature(&file, FS_FEATURE_TOTAL_MEM), 1 << 20);
	bytes = test_feature(&file, FS_FEATURE_CMDLINE);
	test_put_u32(bytes, 4);
	test_put_string(bytes, "perf");
	test_put_string(bytes, "a b");
	test_put_string(bytes, "it's");
	test_put_string(bytes, "");
	bytes = test_feature(&file, FS_FEATURE_SAMPLE_TIME);
	test_put_u64(bytes, 7);
	test_put_u64(bytes, 8);
	test_put_u64(test_feature(&file, FS_FEATURE_CLOCKID), 1);
	bytes = test_feature(&file, FS_FEATURE_CLOCK_DATA);
	test_put_u32(bytes, 1);
	test_put_u32(bytes, 4);
	test_put_u64(bytes, 1000);
	test_put_u64(bytes, 400);
	test_put_u32(test_feature(&file, FS_FEATURE_E_MACHINE), 183);
	test_put_u32(test_feature(&file, FS_FEATURE_CLN_SIZE), 128);
	open_file(&opened, &file);
	ck_assert_str_eq(host->hostname, "host");
	ck_assert_str_eq(host->os_release, "6.6.0");
	ck_assert_str_eq(host->perf_version, "7.3");
	ck_assert_str_eq(host->arch, "aarch64");
	ck_assert_uint_eq(host->cpus_available, 4);
	ck_assert_uint_eq(host->cpus_online, 3);
	ck_assert_str_eq(host->cpu_description, "a CPU");
	ck_assert_str_eq(host->cpuid, "0x410fd0c0");
	ck_assert_uint_eq(host->memory_kib, 1 << 20);
	ck_assert_str_eq(host->cmdline, "perf 'a b' 'it'\\''s' ''");
	ck_assert_uint_eq(host->first_sample_ns, 7);
	ck_assert_uint_eq(host->last_sample_ns, 8);
	ck_assert(host->has_clock_data);
	ck_assert_uint_eq(host->clock_id, 4);
	ck_assert_uint_eq(host->clock_wall_ns, 1000);
	ck_assert_uint_eq(host->clock_ns, 400);
	ck_assert_uint_eq(host->e_machine, 183);
	ck_assert_uint_eq(host->line_size, 128);
	ck_assert_str_eq(host->line_size_source, "cln_size");
	ck_assert_uint_eq(opened.loss.entries.count, 0);
	close_opened(&opened);
}
END_TEST

START_TEST(unknown_and_unused_features_are_counted)
{
	struct test_file file;
	struct opened opened;

	begin(&file);
	test_put_u64(test_feature(&file, 40), 0);
	test_put_u64(test_feature(&file, 128), 0); /* simpleperf's FILE */
	test_put_u64(test_feature(&file, 200), 0);
	test_put_u64(test_feature(&file, 255), 0);
	open_file(&opened, &file);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_UNKNOWN_FEATURE), 3);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_UNUSED_FEATURE), 1);
	ck_assert(!fs_loss_is_damaged(&opened.loss));
	close_opened(&opened);
}
END_TEST

/* A length of 2^32 - 16, one byte too many, no NUL within, none at all. */
START_TEST(strings_that_do_not_end)
{
	struct test_bytes *bytes;
	struct test_file file;
	struct opened opened;
	const struct fs_host *host = &opened.host;

	begin(&file);
	bytes = test_feature(&file, FS_FEATURE_HOSTNAME);
	test_put_u32(bytes, 0xfffffff0);
	test_put(bytes, "host", 4);
	bytes = test_feature(&file, FS_FEATURE_OSRELEASE);
	test_put_u32(bytes, 5);
	test_put(bytes, "6.6", 4);
	bytes = test_feature(&file, FS_FEATURE_VERSION);
	test_put_u32(bytes, 4);
	test_put(bytes, "7.3x", 4);
	test_feature(&file, FS_FEATURE_ARCH);
	bytes = test_feature(&file, FS_FEATURE_CMDLINE);
	test_put_u32(bytes, 0xffffffff);
	test_put_string(bytes, "perf");
	open_file(&opened, &file);
	ck_assert_ptr_null(host->hostname);
	ck_assert_ptr_null(host->os_release);
	ck_assert_str_eq(host->perf_version, "7.3x");
	ck_assert_ptr_null(host->arch);
	ck_assert_ptr_null(host->cmdline);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_FEATURE), 4);
	close_opened(&opened);
}
END_TEST

/* ---- events ---- */

static void put_description(struct test_bytes *bytes, const char *name, uint64_t id)
{
	static const uint8_t attr[64];

	test_put(bytes, attr, sizeof(attr));
	test_put_u32(bytes, 1);
	test_put_string(bytes, name);
	test_put_u64(bytes, id);
}

/* Events whose attrs are lost, or their ids, are as EVENT_DESC describes them. The attr of one may
 * also stand in the data, without ids. */
START_TEST(lost_events_come_from_their_descriptions)
{
	static const struct test_event events[] = { { .config = 3, .id_count = 0 } };
	const struct test_event lost_event = { .config = 4, .sample_type = 0x107 };
	struct test_bytes record = { 0 };
	struct test_bytes *bytes;
	struct test_file file;
	struct opened opened;

	test_file_begin(&file, events, _i == 1 ? 1 : 0, 136);
	if (_i == 2) {
		test_put_attr(&record, &events[0], 136);
		test_record(&file, FS_RECORD_HEADER_ATTR, 0, &record);
	}
	bytes = test_feature(&file, FS_FEATURE_EVENT_DESC);
	test_put_u32(bytes, 2);
	test_put_u32(bytes, 64);
	put_description(bytes, "first", 5);
	test_put_attr(bytes, &lost_event, 64);
	test_put_u32(bytes, 2);
	test_put_string(bytes, "second");
	test_put_u64(bytes, 6);
	test_put_u64(bytes, 7);
	open_file(&opened, &file);
	ck_assert_uint_eq(opened.file.event_count, 2);
	ck_assert_str_eq(opened.file.events[0].name, "first");
	ck_assert_uint_eq(opened.file.events[0].id_count, 1);
	ck_assert_uint_eq(opened.file.events[0].ids[0], 5);
	ck_assert_uint_eq(opened.file.events[0].attr.config, _i ? 3 : 0);
	ck_assert_str_eq(opened.file.events[1].name, "second");
	ck_assert_uint_eq(opened.file.events[1].attr.config, 4);
	ck_assert_uint_eq(opened.file.events[1].attr.sample_type, 0x107);
	ck_assert_uint_eq(opened.file.events[1].id_count, 2);
	ck_assert_uint_eq(opened.file.events[1].ids[1], 7);
	close_opened(&opened);
	free(record.data);
}
END_TEST

START_TEST(event_names_go_by_id_and_then_by_place)
{
	static const struct test_event events[] = {
		{ .ids = { 5 }, .id_count = 1 },
		{ .ids = { 6 }, .id_count = 1 },
		{ .id_count = 0 },
	};
	struct test_bytes *bytes;
	struct test_file file;
	struct opened opened;

	test_file_begin(&file, events, 3, 136);
	bytes = test_feature(&file, FS_FEATURE_EVENT_DESC);
	test_put_u32(bytes, 3);
	test_put_u32(bytes, 64);
	put_description(bytes, "second", 6);
	put_description(bytes, "first", 5);
	put_description(bytes, "third", 77);
	open_file(&opened, &file);
	ck_assert_str_eq(opened.file.events[0].name, "first");
	ck_assert_str_eq(opened.file.events[1].name, "second");
	ck_assert_str_eq(opened.file.events[2].name, "third");
	ck_assert_uint_eq(opened.loss.entries.count, 0);
	close_opened(&opened);
}
END_TEST

START_TEST(event_descriptions_that_cannot_be)
{
	static const uint32_t counts[][3] = {
		/* events, size of an attr, ids */
		{ 0xffffffff, 64, 1 }, { 2, 64, 1 },	      { 1, 0xffffffff, 1 },
		{ 1, 64, 0xffffffff }, { 1, 64, 0x20000001 }, { 0x80000000, 0, 2 },
	};
	struct test_bytes *bytes;
	struct test_file file;
	struct opened opened;
	static const uint8_t attr[64];

	begin(&file);
	bytes = test_feature(&file, FS_FEATURE_EVENT_DESC);
	test_put_u32(bytes, counts[_i][0]);
	test_put_u32(bytes, counts[_i][1]);
	test_put(bytes, attr, sizeof(attr));
	test_put_u32(bytes, counts[_i][2]);
	test_put_string(bytes, "name");
	test_put_u64(bytes, 5);
	open_file(&opened, &file);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_FEATURE), 1);
	close_opened(&opened);
}
END_TEST

/* Descriptions of 16 bytes and 256 events, or groups: each against each would take minutes. */
START_TEST(many_descriptions_and_groups_take_no_time)
{
	struct test_event *events = calloc(256, sizeof(*events));
	struct test_bytes *bytes;
	struct test_file file;
	struct opened opened;

	for (size_t i = 0; i < 256; i++)
		events[i] = (struct test_event){ .ids = { i }, .id_count = 1 };
	test_file_begin(&file, events, 256, 64);
	bytes = test_feature(&file, FS_FEATURE_EVENT_DESC);
	test_put_u32(bytes, 3 << 20);
	test_put_u32(bytes, 0);
	for (uint32_t i = 0; i < 3 << 20; i++) {
		test_put_u32(bytes, 1);
		test_put_u32(bytes, 0);
		test_put_u64(bytes, 1000 + i);
	}
	bytes = test_feature(&file, FS_FEATURE_GROUP_DESC);
	test_put_u32(bytes, 4 << 20);
	for (uint32_t i = 0; i < 4 << 20; i++) {
		test_put_u32(bytes, 0);
		test_put_u32(bytes, 0);
		test_put_u32(bytes, 256);
	}
	open_file(&opened, &file);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_FEATURE), 1); /* the groups */
	close_opened(&opened);
	free(events);
}
END_TEST

START_TEST(group_leaders)
{
	static const struct {
		uint32_t leader, members;
		bool good;
	} groups[] = {
		{ 1, 2, true },		  { 0, 3, true },
		{ 2, 2, false },	  { 3, 0, true },
		{ 4, 0, false },	  { 0xffffffff, 0xffffffff, false },
		{ 0, 0xffffffff, false }, { 1, 0xffffffff, false },
	};
	const struct test_event events[3] = { 0 };
	struct test_bytes *bytes;
	struct test_file file;
	struct opened opened;

	test_file_begin(&file, events, 3, 136);
	bytes = test_feature(&file, FS_FEATURE_GROUP_DESC);
	test_put_u32(bytes, 1);
	test_put_string(bytes, "group");
	test_put_u32(bytes, groups[_i].leader);
	test_put_u32(bytes, groups[_i].members);
	open_file(&opened, &file);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_FEATURE), !groups[_i].good);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_int_eq(opened.file.events[i].leader,
				 groups[_i].good && i >= groups[_i].leader &&
						 i < groups[_i].leader + groups[_i].members
					 ? (int)groups[_i].leader
					 : -1);
	close_opened(&opened);
}
END_TEST

/* ---- CPUs and nodes ---- */

static void put_topology(struct test_bytes *bytes, const char *first, const char *second)
{
	test_put_u32(bytes, 1);
	test_put_string(bytes, "0-3");
	test_put_u32(bytes, 2);
	test_put_string(bytes, first);
	test_put_string(bytes, second);
	for (uint32_t cpu = 0; cpu < 4; cpu++) {
		test_put_u32(bytes, cpu / 2);
		test_put_u32(bytes, cpu / 3);
	}
}

START_TEST(topology)
{
	struct test_bytes *bytes;
	struct test_file file;
	struct opened opened;

	begin(&file);
	bytes = test_feature(&file, FS_FEATURE_NRCPUS);
	test_put_u32(bytes, 4);
	test_put_u32(bytes, 4);
	put_topology(test_feature(&file, FS_FEATURE_CPU_TOPOLOGY), "0,2", "1,3");
	bytes = test_feature(&file, FS_FEATURE_NUMA_TOPOLOGY);
	test_put_u32(bytes, 2);
	for (uint32_t node = 0; node < 2; node++) {
		test_put_u32(bytes, node);
		test_put_u64(bytes, 100);
		test_put_u64(bytes, 50);
		test_put_string(bytes, node ? "2-3" : "0-1");
	}
	open_file(&opened, &file);
	ck_assert_uint_eq(opened.host.cpu_count, 4);
	ck_assert_int_eq(opened.host.cpus[2].core, 0);
	ck_assert_int_eq(opened.host.cpus[3].core, 1);
	ck_assert_int_eq(opened.host.cpus[2].package, 0);
	ck_assert_int_eq(opened.host.cpus[3].package, 1);
	ck_assert_int_eq(opened.host.cpus[1].node, 0);
	ck_assert_int_eq(opened.host.cpus[2].node, 1);
	ck_assert_uint_eq(opened.host.node_count, 2);
	ck_assert_uint_eq(opened.host.nodes[1].free_kib, 50);
	ck_assert_uint_eq(opened.loss.entries.count, 0);
	close_opened(&opened);
}
END_TEST

START_TEST(cpu_lists)
{
	static const struct {
		const char *list;
		bool good;
	} lists[] = {
		{ "", true },
		{ "1,3", true },
		{ "1-3\n", true },
		{ "-", false },
		{ "0-", false },
		{ "3-1", false },
		{ "x", false },
		{ "1,x", false },
		{ "1x", false },
		{ "0-65536", false },
		{ "-5", false },
		{ "0--5", false },
		{ "0-99999999999", false },
		{ "18446744073709551616-18446744073709551617", false },
	};
	struct test_file file;
	struct opened opened;

	begin(&file);
	put_topology(test_feature(&file, FS_FEATURE_CPU_TOPOLOGY), lists[_i].list, "0");
	open_file(&opened, &file);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_FEATURE), !lists[_i].good);
	for (size_t i = 0; i < opened.host.cpu_count; i++)
		ck_assert_int_ge(opened.host.cpus[i].core, -1);
	close_opened(&opened);
}
END_TEST

/* 10,000 lists of all CPUs: 655 million steps if there were no limit. */
START_TEST(cpu_lists_are_bounded_together)
{
	struct test_bytes *bytes;
	struct test_file file;
	struct opened opened;

	begin(&file);
	bytes = test_feature(&file, FS_FEATURE_NUMA_TOPOLOGY);
	test_put_u32(bytes, 10000);
	for (uint32_t node = 0; node < 10000; node++) {
		test_put_u32(bytes, node);
		test_put_u64(bytes, 0);
		test_put_u64(bytes, 0);
		test_put_string(bytes, "0-65535");
	}
	open_file(&opened, &file);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_FEATURE), 1);
	ck_assert_uint_eq(opened.host.cpu_count, FS_CPUS_MAX);
	close_opened(&opened);
}
END_TEST

START_TEST(cpus_by_number)
{
	struct fs_host host = { 0 };

	ck_assert_ptr_null(fs_host_cpu(&host, FS_CPUS_MAX));
	ck_assert_ptr_null(fs_host_cpu(&host, UINT64_MAX));
	ck_assert_ptr_nonnull(fs_host_cpu(&host, 5));
	ck_assert_uint_eq(host.cpu_count, 6);
	ck_assert(!host.cpus[4].present && host.cpus[5].present);
	ck_assert_int_eq(host.cpus[4].node, -1);
	fs_host_free(&host);
}
END_TEST

/* ---- memory, caches, PMUs ---- */

static void put_memory_node(struct test_bytes *bytes, uint64_t node, uint64_t bits,
			    const uint64_t *words, size_t count)
{
	test_put_u64(bytes, node);
	test_put_u64(bytes, bits);
	test_put_u64(bytes, bits);
	test_put(bytes, words, 8 * count);
}

START_TEST(memory_topology)
{
	static const uint64_t words[2] = { 0xf00000000000000f, 0x3 };
	struct test_bytes *bytes;
	struct test_file file;
	struct opened opened;

	begin(&file);
	bytes = test_feature(&file, FS_FEATURE_MEM_TOPOLOGY);
	test_put_u64(bytes, 1);
	test_put_u64(bytes, 1 << 27);
	test_put_u64(bytes, 1);
	put_memory_node(bytes, 3, 66, words, 2);
	open_file(&opened, &file);
	ck_assert_uint_eq(opened.host.range_count, 2);
	ck_assert_uint_eq(opened.host.ranges[0].node, 3);
	ck_assert_uint_eq(opened.host.ranges[0].first, 0);
	ck_assert_uint_eq(opened.host.ranges[0].last, (4ull << 27) - 1);
	ck_assert_uint_eq(opened.host.ranges[1].first, 60ull << 27);
	ck_assert_uint_eq(opened.host.ranges[1].last, (66ull << 27) - 1);
	ck_assert_uint_eq(opened.loss.entries.count, 0);
	close_opened(&opened);
}
END_TEST

START_TEST(memory_topology_that_cannot_be)
{
	static const uint64_t heads[][4] = {
		/* version, block size, nodes, bits */
		{ 2, 1 << 27, 1, 64 },		{ 1, 0, 1, 64 },
		{ 1, 1ull << 63, 1, 64 },	{ 1, 1 << 27, 1, UINT64_MAX },
		{ 1, 1 << 27, 1, 1ull << 63 },	{ 1, 1 << 27, 1, 65 },
		{ 1, 1 << 27, UINT64_MAX, 64 }, { 1, 1 << 27, 2, 64 },
	};
	static const uint64_t word = 5;
	struct test_bytes *bytes;
	struct test_file file;
	struct opened opened;

	begin(&file);
	bytes = test_feature(&file, FS_FEATURE_MEM_TOPOLOGY);
	for (int i = 0; i < 3; i++)
		test_put_u64(bytes, heads[_i][i]);
	put_memory_node(bytes, 0, heads[_i][3], &word, 1);
	open_file(&opened, &file);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_FEATURE), 1);
	close_opened(&opened);
}
END_TEST

/* Every other bit set: a byte of the file must not become a hundred in memory. */
START_TEST(memory_ranges_are_bounded)
{
	enum { WORDS = 1 << 20 };
	uint64_t *words = malloc(8 * WORDS);
	struct test_bytes *bytes;
	struct test_file file;
	struct opened opened;

	memset(words, 0x55, 8 * WORDS);
	begin(&file);
	bytes = test_feature(&file, FS_FEATURE_MEM_TOPOLOGY);
	test_put_u64(bytes, 1);
	test_put_u64(bytes, 4096);
	test_put_u64(bytes, 1);
	put_memory_node(bytes, 0, 64ull * WORDS, words, WORDS);
	open_file(&opened, &file);
	ck_assert_uint_eq(opened.host.range_count, 1 << 16);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_FEATURE), 1);
	close_opened(&opened);
	free(words);
}
END_TEST

static void put_cache(struct test_bytes *bytes, uint32_t level, uint32_t line_size,
		      const char *type)
{
	test_put_u32(bytes, level);
	test_put_u32(bytes, line_size);
	test_put_u32(bytes, 64);
	test_put_u32(bytes, 8);
	test_put_string(bytes, type);
	test_put_string(bytes, "32K");
	test_put_string(bytes, "0-1");
}

/* The line of the first-level data cache, else of any, and only what can be a line. */
START_TEST(line_sizes_from_caches)
{
	static const struct {
		uint32_t lines[3]; /* L3 unified, L1 instruction, L1 data */
		uint32_t size;
	} cases[] = {
		{ { 128, 32, 64 }, 64 }, { { 128, 0, 0 }, 128 },  { { 0, 0, 0 }, 0 },
		{ { 63, 8192, 8 }, 0 },	 { { 0, 32, 256 }, 256 }, { { 0, 32, 65 }, 32 },
	};
	struct test_bytes *bytes;
	struct test_file file;
	struct opened opened;

	begin(&file);
	bytes = test_feature(&file, FS_FEATURE_CACHE);
	test_put_u32(bytes, 1);
	test_put_u32(bytes, 3);
	put_cache(bytes, 3, cases[_i].lines[0], "Unified");
	put_cache(bytes, 1, cases[_i].lines[1], "Instruction");
	put_cache(bytes, 1, cases[_i].lines[2], "Data");
	open_file(&opened, &file);
	ck_assert_uint_eq(opened.host.cache_count, 3);
	ck_assert_uint_eq(opened.host.line_size, cases[_i].size);
	ck_assert_uint_eq(opened.loss.entries.count, 0);
	close_opened(&opened);
}
END_TEST

/* Lists cut after every byte: what is whole stays, the rest is no row of zeros. */
START_TEST(lists_cut_anywhere)
{
	struct test_bytes whole = { 0 };

	test_put_u32(&whole, _i == 1 ? 1 : 2);
	if (_i == 1)
		test_put_u32(&whole, 2);
	for (uint32_t i = 0; i < 2; i++) {
		if (_i == 0) {
			test_put_u32(&whole, i + 1);
			test_put_u64(&whole, 7);
			test_put_u64(&whole, 7);
			test_put_string(&whole, "0");
		} else if (_i == 1) {
			put_cache(&whole, i + 1, 64, "Data");
		} else {
			test_put_u32(&whole, i + 1);
			test_put_string(&whole, "pmu");
		}
	}
	for (size_t size = 0; size < whole.size; size++) {
		struct test_file file;
		struct opened opened;

		begin(&file);
		test_put(test_feature(&file, _i == 0   ? FS_FEATURE_NUMA_TOPOLOGY
					     : _i == 1 ? FS_FEATURE_CACHE
						       : FS_FEATURE_PMU_MAPPINGS),
			 whole.data, size);
		open_file(&opened, &file);
		ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_FEATURE), 1);
		ck_assert_uint_le(opened.host.node_count + opened.host.cache_count +
					  opened.host.pmu_count,
				  1);
		for (size_t i = 0; i < opened.host.node_count; i++)
			ck_assert(opened.host.nodes[i].node == i + 1 && opened.host.nodes[i].cpus);
		for (size_t i = 0; i < opened.host.cache_count; i++)
			ck_assert(opened.host.caches[i].level == i + 1 &&
				  opened.host.caches[i].cpus);
		close_opened(&opened);
	}
	free(whole.data);
}
END_TEST

/* ---- what becomes facts ---- */

static const char *fact(const struct opened *opened, const char *name)
{
	for (size_t i = 0; i < opened->host.fact_count; i++)
		if (!strcmp(opened->host.facts[i].name, name))
			return opened->host.facts[i].value;
	return "no such fact";
}

static void put_facts(struct test_file *file)
{
	struct test_bytes *bytes = test_feature(file, FS_FEATURE_GROUP_DESC);

	test_put_u32(bytes, 1);
	test_put_string(bytes, "a group");
	test_put_u32(bytes, 0);
	test_put_u32(bytes, 1);
	test_put_u64(test_feature(file, FS_FEATURE_DIR_FORMAT), 1);
	bytes = test_feature(file, FS_FEATURE_BPF_PROG_INFO);
	test_put_u32(bytes, 2);
	for (int i = 0; i < 2; i++) {
		test_put_u32(bytes, 8);
		test_put_u32(bytes, 16);
		for (int word = 0; word < 4; word++)
			test_put_u64(bytes, 0x5a5a);
	}
	bytes = test_feature(file, FS_FEATURE_BPF_BTF);
	test_put_u32(bytes, 1);
	test_put_u32(bytes, 77);
	test_put_u32(bytes, 8);
	test_put_u64(bytes, 0x5a5a);
	bytes = test_feature(file, FS_FEATURE_COMPRESSED);
	for (uint32_t i = 1; i <= 5; i++)
		test_put_u32(bytes, i);
	bytes = test_feature(file, FS_FEATURE_CPU_DOMAIN_INFO);
	test_put_u32(bytes, 17);
	test_put_u32(bytes, 3);
	test_put(test_feature(file, FS_FEATURE_SIMPLEPERF_META_INFO), "product\0phone\0empty\0",
		 21);
}

START_TEST(features_that_become_facts)
{
	static const struct {
		const char *name, *value;
	} expected[] = {
		{ "event_group.0", "a group" },	   { "dir_format.version", "1" },
		{ "bpf_prog_info.count", "2" },	   { "bpf_btf.count", "1" },
		{ "compressed.version", "1" },	   { "compressed.type", "2" },
		{ "compressed.level", "3" },	   { "compressed.ratio", "4" },
		{ "compressed.mmap_length", "5" }, { "schedstat_version", "17" },
		{ "scheduling_domains", "3" },	   { "simpleperf.product", "phone" },
		{ "simpleperf.empty", "" },
	};
	struct test_file file;
	struct opened opened;

	begin(&file);
	put_facts(&file);
	open_file(&opened, &file);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		ck_assert_str_eq(fact(&opened, expected[i].name), expected[i].value);
	ck_assert_uint_eq(opened.host.fact_count, sizeof(expected) / sizeof(expected[0]));
	ck_assert_uint_eq(opened.loss.entries.count, 0);
	close_opened(&opened);
}
END_TEST

START_TEST(capabilities_of_pmus)
{
	static const char *const expected[][3] = {
		{ "cpu", "branches", "32" },	  { "cpu_core", "cpus", "0-15" },
		{ "cpu_core", "branches", "32" }, { "cpu_core", "max_precise", "3" },
		{ "cpu_atom", "branches", "16" },
	};
	struct test_bytes *bytes;
	struct test_file file;
	struct opened opened;

	begin(&file);
	bytes = test_feature(&file, FS_FEATURE_CPU_PMU_CAPS);
	test_put_u32(bytes, 1);
	test_put_string(bytes, "branches");
	test_put_string(bytes, "32");
	bytes = test_feature(&file, FS_FEATURE_HYBRID_TOPOLOGY);
	test_put_u32(bytes, 1);
	test_put_string(bytes, "cpu_core");
	test_put_string(bytes, "0-15");
	bytes = test_feature(&file, FS_FEATURE_PMU_CAPS);
	test_put_u32(bytes, 2);
	test_put_u32(bytes, 2);
	test_put_string(bytes, "branches");
	test_put_string(bytes, "32");
	test_put_string(bytes, "max_precise");
	test_put_string(bytes, "3");
	test_put_string(bytes, "cpu_core");
	test_put_u32(bytes, 1);
	test_put_string(bytes, "branches");
	test_put_string(bytes, "16");
	test_put_string(bytes, "cpu_atom");
	open_file(&opened, &file);
	ck_assert_uint_eq(opened.host.capability_count, 5);
	for (size_t i = 0; i < 5; i++) {
		const struct fs_pmu_capability *capability = &opened.host.capabilities[i];

		ck_assert_str_eq(capability->pmu, expected[i][0]);
		ck_assert_str_eq(capability->name, expected[i][1]);
		ck_assert_str_eq(capability->value, expected[i][2]);
	}
	ck_assert_uint_eq(opened.loss.entries.count, 0);
	close_opened(&opened);
}
END_TEST

/* Each of these features cut after every byte is bad, and costs only itself. */
START_TEST(facts_cut_anywhere)
{
	struct test_file whole;

	begin(&whole);
	put_facts(&whole);
	for (size_t i = 0; i < whole.feature_count; i++) {
		bool pairs = whole.features[i].bit == FS_FEATURE_SIMPLEPERF_META_INFO;

		for (size_t size = 0; size < whole.features[i].content.size; size++) {
			struct test_file file;
			struct opened opened;

			begin(&file);
			test_put(test_feature(&file, whole.features[i].bit),
				 whole.features[i].content.data, size);
			open_file(&opened, &file);
			/* a list of pairs may end behind each */
			if (!pairs || (size != 0 && size != 14))
				ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_FEATURE), 1);
			close_opened(&opened);
		}
	}
	test_file_free(&whole);
}
END_TEST

/* ---- build-ids ---- */

static void put_build_id(struct test_bytes *bytes, uint16_t misc, uint8_t length, const char *path)
{
	static const uint8_t id[20] = { 0xab, 0xcd, 3,	4,  5,	6,  7,	8,  9,	10,
					11,   12,   13, 14, 15, 16, 17, 18, 19, 20 };
	const uint8_t tail[4] = { length };

	test_put_u32(bytes, 67);
	test_put_u16(bytes, misc);
	test_put_u16(bytes, (uint16_t)(8 + 28 + strlen(path) / 8 * 8 + 8));
	test_put_u32(bytes, UINT32_MAX);
	test_put(bytes, id, sizeof(id));
	test_put(bytes, tail, sizeof(tail));
	test_put_name(bytes, path);
}

START_TEST(build_ids)
{
	struct test_bytes *bytes;
	struct test_file file;
	struct opened opened;

	begin(&file);
	bytes = test_feature(&file, FS_FEATURE_BUILD_ID);
	put_build_id(bytes, 2, 0, "/bin/old"); /* no length was written: 20 */
	put_build_id(bytes, 2 | 1 << 15, 16, "/bin/md5");
	put_build_id(bytes, 2 | 1 << 15, 0, "/bin/none");
	put_build_id(bytes, 1 | 1 << 15, 20, "[kernel.kallsyms]");
	open_file(&opened, &file);
	ck_assert_uint_eq(opened.host.build_id_count, 3);
	ck_assert_str_eq(opened.host.build_ids[0].path, "/bin/old");
	ck_assert_uint_eq(strlen(opened.host.build_ids[0].hex), 40);
	ck_assert_uint_eq(strlen(opened.host.build_ids[1].hex), 32);
	ck_assert_int_eq(strncmp(opened.host.build_ids[1].hex, "abcd0304", 8), 0);
	ck_assert_uint_eq(opened.host.build_ids[2].cpumode, 1);
	ck_assert_uint_eq(opened.loss.entries.count, 0);
	close_opened(&opened);
}
END_TEST

START_TEST(build_ids_that_cannot_be)
{
	static const uint16_t sizes[] = { 0, 7, 8, 35, 0xfff8, 0 };
	struct test_bytes *bytes;
	struct test_file file;
	struct opened opened;

	begin(&file);
	bytes = test_feature(&file, FS_FEATURE_BUILD_ID);
	put_build_id(bytes, 2, 20, "/bin/good");
	put_build_id(bytes, 2 | 1 << 15, _i == 5 ? 21 : 20, "/bin/bad");
	if (_i < 5)
		memcpy(bytes->data + 52 + 6, &sizes[_i], 2);
	open_file(&opened, &file);
	ck_assert_uint_eq(opened.host.build_id_count, 1);
	ck_assert_uint_eq(lost(&opened, FS_LOSS_BAD_FEATURE), 1);
	close_opened(&opened);
}
END_TEST

/* Any bytes in any feature. */
START_TEST(random_features)
{
	uint64_t random = 0x5eed0090 + (uint64_t)_i;

	for (int round = 0; round < 200; round++) {
		struct test_file file;
		struct opened opened;

		begin(&file);
		for (unsigned int bit = 1; bit <= FS_FEATURE_KNOWN_MAX; bit++) {
			uint64_t words = test_below(&random, 40);
			struct test_bytes *bytes;

			if (!fs_feature_name(bit))
				continue;
			bytes = test_feature(&file, bit);

			/* small numbers are counts and lengths that go far */
			for (uint64_t i = 0; i < words; i++)
				test_put_u32(bytes, (uint32_t)(test_random(&random) >>
							       test_below(&random, 64)));
		}
		open_file(&opened, &file);
		close_opened(&opened);
	}
}
END_TEST

static void add_list_tests(TCase *tests)
{
	tcase_add_test(tests, topology);
	tcase_add_loop_test(tests, cpu_lists, 0, 14);
	tcase_add_test(tests, cpu_lists_are_bounded_together);
	tcase_add_test(tests, cpus_by_number);
	tcase_add_test(tests, memory_topology);
	tcase_add_loop_test(tests, memory_topology_that_cannot_be, 0, 8);
	tcase_add_test(tests, memory_ranges_are_bounded);
	tcase_add_loop_test(tests, line_sizes_from_caches, 0, 6);
	tcase_add_loop_test(tests, lists_cut_anywhere, 0, 3);
	tcase_add_test(tests, features_that_become_facts);
	tcase_add_test(tests, capabilities_of_pmus);
	tcase_add_test(tests, facts_cut_anywhere);
	tcase_add_test(tests, build_ids);
	tcase_add_loop_test(tests, build_ids_that_cannot_be, 0, 6);
}

int main(void)
{
	Suite *suite = suite_create("host");
	TCase *tests = tcase_create("host");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, plain_features);
	tcase_add_test(tests, unknown_and_unused_features_are_counted);
	tcase_add_test(tests, strings_that_do_not_end);
	tcase_add_loop_test(tests, lost_events_come_from_their_descriptions, 0, 3);
	tcase_add_test(tests, event_names_go_by_id_and_then_by_place);
	tcase_add_loop_test(tests, event_descriptions_that_cannot_be, 0, 6);
	tcase_add_test(tests, many_descriptions_and_groups_take_no_time);
	tcase_add_loop_test(tests, group_leaders, 0, 8);
	add_list_tests(tests);
	tcase_add_loop_test(tests, random_features, 0, 3);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
