/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: queries lie in two arrays, of code and of data, sorted by DSO, so that each DSO's
 * are a slice. They are counted, placed and filled.
 */
#include "ingest/load/names.h"

#include <stdlib.h>

#include "common/vector.h"

void fs_names_init(struct fs_names *names)
{
	*names = (struct fs_names){ 0 };
	fs_interner_init(&names->strings);
}

void fs_names_free(struct fs_names *names)
{
	for (size_t i = 0; i < names->dso_count; i++)
		fs_symbol_dso_free(&names->dsos[i]);
	free(names->dsos);
	free(names->dso_of);
	free(names->result_of);
	free(names->queries);
	free(names->results);
	free(names->objects);
	free(names->object_queries);
	free(names->object_answers);
	fs_interner_free(&names->strings);
}

/* Whether a binary can be looked for: code of it was sampled, or data that may be its own. */
static bool is_wanted(const struct fs_session *session, const struct fs_dso *dso, size_t objects)
{
	const char *path = fs_interned(&session->strings, dso->path, NULL);

	return (dso->samples || objects) && path[0] == '/' && path[1] != '/';
}

/* Note the data addresses that two threads touched, with the DSO to ask; counts those by DSO. */
static int collect_objects(struct fs_names *names, const struct fs_decoder *decoder, size_t *counts)
{
	const struct fs_session *session = decoder->session;
	const struct fs_rollup *rollup = &decoder->rollup;

	for (size_t i = 0; i < rollup->group_count; i++) {
		const struct fs_rollup_group *group = &rollup->groups[i];
		int64_t map;

		if (i && group[-1].space == group->space && group[-1].addr == group->addr)
			continue;
		map = fs_maps_below(&session->maps, &session->threads, &session->strings,
				    group->space, group->addr);
		if (map == FS_NONE)
			continue;
		FS_TRY(FS_RESERVE(names->objects, names->object_capacity, names->object_count + 1));
		names->objects[names->object_count++] = (struct fs_object_asked){
			.addr = group->addr,
			.space = group->space,
			.dso = session->maps.maps[map].dso,
			.query = (size_t)map, /* until it is placed */
		};
		counts[session->maps.maps[map].dso]++;
	}
	return 0;
}

static const char *text_or_null(const struct fs_session *session, int64_t id)
{
	return id == FS_NONE ? NULL : fs_interned(&session->strings, (uint32_t)id, NULL);
}

/* Choose the DSOs that are asked. */
static void choose_dsos(struct fs_names *names, const struct fs_session *session,
			const size_t *objects)
{
	for (size_t i = 0; i < session->maps.dso_count; i++) {
		const struct fs_dso *dso = &session->maps.dsos[i];

		if (!is_wanted(session, dso, objects[i]))
			continue;
		names->dsos[names->dso_count] = (struct fs_symbol_dso){
			.path = fs_interned(&session->strings, dso->path, NULL),
			.fd = -1,
			.build_id = text_or_null(session, dso->build_id),
		};
		names->dso_of[i] = ++names->dso_count;
	}
}

static struct fs_symbol_dso *asked(struct fs_names *names, int64_t dso)
{
	return dso != FS_NONE && names->dso_of[dso] ? &names->dsos[names->dso_of[dso] - 1] : NULL;
}

static void place_codes(struct fs_names *names, const struct fs_decoder *decoder)
{
	size_t codes = decoder->code_ids.count;
	size_t used = 0;

	for (size_t i = 0; i < codes; i++) {
		struct fs_symbol_dso *dso = asked(names, fs_decoder_code(decoder, i)->dso);

		if (dso)
			dso->query_count++;
	}
	for (size_t i = 0; i < names->dso_count; i++) {
		struct fs_symbol_dso *dso = &names->dsos[i];

		dso->queries = names->queries + used;
		dso->results = names->results + used;
		used += dso->query_count;
		dso->query_count = 0;
	}
	for (size_t i = 0; i < codes; i++) {
		const struct fs_code *code = fs_decoder_code(decoder, i);
		struct fs_symbol_dso *dso = asked(names, code->dso);

		if (!dso)
			continue;
		names->result_of[i] = dso->query_count;
		names->queries[dso->queries - names->queries + (ptrdiff_t)dso->query_count++] =
			(struct fs_symbol_query){ .offset = code->offset, .exact = code->exact };
	}
}

static void place_objects(struct fs_names *names, const struct fs_maps *maps)
{
	size_t used = 0;

	for (size_t i = 0; i < names->object_count; i++) {
		struct fs_symbol_dso *dso = asked(names, names->objects[i].dso);

		if (dso)
			dso->object_query_count++;
	}
	for (size_t i = 0; i < names->dso_count; i++) {
		struct fs_symbol_dso *dso = &names->dsos[i];

		dso->object_queries = names->object_queries + used;
		dso->objects = names->object_answers + used;
		used += dso->object_query_count;
		dso->object_query_count = 0;
	}
	for (size_t i = 0; i < names->object_count; i++) {
		struct fs_object_asked *object = &names->objects[i];
		const struct fs_map *map = &maps->maps[object->query];
		struct fs_symbol_dso *dso = asked(names, object->dso);
		ptrdiff_t first;

		if (!dso)
			continue;
		first = dso->object_queries - names->object_queries;
		object->query = dso->object_query_count++;
		names->object_queries[first + (ptrdiff_t)object->query] =
			(struct fs_symbol_object_query){
				.offset = map->pgoff,
				.distance = object->addr - map->start,
			};
	}
}

static int make_queries(struct fs_names *names, const struct fs_decoder *decoder, size_t *counts)
{
	const struct fs_session *session = decoder->session;
	size_t codes = decoder->code_ids.count;

	FS_TRY(collect_objects(names, decoder, counts));
	names->dsos = calloc(session->maps.dso_count + 1, sizeof(*names->dsos));
	names->dso_of = calloc(session->maps.dso_count + 1, sizeof(*names->dso_of));
	names->result_of = calloc(codes + 1, sizeof(*names->result_of));
	names->queries = calloc(codes + 1, sizeof(*names->queries));
	names->results = calloc(codes + 1, sizeof(*names->results));
	names->object_queries = calloc(names->object_count + 1, sizeof(*names->object_queries));
	names->object_answers = calloc(names->object_count + 1, sizeof(*names->object_answers));
	if (!names->dsos || !names->dso_of || !names->result_of || !names->queries ||
	    !names->results || !names->object_queries || !names->object_answers)
		return FS_NOMEM;
	choose_dsos(names, session, counts);
	place_codes(names, decoder);
	place_objects(names, &session->maps);
	return 0;
}

int fs_names_ask(struct fs_names *names, const struct fs_decoder *decoder,
		 struct fs_symbol_options options, struct fs_error *error)
{
	size_t *counts = calloc(decoder->session->maps.dso_count + 1, sizeof(*counts));
	int code = counts ? make_queries(names, decoder, counts) : FS_NOMEM;

	free(counts);
	if (code)
		return fs_fail(error, FS_NOMEM, "out of memory");
	options.strings = &names->strings;
	return fs_symbolise(&options, names->dsos, names->dso_count, NULL, error);
}
