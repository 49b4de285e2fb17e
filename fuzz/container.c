/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzz target: bytes as a perf.data file, through header, features, decompression and the walk
 * over the records.
 *
 * Beyond not failing: records follow each other without overlapping and lie within the data, and
 * a second walk over the same file finds the same ones.
 */
#include "fuzz/fuzz.h"
#include "ingest/perfdata/host.h"
#include "ingest/perfdata/spool.h"

struct walk {
	uint64_t records, bytes, digest;
};

static struct walk walk_of(const struct fs_perf_file *file, struct fs_loss *loss)
{
	struct fs_cursor cursor;
	struct fs_record record;
	struct fs_error error;
	struct walk walk = { 0 };
	uint64_t position = file->data.offset;
	bool more = true;
	int code = fs_cursor_open(&cursor, file, &error);

	while (!code && more) {
		code = fs_cursor_next(&cursor, &record, &more, loss, &error);
		if (code || !more)
			continue;
		FS_FUZZ_ASSERT(record.offset >= position);
		FS_FUZZ_ASSERT(record.payload.size + 8 == record.size);
		position = record.offset + record.size + record.raw.size;
		FS_FUZZ_ASSERT(position <= file->data_end);
		walk.records++;
		walk.bytes += record.size + record.raw.size;
		walk.digest = fs_hash(record.payload.data, record.payload.size, walk.digest);
	}
	fs_cursor_close(&cursor);
	return walk;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fs_perf_file file;
	struct fs_host host = { 0 };
	struct fs_loss loss;
	struct fs_error error;

	fs_loss_init(&loss);
	if (!fs_perf_open(&file, fs_fuzz_file(0, data, size), &loss, &error) &&
	    !fs_host_read(&file, &host, &loss, &error) && !fs_spool_expand(&file, &loss, &error)) {
		struct walk first = walk_of(&file, &loss);
		struct walk second = walk_of(&file, NULL);

		FS_FUZZ_ASSERT(first.records == second.records && first.bytes == second.bytes &&
			       first.digest == second.digest);
	}
	fs_host_free(&host);
	fs_perf_close(&file);
	fs_loss_free(&loss);
	return 0;
}
