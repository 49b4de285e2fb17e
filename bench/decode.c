/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How fast is decoding alone? Reads a perf.data file without writing anything, in one thread, and
 * prints the number of records, the CPU seconds, and a sum over what was decoded. One of three
 * stages, each with all of the one before:
 *
 *   packets  the container and the SPE packets: every record of the file found, every SPE record
 *            decoded into its fields
 *   records  operation, source class and time of each record, too
 *   rows     all of pass two: threads, address spaces, code addresses and roll-ups
 *
 * bench/run compares them with `perf script` on the same file in the same run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ingest/load/decode.h"
#include "ingest/spe/operation.h"
#include "ingest/spe/spe.h"

enum { PIECE = 1 << 18 };

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* What was decoded; the sum is printed, so that nothing can be left out. */
struct totals {
	bool packets_only;
	uint64_t records, sum;
};

static uint64_t meaning_of(const struct fs_session *session, const struct fs_memsrc_family *family,
			   const struct fs_spe_record *record)
{
	uint32_t flags;
	enum fs_op op = fs_spe_operation(record, &flags);
	struct fs_memsrc source =
		fs_memsrc_from_spe(family, record->present & FS_SPE_HAS_DATA_SOURCE,
				   record->data_source, record->events, op);

	return fs_access_pack(source.op, source.source, source.certainty, flags | source.flags) +
	       fs_clock_ns(&session->clock, record->timestamp);
}

static void decode_piece(const struct fs_session *session, const struct fs_memsrc_family *family,
			 struct fs_spe_decoder *decoder, struct totals *totals)
{
	struct fs_spe_record record;

	while (fs_spe_next(decoder, &record)) {
		totals->records++;
		totals->sum += record.virtual_address + record.timestamp;
		if (!totals->packets_only)
			totals->sum += meaning_of(session, family, &record);
	}
}

/* Whole pieces only: a record that spans two is counted as cut, which is one in 16 thousand. */
static int decode_aux(struct fs_session *session, const struct fs_record *record, uint8_t *buffer,
		      struct totals *totals, struct fs_error *error)
{
	struct fs_reader payload = record->payload;
	const struct fs_memsrc_family *family;
	uint64_t aux_offset;
	uint32_t cpu;

	fs_read_u64(&payload);
	aux_offset = fs_read_u64(&payload);
	fs_read_u64(&payload);
	fs_read_u64(&payload);
	cpu = fs_read_u32(&payload);
	family = fs_session_spe_family(session, cpu);
	for (uint64_t done = 0; done < record->raw.size; done += PIECE) {
		uint64_t left = record->raw.size - done;
		size_t size = left < PIECE ? (size_t)left : PIECE;
		struct fs_spe_decoder decoder;

		FS_TRY(fs_perf_read(&session->file, record->raw.offset + done, buffer, size,
				    error));
		fs_spe_begin(&decoder, buffer, size, aux_offset + done);
		decode_piece(session, family, &decoder, totals);
	}
	return 0;
}

static int decode_records(const char *path, struct totals *totals, struct fs_error *error)
{
	struct fs_session session;
	struct fs_cursor cursor = { 0 };
	struct fs_record record;
	uint8_t *buffer = malloc(PIECE);
	bool more = true;
	int code = fs_session_open(&session, path, error);

	if (!code && !buffer)
		code = fs_fail(error, FS_NOMEM, "out of memory");
	if (!code)
		code = fs_cursor_open(&cursor, &session.file, error);
	while (!code && more) {
		code = fs_cursor_next(&cursor, &record, &more, NULL, error);
		if (!code && more && record.type == FS_RECORD_AUXTRACE)
			code = decode_aux(&session, &record, buffer, totals, error);
	}
	fs_cursor_close(&cursor);
	fs_session_close(&session);
	free(buffer);
	return code;
}

static int decode_rows(const char *path, uint64_t *ret_rows, struct fs_error *error)
{
	static const struct fs_id_bases bases = { 0 };
	struct fs_session session;
	struct fs_decoder decoder = { 0 };
	struct fs_batch batch = { 0 };
	bool more = true;
	int code = fs_session_open(&session, path, error);

	if (!code)
		code = fs_batch_init(&batch);
	if (!code)
		code = fs_decoder_open(&decoder, &session, &bases, error);
	while (!code && more)
		code = fs_decoder_next(&decoder, &batch, &more, error);
	*ret_rows = decoder.rows;
	fs_decoder_close(&decoder);
	fs_batch_free(&batch);
	fs_session_close(&session);
	return code;
}

int main(int argc, char **argv)
{
	const char *stage = argc == 3 ? argv[1] : "";
	struct totals totals = { .packets_only = !strcmp(stage, "packets") };
	struct fs_error error = { 0 };
	double start = cpu_seconds();
	int code;

	if (totals.packets_only || !strcmp(stage, "records")) {
		code = decode_records(argv[2], &totals, &error);
	} else if (!strcmp(stage, "rows")) {
		code = decode_rows(argv[2], &totals.records, &error);
	} else {
		fprintf(stderr, "usage: bench_decode packets|records|rows PERF_DATA\n");
		return FS_EXIT_USAGE;
	}
	if (code) {
		fprintf(stderr, "bench_decode: %s\n", error.text);
		return fs_exit_of(code);
	}
	printf("%llu %.3f %016llx\n", (unsigned long long)totals.records, cpu_seconds() - start,
	       (unsigned long long)totals.sum);
	return 0;
}
