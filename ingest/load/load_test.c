/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A perf.data file made here, loaded into a database in memory, and asked by SQL.
 */
#include "ingest/load/test_database.h"

#include "ingest/load/decode.h"

enum {
	IP = 1 << 0,
	TID = 1 << 1,
	TIME = 1 << 2,
	ADDR = 1 << 3,
	READ = 1 << 4,
	CALLCHAIN = 1 << 5,
	CPU = 1 << 7,
	PERIOD = 1 << 8,
	WEIGHT = 1 << 14,
	DATA_SRC = 1 << 15,
	IDENTIFIER = 1 << 16,
	PHYS_ADDR = 1 << 19,
	DATA_PAGE_SIZE = 1 << 22,
	CODE_PAGE_SIZE = 1 << 23,
	HEAD = IDENTIFIER | IP | TID | TIME | CPU | PERIOD,
	USER = 2,
	KERNEL = 1,
	EXACT = 1 << 14,
	BIT13 = 1 << 13,
	APP = 100,   /* process */
	OTHER = 200, /* forked from it, then another program */
};

#define SAMPLE_ID_ALL (1ull << 18)
#define KERNEL_TEXT 0xffffffff81000000
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)

/* Cycles with instructions read along, a watchpoint, and loads with their source. */
static const struct test_event events[] = {
	{ .type = 0,
	  .config = 0,
	  .sample_type = HEAD | READ | CALLCHAIN,
	  .read_format = 4 | 8,
	  .flags = SAMPLE_ID_ALL,
	  .sample_period = 1000,
	  .ids = { 11 },
	  .id_count = 1 },
	{ .type = 0,
	  .config = 1,
	  .sample_type = HEAD | READ | CALLCHAIN,
	  .read_format = 4 | 8,
	  .flags = SAMPLE_ID_ALL,
	  .ids = { 12 },
	  .id_count = 1 },
	{ .type = 5,
	  .bp_type = 2,
	  .config1 = 0x700000,
	  .config2 = 4,
	  .sample_type = HEAD | ADDR,
	  .flags = SAMPLE_ID_ALL,
	  .ids = { 13 },
	  .id_count = 1 },
	{ .type = 4,
	  .config = 0x1cd,
	  .sample_type =
		  HEAD | ADDR | WEIGHT | DATA_SRC | PHYS_ADDR | DATA_PAGE_SIZE | CODE_PAGE_SIZE,
	  .flags = SAMPLE_ID_ALL,
	  .ids = { 14, 15 },
	  .id_count = 2 },
};

/* ---- records ---- */

static void put_trailer(struct test_bytes *payload, uint32_t pid, uint32_t tid, uint64_t when)
{
	test_put_u32(payload, pid);
	test_put_u32(payload, tid);
	test_put_u64(payload, when);
	test_put_u32(payload, 0); /* cpu */
	test_put_u32(payload, 0);
	test_put_u64(payload, 0); /* id: by perf itself */
}

static void put_comm(struct test_file *file, uint32_t pid, uint32_t tid, const char *name,
		     bool exec, uint64_t when)
{
	struct test_bytes payload = { 0 };

	test_put_u32(&payload, pid);
	test_put_u32(&payload, tid);
	test_put_name(&payload, name);
	put_trailer(&payload, pid, tid, when);
	test_record(file, 3, exec ? BIT13 : 0, &payload);
	free(payload.data);
}

static void put_fork(struct test_file *file, uint32_t pid, uint32_t tid, uint32_t parent,
		     uint64_t when)
{
	struct test_bytes payload = { 0 };

	test_put_u32(&payload, pid);
	test_put_u32(&payload, parent);
	test_put_u32(&payload, tid);
	test_put_u32(&payload, parent);
	test_put_u64(&payload, when);
	put_trailer(&payload, pid, tid, when);
	test_record(file, 7, 0, &payload);
	free(payload.data);
}

static void put_map(struct test_file *file, uint32_t pid, uint64_t start, uint64_t length,
		    uint64_t pgoff, const char *path, uint64_t when)
{
	uint8_t identity[24] = { 20, 0, 0, 0, 0xab, (uint8_t)path[1] };
	struct test_bytes payload = { 0 };

	test_put_u32(&payload, pid);
	test_put_u32(&payload, pid);
	test_put_u64(&payload, start);
	test_put_u64(&payload, length);
	test_put_u64(&payload, pgoff);
	test_put(&payload, identity, sizeof(identity));
	test_put_u32(&payload, 5);
	test_put_u32(&payload, 2);
	test_put_name(&payload, path);
	put_trailer(&payload, pid, pid, when);
	test_record(file, 10, (uint16_t)(pid == UINT32_MAX ? KERNEL | EXACT : USER | EXACT),
		    &payload);
	free(payload.data);
}

/* A sample in the making: the fields that every event has. */
struct sample {
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu;
	uint16_t misc;
};

static void put_head(struct test_bytes *payload, const struct sample *sample, const uint64_t *addr)
{
	test_put_u64(payload, sample->id);
	test_put_u64(payload, sample->ip);
	test_put_u32(payload, sample->pid);
	test_put_u32(payload, sample->tid);
	test_put_u64(payload, sample->time);
	if (addr)
		test_put_u64(payload, *addr);
	test_put_u32(payload, sample->cpu);
	test_put_u32(payload, 0);
	test_put_u64(payload, 1000);
}

/* Cycles: counter values and a chain. */
static void put_cycles(struct test_file *file, struct sample sample, uint64_t cycles,
		       uint64_t instructions, const uint64_t *chain, size_t length)
{
	struct test_bytes payload = { 0 };

	put_head(&payload, &sample, NULL);
	test_put_u64(&payload, 2);
	test_put_u64(&payload, cycles);
	test_put_u64(&payload, 11);
	test_put_u64(&payload, instructions);
	test_put_u64(&payload, 12);
	test_put_u64(&payload, length);
	test_put(&payload, chain, 8 * length);
	test_record(file, 9, sample.misc, &payload);
	free(payload.data);
}

static void put_watch(struct test_file *file, struct sample sample, uint64_t addr)
{
	struct test_bytes payload = { 0 };

	put_head(&payload, &sample, &addr);
	test_record(file, 9, sample.misc, &payload);
	free(payload.data);
}

static void put_load(struct test_file *file, struct sample sample, uint64_t addr, uint64_t weight)
{
	struct test_bytes payload = { 0 };

	put_head(&payload, &sample, &addr);
	test_put_u64(&payload, weight);
	test_put_u64(&payload, 0x68100142); /* a load, L1 hit */
	test_put_u64(&payload, 0x1000 + (addr & 0xfff));
	test_put_u64(&payload, 1 << 21); /* data page */
	test_put_u64(&payload, 4096);	 /* code page */
	test_record(file, 9, sample.misc, &payload);
	free(payload.data);
}

/* ---- files ---- */

static void put_tasks(struct test_file *file)
{
	put_map(file, UINT32_MAX, KERNEL_TEXT, 0x1000000, KERNEL_TEXT, "[kernel.kallsyms]_text", 0);
	put_comm(file, APP, APP, "app", false, 0);
	put_map(file, APP, 0x400000, 0x1000, 0x2000, "/bin/app", 0);
	put_fork(file, APP, APP + 1, APP, 500);
	put_fork(file, OTHER, OTHER, APP, 1000);
	put_comm(file, OTHER, OTHER, "other", true, 2000);
	put_map(file, OTHER, 0x400000, 0x1000, 0, "/bin/other", 2001);
}

static void begin_case(struct test_file *file)
{
	test_file_begin(file, events, 4, 136);
	test_put_string(test_feature(file, 6), "x86_64");
	put_tasks(file);
}

static void make_case(struct test_file *file)
{
	static const uint64_t deep[] = { CONTEXT_KERNEL, KERNEL_TEXT + 0x10, CONTEXT_USER,
					 0x400010,	 0x400100,	     0x400200 };
	static const uint64_t other[] = { CONTEXT_USER, 0x400020, 0x400100, 0x400200 };
	struct sample sample = { .id = 11,
				 .ip = KERNEL_TEXT + 0x10,
				 .pid = APP,
				 .tid = APP,
				 .time = 600,
				 .misc = KERNEL };

	begin_case(file);
	put_cycles(file, sample, 1000, 400, deep, 6);
	sample = (struct sample){ .id = 11,
				  .ip = 0x400020,
				  .pid = APP,
				  .tid = APP + 1,
				  .time = 700,
				  .cpu = 1,
				  .misc = USER };
	put_cycles(file, sample, 2500, 700, other, 4);
	put_cycles(file, sample, 2600, 700, NULL, 0);
	for (uint32_t i = 0; i < 6; i++) {
		sample = (struct sample){ .id = 13,
					  .ip = 0x400030,
					  .pid = APP,
					  .tid = APP + i % 2,
					  .time = 800 + i,
					  .cpu = i % 2,
					  .misc = USER | EXACT };
		put_watch(file, sample, 0x700000 + 4 * (i % 2));
	}
	/* the same code address in the child: before exec its parent's program, then its own */
	sample = (struct sample){
		.id = 14, .ip = 0x400040, .pid = OTHER, .tid = OTHER, .time = 1500, .misc = USER
	};
	put_load(file, sample, 0x710000, 30);
	sample.time = 2500;
	sample.id = 15;
	put_load(file, sample, 0x710000, 40);
	put_load(file, sample, 0xffff888000001000, 0);
	test_file_end(file);
}

static sqlite3 *load_case(void)
{
	struct test_file file;
	sqlite3 *db = create_database();

	make_case(&file);
	load(db, &file, "case");
	test_file_free(&file);
	return db;
}

/* ---- what a trace becomes ---- */

START_TEST(everything_is_counted)
{
	sqlite3 *db = load_case();

	ck_assert_int_eq(ask(db, "SELECT complete FROM trace"), 1);
	ck_assert_int_eq(ask(db, "SELECT samples FROM trace"), 12);
	ck_assert_int_eq(ask(db, "SELECT sample_records FROM trace"), 12);
	ck_assert_int_eq(ask(db, "SELECT spe_records FROM trace"), 0);
	ck_assert_int_eq(ask(db, "SELECT memory_samples FROM trace"), 9);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM sample"), 12);
	ck_assert_int_eq(ask(db, "SELECT first_ns FROM trace"), 600);
	ck_assert_int_eq(ask(db, "SELECT last_ns FROM trace"), 2500);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM event"), 4);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM event_instance"), 5);
	/* as perf counts: the other events of a group where their readings grew */
	ck_assert_int_eq(ask(db, "SELECT samples FROM event WHERE idx = 0"), 3);
	ck_assert_int_eq(ask(db, "SELECT samples FROM event WHERE idx = 1"), 2);
	ck_assert_int_eq(ask(db, "SELECT samples FROM event WHERE idx = 2"), 6);
	ck_assert_int_eq(ask(db, "SELECT samples FROM event WHERE idx = 3"), 3);
	ck_assert_int_eq(ask(db, "SELECT sum(samples) FROM thread"), 12);
	ck_assert_int_eq(ask(db, "SELECT sum(samples) FROM line_total"), 9);
	ck_assert_int_eq(ask(db, "SELECT sum(samples) FROM code_total"), 9);
	ck_assert_int_eq(ask(db, "SELECT sum(samples) FROM code"), 12);
	ck_assert_int_eq(ask(db, "SELECT sum(samples) FROM dso"), 12);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM loss"), 0);
	sqlite3_close(db);
}
END_TEST

START_TEST(counter_values_become_growth)
{
	sqlite3 *db = load_case();

	check_text(db,
		   "SELECT group_concat(idx || ':' || value || '+' || delta, ' ') FROM "
		   "(SELECT * FROM sample_read JOIN event ON id = event_id "
		   "ORDER BY sample_id, idx)",
		   "0:1000+1000 1:400+400 0:2500+1500 1:700+300 0:2600+100 1:700+0");
	check_text(db,
		   "SELECT group_concat(idx || ':' || n || ':' || v, ' ') FROM (SELECT idx, "
		   "sum(profile.samples) AS n, sum(value) AS v FROM profile JOIN event ON "
		   "id = event_id WHERE method = 'group_read' GROUP BY idx ORDER BY idx)",
		   "0:3:2600 1:2:700");
	ck_assert_int_eq(ask(db, "SELECT period_sum FROM event WHERE idx = 0"), 3000);
	ck_assert_int_eq(ask(db, "SELECT period_sum FROM event WHERE idx = 1"), 700);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM sample_read WHERE sample_id NOT IN "
				 "(SELECT rowid FROM sample)"),
			 0);
	sqlite3_close(db);
}
END_TEST

/* Both chains end in 0x400100 called from 0x400200: a tree shares them. */
START_TEST(chains_are_a_tree)
{
	static const char walk[] =
		"WITH RECURSIVE up(depth, chain, ip) AS ("
		"  SELECT 0, c.id, k.ip FROM sample s JOIN chain c ON c.id = s.chain_id "
		"  JOIN code k ON k.id = c.code_id WHERE s.time_ns = %d "
		"  UNION ALL SELECT depth + 1, p.id, k.ip FROM up JOIN chain c ON c.id = up.chain "
		"  JOIN chain p ON p.id = c.parent_id JOIN code k ON k.id = p.code_id) "
		"SELECT group_concat(printf('%%x', ip), ' ') FROM (SELECT * FROM up ORDER BY "
		"depth)";
	sqlite3 *db = load_case();
	char sql[1024];

	ck_assert_int_eq(ask(db, "SELECT count(*) FROM chain"), 3);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM chain WHERE parent_id IS NULL"), 1);
	snprintf(sql, sizeof(sql), walk, 600);
	check_text(db, sql, "400010 400100 400200"); /* the sampled address itself is left out */
	snprintf(sql, sizeof(sql), walk, 700);
	check_text(db, sql, "400100 400200");
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM sample WHERE chain_id IS NOT NULL"), 2);
	sqlite3_close(db);
}
END_TEST

START_TEST(threads_spaces_and_code_go_by_time)
{
	sqlite3 *db = load_case();

	check_text(db,
		   "SELECT group_concat(pid || '/' || tid || ' ' || comm || ' ' || n, ', ') FROM "
		   "(SELECT pid, tid, comm, count(*) AS n FROM sample JOIN thread t ON "
		   "t.id = thread_id GROUP BY t.id ORDER BY tid)",
		   "100/100 app 4, 100/101 app 5, 200/200 other 3");
	/* one address in the child, before and after exec */
	check_text(db,
		   "SELECT group_concat(path || ' ' || printf('%x', offset), ', ') FROM "
		   "(SELECT path, offset FROM sample JOIN code ON code.id = code_id JOIN dso ON "
		   "dso.id = dso_id WHERE addr = 7405568 ORDER BY time_ns)",
		   "/bin/app 2040, /bin/other 40");
	check_text(db,
		   "SELECT group_concat(name || ' ' || coalesce(start_ns, 0), ', ') FROM "
		   "(SELECT s.name, s.start_ns FROM sample JOIN space s ON s.id = space_id "
		   "WHERE time_ns > 1000 ORDER BY sample.rowid)",
		   "app 1000, other 2000, kernel 0");
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM sample WHERE extra >> 32 & 255 = 21 AND "
				 "extra >> 40 & 255 = 12"),
			 3);
	/* kernel addresses are negative numbers */
	ck_assert_int_eq(ask(db, "SELECT addr FROM sample ORDER BY rowid DESC LIMIT 1"),
			 (int64_t)0xffff888000001000);
	check_text(db, "SELECT kind FROM dso WHERE path LIKE '%kallsyms%'", "kernel");
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM map WHERE pid IS NULL"), 1);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM dso WHERE build_id LIKE 'ab%'"), 3);
	sqlite3_close(db);
}
END_TEST

START_TEST(watchpoints_tell_width_and_operation)
{
	sqlite3 *db = load_case();

	check_text(db,
		   "SELECT width || ' ' || operand_method || ' ' || exact FROM code WHERE "
		   "ip = 4194352",
		   "4 watchpoint 1");
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM sample WHERE event_id = (SELECT id FROM "
				 "event WHERE role = 'watch_write') AND access & 15 = 2"),
			 6);
	/* two threads, one line, all writes: kept in detail */
	ck_assert_int_eq(ask(db, "SELECT sum(samples) FROM access"), 6);
	ck_assert_int_eq(ask(db, "SELECT sum(samples) FROM access_window"), 6);
	ck_assert_int_eq(ask(db, "SELECT threads FROM line_total WHERE line = 7340032"), 2);
	sqlite3_close(db);
}
END_TEST

/* Code that a watchpoint met once has its width; code that another event met too may do more. */
START_TEST(a_width_is_told_by_watchpoints_alone)
{
	struct sample sample = {
		.id = 13, .ip = 0x400050, .pid = APP, .tid = APP, .time = 600, .misc = USER | EXACT
	};
	struct test_file file;
	sqlite3 *db = create_database();

	begin_case(&file);
	put_watch(&file, sample, 0x700000);
	sample.ip = 0x400060;
	put_watch(&file, sample, 0x700000);
	sample.id = 14;
	put_load(&file, sample, 0x700000, 0);
	sample.ip = 0x400070;
	put_load(&file, sample, 0x700000, 0);
	sample.id = 13;
	put_watch(&file, sample, 0x700000);
	test_file_end(&file);
	load(db, &file, "width");
	check_text(db,
		   "SELECT group_concat(printf('%x ', ip) || coalesce(width, '-'), ', ') FROM "
		   "(SELECT * FROM code ORDER BY ip)",
		   "400050 4, 400060 -, 400070 -");
	sqlite3_close(db);
	test_file_free(&file);
}
END_TEST

/* One binary at two addresses is one code; each sample keeps the address it was taken at. */
START_TEST(code_that_moves_keeps_its_addresses)
{
	struct sample sample = {
		.id = 14, .ip = 0x400040, .pid = APP, .tid = APP, .time = 600, .misc = USER
	};
	struct test_file file;
	sqlite3 *db = create_database();

	begin_case(&file);
	put_map(&file, OTHER, 0x7f0000001000, 0x1000, 0x2000, "/bin/app", 2002);
	put_load(&file, sample, 0x700000, 0);
	sample = (struct sample){ .id = 14,
				  .ip = 0x7f0000001040,
				  .pid = OTHER,
				  .tid = OTHER,
				  .time = 2500,
				  .misc = USER };
	put_load(&file, sample, 0x700000, 0);
	put_load(&file, sample, 0x700000, 0);
	test_file_end(&file);
	load(db, &file, "moved");
	ck_assert_int_eq(ask(db, "SELECT count(DISTINCT code_id) FROM sample"), 1);
	check_text(db, "SELECT group_concat(ip, ' ') FROM (SELECT ip FROM samples ORDER BY id)",
		   "0x400040 0x7f0000001040 0x7f0000001040");
	ck_assert_int_eq(ask(db, "SELECT count(ip) FROM sample"), 2);
	sqlite3_close(db);
	test_file_free(&file);
}
END_TEST

/* What a guest runs is none of its host's binaries, and its memory is not the host process's. */
START_TEST(a_guest_has_its_own_memory)
{
	struct sample sample = {
		.id = 14, .ip = 0x400040, .pid = APP, .tid = APP, .time = 600, .misc = 5
	};
	struct test_file file;
	sqlite3 *db = create_database();

	begin_case(&file);
	put_load(&file, sample, 0x700000, 0);
	sample.misc = 4;
	sample.ip = KERNEL_TEXT + 0x10;
	put_load(&file, sample, 0xffff888000001000, 0);
	sample.misc = USER;
	sample.ip = 0x400040;
	put_load(&file, sample, 0x700000, 0);
	test_file_end(&file);
	load(db, &file, "guest");
	check_text(db,
		   "SELECT group_concat(guest || ' ' || tid || ' ' || coalesce(dso, '-') || ' ' || "
		   "space, ', ') FROM (SELECT * FROM samples ORDER BY id)",
		   "1 100 - unknown, 1 100 - unknown, 0 100 /bin/app app 100");
	sqlite3_close(db);
	test_file_free(&file);
}
END_TEST

/* ---- what a file may hold ---- */

START_TEST(odd_numbers_in_samples)
{
	struct test_bytes payload = { 0 };
	struct test_file file;
	sqlite3 *db = create_database();
	struct sample sample = { .id = 14,
				 .ip = 0x400040,
				 .pid = APP,
				 .tid = UINT32_MAX,
				 .time = 600,
				 .cpu = UINT32_MAX,
				 .misc = USER };

	begin_case(&file);
	put_load(&file, sample, 0x00ffffffffffff00, UINT64_MAX); /* 57 bits of address */
	sample.tid = sample.pid = 0;
	sample.time = 0;
	sample.cpu = 65535;
	put_load(&file, sample, UINT64_MAX, 0);
	sample.pid = UINT32_MAX;
	sample.tid = 7;
	sample.time = UINT64_MAX;
	put_load(&file, sample, 0, 0);
	sample.id = 99; /* of no event */
	put_load(&file, sample, 0x1000, 0);
	put_head(&payload, &(struct sample){ .id = 14 }, NULL); /* too short */
	test_record(&file, 9, USER, &payload);
	test_record(&file, 9, USER, &payload); /* nothing at all */
	test_file_end(&file);
	load(db, &file, "odd");
	ck_assert_int_eq(ask(db, "SELECT sample_records FROM trace"), 6);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM sample"), 3);
	ck_assert_int_eq(ask(db, "SELECT complete FROM trace"), 0);
	ck_assert_int_eq(ask(db, "SELECT count FROM loss WHERE kind = 'unknown_id'"), 1);
	ck_assert_int_eq(ask(db, "SELECT sum(count) FROM loss WHERE kind = 'bad_sample'"), 2);
	ck_assert_int_eq(ask(db, "SELECT count FROM loss WHERE kind = 'unattributed'"), 1);
	ck_assert_int_eq(ask(db, "SELECT addr FROM sample WHERE rowid = 1"), 0x00ffffffffffff00);
	ck_assert_int_eq(ask(db, "SELECT thread_id FROM sample WHERE rowid = 1"), INT64_MIN);
	ck_assert_int_eq(ask(db, "SELECT cpu FROM sample WHERE rowid = 1"), INT64_MIN);
	ck_assert_int_eq(ask(db, "SELECT cpu FROM sample WHERE rowid = 2"), 65535);
	ck_assert_int_eq(ask(db, "SELECT time_ns FROM sample WHERE rowid = 2"), INT64_MIN);
	ck_assert_int_eq(ask(db, "SELECT addr FROM sample WHERE rowid = 2"), -1);
	ck_assert_int_eq(ask(db, "SELECT tid FROM thread JOIN sample ON thread.id = thread_id "
				 "WHERE sample.rowid = 2"),
			 0);
	ck_assert_int_eq(ask(db, "SELECT addr FROM sample WHERE rowid = 3"), INT64_MIN);
	ck_assert_int_eq(ask(db, "SELECT pid FROM thread JOIN sample ON thread.id = thread_id "
				 "WHERE sample.rowid = 3"),
			 INT64_MIN);
	sqlite3_close(db);
	free(payload.data);
	test_file_free(&file);
}
END_TEST

/* Values of no known counter, and one that shrinks. */
START_TEST(counters_that_cannot_be_followed)
{
	static const uint64_t chain[] = { CONTEXT_USER, 0x400020 };
	struct sample sample = {
		.id = 11, .ip = 0x400020, .pid = APP, .tid = APP, .time = 600, .misc = USER
	};
	struct test_bytes payload = { 0 };
	struct test_file file;
	sqlite3 *db = create_database();

	begin_case(&file);
	put_cycles(&file, sample, 1000, 10, chain, 2);
	put_cycles(&file, sample, 400, 20, chain, 2);
	put_cycles(&file, sample, 500, 30, chain, 2);
	for (int i = 0; i < 2; i++) { /* ids 0 and 77 */
		put_head(&payload, &sample, NULL);
		test_put_u64(&payload, 1);
		test_put_u64(&payload, 1ull << 40);
		test_put_u64(&payload, i ? 77 : 0);
		test_put_u64(&payload, 0);
		test_record(&file, 9, USER, &payload);
	}
	test_file_end(&file);
	load(db, &file, "counters");
	check_text(db,
		   "SELECT group_concat(coalesce(delta, 'NULL'), ' ') FROM (SELECT delta FROM "
		   "sample_read JOIN event ON id = event_id WHERE idx = 0 ORDER BY sample_id)",
		   "1000 NULL 100");
	ck_assert_int_eq(ask(db, "SELECT sum(value) FROM profile JOIN event ON id = event_id "
				 "WHERE idx = 0 AND method = 'group_read'"),
			 1100);
	ck_assert_int_eq(ask(db, "SELECT count FROM loss WHERE kind = 'unknown_counter'"), 2);
	/* samples without a usable value still stand for their period */
	ck_assert_int_eq(ask(db, "SELECT sum(value) FROM profile WHERE method = 'period'"), 2000);
	ck_assert_int_eq(ask(db, "SELECT complete FROM trace"), 1);
	sqlite3_close(db);
	free(payload.data);
	test_file_free(&file);
}
END_TEST

/* The longest chain that a record can hold, kernel frames without a marker. */
START_TEST(the_longest_chain)
{
	enum { LONG = 8100 };
	uint64_t *chain = calloc(LONG, sizeof(*chain));
	struct test_file file;
	sqlite3 *db = create_database();
	struct sample sample = {
		.id = 11, .ip = KERNEL_TEXT, .pid = APP, .tid = APP, .time = 600, .misc = KERNEL
	};

	for (uint64_t i = 0; i < LONG; i++)
		chain[i] = KERNEL_TEXT + i;
	begin_case(&file);
	put_cycles(&file, sample, 1000, 10, chain, LONG);
	test_file_end(&file);
	load(db, &file, "chain");
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM chain"), LONG - 1);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM code WHERE dso_id IS NULL"), 0);
	sqlite3_close(db);
	free(chain);
	test_file_free(&file);
}
END_TEST

/* Numbers at the end of what 64 bits hold, twice, so that sums would overflow. */
START_TEST(sums_of_numbers_that_a_file_makes_up)
{
	struct sample sample = {
		.id = 14, .ip = 0x400040, .pid = APP, .tid = APP, .time = 600, .misc = USER
	};
	struct test_bytes payload = { 0 };
	struct test_file file;
	sqlite3 *db = create_database();
	struct fs_load_result result;

	begin_case(&file);
	for (int i = 0; i < 4; i++) {
		put_head(&payload, &sample, &(uint64_t){ 0 });
		memset(payload.data + 48, i & 1 ? 0x7f : 0xff, 8); /* period */
		for (int k = 0; k < 5; k++)			   /* weight to code page size */
			test_put_u64(&payload, 0);
		test_record(&file, 9, USER, &payload);
		test_put_u64(&payload, 0);
		test_put_u64(&payload, UINT64_MAX);
		put_trailer(&payload, 0, 0, 1);
		test_record(&file, 2, 0, &payload); /* LOST */
	}
	test_file_end(&file);
	ck_assert_int_eq(load_options(db, &file, (struct fs_load_options){ 0 }, &result), 0);
	ck_assert_int_ge(ask(db, "SELECT min(value) FROM profile"), 0);
	ck_assert_int_ge(ask(db, "SELECT min(period_sum) FROM event"), 0);
	ck_assert_int_ge(ask(db, "SELECT min(count) FROM loss"), 0);
	sqlite3_close(db);
	free(payload.data);
	test_file_free(&file);
}
END_TEST

/* ---- many samples ---- */

enum { MANY = 5 * FS_BATCH_ROWS + 77 };

static void make_many(struct test_file *file)
{
	struct sample sample = { .id = 14, .ip = 0x400040, .pid = APP, .misc = USER };

	begin_case(file);
	for (uint32_t i = 0; i < MANY; i++) {
		sample.tid = APP + i % 2;
		sample.time = 600 + i;
		sample.cpu = i % 8;
		put_load(file, sample, 0x700000 + i % 1024 * 8, 1 + i % 100);
	}
	/* so that ids of chains, counters and code do not begin at 1 in what is loaded next */
	sample.id = 11;
	sample.time++;
	put_cycles(file, sample, 5, 7, (uint64_t[]){ CONTEXT_USER, 0x400900, 0x400910 }, 3);
	test_file_end(file);
}

START_TEST(batches_stay_in_order)
{
	struct test_file file;
	sqlite3 *db = create_database();

	make_many(&file);
	load(db, &file, "many");
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM sample"), MANY + 1);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM sample WHERE time_ns <> 599 + rowid"), 0);
	ck_assert_int_eq(ask(db, "SELECT sum(samples) FROM line_total"), MANY);
	ck_assert_int_eq(ask(db, "SELECT sum(latency) - (SELECT sum(latency_sum) FROM line_total) "
				 "FROM sample"),
			 0);
	sqlite3_close(db);
	test_file_free(&file);
}
END_TEST

/* The writer cannot write: an error, and no thread that waits for ever. */
START_TEST(a_failing_writer_stops_the_decoder)
{
	struct fs_load_result result;
	struct test_file file;
	sqlite3 *db = create_database();

	make_many(&file);
	ck_assert_int_eq(sqlite3_exec(db, "PRAGMA query_only = 1", NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(load_options(db, &file, (struct fs_load_options){ 0 }, &result),
			 FS_OUTPUT);
	sqlite3_close(db);
	test_file_free(&file);
}
END_TEST

START_TEST(rollups_without_samples)
{
	struct fs_load_options options = { .no_samples = true };
	struct fs_load_result result;
	struct test_file file;
	sqlite3 *db = create_database();

	make_case(&file);
	ck_assert_int_eq(load_options(db, &file, options, &result), 0);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM sample"), 0);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM sample_read"), 0);
	ck_assert_int_eq(ask(db, "SELECT samples FROM trace"), 12);
	ck_assert_int_eq(ask(db, "SELECT sum(samples) FROM line_total"), 9);
	check_text(db, "SELECT options FROM trace", "{\"no_samples\":true}");
	sqlite3_close(db);
	test_file_free(&file);
}
END_TEST

/* ---- several traces, the same again, damage ---- */

/* What to take from a column so that ids start at 0 in each trace. */
static void append_column(sqlite3_str *sql, const char *table, const char *column, int64_t trace)
{
	static const struct {
		const char *column, *owner;
	} owners[] = {
		{ "event_id", "event" }, { "leader_id", "event" },	{ "thread_id", "thread" },
		{ "code_id", "code" },	 { "chain_id", "chain" },	{ "space_id", "space" },
		{ "dso_id", "dso" },	 { "function_id", "function" }, { "type_id", "type" },
		{ "member_id", "type" },
	};
	const char *owner = NULL;

	if (!strcmp(column, "trace_id") ||
	    (!strcmp(table, "trace") && (!strcmp(column, "id") || !strcmp(column, "name")))) {
		sqlite3_str_appendall(sql, "0");
		return;
	}
	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++)
		if (!strcmp(column, owners[i].column))
			owner = owners[i].owner;
	if (!strcmp(column, "id") || !strcmp(column, "parent_id"))
		owner = table;
	if (!strcmp(column, "sample_id"))
		sqlite3_str_appendf(sql,
				    "sample_id - (SELECT min(rowid) FROM sample WHERE event_id IN "
				    "(SELECT id FROM event WHERE trace_id = %lld))",
				    trace);
	else if (owner && strcmp(owner, "function") != 0)
		sqlite3_str_appendf(sql,
				    "quote(%s - (SELECT min(id) FROM %s WHERE trace_id = %lld))",
				    column, owner, trace);
	else
		sqlite3_str_appendf(sql, "quote(%s)", column);
}

/* All rows of a table that belong to a trace, as one text in a fixed order. */
static char *dump_table(sqlite3 *db, const struct fs_table_definition *table, int64_t trace)
{
	static const struct {
		const char *column, *owner;
	} owners[] = { { "event_id", "event" },
		       { "thread_id", "thread" },
		       { "code_id", "code" },
		       { "dso_id", "dso" },
		       { "type_id", "type" } };
	sqlite3_str *sql = sqlite3_str_new(db);
	const char *where = NULL;
	char *text;
	char *dump;

	sqlite3_str_appendall(sql, "SELECT group_concat(r, char(10)) FROM (SELECT ''");
	for (const struct fs_column *column = table->columns; column->name; column++) {
		sqlite3_str_appendall(sql, " || ' ' || ");
		append_column(sql, table->name, column->name, trace);
		if (!strcmp(column->name, "trace_id"))
			where = "trace_id";
	}
	sqlite3_str_appendf(sql, " AS r FROM %s WHERE ", table->name);
	if (where || !strcmp(table->name, "trace"))
		sqlite3_str_appendf(sql, "%s = %lld", where ? where : "id", trace);
	for (size_t i = 0; !where && i < sizeof(owners) / sizeof(owners[0]); i++)
		for (const struct fs_column *column = table->columns; column->name; column++)
			if (!where && !strcmp(column->name, owners[i].column)) {
				where = owners[i].column;
				sqlite3_str_appendf(
					sql, "%s IN (SELECT id FROM %s WHERE trace_id = %lld)",
					where, owners[i].owner, trace);
			}
	sqlite3_str_appendall(sql, " ORDER BY r)");
	text = sqlite3_str_finish(sql);
	dump = ask_text(db, text);
	sqlite3_free(text);
	return dump;
}

static void check_same(sqlite3 *first, int64_t first_trace, sqlite3 *second, int64_t second_trace)
{
	for (const struct fs_table_definition *table = fs_schema_tables; table->name; table++) {
		char *left;
		char *right;

		if (!fs_table_is_of_traces(table))
			continue;
		left = dump_table(first, table, first_trace);
		right = dump_table(second, table, second_trace);
		if (strcmp(left, right) != 0)
			ck_abort_msg("table %s:\n%.2000s\nis not\n%.2000s", table->name, left,
				     right);
		free(left);
		free(right);
	}
}

START_TEST(a_trace_is_the_same_beside_others)
{
	struct test_file file, many;
	sqlite3 *alone = create_database();
	sqlite3 *together = create_database();

	make_case(&file);
	make_many(&many);
	load(alone, &file, "case");
	load(together, &many, "many");
	load(together, &file, "case");
	ck_assert_int_eq(ask(together, "SELECT count(*) FROM trace"), 2);
	check_same(alone, 1, together, 2);
	sqlite3_close(alone);
	sqlite3_close(together);
	test_file_free(&file);
	test_file_free(&many);
}
END_TEST

START_TEST(the_same_file_again)
{
	struct fs_load_options options = { .name = "again" };
	struct fs_load_result result = { 0 };
	struct test_file file, many;
	sqlite3 *alone = create_database();
	sqlite3 *db = create_database();
	int64_t changes;

	make_case(&file);
	make_many(&many);
	load(alone, &file, "case");
	load(db, &file, "case");
	load(db, &many, "many");
	changes = sqlite3_total_changes(db);
	ck_assert_int_eq(load_options(db, &file, options, &result), 0);
	ck_assert(result.already_there);
	ck_assert_int_eq(result.trace_id, 1);
	ck_assert_int_eq(sqlite3_total_changes(db), changes);
	/* as symbols would have made */
	ck_assert_int_eq(sqlite3_exec(db,
				      "INSERT INTO function(id, dso_id, name) SELECT 1, min(id), "
				      "'f' FROM dso WHERE trace_id = 1",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	options.replace = true;
	ck_assert_int_eq(load_options(db, &file, options, &result), 0);
	ck_assert(!result.already_there);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM trace"), 2);
	check_same(alone, 1, db, result.trace_id);
	/* nothing of the old one is left: as many rows as both traces make */
	load(alone, &many, "many");
	for (const struct fs_table_definition *table = fs_schema_tables; table->name; table++) {
		char sql[128];

		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", table->name);
		ck_assert_int_eq(ask(db, sql), ask(alone, sql));
	}
	sqlite3_close(alone);
	sqlite3_close(db);
	test_file_free(&file);
	test_file_free(&many);
}
END_TEST

START_TEST(names_are_unique)
{
	struct fs_load_result result;
	struct test_file file, many;
	sqlite3 *db = create_database();

	make_case(&file);
	make_many(&many);
	load(db, &file, "case");
	ck_assert_int_eq(
		load_options(db, &many, (struct fs_load_options){ .name = "case" }, &result),
		FS_USAGE);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM trace"), 1);
	sqlite3_close(db);
	test_file_free(&file);
	test_file_free(&many);
}
END_TEST

/* Cut off in the middle: what is there is loaded and called damaged; --strict refuses. */
START_TEST(a_damaged_file)
{
	struct fs_load_options options = { .name = "cut" };
	struct fs_load_result result = { 0 };
	struct test_file file;
	sqlite3 *db = create_database();

	make_many(&file);
	file.bytes.size /= 2;
	ck_assert_int_eq(load_options(db, &file, options, &result), 0);
	ck_assert(result.damaged);
	ck_assert_int_eq(ask(db, "SELECT complete FROM trace"), 0);
	ck_assert_int_gt(ask(db, "SELECT count(*) FROM sample"), MANY / 3);
	ck_assert_int_eq(ask(db, "SELECT count(*) > 0 FROM loss WHERE severity = 'error'"), 1);
	sqlite3_close(db);
	db = create_database();
	options.strict = true;
	ck_assert_int_eq(load_options(db, &file, options, &result), FS_REFUSED);
	for (const struct fs_table_definition *table = fs_schema_tables; table->name; table++) {
		char sql[128];

		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", table->name);
		if (table->kind != FS_TABLE_NAMES)
			ck_assert_int_eq(ask(db, sql), 0);
	}
	sqlite3_close(db);
	test_file_free(&file);
}
END_TEST

START_TEST(a_database_without_room_for_ids_is_refused)
{
	struct fs_load_result result;
	struct test_file file;
	sqlite3 *db = create_database();

	make_case(&file);
	ck_assert_int_eq(sqlite3_exec(db, "INSERT INTO sample(rowid) VALUES (9223372036854775806)",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	ck_assert_int_eq(load_options(db, &file, (struct fs_load_options){ 0 }, &result),
			 FS_REFUSED);
	sqlite3_close(db);
	test_file_free(&file);
}
END_TEST

/* Refused before anything was begun: closes no file that is not its own, needs no error. */
START_TEST(what_is_refused_leaves_no_trace)
{
	struct fs_load_options options = { .path = "/dev/null" };
	struct fs_load_result result;
	sqlite3 *db = create_database();

	ck_assert_int_eq(fs_load(db, &options, &result, NULL), FS_REFUSED);
	ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0);
	options.path = "/nonexistent";
	ck_assert_int_eq(fs_load(db, &options, &result, NULL), FS_REFUSED);
	ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0);
	sqlite3_close(db);
}
END_TEST

/* ---- SPE ---- */

enum { SPE_RECORDS = 60000, SPE_SIZE = 64 };

/* 64 bytes: PC, load, latency, address, time; padding between. */
static void put_spe_record(struct test_bytes *out, uint64_t number)
{
	static const uint8_t zeros[64];
	size_t start = out->size;
	uint64_t pc = 0x400000 + number % 100 * 4;
	uint64_t address = 0x700000 + number % 512 * 8;
	uint64_t stamp = number + 1;

	test_put(out, "\xb0", 1);
	test_put_u64(out, pc);
	test_put(out, "\x49\x00", 2);	  /* load */
	test_put(out, "\x52\x06\x00", 3); /* events: retired, L1 access */
	test_put(out, "\x98\x20\x00", 3); /* total latency 32 */
	test_put(out, "\xb2", 1);
	test_put_u64(out, address);
	test_put(out, zeros, SPE_SIZE - 9 - (out->size - start));
	test_put(out, "\x71", 1);
	test_put_u64(out, stamp);
}

/* All records in AUXTRACE records of so many each. */
static void make_spe(struct test_file *file, size_t piece)
{
	static const struct test_event spe[] = {
		{ .type = 8,
		  .sample_type = IDENTIFIER | IP | TID | TIME | CPU,
		  .flags = SAMPLE_ID_ALL,
		  .ids = { 1 },
		  .id_count = 1,
		  .sample_period = 1000 },
	};
	struct test_bytes payload = { 0 };

	test_file_begin(file, spe, 1, 136);
	test_put_string(test_feature(file, 6), "aarch64");
	test_put_u64(&payload, 0); /* TIME_CONV: ns = cycles */
	test_put_u64(&payload, 1);
	test_put_u64(&payload, 0);
	test_record(file, 79, 0, &payload);
	test_put_u64(&payload, 4); /* AUXTRACE_INFO: SPE, PMU type 8 */
	test_put_u64(&payload, 8);
	test_put_u64(&payload, 1);
	test_record(file, 70, 0, &payload);
	put_comm(file, APP, APP, "app", false, 0);
	for (uint64_t done = 0; done < SPE_RECORDS; done += piece) {
		size_t count = piece < SPE_RECORDS - done ? piece : SPE_RECORDS - done;

		test_put_u64(&payload, count * SPE_SIZE);
		test_put_u64(&payload, done * SPE_SIZE);
		test_put_u64(&payload, 0);
		test_put_u32(&payload, 0);
		test_put_u32(&payload, APP);
		test_put_u32(&payload, UINT32_MAX);
		test_put_u32(&payload, 0);
		test_record(file, 71, 0, &payload);
		for (size_t i = 0; i < count; i++)
			put_spe_record(&file->bytes, done + i);
	}
	test_file_end(file);
	free(payload.data);
}

/* 3.8 MB of SPE data in one piece, longer than the buffer, or in many: the same rows. */
START_TEST(spe_data_in_pieces_of_any_size)
{
	static const size_t pieces[] = { SPE_RECORDS, 1, 1000, 16384, 16385 };
	struct test_file file;
	sqlite3 *db = create_database();

	make_spe(&file, pieces[_i]);
	load(db, &file, "spe");
	ck_assert_int_eq(ask(db, "SELECT complete FROM trace"), 1);
	ck_assert_int_eq(ask(db, "SELECT spe_records FROM trace"), SPE_RECORDS);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM sample"), SPE_RECORDS);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM sample WHERE time_ns <> rowid OR "
				 "addr <> 7340032 + (rowid - 1) % 512 * 8 OR latency <> 32 OR "
				 "access & 15 <> 1 OR thread_id IS NULL"),
			 0);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM code"), 100);
	ck_assert_int_eq(ask(db, "SELECT count(*) FROM loss WHERE kind LIKE 'spe_%'"), 0);
	sqlite3_close(db);
	test_file_free(&file);
}
END_TEST

static void add_content_tests(TCase *tests)
{
	tcase_add_test(tests, everything_is_counted);
	tcase_add_test(tests, counter_values_become_growth);
	tcase_add_test(tests, chains_are_a_tree);
	tcase_add_test(tests, threads_spaces_and_code_go_by_time);
	tcase_add_test(tests, watchpoints_tell_width_and_operation);
	tcase_add_test(tests, a_width_is_told_by_watchpoints_alone);
	tcase_add_test(tests, code_that_moves_keeps_its_addresses);
	tcase_add_test(tests, a_guest_has_its_own_memory);
	tcase_add_test(tests, odd_numbers_in_samples);
	tcase_add_test(tests, counters_that_cannot_be_followed);
	tcase_add_test(tests, the_longest_chain);
	tcase_add_test(tests, sums_of_numbers_that_a_file_makes_up);
	tcase_add_loop_test(tests, spe_data_in_pieces_of_any_size, 0, 5);
}

int main(void)
{
	Suite *suite = suite_create("load");
	TCase *tests = tcase_create("load");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 120);
	add_content_tests(tests);
	tcase_add_test(tests, batches_stay_in_order);
	tcase_add_test(tests, a_failing_writer_stops_the_decoder);
	tcase_add_test(tests, rollups_without_samples);
	tcase_add_test(tests, a_trace_is_the_same_beside_others);
	tcase_add_test(tests, the_same_file_again);
	tcase_add_test(tests, names_are_unique);
	tcase_add_test(tests, a_damaged_file);
	tcase_add_test(tests, a_database_without_room_for_ids_is_refused);
	tcase_add_test(tests, what_is_refused_leaves_no_trace);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
