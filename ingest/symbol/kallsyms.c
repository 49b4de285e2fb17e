/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/symbol/kallsyms.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/search.h"
#include "common/table.h"
#include "common/vector.h"

/* ---- reading ---- */

/* A hex number at the start of a line. Returns its digits, 0 if there are none or too many. */
static size_t read_hex(const char *at, size_t left, uint64_t *ret_value)
{
	uint64_t value = 0;
	size_t digits = 0;

	while (digits < left && isxdigit((unsigned char)at[digits])) {
		char c = at[digits++];

		if (digits > 16)
			return 0;
		value = value << 4 |
			(uint64_t)(isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10);
	}
	*ret_value = value;
	return digits;
}

/* How many characters stand before a blank. */
static size_t word(const char *at, size_t left)
{
	size_t length = 0;

	while (length < left && !isspace((unsigned char)at[length]))
		length++;
	return length < UINT16_MAX ? length : UINT16_MAX;
}

static bool parse_line(const char *text, size_t start, size_t end, struct fs_kallsym *ret_symbol)
{
	struct fs_kallsym symbol = { 0 };
	size_t at = start + read_hex(text + start, end - start, &symbol.address);

	if (at == start || end - at < 4 || text[at] != ' ' || text[at + 2] != ' ')
		return false;
	symbol.type = text[at + 1];
	at += 3;
	symbol.name = (uint32_t)at;
	symbol.name_length = (uint16_t)word(text + at, end - at);
	at += symbol.name_length;
	if (end - at > 3 && text[at] == '\t' && text[at + 1] == '[') {
		size_t length = word(text + at + 2, end - at - 2);

		if (length > 1 && text[at + 1 + length] == ']') {
			symbol.module = (uint32_t)at + 2;
			symbol.module_length = (uint16_t)(length - 1);
		}
	}
	*ret_symbol = symbol;
	return symbol.name_length > 0;
}

static bool is_code(const struct fs_kallsym *symbol)
{
	return symbol->type && strchr("tTwW", symbol->type);
}

/* How many a name begins with. */
static size_t underscores(const char *text, const struct fs_kallsym *symbol)
{
	size_t count = 0;

	while (count < symbol->name_length && text[symbol->name + count] == '_')
		count++;
	return count;
}

/* By address; of several names for one the global one with the fewest underscores comes first. */
static int compare(const void *a, const void *b, void *context)
{
	const struct fs_kallsym *left = a;
	const struct fs_kallsym *right = b;
	const char *text = context;
	bool left_local = islower((unsigned char)left->type);
	bool right_local = islower((unsigned char)right->type);
	size_t left_lines = underscores(text, left);
	size_t right_lines = underscores(text, right);

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	if (left_local != right_local)
		return left_local ? 1 : -1;
	if (left_lines != right_lines)
		return left_lines < right_lines ? -1 : 1;
	return left->name < right->name ? -1 : 1;
}

int fs_kallsyms_parse(const char *text, size_t size, struct fs_kallsyms *ret_kallsyms)
{
	struct fs_kallsyms *kallsyms = ret_kallsyms;
	size_t start = 0;

	*kallsyms = (struct fs_kallsyms){ .text = text };
	while (start < size) {
		const char *newline = memchr(text + start, '\n', size - start);
		size_t end = newline ? (size_t)(newline - text) : size;
		struct fs_kallsym symbol;

		if (parse_line(text, start, end, &symbol)) {
			FS_TRY(FS_RESERVE(kallsyms->items, kallsyms->capacity,
					  kallsyms->count + 1));
			kallsyms->items[kallsyms->count++] = symbol;
		}
		start = end + 1;
	}
	if (kallsyms->count)
		qsort_r(kallsyms->items, kallsyms->count, sizeof(*kallsyms->items), compare,
			(void *)(uintptr_t)text);
	return 0;
}

void fs_kallsyms_free(struct fs_kallsyms *kallsyms)
{
	free(kallsyms->items);
	*kallsyms = (struct fs_kallsyms){ 0 };
}

/* ---- answering ---- */

struct answering {
	const struct fs_kallsyms *kallsyms;
	struct fs_interner *strings;
	struct fs_symbol_dso *dso;
	uint64_t slide;		 /* the trace's addresses less the text's */
	char module[64];	 /* as the text has it; "": the kernel */
	struct fs_table numbers; /* index of a symbol -> nothing; index: of its function */
};

/* A module's name in the text: the file's without suffix, and with _ for -. */
static void set_module(struct answering *answering, const char *path)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	size_t length;

	base += *base == '[';
	length = strcspn(base, ".]");
	snprintf(answering->module, sizeof(answering->module), "%.*s", (int)length, base);
	for (char *at = answering->module; *at; at++)
		*at = *at == '-' ? '_' : *at;
}

static bool is_ours(const struct answering *answering, const struct fs_kallsym *symbol)
{
	size_t length = strlen(answering->module);

	return symbol->module_length == length &&
	       !memcmp(answering->kallsyms->text + symbol->module, answering->module, length);
}

static bool is_named(const struct fs_kallsyms *kallsyms, const struct fs_kallsym *symbol,
		     const char *name)
{
	return !symbol->module && strlen(name) == symbol->name_length &&
	       !memcmp(kallsyms->text + symbol->name, name, symbol->name_length);
}

/* Find the slide. Returns what is in the way; NULL: nothing. */
static const char *settle_slide(struct answering *answering)
{
	const struct fs_kallsyms *kallsyms = answering->kallsyms;
	const struct fs_symbol_dso *dso = answering->dso;
	size_t i = 0;

	if (!dso->reference || !*dso->reference)
		return "the trace does not say where the kernel lay, so kallsyms does not fit; "
		       "record as root, or with kernel.kptr_restrict=0";
	while (i < kallsyms->count && !is_named(kallsyms, &kallsyms->items[i], dso->reference))
		i++;
	if (i == kallsyms->count)
		return "kallsyms lacks the symbol by which the trace says where the kernel lay";
	if (!kallsyms->items[i].address)
		return "all addresses in kallsyms are 0; copy it as root";
	answering->slide = dso->reference_address - kallsyms->items[i].address;
	if (dso->kind == FS_SYMBOL_MODULE && answering->slide)
		return "kallsyms is of another boot, where modules lay elsewhere";
	return NULL;
}

/*
 * Data is asked of the kernel, which has that of its modules beside its own. What lies behind a
 * module's last symbol is not known to be the module's.
 */
static bool is_module_data(const struct answering *answering, const struct fs_kallsym *symbol,
			   const struct fs_kallsym *next)
{
	const char *text = answering->kallsyms->text;

	return !answering->slide && symbol->module && next->module &&
	       symbol->module_length == next->module_length &&
	       !memcmp(text + symbol->module, text + next->module, symbol->module_length);
}

/*
 * The symbol that an address lies in: the last one before it, if it is of the wanted kind and
 * ours and another symbol says where it ends.
 */
static const struct fs_kallsym *find(const struct answering *answering, uint64_t address, bool code,
				     uint64_t *ret_size)
{
	const struct fs_kallsyms *kallsyms = answering->kallsyms;
	const struct fs_kallsym *items = kallsyms->items;
	size_t behind = FS_FIRST_BEHIND(items, kallsyms->count, address, address);
	size_t first = behind;

	if (!behind || behind == kallsyms->count)
		return NULL;
	while (first && items[first - 1].address == items[behind - 1].address)
		first--;
	for (; first < behind; first++) {
		if (is_code(&items[first]) != code ||
		    (!is_ours(answering, &items[first]) &&
		     (code || !is_module_data(answering, &items[first], &items[behind]))))
			continue;
		*ret_size = items[behind].address - items[first].address;
		return &items[first];
	}
	return NULL;
}

static int intern_name(struct answering *answering, const struct fs_kallsym *symbol,
		       uint32_t *ret_id)
{
	return fs_intern(answering->strings, answering->kallsyms->text + symbol->name,
			 symbol->name_length, ret_id);
}

/* A module's variable is named as a line of the text is: NAME [MODULE]. */
static int intern_variable(struct answering *answering, const struct fs_kallsym *symbol,
			   uint32_t *ret_id)
{
	const char *text = answering->kallsyms->text;
	char name[512];

	if (!symbol->module)
		return intern_name(answering, symbol, ret_id);
	snprintf(name, sizeof(name), "%.*s [%.*s]", (int)symbol->name_length, text + symbol->name,
		 (int)symbol->module_length, text + symbol->module);
	return fs_intern(answering->strings, name, strlen(name), ret_id);
}

/* The number of a symbol among the DSO's functions, to which a new one is added. */
static int function_of(struct answering *answering, const struct fs_kallsym *symbol, uint64_t size,
		       size_t *capacity, uint32_t *ret_number)
{
	uint64_t key = (uint64_t)(symbol - answering->kallsyms->items);
	struct fs_symbol_dso *dso = answering->dso;
	struct fs_symbol_function function = {
		.linkage_name = FS_SYMBOL_NONE,
		.address = symbol->address + answering->slide - dso->address,
		.size = size,
	};
	bool added;

	if (!fs_table_put(&answering->numbers, &key, ret_number, &added))
		return FS_NOMEM;
	if (!added)
		return 0;
	FS_TRY(intern_name(answering, symbol, &function.name));
	FS_TRY(FS_RESERVE(dso->functions, *capacity, dso->function_count + 1));
	dso->functions[dso->function_count++] = function;
	return 0;
}

static int answer_code(struct answering *answering)
{
	struct fs_symbol_dso *dso = answering->dso;
	size_t capacity = 0;

	for (size_t i = 0; i < dso->query_count; i++) {
		uint64_t address = dso->address + dso->queries[i].offset - answering->slide;
		uint64_t size;
		const struct fs_kallsym *symbol = find(answering, address, true, &size);

		dso->results[i] = fs_symbol_result_unknown();
		if (!symbol)
			continue;
		FS_TRY(function_of(answering, symbol, size, &capacity, &dso->results[i].function));
		dso->results[i].function_offset = address - symbol->address;
	}
	return 0;
}

/* Name data that has no name yet; `modules`: that of modules only. */
static int answer_objects(struct answering *answering, bool modules)
{
	struct fs_symbol_dso *dso = answering->dso;

	for (size_t i = 0; i < dso->object_query_count; i++) {
		uint64_t address = dso->object_queries[i].distance - answering->slide;
		uint64_t size;
		const struct fs_kallsym *symbol = find(answering, address, false, &size);

		if (!symbol || (modules && !symbol->module) ||
		    dso->objects[i].name != FS_SYMBOL_NONE ||
		    dso->object_queries[i].offset == FS_SYMBOL_LINK_TIME)
			continue;
		dso->objects[i] = (struct fs_symbol_object){
			.address = symbol->address,
			.size = size,
			.offset = address - symbol->address,
			.type = FS_SYMBOL_NONE,
			.field = FS_SYMBOL_NONE,
		};
		FS_TRY(intern_variable(answering, symbol, &dso->objects[i].name));
	}
	return 0;
}

int fs_kallsyms_answer(const struct fs_kallsyms *kallsyms, struct fs_interner *strings,
		       struct fs_symbol_dso *dso)
{
	struct answering answering = { .kallsyms = kallsyms, .strings = strings, .dso = dso };
	const char *obstacle = settle_slide(&answering);
	int code;

	if (obstacle) {
		dso->symbols = FS_SYMBOLS_FAILED;
		snprintf(dso->reason, sizeof(dso->reason), "%s", obstacle);
		return 0;
	}
	if (dso->kind == FS_SYMBOL_MODULE)
		set_module(&answering, dso->path);
	fs_table_init(&answering.numbers, 8, 0);
	code = answer_code(&answering);
	if (!code && dso->kind == FS_SYMBOL_KERNEL)
		code = answer_objects(&answering, false);
	fs_table_free(&answering.numbers);
	dso->symbols = FS_SYMBOLS_UNVERIFIED;
	dso->arch = "other";
	dso->names = true;
	snprintf(dso->reason, sizeof(dso->reason),
		 "names from kallsyms, which has no build-id to compare; it is of %s boot",
		 answering.slide ? "another" : "the same");
	return code;
}

int fs_kallsyms_add_modules(const struct fs_kallsyms *kallsyms, struct fs_interner *strings,
			    struct fs_symbol_dso *dso)
{
	struct answering answering = { .kallsyms = kallsyms, .strings = strings, .dso = dso };

	return settle_slide(&answering) ? 0 : answer_objects(&answering, true);
}
