/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests of operation payloads and event bits. */
#include <check.h>
#include <stdlib.h>

#include "ingest/spe/operation.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
	LOAD_STORE = FS_SPE_CLASS_LOAD_STORE,
	OTHER = FS_SPE_CLASS_OTHER,
	BRANCH = FS_SPE_CLASS_BRANCH,
};

static const struct {
	uint8_t class;
	uint8_t payload;
	enum fs_op op;
	uint32_t flags;
} operations[] = {
	{ LOAD_STORE, 0x00, FS_OP_LOAD, 0 },
	{ LOAD_STORE, 0x01, FS_OP_STORE, 0 },
	{ LOAD_STORE, 0x04, FS_OP_LOAD, FS_ACCESS_SIMD },
	{ LOAD_STORE, 0x05, FS_OP_STORE, FS_ACCESS_SIMD },
	{ LOAD_STORE, 0x10, FS_OP_LOAD, 0 }, /* unspecified register */
	{ LOAD_STORE, 0x11, FS_OP_STORE, 0 },
	{ LOAD_STORE, 0x14, FS_OP_LOAD, 0 }, /* MTE tag */
	{ LOAD_STORE, 0x15, FS_OP_STORE, 0 },
	{ LOAD_STORE, 0x30, FS_OP_LOAD, 0 }, /* system register in memory */
	{ LOAD_STORE, 0x31, FS_OP_STORE, 0 },
	{ LOAD_STORE, 0x02, FS_OP_LOAD, 0 }, /* extended, nothing set */
	{ LOAD_STORE, 0x06, FS_OP_ATOMIC, FS_ACCESS_LOCKED },
	{ LOAD_STORE, 0x07, FS_OP_ATOMIC, FS_ACCESS_LOCKED | FS_ACCESS_STORE_SIDE },
	{ LOAD_STORE, 0x0a, FS_OP_LOAD, FS_ACCESS_EXCLUSIVE },
	{ LOAD_STORE, 0x0b, FS_OP_STORE, FS_ACCESS_EXCLUSIVE },
	{ LOAD_STORE, 0x12, FS_OP_LOAD, FS_ACCESS_ACQUIRE },
	{ LOAD_STORE, 0x13, FS_OP_STORE, FS_ACCESS_ACQUIRE },
	{ LOAD_STORE, 0x16, FS_OP_ATOMIC, FS_ACCESS_LOCKED | FS_ACCESS_ACQUIRE },
	{ LOAD_STORE, 0x1b, FS_OP_STORE, FS_ACCESS_EXCLUSIVE | FS_ACCESS_ACQUIRE },
	{ LOAD_STORE, 0x08, FS_OP_LOAD, FS_ACCESS_SIMD }, /* SVE */
	{ LOAD_STORE, 0x09, FS_OP_STORE, FS_ACCESS_SIMD },
	{ LOAD_STORE, 0xbc, FS_OP_LOAD, FS_ACCESS_SIMD }, /* SVE gather, predicated */
	{ LOAD_STORE, 0x20, FS_OP_LOAD, 0 },		  /* memcpy */
	{ LOAD_STORE, 0x21, FS_OP_STORE, 0 },
	{ LOAD_STORE, 0x25, FS_OP_STORE, 0 }, /* memset */
	{ LOAD_STORE, 0x40, FS_OP_LOAD, 0 },  /* guarded control stack */
	{ LOAD_STORE, 0x45, FS_OP_STORE, 0 },
	{ OTHER, 0x00, FS_OP_OTHER, 0 },
	{ OTHER, 0x01, FS_OP_OTHER, 0 }, /* conditional select */
	{ OTHER, 0x02, FS_OP_OTHER, 0 }, /* floating point */
	{ OTHER, 0x04, FS_OP_OTHER, FS_ACCESS_SIMD },
	{ OTHER, 0x1a, FS_OP_OTHER, FS_ACCESS_SIMD }, /* SVE */
	{ OTHER, 0x9c, FS_OP_OTHER, FS_ACCESS_SIMD }, /* SME */
	{ BRANCH, 0x01, FS_OP_BRANCH, 0 },
	{ BRANCH, 0x0e, FS_OP_BRANCH, 0 },
	{ 3, 0x01, FS_OP_UNKNOWN, 0 },
};

START_TEST(test_operation)
{
	struct fs_spe_record record = {
		.present = FS_SPE_HAS_OPERATION,
		.operation_class = operations[_i].class,
		.operation_payload = operations[_i].payload,
	};
	uint32_t flags = ~0u;

	ck_assert_int_eq(fs_spe_operation(&record, &flags), operations[_i].op);
	ck_assert_uint_eq(flags, operations[_i].flags);
}
END_TEST

/* Every load/store payload, by the tests of ../reference/arm-spe.md 3.4 in their order. */
START_TEST(test_every_load_store)
{
	for (unsigned int v = 0; v < 256; v++) {
		struct fs_spe_record record = { .present = FS_SPE_HAS_OPERATION,
						.operation_class = LOAD_STORE,
						.operation_payload = (uint8_t)v };
		enum fs_op op = v % 2 ? FS_OP_STORE : FS_OP_LOAD;
		uint32_t expected = 0;
		uint32_t flags;

		if (v == 4 || v == 5) {
			expected = FS_ACCESS_SIMD;
		} else if (v < 32 && v & 2) {
			op = v & 4 ? FS_OP_ATOMIC : op;
			expected = (v & 4 ? FS_ACCESS_LOCKED : 0) |
				   (v & 4 && v & 1 ? FS_ACCESS_STORE_SIDE : 0) |
				   (v & 8 ? FS_ACCESS_EXCLUSIVE : 0) |
				   (v & 16 ? FS_ACCESS_ACQUIRE : 0);
		} else if (v & 8 && !(v & 2)) {
			expected = FS_ACCESS_SIMD;
		}
		ck_assert_int_eq(fs_spe_operation(&record, &flags), op);
		ck_assert_uint_eq(flags, expected);
	}
}
END_TEST

static const struct {
	uint64_t events;
	uint32_t flags;
} events[] = {
	{ FS_SPE_EVENT_RETIRED, 0 },
	{ 0, FS_ACCESS_NOT_RETIRED },
	{ FS_SPE_EVENT_RETIRED | FS_SPE_EVENT_MISALIGNED, FS_ACCESS_MISALIGNED },
	{ FS_SPE_EVENT_RETIRED | FS_SPE_EVENT_L1D_ACCESS, FS_ACCESS_L1_KNOWN },
	{ FS_SPE_EVENT_RETIRED | FS_SPE_EVENT_L1D_REFILL, FS_ACCESS_L1_KNOWN | FS_ACCESS_L1_MISS },
	{ FS_SPE_EVENT_RETIRED | FS_SPE_EVENT_TLB_ACCESS, FS_ACCESS_TLB_KNOWN },
	{ FS_SPE_EVENT_RETIRED | FS_SPE_EVENT_TLB_WALK, FS_ACCESS_TLB_KNOWN | FS_ACCESS_TLB_MISS },
	{ FS_SPE_EVENT_RETIRED | FS_SPE_EVENT_MODIFIED, FS_ACCESS_DIRTY_SNOOP },
	{ 0x31e, FS_ACCESS_L1_KNOWN | FS_ACCESS_L1_MISS | FS_ACCESS_TLB_KNOWN },
};

START_TEST(test_events)
{
	struct fs_spe_record record = { .present = FS_SPE_HAS_EVENTS, .events = events[_i].events };
	uint32_t flags = ~0u;

	ck_assert_int_eq(fs_spe_operation(&record, &flags), FS_OP_UNKNOWN);
	ck_assert_uint_eq(flags, events[_i].flags);
}
END_TEST

START_TEST(test_latency_and_level)
{
	static const uint16_t latencies[] = { 0, 0xffe, 0xfff, 0x1000, 0xffff };
	struct fs_spe_record record = { .present = FS_SPE_HAS_TOTAL_LATENCY };
	uint32_t flags;
	size_t i;

	for (i = 0; i < COUNT(latencies); i++) {
		record.total_latency = latencies[i];
		fs_spe_operation(&record, &flags);
		ck_assert_uint_eq(flags, i == 2 || i == 4 ? FS_ACCESS_SATURATED : 0);
	}
	for (i = 0; i < 4; i++) {
		record = (struct fs_spe_record){ .present = FS_SPE_HAS_PC,
						 .pc_attributes = (uint8_t)(0x90 | i << 5) };
		fs_spe_operation(&record, &flags);
		ck_assert_uint_eq(flags,
				  FS_ACCESS_EXACT_IP | (i == 1 || i == 2 ? FS_ACCESS_KERNEL : 0));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("operation");
	TCase *cases = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(cases, test_operation, 0, COUNT(operations));
	tcase_add_test(cases, test_every_load_store);
	tcase_add_loop_test(cases, test_events, 0, COUNT(events));
	tcase_add_test(cases, test_latency_and_level);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
