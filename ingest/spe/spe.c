/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The SPE packet walk.
 *
 * A table gives each header's packet length, so framing is one lookup and one bounds check; a
 * switch then stores the payload. Only whole records leave.
 *
 * A bad packet (unknown header, a second PC, a record longer than the architecture allows) loses
 * the record in progress. Where to go on: after the next terminator that is followed, padding
 * aside, by a whole record that begins as records of this stream do. Any terminator followed by
 * any valid header would be too weak: 01 00 and 71 are common inside payloads, and a walk that
 * resumes in the middle of a record yields a record that never was. Every known implementation
 * begins a record with its PC, so that is how records begin until good ones show other ways; only
 * where a stream shows no such record at all, every header is allowed.
 *
 * A stream has few kinds of records, and all of one kind have their packets at the same places.
 * So a record that was walked leaves its layout: which bytes are headers, and where the payloads
 * stand. A record with the same headers at these places would be walked the same way; its fields
 * are loaded from there without looking at packets at all, which is five times as fast. Which of
 * the layouts to try first is looked up by the byte in which they differ most: kinds come in no
 * order, so a search through them would be mispredicted at every change.
 *
 * Searches look ahead on a budget proportional to the range, and do with the first header alone
 * once it is spent, so time is linear whatever the bytes are.
 */
#include "ingest/spe/spe.h"

enum {
	HEADER_PAD = 0x00,
	HEADER_END = 0x01,
	HEADER_EXTENDED = 0x20, /* 0x20..0x23; 0x20..0x2f when it is an alignment packet */
	HEADER_TIMESTAMP = 0x71,
	HEADER_COUNTER = 0x98,
	HEADER_ADDRESS = 0xb0, /* 0xb0 itself is the PC */
};

#define FOUR(header, length)                                                                       \
	[(header)] = (length), [(header) + 1] = (length), [(header) + 2] = (length),               \
	[(header) + 3] = (length)

/* Packet length by header byte, header included; 0: bad, or extended (see packet_length()). */
static const uint8_t packet_lengths[256] = {
	[HEADER_PAD] = 1,
	[HEADER_END] = 1,
	[HEADER_TIMESTAMP] = 9,
	[0x42] = 2, /* events, by size */
	[0x52] = 3,
	[0x62] = 5,
	[0x72] = 9,
	[0x43] = 2, /* data source, by size */
	[0x53] = 3,
	[0x63] = 5,
	[0x73] = 9,
	FOUR(0x48, 2), /* operation */
	FOUR(0x64, 5), /* context */
	FOUR(HEADER_COUNTER, 3),
	FOUR(HEADER_COUNTER + 4, 3),
	FOUR(HEADER_ADDRESS, 9),
	FOUR(HEADER_ADDRESS + 4, 9),
};

/* Packets that searches may look at, per byte of the range. */
enum { LOOKAHEAD = 4 };

/* Good records after which the stream has shown how its records begin. */
enum { LEARNED = 2 };

enum outcome { WHOLE, EMPTY, CUT, BAD };

static bool is_terminator(uint8_t header)
{
	return header == HEADER_END || header == HEADER_TIMESTAMP;
}

static bool is_alignment(const struct fs_reader *reader, size_t at)
{
	return reader->size - at >= 2 && (reader->data[at] & 0xf0) == HEADER_EXTENDED &&
	       reader->data[at + 1] == 0;
}

/* The length of a packet with a two-byte header: 2n 00 (alignment) or 20..23 and a counter's or
 * address's header; 0 if it is neither. One byte alone is taken for a cut packet. */
static size_t extended_length(const struct fs_reader *reader, size_t at)
{
	uint8_t kind;

	if ((reader->data[at] & 0xf0) != HEADER_EXTENDED)
		return 0;
	if (reader->size - at < 2 || reader->data[at + 1] == 0)
		return 2;
	kind = reader->data[at + 1] & 0xf8;
	if ((reader->data[at] & 0xfc) != HEADER_EXTENDED ||
	    (kind != HEADER_COUNTER && kind != HEADER_ADDRESS))
		return 0;
	return 1 + packet_lengths[kind];
}

static inline size_t packet_length(const struct fs_reader *reader, size_t at)
{
	size_t length = packet_lengths[reader->data[at]];

	return length ? length : extended_length(reader, at);
}

static inline uint64_t load_u64(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint32_t load_u32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint16_t load_u16(const uint8_t *bytes)
{
	uint16_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* A payload of 1, 2, 4 or 8 bytes, as the header's bits 5:4 say. */
static inline uint64_t load_sized(uint8_t header, const uint8_t *bytes)
{
	switch (header >> 4 & 3) {
	case 0:
		return bytes[0];
	case 1:
		return load_u16(bytes);
	case 2:
		return load_u32(bytes);
	default:
		return load_u64(bytes);
	}
}

/* The first byte from `at` on that is not zero, or `end`. */
static inline size_t skip_zeros(const uint8_t *data, size_t at, size_t end)
{
	while (end - at >= 8) {
		uint64_t word = load_u64(data + at);

		if (word)
			return at + __builtin_ctzll(word) / 8;
		at += 8;
	}
	while (at < end && data[at] == 0)
		at++;
	return at;
}

static void lose(struct fs_spe_loss *loss, size_t first, uint64_t bytes)
{
	if (loss->count == 0)
		loss->first = first;
	loss->count++;
	loss->bytes += bytes;
}

#define ADDRESS_MASK ((UINT64_C(1) << 56) - 1)

/* PC and branch targets: 63 NS, 62:61 EL, 55:0 address. */
static inline uint64_t code_address(uint64_t payload)
{
	unsigned int level = payload >> 61 & 3;
	bool kernel = payload >> 63 && (level == 1 || level == 2);

	return kernel ? payload | ~ADDRESS_MASK : payload & ADDRESS_MASK;
}

static inline uint64_t data_address(uint64_t payload)
{
	bool high = (payload >> 52 & 0xf) == 0xf;

	return high ? payload | ~ADDRESS_MASK : payload & ADDRESS_MASK;
}

static inline bool store_address(struct fs_spe_record *record, unsigned int index, uint64_t payload)
{
	switch (index) {
	case 0:
		record->pc = code_address(payload);
		record->pc_attributes = payload >> 56;
		record->present |= FS_SPE_HAS_PC;
		return true;
	case 1:
		record->branch_target = code_address(payload);
		record->branch_attributes = payload >> 56;
		record->present |= FS_SPE_HAS_BRANCH_TARGET;
		return true;
	case 2:
		record->virtual_address = data_address(payload);
		record->va_tag = payload >> 56;
		record->present |= FS_SPE_HAS_VA;
		return true;
	case 3:
		record->physical_address = payload & ADDRESS_MASK;
		record->pa_attributes = payload >> 56;
		record->present |= FS_SPE_HAS_PA;
		return true;
	case 4:
		record->previous_branch_target = code_address(payload);
		record->previous_branch_attributes = payload >> 56;
		record->present |= FS_SPE_HAS_PREVIOUS_BRANCH_TARGET;
		return true;
	default:
		return false;
	}
}

static inline bool store_counter(struct fs_spe_record *record, unsigned int index, uint16_t payload)
{
	switch (index) {
	case 0:
		record->total_latency = payload;
		record->present |= FS_SPE_HAS_TOTAL_LATENCY;
		return true;
	case 1:
		record->issue_latency = payload;
		record->present |= FS_SPE_HAS_ISSUE_LATENCY;
		return true;
	case 2:
		record->translation_latency = payload;
		record->present |= FS_SPE_HAS_TRANSLATION_LATENCY;
		return true;
	case 3:
		record->alternate_latency = payload;
		record->present |= FS_SPE_HAS_ALTERNATE_LATENCY;
		return true;
	default:
		return false;
	}
}

static inline bool store_context(struct fs_spe_record *record, uint8_t index, uint32_t payload)
{
	if (index > 1)
		return false;
	if (record->present & FS_SPE_HAS_CONTEXT && record->context_el != index + 1) {
		record->context_el1 = index == 0 ? payload : record->context;
		record->present |= FS_SPE_HAS_BOTH_CONTEXTS;
	}
	if (index == 1 || !(record->present & FS_SPE_HAS_CONTEXT)) {
		record->context = payload;
		record->context_el = index + 1;
		record->present |= FS_SPE_HAS_CONTEXT;
	}
	return true;
}

static inline bool store_operation(struct fs_spe_record *record, uint8_t class, uint8_t payload)
{
	record->operation_class = class;
	record->operation_payload = payload;
	record->present |= FS_SPE_HAS_OPERATION;
	return class <= FS_SPE_CLASS_BRANCH;
}

/* A wider code than our field stays one that no table knows. */
static inline uint16_t source_code(uint64_t payload)
{
	return payload > UINT16_MAX ? UINT16_MAX : payload;
}

static inline bool store_data_source(struct fs_spe_record *record, uint64_t payload)
{
	record->data_source = source_code(payload);
	record->present |= FS_SPE_HAS_DATA_SOURCE;
	return true;
}

static bool store_extended(struct fs_spe_record *record, const uint8_t *bytes)
{
	unsigned int index = (bytes[0] & 3) << 3 | (bytes[1] & 7);

	if ((bytes[1] & 0xf8) == HEADER_COUNTER)
		return store_counter(record, index, load_u16(bytes + 2));
	return store_address(record, index, load_u64(bytes + 2));
}

/* Store the packet at bytes, whose length has been checked. False if its index is reserved. */
static inline bool store_packet(struct fs_spe_record *record, const uint8_t *bytes)
{
	uint8_t header = bytes[0];

	if ((header & 0xf8) == HEADER_ADDRESS)
		return store_address(record, header & 7, load_u64(bytes + 1));
	if ((header & 0xf8) == HEADER_COUNTER)
		return store_counter(record, header & 7, load_u16(bytes + 1));
	switch (header) {
	case 0x42:
	case 0x52:
	case 0x62:
	case 0x72:
		record->events = load_sized(header, bytes + 1);
		record->present |= FS_SPE_HAS_EVENTS;
		return true;
	case 0x43:
	case 0x53:
	case 0x63:
	case 0x73:
		return store_data_source(record, load_sized(header, bytes + 1));
	case 0x48:
	case 0x49:
	case 0x4a:
	case 0x4b:
		return store_operation(record, header & 3, bytes[1]);
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
		return store_context(record, header & 3, load_u32(bytes + 1));
	case HEADER_TIMESTAMP:
		record->timestamp = load_u64(bytes + 1);
		record->present |= FS_SPE_HAS_TIMESTAMP;
		return true;
	case HEADER_END:
		return true;
	default:
		return store_extended(record, bytes);
	}
}

static inline bool may_start(const struct fs_spe_decoder *decoder, uint8_t header)
{
	return decoder->starts[header >> 6] >> (header & 63) & 1;
}

static inline void learn_start(struct fs_spe_decoder *decoder, uint8_t header)
{
	decoder->starts[header >> 6] |= UINT64_C(1) << (header & 63);
}

/* Whether a record or alignment may begin at `at`, or the range ends there. */
static bool starts_here(const struct fs_spe_decoder *decoder, size_t at)
{
	const struct fs_reader *reader = &decoder->reader;

	return at == reader->size || is_alignment(reader, at) ||
	       (may_start(decoder, reader->data[at]) && !is_terminator(reader->data[at]) &&
		packet_length(reader, at));
}

/* Whether a whole record, or the range's end, stands at `at`. A record that the end of the range
 * cuts is taken for whole. */
static bool record_here(struct fs_spe_decoder *decoder, size_t at)
{
	const struct fs_reader *reader = &decoder->reader;
	size_t start = at;

	if (!starts_here(decoder, at))
		return false;
	while (at < reader->size && at - start < FS_SPE_RECORD_MAX && decoder->budget > 0) {
		size_t length = packet_length(reader, at);

		if (length == 0)
			return false;
		if (length > reader->size - at)
			return true;
		decoder->budget--;
		if (is_terminator(reader->data[at])) {
			at = skip_zeros(reader->data, at + length, reader->size);
			return starts_here(decoder, at);
		}
		at += length;
	}
	return at == reader->size || decoder->budget == 0;
}

/*
 * Behind the alignment packet at `at`: up to the next multiple of 2^(n+1), counted from the start
 * of the AUX buffer, lies filler. It should be zeros. If it is not, and a record stands where it
 * stops being zeros, the writer meant another boundary, and the record is worth more.
 */
static size_t skip_filler(struct fs_spe_decoder *decoder, size_t at)
{
	const struct fs_reader *reader = &decoder->reader;
	uint64_t step = UINT64_C(2) << (reader->data[at] & 0xf);
	uint64_t filler = step - ((decoder->aux_offset + at) & (step - 1));
	size_t boundary = reader->size - at > filler ? at + filler : reader->size;
	size_t zeros_end;

	at += 2;
	if (boundary <= at)
		return at;
	zeros_end = skip_zeros(reader->data, at, boundary);
	return zeros_end < boundary && record_here(decoder, zeros_end) ? zeros_end : boundary;
}

/* Go past padding and alignment between records. */
static void skip_padding(struct fs_spe_decoder *decoder)
{
	struct fs_reader *reader = &decoder->reader;
	size_t at = skip_zeros(reader->data, reader->offset, reader->size);

	while (is_alignment(reader, at)) {
		at = skip_filler(decoder, at);
		at = skip_zeros(reader->data, at, reader->size);
	}
	decoder->padding_bytes += at - reader->offset;
	reader->offset = at;
}

/* Read packets up to a terminator. On BAD and CUT, reader.offset is at the offending packet. */
static enum outcome read_packets(struct fs_spe_decoder *decoder, struct fs_spe_record *record)
{
	struct fs_reader *reader = &decoder->reader;
	const uint8_t *data = reader->data;
	size_t size = reader->size;
	size_t at = reader->offset;
	enum outcome outcome = CUT;

	while (at < size) {
		uint8_t header = data[at];
		size_t length;

		if (header == HEADER_PAD) {
			at = skip_zeros(data, at, size);
			continue;
		}
		length = packet_lengths[header];
		if (length == 0) {
			if (is_alignment(reader, at)) {
				at = skip_filler(decoder, at);
				continue;
			}
			length = extended_length(reader, at);
		}
		if (length == 0 || (header == HEADER_ADDRESS && record->present & FS_SPE_HAS_PC)) {
			outcome = BAD;
			break;
		}
		if (length > size - at)
			break;
		if (!store_packet(record, data + at))
			lose(&decoder->reserved, at, length);
		if (is_terminator(header)) {
			outcome = at == record->offset ? EMPTY : WHOLE;
			at += length;
			break;
		}
		at += length;
	}
	reader->offset = at;
	return outcome;
}

/* The next place, from `at` on, that is behind a terminator and padding and holds a record; the
 * end of the range if there is none. */
static size_t find_record(struct fs_spe_decoder *decoder, size_t at)
{
	const struct fs_reader *reader = &decoder->reader;

	for (; at < reader->size; at++) {
		size_t length, next;

		if (!is_terminator(reader->data[at]))
			continue;
		length = packet_lengths[reader->data[at]];
		if (length > reader->size - at)
			continue;
		next = skip_zeros(reader->data, at + length, reader->size);
		if (record_here(decoder, next))
			return next;
	}
	return reader->size;
}

/* The record behind a timestamp whose header lies before the range, as it may in a snapshot; 0:
 * none. */
static size_t behind_cut_timestamp(struct fs_spe_decoder *decoder)
{
	const struct fs_reader *reader = &decoder->reader;

	for (size_t at = 1; at < packet_lengths[HEADER_TIMESTAMP] && at < reader->size; at++) {
		size_t next = skip_zeros(reader->data, at, reader->size);

		if (next < reader->size && record_here(decoder, next))
			return next;
	}
	return 0;
}

/*
 * The offset at which to go on after the bad packet at `bad`, in a record that began at `start`.
 * First guess: it is the record's own terminator that is bad, so the next record stands right
 * behind it.
 */
static size_t find_resume(struct fs_spe_decoder *decoder, size_t start, size_t bad)
{
	const struct fs_reader *reader = &decoder->reader;
	size_t resume;

	if (start == 0) {
		resume = behind_cut_timestamp(decoder);
		if (resume > bad)
			return resume;
	}
	if (bad > start && decoder->terminator_size < reader->size - bad) {
		resume = skip_zeros(reader->data, bad + decoder->terminator_size, reader->size);
		if (resume < reader->size && record_here(decoder, resume))
			return resume;
	}
	resume = find_record(decoder, bad);
	if (resume == reader->size && decoder->records < LEARNED &&
	    !may_start(decoder, reader->data[start])) {
		memset(decoder->starts, 0xff, sizeof(decoder->starts));
		resume = find_record(decoder, bad);
	}
	return resume;
}

static void resynchronise(struct fs_spe_decoder *decoder, size_t start)
{
	size_t bad = decoder->reader.offset;

	decoder->reader.offset = find_resume(decoder, start, bad);
	lose(&decoder->resync, bad, decoder->reader.offset - start);
}

static inline void count_record(struct fs_spe_decoder *decoder, const struct fs_spe_record *record)
{
	decoder->terminator_size = record->present & FS_SPE_HAS_TIMESTAMP ? 9 : 1;
	decoder->records++;
	decoder->record_bytes += record->size;
}

/* ---- layouts ---- */

enum {
	LAYOUT_BYTES = 8 * FS_SPE_LAYOUT_WORDS,
	LAYOUT_READ = LAYOUT_BYTES + 8, /* a payload is loaded as eight bytes */
	LAYOUTS_LEARNED_MAX = 256,	/* in a range: a stream without kinds shall not pay */
};

/* The field of a packet that a layout can place, FS_SPE_FIELD_MAX if there is none. */
static unsigned int field_of(uint8_t header)
{
	if ((header & 0xf8) == HEADER_ADDRESS && (header & 7) <= 4)
		return FS_SPE_FIELD_PC + (header & 7);
	if ((header & 0xf8) == HEADER_COUNTER && (header & 7) <= 3)
		return FS_SPE_FIELD_TOTAL_LATENCY + (header & 7);
	if ((header & 0xcf) == 0x42)
		return FS_SPE_FIELD_EVENTS;
	if ((header & 0xcf) == 0x43)
		return FS_SPE_FIELD_DATA_SOURCE;
	if (header >= 0x48 && header <= 0x4a)
		return FS_SPE_FIELD_OPERATION;
	if (header == 0x64 || header == 0x65)
		return FS_SPE_FIELD_CONTEXT;
	return header == HEADER_TIMESTAMP ? FS_SPE_FIELD_TIMESTAMP : FS_SPE_FIELD_MAX;
}

/* Note the packets of a whole record. False if it has one that a layout cannot place, or twice. */
static bool place_packets(struct fs_spe_layout *layout, const uint8_t *bytes, size_t size)
{
	uint8_t mask[LAYOUT_BYTES] = { 0 };
	uint8_t header[LAYOUT_BYTES] = { 0 };

	for (size_t at = 0, length; at < size; at += length) {
		unsigned int field = field_of(bytes[at]);

		length = packet_lengths[bytes[at]];
		mask[at] = 0xff;
		header[at] = bytes[at];
		if (bytes[at] == HEADER_PAD || bytes[at] == HEADER_END)
			continue;
		if (field == FS_SPE_FIELD_MAX || layout->keep[field])
			return false;
		layout->at[field] = (uint8_t)(at + 1);
		layout->keep[field] = UINT64_MAX >> (64 - 8 * (length - 1));
	}
	memcpy(layout->mask, mask, sizeof(mask));
	memcpy(layout->header, header, sizeof(header));
	return true;
}

/* How many values the byte at `at` has in the layouts; 0 where it is not a header in each. */
static unsigned int count_values(const struct fs_spe_decoder *decoder, unsigned int at)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < decoder->layout_count; i++) {
		const struct fs_spe_layout *layout = &decoder->layouts[i];
		uint8_t header = ((const uint8_t *)layout->header)[at];
		unsigned int same = 0;

		if (!((const uint8_t *)layout->mask)[at])
			return 0;
		while (((const uint8_t *)decoder->layouts[same].header)[at] != header)
			same++;
		count += same == i;
	}
	return count;
}

/* Choose the byte by which to look up the layout to try first. */
static void choose_key(struct fs_spe_decoder *decoder)
{
	unsigned int most = 0;

	for (unsigned int at = 0; at < LAYOUT_BYTES; at++) {
		unsigned int count = count_values(decoder, at);

		if (count > most) {
			most = count;
			decoder->key_at = (uint8_t)at;
		}
	}
	for (unsigned int i = decoder->layout_count; i-- > 0;) {
		const uint8_t *header = (const uint8_t *)decoder->layouts[i].header;

		decoder->by_key[header[decoder->key_at]] = (uint8_t)i;
	}
}

static void learn_layout(struct fs_spe_decoder *decoder, const struct fs_spe_record *record)
{
	struct fs_spe_layout layout = {
		.size = record->size,
		.context_el = record->context_el,
		.operation_class = record->operation_class,
		.present = record->present,
	};

	if (record->size > LAYOUT_BYTES || decoder->layouts_learned >= LAYOUTS_LEARNED_MAX)
		return;
	decoder->layouts_learned++;
	if (!place_packets(&layout, decoder->reader.data + record->offset, record->size))
		return;
	decoder->layouts[decoder->next_layout] = layout;
	decoder->next_layout = (decoder->next_layout + 1) % FS_SPE_LAYOUTS;
	if (decoder->layout_count < FS_SPE_LAYOUTS)
		decoder->layout_count++;
	choose_key(decoder);
}

/* Two words, loaded from any address. */
typedef uint64_t pair __attribute__((vector_size(16), aligned(1), may_alias));

static inline bool has_layout(const struct fs_spe_layout *layout, const uint8_t *bytes)
{
	const pair *record = (const pair *)bytes;
	const pair *mask = (const pair *)layout->mask;
	const pair *header = (const pair *)layout->header;
	pair other = ((record[0] & mask[0]) ^ header[0]) | ((record[1] & mask[1]) ^ header[1]) |
		     ((record[2] & mask[2]) ^ header[2]) | ((record[3] & mask[3]) ^ header[3]);

	return !(other[0] | other[1]);
}

static inline uint64_t field(const struct fs_spe_layout *layout, const uint8_t *bytes,
			     enum fs_spe_field name)
{
	return load_u64(bytes + layout->at[name]) & layout->keep[name];
}

#define FIELD(name) field(layout, bytes, FS_SPE_FIELD_##name)

enum {
	RARE = FS_SPE_HAS_BRANCH_TARGET | FS_SPE_HAS_PREVIOUS_BRANCH_TARGET |
	       FS_SPE_HAS_ALTERNATE_LATENCY
};

static void load_rare_fields(const struct fs_spe_layout *layout, const uint8_t *bytes,
			     struct fs_spe_record *record)
{
	uint64_t target = FIELD(BRANCH_TARGET);
	uint64_t previous = FIELD(PREVIOUS_BRANCH_TARGET);

	record->branch_target = code_address(target);
	record->branch_attributes = target >> 56;
	record->previous_branch_target = code_address(previous);
	record->previous_branch_attributes = previous >> 56;
	record->alternate_latency = (uint16_t)FIELD(ALTERNATE_LATENCY);
}

/* Field by field: clearing the whole record first would take longer than all the rest. */
static inline void load_fields(const struct fs_spe_layout *layout, const uint8_t *bytes,
			       struct fs_spe_record *record)
{
	uint64_t pc = FIELD(PC);
	uint64_t virtual_address = FIELD(VA);
	uint64_t physical_address = FIELD(PA);

	record->pc = code_address(pc);
	record->virtual_address = data_address(virtual_address);
	record->physical_address = physical_address & ADDRESS_MASK;
	record->timestamp = FIELD(TIMESTAMP);
	record->events = FIELD(EVENTS);
	record->context = (uint32_t)FIELD(CONTEXT);
	record->present = layout->present;
	record->size = layout->size;
	record->context_el = layout->context_el;
	record->operation_class = layout->operation_class;
	record->operation_payload = (uint8_t)FIELD(OPERATION);
	record->pc_attributes = pc >> 56;
	record->va_tag = virtual_address >> 56;
	record->pa_attributes = physical_address >> 56;
	record->data_source = source_code(FIELD(DATA_SOURCE));
	record->total_latency = (uint16_t)FIELD(TOTAL_LATENCY);
	record->issue_latency = (uint16_t)FIELD(ISSUE_LATENCY);
	record->translation_latency = (uint16_t)FIELD(TRANSLATION_LATENCY);
	record->branch_target = record->previous_branch_target = 0;
	record->context_el1 = 0;
	record->alternate_latency = 0;
	record->branch_attributes = record->previous_branch_attributes = 0;
	if (layout->present & RARE)
		load_rare_fields(layout, bytes, record);
}

#undef FIELD

/* The layout of the record at `bytes`, NULL if none is known. */
static inline const struct fs_spe_layout *find_layout(const struct fs_spe_decoder *decoder,
						      const uint8_t *bytes)
{
	const struct fs_spe_layout *layout =
		&decoder->layouts[decoder->by_key[bytes[decoder->key_at]]];

	if (has_layout(layout, bytes))
		return layout;
	for (unsigned int i = 0; i < decoder->layout_count; i++) {
		if (has_layout(&decoder->layouts[i], bytes))
			return &decoder->layouts[i];
	}
	return NULL;
}

/* A record of a layout that is known; false: it must be walked. */
static inline bool load_record(struct fs_spe_decoder *decoder, struct fs_spe_record *ret_record)
{
	struct fs_reader *reader = &decoder->reader;
	const uint8_t *bytes = reader->data + reader->offset;
	const struct fs_spe_layout *layout;

	if (reader->size - reader->offset < LAYOUT_READ)
		return false;
	layout = find_layout(decoder, bytes);
	if (!layout)
		return false;
	load_fields(layout, bytes, ret_record);
	ret_record->offset = reader->offset;
	reader->offset += ret_record->size;
	count_record(decoder, ret_record);
	return true;
}

void fs_spe_begin(struct fs_spe_decoder *decoder, const void *data, size_t size,
		  uint64_t aux_offset)
{
	*decoder = (struct fs_spe_decoder){
		.reader = fs_reader_of(data, size),
		.aux_offset = aux_offset,
		.resync.first = SIZE_MAX,
		.empty.first = SIZE_MAX,
		.tail.first = SIZE_MAX,
		.reserved.first = SIZE_MAX,
		.terminator_size = packet_lengths[HEADER_TIMESTAMP],
	};
	decoder->budget = LOOKAHEAD * (uint64_t)size;
	decoder->layouts[0].header[0] = 1; /* with a mask of 0: no record has it */
	learn_start(decoder, HEADER_ADDRESS);
}

/* The start of a range may be the rest of a record, so its first record teaches nothing. */
static void learn_record(struct fs_spe_decoder *decoder, const struct fs_spe_record *record)
{
	if (decoder->records < LEARNED)
		return;
	learn_start(decoder, decoder->reader.data[record->offset]);
	learn_layout(decoder, record);
}

/* Walk the record at reader.offset, which is no padding. False if it gave none. */
static bool walk_record(struct fs_spe_decoder *decoder, struct fs_spe_record *ret_record)
{
	struct fs_reader *reader = &decoder->reader;
	size_t start = reader->offset;

	*ret_record = (struct fs_spe_record){ .offset = start };
	switch (read_packets(decoder, ret_record)) {
	case WHOLE:
		if (reader->offset - start <= FS_SPE_RECORD_MAX) {
			ret_record->size = (uint16_t)(reader->offset - start);
			count_record(decoder, ret_record);
			learn_record(decoder, ret_record);
			return true;
		}
		lose(&decoder->resync, start, reader->offset - start);
		break;
	case EMPTY:
		lose(&decoder->empty, start, reader->offset - start);
		break;
	case CUT:
		decoder->is_cut = reader->offset == reader->size;
		decoder->cut = *ret_record;
		lose(&decoder->tail, start, reader->size - start);
		reader->offset = reader->size;
		break;
	case BAD:
		resynchronise(decoder, start);
		break;
	}
	return false;
}

bool fs_spe_next(struct fs_spe_decoder *decoder, struct fs_spe_record *ret_record)
{
	struct fs_reader *reader = &decoder->reader;

	for (;;) {
		size_t start = reader->offset;

		if (load_record(decoder, ret_record))
			return true;
		skip_padding(decoder);
		if (reader->offset == reader->size)
			return false;
		if (reader->offset == start && walk_record(decoder, ret_record))
			return true;
	}
}
