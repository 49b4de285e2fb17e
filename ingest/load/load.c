/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/load/load.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/vector.h"
#include "ingest/load/bulk.h"
#include "ingest/load/hash_file.h"
#include "ingest/load/names.h"
#include "ingest/load/queue.h"
#include "ingest/load/rows.h"
#include "ingest/load/store.h"
#include "schema/schema.h"

enum { FINGERPRINT_BLOCKS = 64 };

struct load {
	sqlite3 *db;
	const struct fs_load_options *options;
	struct fs_error *error;
	struct fs_session session;
	struct fs_decoder decoder;
	struct fs_heap heap;
	struct fs_queue queue;
	struct fs_hash_file hash;
	bool hash_begun;
	struct fs_trace_facts facts;
	char *name;
	int decode_code;
	struct fs_error decode_error;
};

/* ---- numbers that the database gives ---- */

static int read_bases(struct load *load, struct fs_id_bases *bases)
{
	FS_TRY(fs_rows_next_id(load->db, "trace", "id", &load->facts.id, load->error));
	FS_TRY(fs_rows_next_id(load->db, "dso", "id", &load->facts.dso_base, load->error));
	FS_TRY(fs_rows_next_id(load->db, "function", "id", &load->facts.function_base,
			       load->error));
	FS_TRY(fs_rows_next_id(load->db, "event", "id", &bases->event, load->error));
	FS_TRY(fs_rows_next_id(load->db, "thread", "id", &bases->thread, load->error));
	FS_TRY(fs_rows_next_id(load->db, "code", "id", &bases->code, load->error));
	FS_TRY(fs_rows_next_id(load->db, "chain", "id", &bases->chain, load->error));
	FS_TRY(fs_rows_next_id(load->db, "space", "id", &bases->space, load->error));
	return fs_rows_next_id(load->db, "sample", "rowid", &bases->sample, load->error);
}

/* ---- the same trace again ---- */

/*
 * Hash the input in a thread of its own, once. Mostly that waits until the samples are written,
 * when one processor has nothing else to do.
 */
static int begin_hash(struct load *load)
{
	const struct fs_perf_file *file = &load->session.file;

	if (load->hash_begun)
		return 0;
	load->hash_begun = true;
	/* a directory is hashed by its joined records: its files' bytes stand nowhere together */
	return fs_hash_file_begin(&load->hash, file->directory_fd < 0 ? file->input_fd : file->fd,
				  load->error);
}

/*
 * A few blocks of the input, as a number: two files of one size and one fingerprint are worth
 * hashing to see whether they are the same.
 */
static int take_fingerprint(struct load *load)
{
	const struct fs_perf_file *file = &load->session.file;
	uint64_t fingerprint = 0;
	uint8_t block[4096];

	for (uint64_t i = 0; i < FINGERPRINT_BLOCKS; i++) {
		ssize_t got = pread(file->input_fd, block, sizeof(block),
				    (off_t)(file->size / FINGERPRINT_BLOCKS * i));

		if (got < 0)
			return fs_fail(load->error, FS_REFUSED, "%s: cannot read: %s",
				       load->options->path, strerror(errno));
		fingerprint = fs_hash(block, (size_t)got, fingerprint);
	}
	load->facts.fingerprint = fingerprint;
	return 0;
}

/* The trace of the same bytes, 0 if there is none. The hash is only waited for where a trace of
 * the same size and fingerprint is there. */
static int find_same(struct load *load, int64_t *ret_trace)
{
	static const char sql[] =
		"SELECT id, sha256 FROM trace WHERE bytes = ?1 AND EXISTS (SELECT 1 FROM fact "
		"WHERE trace_id = trace.id AND name = 'fingerprint' AND value = ?2)";
	sqlite3_stmt *statement;
	char fingerprint[32];
	int code = 0;

	*ret_trace = 0;
	FS_TRY(take_fingerprint(load));
	if (sqlite3_prepare_v2(load->db, sql, -1, &statement, NULL) != SQLITE_OK)
		return fs_sql_fail(load->db, NULL, load->error);
	sqlite3_bind_int64(statement, 1,
			   (int64_t)(load->session.file.size + load->session.file.parts_size));
	snprintf(fingerprint, sizeof(fingerprint), "%llu",
		 (unsigned long long)load->facts.fingerprint);
	sqlite3_bind_text(statement, 2, fingerprint, -1, SQLITE_STATIC);
	while (!code && !*ret_trace && sqlite3_step(statement) == SQLITE_ROW) {
		const char *sha256 = (const char *)sqlite3_column_text(statement, 1);

		code = begin_hash(load);
		if (!code)
			code = fs_hash_file_end(&load->hash, load->error);
		if (!code && sha256 && !strcmp(sha256, load->hash.hex))
			*ret_trace = sqlite3_column_int64(statement, 0);
	}
	sqlite3_finalize(statement);
	return code;
}

/* Remove a trace from every table: by its own id, or by the ids of what belongs to it. */
static int remove_trace(struct load *load, int64_t trace)
{
	static const struct {
		const char *column, *owner;
	} owners[] = { { "event_id", "event" },
		       { "thread_id", "thread" },
		       { "dso_id", "dso" },
		       { "type_id", "type" },
		       { "code_id", "code" } };
	const struct fs_table_definition *last = fs_schema_tables;
	char sql[256];

	while (last[1].name)
		last++;
	/* owners come before what they own in the schema, so it is walked from its end */
	for (const struct fs_table_definition *table = last; table >= fs_schema_tables; table--) {
		const struct fs_column *column = table->columns;

		if (!fs_table_is_of_traces(table))
			continue;
		while (column->name && strcmp(column->name, "trace_id") != 0)
			column++;
		if (column->name)
			snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE trace_id = %lld",
				 table->name, (long long)trace);
		else
			*sql = '\0';
		for (size_t i = 0; !*sql && i < sizeof(owners) / sizeof(owners[0]); i++) {
			for (column = table->columns;
			     column->name && strcmp(column->name, owners[i].column) != 0; column++)
				;
			if (column->name)
				snprintf(sql, sizeof(sql),
					 "DELETE FROM %s WHERE %s IN (SELECT id FROM %s WHERE "
					 "trace_id = %lld)",
					 table->name, owners[i].column, owners[i].owner,
					 (long long)trace);
		}
		if (!*sql && !strcmp(table->name, "trace"))
			snprintf(sql, sizeof(sql), "DELETE FROM trace WHERE id = %lld",
				 (long long)trace);
		FS_TRY(fs_sql_run(load->db, sql, load->error));
	}
	return 0;
}

/* ---- name and options ---- */

static bool is_name_taken(struct load *load, const char *name)
{
	sqlite3_stmt *statement;
	bool taken = false;

	if (sqlite3_prepare_v2(load->db, "SELECT 1 FROM trace WHERE name = ?1", -1, &statement,
			       NULL) != SQLITE_OK)
		return false;
	sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
	taken = sqlite3_step(statement) == SQLITE_ROW;
	sqlite3_finalize(statement);
	return taken;
}

static int choose_name(struct load *load)
{
	const char *path = load->options->path;
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	const char *wish = load->options->name ? load->options->name
			   : strcmp(path, "-") ? base
					       : "standard input";

	if (load->options->name && is_name_taken(load, wish))
		return fs_fail(load->error, FS_USAGE,
			       "--name %s: another trace of this database has "
			       "that name; choose a different one",
			       wish);
	load->name = strdup(wish);
	for (unsigned int i = 2; load->name && is_name_taken(load, load->name); i++) {
		free(load->name);
		if (asprintf(&load->name, "%s (%u)", wish, i) < 0)
			load->name = NULL;
	}
	load->facts.name = load->name;
	return load->name ? 0 : fs_fail(load->error, FS_NOMEM, "out of memory");
}

static bool has_sources(const struct fs_symbol_options *symbols)
{
	return symbols->root_count || symbols->archive_count || symbols->vmlinux ||
	       symbols->kallsyms;
}

/* What of the options changed the content; paths of this machine are not content. */
static const char *describe_options(const struct load *load, struct json_object *object)
{
	if (has_sources(&load->options->symbols))
		json_object_object_add(object, "symbols", json_object_new_boolean(true));
	if (load->options->symbols.allow_unverified)
		json_object_object_add(object, "unverified_symbols", json_object_new_boolean(true));
	if (load->options->jit.perf_map_count || load->options->jit.dump_count)
		json_object_object_add(object, "jit", json_object_new_boolean(true));
	if (load->options->allocation_log_count)
		json_object_object_add(object, "allocation_log", json_object_new_boolean(true));
	if (load->options->no_samples)
		json_object_object_add(object, "no_samples", json_object_new_boolean(true));
	return json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN);
}

/* ---- the decoding thread ---- */

static int decode_all(struct load *load)
{
	struct fs_error *error = &load->decode_error;
	bool more = true;

	while (more) {
		struct fs_batch *batch = fs_queue_empty(&load->queue);

		if (!batch)
			return 0;
		FS_TRY(fs_decoder_next(&load->decoder, batch, &more, error));
		if (more)
			fs_queue_put(&load->queue);
	}
	fs_queue_end(&load->queue);
	FS_TRY(fs_rollup_finish(&load->decoder.rollup, error));
	if (load->decoder.rollup.undetailed_lines)
		fs_loss_add(&load->session.loss, FS_LOSS_UNDETAILED_LINES,
			    load->decoder.rollup.undetailed_lines, 0, UINT64_MAX, "lines");
	return 0;
}

static void *run_decoder(void *context)
{
	struct load *load = context;

	load->decode_code = decode_all(load);
	fs_queue_end(&load->queue);
	return NULL;
}

/* ---- the writing thread ---- */

/* Ask for what has been written to reach the disk while the decoder still sums up, so that the
 * final sync finds little to do. Whether it works is the final sync's business. */
static void sync_early(sqlite3 *db)
{
	sqlite3_file *file = NULL;

	if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK &&
	    file && file->pMethods)
		file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
}

/* Raw data has its JSON text, so it goes row by row. */
static int write_raws(sqlite3_stmt *insert, const struct fs_batch *batch, struct load *load)
{
	for (size_t i = 0; i < batch->raw_count; i++) {
		const struct fs_raw_row *row = &batch->raws[i];

		sqlite3_bind_int64(insert, 1, row->sample);
		sqlite3_bind_int64(insert, 2, row->event);
		sqlite3_bind_text(insert, 3, batch->json.bytes + row->first, (int)row->length,
				  SQLITE_STATIC);
		sqlite3_step(insert);
		if (sqlite3_reset(insert) != SQLITE_OK)
			return fs_fail(load->error, FS_OUTPUT, "cannot write to the database: %s",
				       sqlite3_errmsg(load->db));
	}
	return 0;
}

static int write_batches(struct load *load)
{
	struct fs_bulk samples;
	struct fs_bulk reads;
	struct fs_bulk extras;
	const struct fs_batch *batch;
	sqlite3_stmt *raws = NULL;
	uint64_t written = 0;
	int code = fs_bulk_open(&samples, load->db, "sample", FS_SAMPLE_COLUMNS, load->error);

	if (fs_bulk_open(&reads, load->db, "sample_read", FS_READ_COLUMNS, load->error) && !code)
		code = FS_INTERNAL;
	if (!code && sqlite3_prepare_v2(load->db, "INSERT INTO sample_raw VALUES (?, ?, ?)", -1,
					&raws, NULL) != SQLITE_OK)
		code = fs_fail(load->error, FS_INTERNAL, "table sample_raw: %s",
			       sqlite3_errmsg(load->db));
	if (fs_bulk_open(&extras, load->db, "spe_extra", FS_SPE_EXTRA_COLUMNS, load->error) &&
	    !code)
		code = FS_INTERNAL;
	while (!code && (batch = fs_queue_take(&load->queue))) {
		if (!load->options->no_samples) {
			code = fs_bulk_insert(&samples, batch->rows, batch->count, load->error);
			if (!code)
				code = fs_bulk_insert(&reads, batch->reads, batch->read_count,
						      load->error);
			if (!code)
				code = write_raws(raws, batch, load);
			if (!code)
				code = fs_bulk_insert(&extras, batch->extras, batch->extra_count,
						      load->error);
		}
		written += batch->count;
		if (load->options->progress)
			load->options->progress(load->options->progress_context, written,
						batch->file_offset, load->session.file.data_end);
		fs_queue_give(&load->queue);
	}
	fs_bulk_close(&samples);
	fs_bulk_close(&reads);
	sqlite3_finalize(raws);
	fs_bulk_close(&extras);
	if (!code)
		code = begin_hash(load);
	if (!code)
		sync_early(load->db);
	return code;
}

static int run_both(struct load *load)
{
	pthread_t thread;
	int code;

	if (fs_queue_init(&load->queue))
		return fs_fail(load->error, FS_NOMEM, "out of memory");
	code = pthread_create(&thread, NULL, run_decoder, load);
	if (code)
		return fs_fail(load->error, FS_NOMEM, "cannot start a thread: %s", strerror(code));
	code = write_batches(load);
	if (code)
		fs_queue_stop(&load->queue);
	pthread_join(thread, NULL);
	if (!code && load->decode_code) {
		if (load->error)
			*load->error = load->decode_error;
		code = load->decode_code;
	}
	return code;
}

/* ---- all of it ---- */

static int read_allocations(struct load *load)
{
	struct fs_loss *loss = &load->session.loss;
	struct fs_heap *heap = &load->heap;

	for (size_t i = 0; i < load->options->allocation_log_count; i++)
		FS_TRY(fs_heap_read(heap, &load->decoder, load->options->allocation_logs[i],
				    load->error));
	FS_TRY(fs_heap_take_probes(heap, &load->decoder, load->db, load->error));
	if (heap->skipped)
		fs_loss_add(loss, FS_LOSS_BAD_ALLOCATION, heap->skipped, 0, UINT64_MAX,
			    "allocation logs");
	if (heap->dropped)
		fs_loss_add(loss, FS_LOSS_ALLOCATION_LIMIT, heap->dropped, 0, UINT64_MAX,
			    "allocation logs");
	return 0;
}

static int load_trace(struct load *load, struct fs_load_result *result)
{
	struct fs_id_bases bases;
	struct json_object *object;
	int64_t same;
	int code;

	FS_TRY(find_same(load, &same));
	if (same && !load->options->replace) {
		result->already_there = true;
		result->trace_id = same;
		return 0;
	}
	if (same)
		FS_TRY(remove_trace(load, same));
	FS_TRY(choose_name(load));
	FS_TRY(read_bases(load, &bases));
	FS_TRY(fs_decoder_open(&load->decoder, &load->session, &bases, load->error));
	FS_TRY(run_both(load));
	FS_TRY(read_allocations(load));
	result->damaged = fs_loss_is_damaged(&load->session.loss);
	if (result->damaged && load->options->strict)
		return fs_fail(load->error, FS_REFUSED,
			       "%s: the file is damaged or cut off and "
			       "--strict was given; without it, what is there is imported",
			       load->options->path);
	FS_TRY(fs_hash_file_end(&load->hash, load->error));
	load->facts.sha256 = load->hash.hex;
	load->facts.heap = &load->heap;
	object = json_object_new_object();
	load->facts.options = describe_options(load, object);
	code = fs_store_trace(load->db, &load->decoder, &load->facts, load->error);
	json_object_put(object);
	if (!code && has_sources(&load->options->symbols))
		code = fs_name_trace(load->db, load->facts.id, load->options->symbols, load->error);
	result->trace_id = load->facts.id;
	return code;
}

static void free_load(struct load *load)
{
	fs_hash_file_end(&load->hash, NULL);
	fs_heap_free(&load->heap);
	free(load->name);
	fs_queue_free(&load->queue);
	fs_decoder_close(&load->decoder);
	fs_session_close(&load->session);
}

int fs_load(sqlite3 *db, const struct fs_load_options *options, struct fs_load_result *ret_result,
	    struct fs_error *error)
{
	struct load load = { .db = db, .options = options, .error = error };
	struct fs_load_result result = { 0 };
	int code;

	fs_heap_init(&load.heap);
	code = fs_session_open(&load.session, options->path, error);
	if (!code)
		code = fs_jit_add(&load.session, &options->jit, error);
	if (!code)
		code = load_trace(&load, &result);
	if (!code)
		*ret_result = result;
	free_load(&load);
	return code;
}

int fs_load_hash(const char *path, char *ret_hex, struct fs_error *error)
{
	struct load load = { .error = error };
	int code = fs_session_open(&load.session, path, error);

	if (!code)
		code = begin_hash(&load);
	if (!code)
		code = fs_hash_file_end(&load.hash, error);
	if (!code)
		memcpy(ret_hex, load.hash.hex, sizeof(load.hash.hex));
	fs_session_close(&load.session);
	return code;
}
