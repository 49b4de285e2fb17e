/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzz target: a perf.data file through both passes, up to the rows that would be stored.
 *
 * Beyond not failing: rows stay within what the tables may hold, and names that rows point to
 * exist; the account of the input's bytes adds up to its size.
 */
#include "fuzz/fuzz.h"
#include "ingest/load/decode.h"

static struct fs_batch batch;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return fs_batch_init(&batch);
}

static bool is_below(const struct fs_sample_row *row, enum fs_sample_column column, size_t count)
{
	return row->nulls >> column & 1 ||
	       (row->value[column] >= 0 && (size_t)row->value[column] < count);
}

static void check_batch(const struct fs_decoder *decoder)
{
	for (size_t i = 0; i < batch.count; i++) {
		const struct fs_sample_row *row = &batch.rows[i];

		/* behind the events that the file describes comes that of unknown ids */
		FS_FUZZ_ASSERT(
			is_below(row, FS_COLUMN_EVENT, decoder->session->file.event_count + 1));
		FS_FUZZ_ASSERT(is_below(row, FS_COLUMN_CODE, decoder->code_ids.count));
		FS_FUZZ_ASSERT(is_below(row, FS_COLUMN_CHAIN, decoder->chains.count));
		FS_FUZZ_ASSERT(is_below(row, FS_COLUMN_CPU, FS_CPUS_MAX));
	}
}

static void decode_all(struct fs_session *session)
{
	static const struct fs_id_bases bases;
	struct fs_decoder decoder;
	struct fs_error error;
	uint64_t rows = 0;
	bool more = true;
	int code = fs_decoder_open(&decoder, session, &bases, &error);

	while (!code && more) {
		code = fs_decoder_next(&decoder, &batch, &more, &error);
		if (!code && more) {
			check_batch(&decoder);
			rows += batch.count;
		}
	}
	if (!code) {
		FS_FUZZ_ASSERT(rows == decoder.rows);
		fs_rollup_finish(&decoder.rollup, &error);
	}
	fs_decoder_close(&decoder);
}

static void check_account(const struct fs_extents *extents, size_t size)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < FS_RECORD_TYPES; i++)
		bytes += extents->records[0][i].bytes + extents->records[1][i].bytes;
	for (size_t i = 0; i < extents->count; i++)
		bytes += extents->rows[i].bytes;
	FS_FUZZ_ASSERT(extents->failed || bytes == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fs_session session;
	struct fs_error error;

	if (!fs_session_open(&session, fs_fuzz_file(0, data, size), &error)) {
		check_account(&session.extents, size);
		decode_all(&session);
		check_account(&session.extents, size);
	}
	fs_session_close(&session);
	return 0;
}
