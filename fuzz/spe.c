/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzz target: Arm SPE data through the decoder and the classification of operations and data
 * sources.
 *
 *   input: | u8 core | u8 offset in the AUX buffer | u16 piece size | SPE packets |
 *
 * Beyond not failing: every byte is accounted for and records lie in order. Data that a strict walk
 * of our own finds sound gives as many records as that counts, none lost, and the same ones
 * however it is cut into pieces. (Where damage or alignment filler makes the decoder search, what
 * it finds depends on how far it sees.)
 */
#include <string.h>

#include "common/intern.h"
#include "common/reader.h"
#include "fuzz/fuzz.h"
#include "ingest/memsrc/memsrc.h"
#include "ingest/spe/operation.h"

enum { CONTROL = 4, PACKET_MAX = 10 };

/* A core of each family of data source tables. */
static const uint64_t midrs[] = {
	0x410fd0c0, /* Neoverse N1 */
	0x410fd8e0, /* Neoverse N3: by a relative's table */
	0xc00fac40, /* AmpereOne-1A */
	0xc00fac30, /* AmpereOne: by a relative's table */
	0x480fd060, /* HIP12 */
	0,	    /* no table */
};

struct outcome {
	uint64_t records, digest;
	uint64_t lost; /* resynchronisations */
};

static void classify(const struct fs_spe_record *record, uint64_t midr, struct outcome *outcome)
{
	uint32_t flags = 0;
	enum fs_op op = fs_spe_operation(record, &flags);
	struct fs_memsrc source = fs_memsrc_from_spe(
		fs_memsrc_spe_family(midr), record->present & FS_SPE_HAS_DATA_SOURCE,
		record->data_source, record->present & FS_SPE_HAS_EVENTS ? record->events : 0, op);
	/* what does not depend on where the range began; all of it numbers */
	const uint64_t facts[] = {
		record->pc,
		record->branch_target,
		record->virtual_address,
		record->physical_address,
		record->timestamp,
		record->events,
		record->present,
		record->context,
		record->data_source,
		record->total_latency,
		record->issue_latency,
		record->translation_latency,
		fs_access_pack(op, source.source, source.certainty, flags | source.flags),
	};

	FS_FUZZ_ASSERT(op < FS_OP_MAX && source.op == op && source.source < FS_SOURCE_MAX);
	outcome->records++;
	outcome->digest = fs_hash(facts, sizeof(facts), outcome->digest);
}

/* Decode one range whole. */
static void decode(struct fs_spe_decoder *decoder, uint64_t midr, struct outcome *outcome)
{
	struct fs_spe_record record;
	size_t position = 0;

	while (fs_spe_next(decoder, &record)) {
		FS_FUZZ_ASSERT(record.offset >= position && record.size > 0);
		FS_FUZZ_ASSERT(record.size <= FS_SPE_RECORD_MAX);
		position = record.offset + record.size;
		FS_FUZZ_ASSERT(position <= decoder->reader.size);
		classify(&record, midr, outcome);
	}
	FS_FUZZ_ASSERT(decoder->record_bytes + decoder->padding_bytes + decoder->resync.bytes +
			       decoder->empty.bytes + decoder->tail.bytes ==
		       decoder->reader.size);
	outcome->lost += decoder->resync.count;
}

/* Piece by piece, a record that a piece cuts being carried over into the next one. */
static struct outcome decode_pieces(const uint8_t *data, size_t size, uint64_t aux_offset,
				    size_t piece, uint64_t midr)
{
	struct outcome outcome = { 0 };
	struct fs_spe_decoder decoder;
	size_t start = 0;
	size_t end = 0;

	while (end < size) {
		end = size - end < piece ? size : end + piece;
		fs_spe_begin(&decoder, data + start, end - start, aux_offset + start);
		decode(&decoder, midr, &outcome);
		start = decoder.tail.count ? start + decoder.tail.first : end;
	}
	return outcome;
}

/* ---- the strict walk ---- */

/* Headers with the length of their packet. */
static const struct {
	uint8_t bytes[2];
	uint8_t size;
} packets[] = {
	{ { 0x00, 0 }, 1 },	{ { 0x01, 0 }, 1 },	{ { 0x71, 0 }, 9 },
	{ { 0x42, 0 }, 2 },	{ { 0x52, 0 }, 3 },	{ { 0x62, 0 }, 5 },
	{ { 0x72, 0 }, 9 },	{ { 0x43, 0 }, 2 },	{ { 0x53, 0 }, 3 },
	{ { 0x48, 0 }, 2 },	{ { 0x49, 0 }, 2 },	{ { 0x4a, 0 }, 2 },
	{ { 0x64, 0 }, 5 },	{ { 0x65, 0 }, 5 },	{ { 0x98, 0 }, 3 },
	{ { 0x99, 0 }, 3 },	{ { 0x9a, 0 }, 3 },	{ { 0x9b, 0 }, 3 },
	{ { 0xb0, 0 }, 9 },	{ { 0xb1, 0 }, 9 },	{ { 0xb2, 0 }, 9 },
	{ { 0xb3, 0 }, 9 },	{ { 0xb4, 0 }, 9 },	{ { 0x20, 0x98 }, 4 },
	{ { 0x20, 0xb3 }, 10 }, { { 0x23, 0xb0 }, 10 }, { { 0x25, 0x00 }, 2 },
};

static size_t packet_size(const uint8_t *data, size_t left)
{
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		if (data[0] != packets[i].bytes[0] || packets[i].size > left ||
		    (packets[i].bytes[0] >> 4 == 2 && data[1] != packets[i].bytes[1]))
			continue;
		return packets[i].size;
	}
	return 1;
}

/*
 * Whether the bytes are nothing but known packets, one PC at most in each record, no alignment and
 * no record too long; *ret_records is how many records they are.
 */
static bool is_sound(const uint8_t *data, size_t size, uint64_t *ret_records)
{
	uint64_t records = 0;
	size_t at = 0;
	size_t start = 0; /* of the record */
	size_t packets_seen = 0;
	bool pc = false;

	while (at < size) {
		size_t length = packet_size(data + at, size - at);

		if ((length == 1 && data[at] > 1) || data[at] >> 4 == 2 ||
		    (data[at] == 0xb0 && pc) || at + length - start > FS_SPE_RECORD_MAX)
			return false;
		if (data[at]) {
			pc |= data[at] == 0xb0;
			packets_seen++;
		}
		if (data[at] == 0x01 || data[at] == 0x71) {
			records += packets_seen > 1;
			packets_seen = 0;
			pc = false;
		}
		at += length;
		if (!packets_seen)
			start = at;
	}
	*ret_records = records;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct outcome whole;
	struct outcome pieces;
	uint64_t records;
	uint64_t midr;
	uint64_t aux_offset;
	size_t piece;

	if (size < CONTROL)
		return 0;
	midr = midrs[data[0] % (sizeof(midrs) / sizeof(midrs[0]))];
	aux_offset = data[1];
	piece = 1 + (data[2] | (size_t)data[3] << 8);
	data += CONTROL;
	size -= CONTROL;
	whole = decode_pieces(data, size, aux_offset, size ? size : 1, midr);
	if (!is_sound(data, size, &records))
		return 0;
	FS_FUZZ_ASSERT(whole.records == records && !whole.lost);
	/* short pieces would decode a long record again for each of its bytes */
	if (piece < size / 64)
		piece = size / 64;
	pieces = decode_pieces(data, size, aux_offset, piece, midr);
	FS_FUZZ_ASSERT(whole.records == pieces.records && whole.digest == pieces.digest);
	return 0;
}

/* ---- framing for the mutator: control bytes, then packets ---- */

static void split(struct fs_parts *parts, const uint8_t *data, size_t size)
{
	size_t at = size < CONTROL ? size : CONTROL;

	fs_fuzz_append(parts, 0, 0, data, at);
	while (at < size) {
		size_t length = packet_size(data + at, size - at);

		if (!fs_fuzz_append(parts, 1, 0, data + at, length))
			return;
		at += length;
	}
}

/* A packet, or a short record of several. */
static void make(struct fs_parts *parts, size_t position)
{
	size_t count = fs_fuzz_random(parts, 4) ? 1 : 2 + fs_fuzz_random(parts, 6);

	while (count--) {
		size_t kind = fs_fuzz_random(parts, sizeof(packets) / sizeof(packets[0]));
		struct fs_part *part = fs_fuzz_insert(parts, position, packets[kind].size);
		uint64_t payload = fs_fuzz_odd_number(parts);
		size_t header = packets[kind].bytes[0] >> 4 == 2 ? 2 : 1;

		if (!part)
			return;
		part->kind = 1;
		memcpy(part->bytes, packets[kind].bytes, header);
		memcpy(part->bytes + header, &payload, part->size - header);
	}
}

static size_t join(struct fs_parts *parts, uint8_t *out, size_t max, bool repair)
{
	size_t used = 0;

	for (unsigned int kind = 0; kind < 2; kind++) {
		for (size_t i = 0; i < parts->count; i++) {
			struct fs_part *part = &parts->items[i];
			uint8_t whole[PACKET_MAX] = { 0 };
			size_t size;

			if (part->kind != kind || !part->size)
				continue;
			memcpy(whole, part->bytes,
			       part->size < sizeof(whole) ? part->size : sizeof(whole));
			size = packet_size(whole, sizeof(whole));
			/* a packet that grew or shrank gets the length that its header says */
			if (repair && kind == 1 && size > 1)
				fs_fuzz_put(out, &used, max, whole, size);
			else
				fs_fuzz_put(out, &used, max, part->bytes, part->size);
		}
	}
	return used;
}

const struct fs_fuzz_format fs_fuzz_format = { .split = split, .make = make, .join = join };
