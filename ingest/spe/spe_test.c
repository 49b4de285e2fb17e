/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of the SPE packet walk: each packet, each way a range can be damaged, and that no byte is
 * read twice, outside the range or without being counted.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ingest/spe/spe.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { MAX_RECORDS = 64 };

/* Bytes being put together. */
struct stream {
	uint8_t bytes[8192];
	size_t size;
};

static void put(struct stream *stream, const void *bytes, size_t size)
{
	ck_assert_uint_le(stream->size + size, sizeof(stream->bytes));
	memcpy(stream->bytes + stream->size, bytes, size);
	stream->size += size;
}

static void put_packet(struct stream *stream, uint8_t header, uint64_t payload)
{
	put(stream, &header, 1);
	if (header > 0x01)
		put(stream, &payload, (size_t)1 << (header >> 4 & 3));
}

static void put_zeros(struct stream *stream, size_t count)
{
	while (count--)
		put_packet(stream, 0x00, 0);
}

/*
 * A record of 64 bytes as Neoverse cores write it. The payloads are full of bytes that could be
 * taken for terminators (01, 71) and PC packets (b0).
 */
static void put_record(struct stream *stream, unsigned int number, bool timestamp)
{
	size_t start = stream->size;

	put_packet(stream, 0xb0, 0xc0ffbaf0b0610000 + number);
	put_packet(stream, 0x65, 0x71b00100 + number);
	put_packet(stream, 0x49, 0x01);
	put_packet(stream, 0x52, 0x0116);
	put_packet(stream, 0x99, 0x0101);
	put_packet(stream, 0x98, 0x0171);
	put_packet(stream, 0xb2, 0x00ff71b0000171b0);
	put_packet(stream, 0x9a, 1);
	put_packet(stream, 0xb3, 0x8000000171003f40);
	put_packet(stream, 0x43, 0x0c);
	if (timestamp) {
		put_zeros(stream, start + 55 - stream->size);
		put_packet(stream, 0x71, 0x0000017100b07100 + number);
	} else {
		put_packet(stream, 0x01, 0);
		put_zeros(stream, start + 64 - stream->size);
	}
}

static void assert_accounted(const struct fs_spe_decoder *decoder)
{
	ck_assert_uint_eq(decoder->reader.size, decoder->record_bytes + decoder->padding_bytes +
							decoder->resync.bytes +
							decoder->empty.bytes + decoder->tail.bytes);
}

/* Decode a copy that ends where its memory ends, so that sanitizers see a read beyond it. */
static size_t decode_at(const uint8_t *bytes, size_t size, uint64_t aux_offset,
			struct fs_spe_record *records, struct fs_spe_decoder *decoder)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct fs_spe_record record;
	size_t count = 0;

	memcpy(copy, bytes, size);
	fs_spe_begin(decoder, copy, size, aux_offset);
	while (fs_spe_next(decoder, &record)) {
		ck_assert_uint_lt(count, MAX_RECORDS);
		records[count++] = record;
	}
	ck_assert(!fs_spe_next(decoder, &record));
	ck_assert_uint_eq(decoder->records, count);
	assert_accounted(decoder);
	free(copy);
	return count;
}

static size_t decode(const struct stream *stream, struct fs_spe_record *records,
		     struct fs_spe_decoder *decoder)
{
	return decode_at(stream->bytes, stream->size, 0, records, decoder);
}

/* The one record that these packets and an END make. */
static struct fs_spe_record record_of(const uint8_t *bytes, size_t size)
{
	struct stream stream = { .size = 0 };
	struct fs_spe_record records[MAX_RECORDS];
	struct fs_spe_decoder decoder;

	put(&stream, bytes, size);
	put_packet(&stream, 0x01, 0);
	ck_assert_uint_eq(decode(&stream, records, &decoder), 1);
	ck_assert_uint_eq(records[0].offset, 0);
	ck_assert_uint_eq(records[0].size, size + 1);
	return records[0];
}

#define RECORD(...) record_of((const uint8_t[]){ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }))

START_TEST(test_code_addresses)
{
	struct fs_spe_record record = RECORD(0xb0, 0x88, 0xb6, 0xcb, 0x8f, 0x22, 0xd4, 0xff, 0xc0);

	ck_assert_uint_eq(record.present, FS_SPE_HAS_PC);
	ck_assert_uint_eq(record.pc, 0xffffd4228fcbb688);
	ck_assert_uint_eq(fs_spe_exception_level(record.pc_attributes), 2);
	ck_assert_uint_ne(record.pc_attributes & FS_SPE_CODE_NS, 0);

	record = RECORD(0xb0, 0xf4, 0xd3, 0x29, 0x10, 0x00, 0x80, 0xff, 0xa0);
	ck_assert_uint_eq(record.pc, 0xffff80001029d3f4);
	ck_assert_uint_eq(fs_spe_exception_level(record.pc_attributes), 1);

	record = RECORD(0xb0, 1, 2, 3, 4, 5, 6, 7, 0x80); /* EL0 */
	ck_assert_uint_eq(record.pc, 0x07060504030201);
	ck_assert_uint_eq(fs_spe_exception_level(record.pc_attributes), 0);
	ck_assert_uint_ne(record.pc_attributes & FS_SPE_CODE_NS, 0);

	record = RECORD(0xb0, 1, 2, 3, 4, 5, 6, 7, 0x20); /* secure EL1 */
	ck_assert_uint_eq(record.pc, 0x07060504030201);
	ck_assert_uint_eq(fs_spe_exception_level(record.pc_attributes), 1);
	ck_assert_uint_eq(record.pc_attributes & FS_SPE_CODE_NS, 0);

	record = RECORD(0xb0, 1, 2, 3, 4, 5, 6, 7, 0xe0); /* EL3 */
	ck_assert_uint_eq(record.pc, 0x07060504030201);
	ck_assert_uint_eq(fs_spe_exception_level(record.pc_attributes), 3);

	record = RECORD(0xb0, 1, 2, 3, 4, 5, 6, 7, 0x90); /* realm EL0 */
	ck_assert_uint_eq(record.pc, 0x07060504030201);
	ck_assert_uint_eq(record.pc_attributes, FS_SPE_CODE_NS | FS_SPE_CODE_NSE);

	record = RECORD(0xb1, 1, 2, 3, 4, 5, 6, 7, 0xc0);
	ck_assert_uint_eq(record.present, FS_SPE_HAS_BRANCH_TARGET);
	ck_assert_uint_eq(record.branch_target, 0xff07060504030201);
	ck_assert_uint_eq(record.branch_attributes, 0xc0);
	ck_assert_uint_eq(fs_spe_exception_level(record.pc_attributes), 0);

	record = RECORD(0xb4, 1, 2, 3, 4, 5, 6, 7, 0x80);
	ck_assert_uint_eq(record.present, FS_SPE_HAS_PREVIOUS_BRANCH_TARGET);
	ck_assert_uint_eq(record.previous_branch_target, 0x07060504030201);
	ck_assert_uint_eq(record.previous_branch_attributes, 0x80);
}
END_TEST

START_TEST(test_data_addresses)
{
	struct fs_spe_record record = RECORD(0xb2, 0x50, 0x9e, 0xd7, 0xf1, 0x3e, 0x40, 0xff, 0x00);

	ck_assert_uint_eq(record.present, FS_SPE_HAS_VA);
	ck_assert_uint_eq(record.virtual_address, 0xffff403ef1d79e50);
	ck_assert_uint_eq(record.va_tag, 0);

	record = RECORD(0xb2, 0xd0, 0x40, 0xd8, 0x70, 0x00, 0x00, 0xff, 0xff);
	ck_assert_uint_eq(record.virtual_address, 0xffff000070d840d0);
	ck_assert_uint_eq(record.va_tag, 0xff);

	record = RECORD(0xb2, 0x10, 0x32, 0x54, 0x76, 0xff, 0xff, 0x00, 0xb4); /* MTE tag */
	ck_assert_uint_eq(record.virtual_address, 0x0000ffff76543210);
	ck_assert_uint_eq(record.va_tag, 0xb4);

	record = RECORD(0xb3, 0x50, 0x9e, 0xd7, 0x71, 0x3f, 0x40, 0x00, 0x80);
	ck_assert_uint_eq(record.present, FS_SPE_HAS_PA);
	ck_assert_uint_eq(record.physical_address, 0x0000403f71d79e50);
	ck_assert_uint_eq(record.pa_attributes, 0x80);
}
END_TEST

START_TEST(test_counters)
{
	struct fs_spe_record record = RECORD(0x98, 0xf5, 0x01);

	ck_assert_uint_eq(record.present, FS_SPE_HAS_TOTAL_LATENCY);
	ck_assert_uint_eq(record.total_latency, 0x1f5);
	record = RECORD(0x99, 0x51, 0x01);
	ck_assert_uint_eq(record.present, FS_SPE_HAS_ISSUE_LATENCY);
	ck_assert_uint_eq(record.issue_latency, 0x151);
	record = RECORD(0x9a, 0xff, 0x0f);
	ck_assert_uint_eq(record.present, FS_SPE_HAS_TRANSLATION_LATENCY);
	ck_assert_uint_eq(record.translation_latency, 0xfff);
	record = RECORD(0x9b, 0xff, 0xff);
	ck_assert_uint_eq(record.present, FS_SPE_HAS_ALTERNATE_LATENCY);
	ck_assert_uint_eq(record.alternate_latency, 0xffff);
}
END_TEST

START_TEST(test_events)
{
	struct fs_spe_record record = RECORD(0x42, 0x16);

	ck_assert_uint_eq(record.present, FS_SPE_HAS_EVENTS);
	ck_assert_uint_eq(record.events,
			  FS_SPE_EVENT_RETIRED | FS_SPE_EVENT_L1D_ACCESS | FS_SPE_EVENT_TLB_ACCESS);
	record = RECORD(0x52, 0x1e, 0x03);
	ck_assert_uint_eq(record.events, FS_SPE_EVENT_RETIRED | FS_SPE_EVENT_L1D_ACCESS |
						 FS_SPE_EVENT_L1D_REFILL | FS_SPE_EVENT_TLB_ACCESS |
						 FS_SPE_EVENT_LLC_ACCESS | FS_SPE_EVENT_LLC_MISS);
	record = RECORD(0x62, 0x02, 0x0c, 0xf9, 0x03);
	ck_assert_uint_eq(record.events, 0x03f90c02);
	record = RECORD(0x72, 1, 2, 3, 4, 5, 6, 7, 8);
	ck_assert_uint_eq(record.events, 0x0807060504030201);
}
END_TEST

START_TEST(test_data_source)
{
	struct fs_spe_record record = RECORD(0x43, 0x0c);

	ck_assert_uint_eq(record.present, FS_SPE_HAS_DATA_SOURCE);
	ck_assert_uint_eq(record.data_source, 0x0c);
	record = RECORD(0x53, 0x34, 0x12);
	ck_assert_uint_eq(record.data_source, 0x1234);
	record = RECORD(0x63, 0x07, 0x00, 0x00, 0x00);
	ck_assert_uint_eq(record.data_source, 7);
	record = RECORD(0x63, 0x07, 0x00, 0x01, 0x00); /* must not look like 7 */
	ck_assert_uint_eq(record.data_source, UINT16_MAX);
	record = RECORD(0x73, 0, 0, 0, 0, 0, 0, 0, 1);
	ck_assert_uint_eq(record.data_source, UINT16_MAX);
}
END_TEST

START_TEST(test_context)
{
	struct fs_spe_record record = RECORD(0x64, 0x80, 0x5f, 0x00, 0x00);

	ck_assert_uint_eq(record.present, FS_SPE_HAS_CONTEXT);
	ck_assert_uint_eq(record.context, 0x5f80);
	ck_assert_uint_eq(record.context_el, 1);
	record = RECORD(0x65, 0x80, 0x5f, 0x00, 0x00);
	ck_assert_uint_eq(record.context_el, 2);
	record = RECORD(0x65, 1, 0, 0, 0, 0x64, 2, 0, 0, 0);
	ck_assert_uint_eq(record.present, FS_SPE_HAS_CONTEXT | FS_SPE_HAS_BOTH_CONTEXTS);
	ck_assert_uint_eq(record.context, 1);
	ck_assert_uint_eq(record.context_el, 2);
	ck_assert_uint_eq(record.context_el1, 2);
	record = RECORD(0x64, 2, 0, 0, 0, 0x65, 1, 0, 0, 0);
	ck_assert_uint_eq(record.present, FS_SPE_HAS_CONTEXT | FS_SPE_HAS_BOTH_CONTEXTS);
	ck_assert_uint_eq(record.context, 1);
	ck_assert_uint_eq(record.context_el, 2);
	ck_assert_uint_eq(record.context_el1, 2);
}
END_TEST

START_TEST(test_operation)
{
	struct fs_spe_record record = RECORD(0x48, 0x08);

	ck_assert_uint_eq(record.present, FS_SPE_HAS_OPERATION);
	ck_assert_uint_eq(record.operation_class, FS_SPE_CLASS_OTHER);
	ck_assert_uint_eq(record.operation_payload, 0x08);
	record = RECORD(0x49, 0x16);
	ck_assert_uint_eq(record.operation_class, FS_SPE_CLASS_LOAD_STORE);
	ck_assert_uint_eq(record.operation_payload, 0x16);
	record = RECORD(0x4a, 0x01);
	ck_assert_uint_eq(record.operation_class, FS_SPE_CLASS_BRANCH);
}
END_TEST

START_TEST(test_terminators)
{
	static const uint8_t bytes[] = { 0x49, 0x00, 0x71, 1, 2, 3, 4, 5, 6, 7, 8, 0x49, 1, 0x01 };
	struct fs_spe_record records[MAX_RECORDS];
	struct fs_spe_decoder decoder;

	ck_assert_uint_eq(decode_at(bytes, sizeof(bytes), 0, records, &decoder), 2);
	ck_assert_uint_eq(records[0].present, FS_SPE_HAS_OPERATION | FS_SPE_HAS_TIMESTAMP);
	ck_assert_uint_eq(records[0].timestamp, 0x0807060504030201);
	ck_assert_uint_eq(records[0].size, 11);
	ck_assert_uint_eq(records[1].present, FS_SPE_HAS_OPERATION);
	ck_assert_uint_eq(records[1].offset, 11);
	ck_assert_uint_eq(records[1].size, 3);
	ck_assert_uint_eq(decoder.record_bytes, sizeof(bytes));
}
END_TEST

/* Indexes that nothing defines yet keep their length and are counted, and the record goes on. */
START_TEST(test_reserved)
{
	static const uint8_t bytes[] = {
		0xb5, 1,    2,	  3, 4, 5, 6, 7, 8,    /* address 5 */
		0x9c, 1,    2,			       /* counter 4 */
		0x66, 1,    2,	  3, 4,		       /* context 2 */
		0x4b, 1,			       /* operation class 3 */
		0x21, 0xb0, 1,	  2, 3, 4, 5, 6, 7, 8, /* address 8 */
		0x23, 0x9f, 1,	  2,		       /* counter 31 */
		0x43, 5,    0x01,
	};
	struct fs_spe_record records[MAX_RECORDS];
	struct fs_spe_decoder decoder;

	ck_assert_uint_eq(decode_at(bytes, sizeof(bytes), 0, records, &decoder), 1);
	ck_assert_uint_eq(decoder.reserved.count, 6);
	ck_assert_uint_eq(decoder.reserved.bytes, sizeof(bytes) - 3);
	ck_assert_uint_eq(decoder.reserved.first, 0);
	ck_assert_uint_eq(records[0].present, FS_SPE_HAS_OPERATION | FS_SPE_HAS_DATA_SOURCE);
	ck_assert_uint_eq(records[0].operation_class, 3);
	ck_assert_uint_eq(records[0].data_source, 5);
}
END_TEST

/* An extended header with the upper index bits clear names the same packets. */
START_TEST(test_extended)
{
	struct fs_spe_record record = RECORD(0x20, 0xb2, 1, 2, 3, 4, 5, 6, 7, 0);

	ck_assert_uint_eq(record.present, FS_SPE_HAS_VA);
	ck_assert_uint_eq(record.virtual_address, 0x07060504030201);
	record = RECORD(0x20, 0x98, 0x34, 0x12);
	ck_assert_uint_eq(record.present, FS_SPE_HAS_TOTAL_LATENCY);
	ck_assert_uint_eq(record.total_latency, 0x1234);
}
END_TEST

/* Headers that are no packet, alone and with a second byte. */
START_TEST(test_bad_headers)
{
	static const uint8_t good[] = { 0x00, 0x01, 0x71 };
	unsigned int header, second, bad = 0;

	for (header = 0; header < 256; header++) {
		bool extended = (header & 0xf0) == 0x20;
		bool valid = memchr(good, (int)header, sizeof(good)) || (header & 0xcf) == 0x42 ||
			     (header & 0xcf) == 0x43 || (header & 0xfc) == 0x64 ||
			     (header & 0xfc) == 0x48 || (header & 0xf8) == 0x98 ||
			     (header & 0xf8) == 0xb0;

		for (second = 1; second < 256; second++) {
			uint8_t bytes[16] = { 0x48, 0x00, (uint8_t)header, (uint8_t)second };
			bool good_second = (second & 0xf8) == 0x98 || (second & 0xf8) == 0xb0;
			struct fs_spe_record records[MAX_RECORDS];
			struct fs_spe_decoder decoder;

			decode_at(bytes, sizeof(bytes), 0, records, &decoder);
			if (valid || (extended && (header & 0x0c) == 0 && good_second)) {
				ck_assert_uint_ne(decoder.resync.first, 2);
			} else {
				ck_assert_uint_eq(decoder.resync.first, 2);
				bad++;
			}
		}
	}
	ck_assert_uint_gt(bad, 200 * 255);
}
END_TEST

/* ../reference/field-reports.md E2: the packets of one Altra record; what it leaves out is 0. */
START_TEST(test_altra)
{
	static const uint8_t bytes[64] = {
		0x49, 0x00, 0x52, 0x1e, 0x03, 0x99, 0x51, 0x01, 0x98, 0xf5, 0x01, 0xb2, 0x50, 0x9e,
		0xd7, 0xf1, 0x3e, 0x40, 0xff, 0x00, 0x9a, 0x01, 0x00, 0xb3, 0,	  0,	0,    0,
		0,    0,    0,	  0,	0x43, 0x0c, 0x00, 0x00, 0x71, 0,    0,	  0,	0,    0,
		0,    0,    0,	  0xb0, 0x88, 0xb6, 0xcb, 0x8f, 0x22, 0xd4, 0xff, 0xc0,
	};
	struct fs_spe_record records[MAX_RECORDS];
	struct fs_spe_decoder decoder;

	ck_assert_uint_eq(decode_at(bytes, sizeof(bytes), 0x113, records, &decoder), 1);
	ck_assert_uint_eq(records[0].data_source, 12);
	ck_assert_uint_eq(records[0].events, 0x31e);
	ck_assert_uint_eq(records[0].issue_latency, 0x151);
	ck_assert_uint_eq(records[0].total_latency, 0x1f5);
	ck_assert_uint_eq(records[0].translation_latency, 1);
	ck_assert_uint_eq(records[0].virtual_address, 0xffff403ef1d79e50);
	ck_assert_uint_eq(records[0].size, 45);
	ck_assert_uint_eq(decoder.tail.count, 1);
	ck_assert_uint_eq(decoder.tail.first, 45);
	ck_assert_uint_eq(decoder.tail.bytes, sizeof(bytes) - 45);
}
END_TEST

/* ../reference/arm-spe.md section 9: packet order is free. */
START_TEST(test_any_order)
{
	struct stream stream = { .size = 0 };
	struct fs_spe_record records[MAX_RECORDS];
	struct fs_spe_decoder decoder;

	put_packet(&stream, 0x43, 0x0e);
	put_packet(&stream, 0x65, 4711);
	put_packet(&stream, 0xb3, 0x1000);
	put_zeros(&stream, 3);
	put_packet(&stream, 0xb0, 0x2000);
	put_packet(&stream, 0x98, 99);
	put_packet(&stream, 0x71, 5);
	ck_assert_uint_eq(decode(&stream, records, &decoder), 1);
	ck_assert_uint_eq(records[0].present,
			  FS_SPE_HAS_DATA_SOURCE | FS_SPE_HAS_CONTEXT | FS_SPE_HAS_PA |
				  FS_SPE_HAS_PC | FS_SPE_HAS_TOTAL_LATENCY | FS_SPE_HAS_TIMESTAMP);
	ck_assert_uint_eq(records[0].size, stream.size);
}
END_TEST

/* Terminators without a record make none. */
START_TEST(test_empty)
{
	static const uint8_t bytes[] = { 0x00, 0x01, 0x71, 1, 2, 3, 4, 5, 6, 7, 8, 0x49, 0, 0x01 };
	struct fs_spe_record records[MAX_RECORDS];
	struct fs_spe_decoder decoder;

	ck_assert_uint_eq(decode_at(bytes, sizeof(bytes), 0, records, &decoder), 1);
	ck_assert_uint_eq(records[0].offset, 11);
	ck_assert_uint_eq(decoder.empty.count, 2);
	ck_assert_uint_eq(decoder.empty.bytes, 10);
	ck_assert_uint_eq(decoder.empty.first, 1);
	ck_assert_uint_eq(decoder.padding_bytes, 1);
	ck_assert_uint_eq(decode_at(bytes, 0, 0, records, &decoder), 0);
}
END_TEST

/* Packets 2n 00 at several AUX offsets: n, AUX offset, bytes from the packet to the boundary. */
static const struct {
	uint8_t n;
	uint64_t aux_offset;
	size_t skip;
} alignments[] = {
	{ 0, 0, 2 },	 { 0, 0x1001, 2 },  { 1, 0, 4 },      { 1, 0x1002, 2 },	 { 3, 0, 16 },
	{ 3, 0x108, 8 }, { 5, 0x1000, 64 }, { 5, 0x103e, 2 }, { 10, 0x7c0, 64 }, { 15, 0xffc0, 64 },
};

START_TEST(test_alignment)
{
	struct stream stream = { .size = 0 };
	struct fs_spe_record records[MAX_RECORDS];
	struct fs_spe_decoder decoder;

	put_packet(&stream, 0x20 | alignments[_i].n, 0);
	stream.size = 2; /* its second byte is 0 */
	stream.bytes[1] = 0;
	while (stream.size < alignments[_i].skip) /* filler that is no record */
		put(&stream, "\xff", 1);
	put_record(&stream, 1, true);
	put_record(&stream, 2, true);
	ck_assert_uint_eq(
		decode_at(stream.bytes, stream.size, alignments[_i].aux_offset, records, &decoder),
		2);
	ck_assert_uint_eq(records[0].offset, alignments[_i].skip);
	ck_assert_uint_eq(decoder.padding_bytes, alignments[_i].skip);
	ck_assert_uint_eq(decoder.resync.count, 0);
}
END_TEST

/* A record that stands before the boundary is not lost, nor does the range's end matter. */
START_TEST(test_alignment_tolerant)
{
	struct stream stream = { .bytes = { 0x25, 0x00 }, .size = 2 };
	struct fs_spe_record records[MAX_RECORDS];
	struct fs_spe_decoder decoder;

	put_zeros(&stream, 6);
	put_record(&stream, 1, true);
	ck_assert_uint_eq(decode(&stream, records, &decoder), 1);
	ck_assert_uint_eq(records[0].offset, 8);
	put(&stream, "\x2f\x00", 2);
	put(&stream, "\xff\xff\xff", 3);
	ck_assert_uint_eq(decode(&stream, records, &decoder), 1);
	ck_assert_uint_eq(decoder.padding_bytes, 8 + 5);
	ck_assert_uint_eq(decode_at((const uint8_t[]){ 0x2f }, 1, 0, records, &decoder), 0);
	ck_assert_uint_eq(decoder.tail.bytes, 1);
}
END_TEST

static void assert_same(const struct fs_spe_record *left, const struct fs_spe_record *right)
{
#define SAME(field) ck_assert_uint_eq(left->field, right->field)
	SAME(pc);
	SAME(virtual_address);
	SAME(physical_address);
	SAME(timestamp);
	SAME(events);
	SAME(offset);
	SAME(context);
	SAME(present);
	SAME(size);
	SAME(context_el);
	SAME(operation_class);
	SAME(operation_payload);
	SAME(pc_attributes);
	SAME(va_tag);
	SAME(pa_attributes);
	SAME(data_source);
	SAME(total_latency);
	SAME(issue_latency);
	SAME(translation_latency);
	SAME(branch_target);
	SAME(previous_branch_target);
	SAME(context_el1);
	SAME(alternate_latency);
	SAME(branch_attributes);
	SAME(previous_branch_attributes);
#undef SAME
}

/* Which bytes of a test record are packet headers or padding: ff there is a bad packet. */
static bool is_header(const uint8_t *record, size_t at)
{
	size_t position = 0;

	while (position < at)
		position +=
			record[position] < 2 ? 1 : 1 + ((size_t)1 << (record[position] >> 4 & 3));
	return position == at;
}

/* One byte of one record made ff, wherever it is: exactly that record is lost, or none. */
START_TEST(test_corrupt_byte)
{
	bool timestamp = _i;
	struct stream stream = { .size = 0 };
	struct fs_spe_record whole[MAX_RECORDS], records[MAX_RECORDS];
	struct fs_spe_decoder decoder;
	unsigned int lost = 0;
	size_t at;

	for (at = 0; at < 6; at++)
		put_record(&stream, (unsigned int)at, timestamp);
	ck_assert_uint_eq(decode(&stream, whole, &decoder), 6);
	for (at = 0; at < stream.size; at++) {
		struct stream damaged = stream;
		size_t hit = at / 64, i, count;
		bool inside = at - hit * 64 < whole[hit].size;

		damaged.bytes[at] = 0xff;
		count = decode(&damaged, records, &decoder);
		if (inside && !is_header(stream.bytes + hit * 64, at - hit * 64)) {
			ck_assert_uint_eq(count, 6);
			ck_assert_uint_eq(decoder.resync.count, 0);
			continue;
		}
		if (!inside) { /* padding behind an END: nothing tells it from a record */
			ck_assert_uint_ge(count, 5);
			continue;
		}
		lost++;
		ck_assert_uint_eq(count, 5);
		for (i = 0; i < 5; i++)
			assert_same(&records[i], &whole[i < hit ? i : i + 1]);
		ck_assert_uint_eq(decoder.resync.count, 1);
		ck_assert_uint_eq(decoder.resync.first, at);
		ck_assert_uint_ge(decoder.resync.bytes + decoder.tail.bytes, whole[hit].size);
		ck_assert_uint_le(decoder.resync.bytes, 64);
	}
	ck_assert_uint_ge(lost, 6 * 11);
}
END_TEST

/* A lost terminator must not merge two records into one. */
START_TEST(test_lost_terminator)
{
	struct stream stream = { .size = 0 };
	struct fs_spe_record records[MAX_RECORDS];
	struct fs_spe_decoder decoder;
	unsigned int i;
	size_t count;

	for (i = 0; i < 4; i++)
		put_record(&stream, i, true);
	memset(stream.bytes + 64 + 55, 0, 9);
	count = decode(&stream, records, &decoder);
	ck_assert_uint_ge(count, 2);
	ck_assert_uint_eq(records[0].timestamp & 0xff, 0);
	ck_assert_uint_eq(records[count - 1].timestamp & 0xff, 3);
	ck_assert_uint_eq(decoder.resync.first, 128);
}
END_TEST

/* A record longer than any can be is damage. */
START_TEST(test_too_long)
{
	struct stream stream = { .size = 0 };
	struct fs_spe_record records[MAX_RECORDS];
	struct fs_spe_decoder decoder;

	put_packet(&stream, 0x49, 0);
	put_zeros(&stream, FS_SPE_RECORD_MAX - 3);
	put_packet(&stream, 0x01, 0);
	ck_assert_uint_eq(decode(&stream, records, &decoder), 1);
	stream.size--;
	put_zeros(&stream, 1);
	put_packet(&stream, 0x01, 0);
	put_record(&stream, 0, true);
	ck_assert_uint_eq(decode(&stream, records, &decoder), 1);
	ck_assert_uint_eq(decoder.resync.bytes, FS_SPE_RECORD_MAX + 1);
}
END_TEST

/* Records that do not begin with a PC: learned from the stream, or else anything goes. */
START_TEST(test_other_first_packet)
{
	struct stream stream = { .size = 0 };
	struct fs_spe_record records[MAX_RECORDS];
	struct fs_spe_decoder decoder;
	size_t damage, i;

	for (damage = 0; damage < 5; damage++) {
		stream.size = 0;
		for (i = 0; i < 5; i++) {
			put_packet(&stream, 0x49, 0);
			put_packet(&stream, 0xb2, 0x1000 * (i + 1));
			put_packet(&stream, 0x71, i);
			if (i == damage)
				stream.bytes[i * 20 + 2] = 0xff;
		}
		ck_assert_uint_eq(decode(&stream, records, &decoder), 4);
		for (i = 0; i < 4; i++)
			ck_assert_uint_eq(records[i].timestamp, i < damage ? i : i + 1);
	}
}
END_TEST

/* A range that begins anywhere inside a record: what follows the next record is all there. */
START_TEST(test_rotated)
{
	struct stream stream = { .size = 0 };
	struct fs_spe_record whole[MAX_RECORDS], records[MAX_RECORDS];
	struct fs_spe_decoder decoder;
	size_t cut, i, count;

	for (i = 0; i < 6; i++)
		put_record(&stream, (unsigned int)i, true);
	ck_assert_uint_eq(decode(&stream, whole, &decoder), 6);
	for (cut = 1; cut < 64; cut++) {
		count = decode_at(stream.bytes + cut, stream.size - cut, cut, records, &decoder);
		ck_assert_uint_ge(count, 4);
		for (i = 1; i <= 4; i++) {
			records[count - i].offset += cut;
			assert_same(&records[count - i], &whole[6 - i]);
		}
		for (i = 0; count > 5 && i < count - 5; i++) /* from the cut record's rest */
			ck_assert_uint_lt(records[i].offset, 64 - cut);
	}
}
END_TEST

/* A range cut anywhere in its last record: the records before it, and the rest counted. */
START_TEST(test_truncated)
{
	struct stream stream = { .size = 0 };
	struct fs_spe_record records[MAX_RECORDS];
	struct fs_spe_decoder decoder;
	size_t cut, i;

	for (i = 0; i < 3; i++)
		put_record(&stream, (unsigned int)i, true);
	for (cut = 129; cut < 192; cut++) {
		ck_assert_uint_eq(decode_at(stream.bytes, cut, 0, records, &decoder), 2);
		ck_assert_uint_eq(decoder.tail.count, 1);
		ck_assert_uint_eq(decoder.tail.first, 128);
		ck_assert_uint_eq(decoder.tail.bytes, cut - 128);
		ck_assert_uint_eq(decoder.resync.count, 0);
	}
}
END_TEST

/* Patterns that invite repeated work. 64 MiB of each; records are not to be expected. */
static const struct {
	const char *bytes;
	size_t size;
	bool any_records;
} floods[] = {
	{ "\xff", 1, false },
	{ "\x00", 1, false },
	{ "\x01", 1, false },
	{ "\x71", 1, false },
	{ "\xb0", 1, false },
	{ "\x98", 1, false },
	{ "\x20", 1, false },
	{ "\x20\x00", 2, false },
	{ "\x01\x00\xff", 3, true },
	{ "\x21\x00\x98\x98", 4, true },
	{ "\x21\x00\xb0\xb0", 4, true },
	{ "\x01\xb0\x98\x98\x98\x98\x98\x98\x98\x98\x98\xff", 12, true },
	{ "\x71\x71\x71\x71\x71\x71\x71\x71\x71\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 19,
	  true },
};

START_TEST(test_flood)
{
	size_t size = (size_t)64 << 20, i, records = 0;
	uint8_t *bytes = malloc(size);
	struct fs_spe_decoder decoder;
	struct fs_spe_record record;
	clock_t start;
	double seconds;

	for (i = 0; i < size; i++)
		bytes[i] = (uint8_t)floods[_i].bytes[i % floods[_i].size];
	start = clock();
	fs_spe_begin(&decoder, bytes, size, 0);
	while (fs_spe_next(&decoder, &record))
		records++;
	seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
	assert_accounted(&decoder);
	if (!floods[_i].any_records)
		ck_assert_uint_eq(records, 0);
	printf("flood %d: 64 MiB in %.2f s, %zu records\n", _i, seconds, records);
	ck_assert_double_lt(seconds, 20); /* sanitizers and all; quadratic would be hours */
	free(bytes);
}
END_TEST

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A record of some packets in some order, twice some of them, and perhaps padding inside. */
static void put_any_record(struct stream *stream, unsigned int kind, uint64_t *random)
{
	static const uint8_t headers[] = { 0xb2, 0x49, 0x52, 0x98, 0xb0, 0x43, 0x65, 0x64,
					   0x99, 0x00, 0xb1, 0x9a, 0x4a, 0x62, 0xb4, 0x53,
					   0x9b, 0x72, 0xb3, 0x00, 0x66, 0x73, 0x42 };
	size_t start = stream->size;

	for (unsigned int i = 0; i < 2 + kind % 6; i++) {
		uint8_t header = headers[(kind * 5 + i * (1 + kind % 7)) % sizeof(headers)];

		if (header == 0xb0 && i) /* a second PC would be damage */
			header = 0x48;
		put_packet(stream, header, next_random(random));
	}
	if (stream->size == start + 2 || stream->bytes[start] == 0)
		put_packet(stream, 0x98, next_random(random));
	put_packet(stream, kind % 3 ? 0x71 : 0x01, next_random(random));
	put_zeros(stream, kind % 5 ? 0 : 7);
}

/* A record is decoded the same way when many of its kind went before it and when it stands alone,
 * where it must be walked. */
START_TEST(test_kinds)
{
	static struct stream stream; /* 23 kinds, 400 records */
	uint64_t random = 88172645463325252u + (uint64_t)_i;
	struct fs_spe_decoder decoder, alone;
	struct fs_spe_record record, expected;
	size_t records = 0;

	stream.size = 0;
	while (stream.size < sizeof(stream.bytes) - 128)
		put_any_record(&stream, next_random(&random) % 23 % (unsigned int)(_i + 1),
			       &random);
	fs_spe_begin(&decoder, stream.bytes, stream.size, 0);
	for (; fs_spe_next(&decoder, &record); records++) {
		fs_spe_begin(&alone, stream.bytes + record.offset, record.size, record.offset);
		ck_assert(fs_spe_next(&alone, &expected));
		expected.offset += record.offset;
		assert_same(&record, &expected);
	}
	assert_accounted(&decoder);
	ck_assert_uint_eq(decoder.resync.count, 0);
	ck_assert_uint_eq(decoder.tail.count, 0);
	ck_assert_uint_gt(records, 100);
}
END_TEST

static void mutate(struct stream *stream, uint64_t *random)
{
	static const uint8_t interesting[] = {
		0x00, 0x01, 0x71, 0xb0, 0x20, 0x23, 0x2f, 0xff, 0x98
	};
	unsigned int changes = 1 + next_random(random) % 8;

	while (changes--) {
		size_t at = next_random(random) % stream->size;
		uint64_t how = next_random(random);

		switch (how % 4) {
		case 0:
			stream->bytes[at] ^= (uint8_t)(1u << (how >> 8 & 7));
			break;
		case 1:
			stream->bytes[at] = interesting[(how >> 8) % sizeof(interesting)];
			break;
		case 2:
			memmove(stream->bytes + at, stream->bytes + at + 1, stream->size - at - 1);
			stream->size--;
			break;
		default:
			stream->bytes[at] = (uint8_t)(how >> 8);
		}
	}
	stream->size -= next_random(random) % 4 == 0 ? next_random(random) % 32 : 0;
}

START_TEST(test_mutations)
{
	struct stream good = { .size = 0 };
	uint64_t random = 88172645463325252u;
	size_t total = 0;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		put_record(&good, i, i < 7);
		if (i == 4)
			put(&good,
			    "\x23\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 16);
	}
	for (i = 0; i < 20000; i++) {
		struct stream stream = good;
		struct fs_spe_record records[MAX_RECORDS];
		struct fs_spe_decoder decoder;
		size_t end = 0, count, j;

		mutate(&stream, &random);
		count = decode_at(stream.bytes, stream.size, random & 0xfff, records, &decoder);
		for (j = 0; j < count; j++) {
			ck_assert_uint_ge(records[j].offset, end);
			end = records[j].offset + records[j].size;
		}
		ck_assert_uint_le(end, stream.size);
		total += count;
	}
	printf("20000 mutations: %.2f of 10 records survive\n", (double)total / 20000);
}
END_TEST

/* Bytes from public recordings, where they are at hand: name, records, tail bytes. */
static const struct {
	const char *path;
	size_t records;
	size_t data_sources;
} recordings[] = {
	{ "../shared/corpus/spe_bytes/quipper_two_records.bin", 2, 1 },
	{ "../shared/corpus/spe_bytes/qemu_vspe_first_0x5e_bytes.bin", 2, 0 },
	{ "../shared/corpus/spe_bytes/ampere_altra_issue123_0x113.bin", 1, 1 },
};

START_TEST(test_recordings)
{
	FILE *file = fopen(recordings[_i].path, "rb");
	struct fs_spe_record records[MAX_RECORDS];
	struct fs_spe_decoder decoder;
	uint8_t bytes[4096];
	size_t size, count, sources = 0, i;

	if (!file) {
		printf("skipped: %s is absent\n", recordings[_i].path);
		return;
	}
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	count = decode_at(bytes, size, 0, records, &decoder);
	for (i = 0; i < count; i++)
		sources += records[i].present & FS_SPE_HAS_DATA_SOURCE ? 1 : 0;
	ck_assert_uint_eq(count, recordings[_i].records);
	ck_assert_uint_eq(sources, recordings[_i].data_sources);
	ck_assert_uint_eq(decoder.resync.count, 0);
	ck_assert_uint_eq(decoder.empty.count, 0);
}
END_TEST

static void add_packet_tests(TCase *cases)
{
	tcase_add_test(cases, test_code_addresses);
	tcase_add_test(cases, test_data_addresses);
	tcase_add_test(cases, test_counters);
	tcase_add_test(cases, test_events);
	tcase_add_test(cases, test_data_source);
	tcase_add_test(cases, test_context);
	tcase_add_test(cases, test_operation);
	tcase_add_test(cases, test_terminators);
	tcase_add_test(cases, test_reserved);
	tcase_add_test(cases, test_extended);
	tcase_add_test(cases, test_bad_headers);
	tcase_add_test(cases, test_altra);
	tcase_add_test(cases, test_any_order);
	tcase_add_test(cases, test_empty);
	tcase_add_loop_test(cases, test_alignment, 0, COUNT(alignments));
	tcase_add_test(cases, test_alignment_tolerant);
	tcase_add_loop_test(cases, test_kinds, 0, 23);
}

static void add_damage_tests(TCase *cases)
{
	tcase_add_loop_test(cases, test_corrupt_byte, 0, 2);
	tcase_add_test(cases, test_lost_terminator);
	tcase_add_test(cases, test_too_long);
	tcase_add_test(cases, test_other_first_packet);
	tcase_add_test(cases, test_rotated);
	tcase_add_test(cases, test_truncated);
	tcase_add_loop_test(cases, test_flood, 0, COUNT(floods));
	tcase_add_test(cases, test_mutations);
	tcase_add_loop_test(cases, test_recordings, 0, COUNT(recordings));
}

int main(void)
{
	Suite *suite = suite_create("spe");
	TCase *packets = tcase_create("packets");
	TCase *damage = tcase_create("damage");
	SRunner *runner;
	int failed;

	add_packet_tests(packets);
	add_damage_tests(damage);
	tcase_set_timeout(damage, 120);
	suite_add_tcase(suite, packets);
	suite_add_tcase(suite, damage);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
