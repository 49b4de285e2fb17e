/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Symbolising whole binaries: one that is compiled here, those of ../shared/traces, damaged ones;
 * and a helper that dies, hangs, lies or tries to break out.
 */
#include "ingest/symbol/symbol.h"

#include <check.h>
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/helper/helper.h"
#include "ingest/symbol/locate.h"
#include "ingest/symbol/reply.h"

static char directory[64];

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void run(const char *format, ...)
{
	char command[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	ck_assert_msg(system(command) == 0, "%s", command);
}

static void setup(void)
{
	strcpy(directory, "/tmp/fs_symbol_XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void teardown(void)
{
	run("rm -rf %s", directory);
}

/* ---- one DSO, some queries ---- */

enum { QUERIES = 64 };

struct lookup {
	struct fs_symbol_dso dso;
	struct fs_symbol_query queries[QUERIES];
	struct fs_symbol_result results[QUERIES];
	struct fs_interner strings;
	char build_id[FS_BUILD_ID_TEXT];
	unsigned int timeout_ms; /* 0: 20 s */
	const struct fs_symbol_cache *cache;
	bool helped; /* by a helper process */
};

static void lookup_init(struct lookup *lookup, const char *path, const char *build_id)
{
	*lookup = (struct lookup){ .dso = { .path = path, .build_id = build_id, .fd = -1 } };
	lookup->dso.queries = lookup->queries;
	lookup->dso.results = lookup->results;
	fs_interner_init(&lookup->strings);
}

static void lookup_add(struct lookup *lookup, uint64_t offset, bool exact)
{
	lookup->queries[lookup->dso.query_count++] = (struct fs_symbol_query){ offset, exact };
}

static int lookup_run(struct lookup *lookup, const char *root, bool unverified)
{
	struct fs_isolation isolation;
	struct fs_error error = { 0 };
	struct fs_symbol_options options = { .roots = &root,
					     .root_count = 1,
					     .allow_unverified = unverified,
					     .strings = &lookup->strings,
					     .cache = lookup->cache,
					     .timeout_ms = lookup->timeout_ms ? lookup->timeout_ms
									      : 20000 };
	int code = fs_symbolise(&options, &lookup->dso, 1, &isolation, &error);

	ck_assert_msg(code == 0, "%s", error.text);
	lookup->helped = isolation.seccomp;
	return code;
}

static void lookup_free(struct lookup *lookup)
{
	fs_symbol_dso_free(&lookup->dso);
	fs_interner_free(&lookup->strings);
}

static const char *text(const struct lookup *lookup, uint32_t id)
{
	return id == FS_SYMBOL_NONE ? "" : fs_interned(&lookup->strings, id, NULL);
}

static const char *function_name(const struct lookup *lookup, size_t query)
{
	uint32_t function = lookup->results[query].function;

	if (function == FS_SYMBOL_NONE)
		return "";
	ck_assert_uint_lt(function, lookup->dso.function_count);
	return text(lookup, lookup->dso.functions[function].name);
}

static void read_build_id(const char *path, char *ret_build_id)
{
	int fd = open(path, O_RDONLY);

	ck_assert_int_ge(fd, 0);
	ck_assert(fs_build_id_read(fd, ret_build_id));
	close(fd);
}

/* ---- a program made here ---- */

static const char program[] = "#include <stdatomic.h>\n"
			      "struct pair { long pad; _Atomic int a, b; } shared;\n"
			      "__attribute__((noinline)) int touch(struct pair *p)\n"
			      "{\n"
			      "	atomic_fetch_add(&p->a, 1);\n"
			      "	return p->b;\n"
			      "}\n"
			      "int main(void)\n"
			      "{\n"
			      "	return touch(&shared);\n"
			      "}\n";

static void write_source(const char *name, const char *source)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(source, file);
	fclose(file);
}

static void compile(const char *options)
{
	write_source("pair.c", program);
	run("cd %s && gcc -O1 -fcf-protection=none %s -Wl,--build-id pair.c -o pair", directory,
	    options);
}

/* The value of a symbol of a file that we trust, and the file offset of that address. */
static bool symbol_value(Elf *elf, const char *name, uint64_t *ret_value)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *data = elf_getdata(section, NULL);
		GElf_Sym symbol;

		gelf_getshdr(section, &header);
		if (header.sh_type != SHT_SYMTAB)
			continue;
		for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
			const char *have = elf_strptr(elf, header.sh_link, symbol.st_name);

			if (have && !strcmp(have, name)) {
				*ret_value = symbol.st_value;
				return true;
			}
		}
	}
	return false;
}

static uint64_t place_of(const char *path, const char *symbol, uint64_t *ret_address)
{
	int fd = open(path, O_RDONLY);
	Elf *elf;
	uint64_t value;
	uint64_t offset = 0;
	size_t count;

	ck_assert_int_ge(fd, 0);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	ck_assert(symbol_value(elf, symbol, &value));
	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		gelf_getphdr(elf, (int)i, &header);
		if (header.p_type == PT_LOAD && value >= header.p_vaddr &&
		    value < header.p_vaddr + header.p_filesz)
			offset = value - header.p_vaddr + header.p_offset;
	}
	elf_end(elf);
	close(fd);
	ck_assert_uint_ne(offset, 0);
	if (ret_address)
		*ret_address = value;
	return offset;
}

static uint64_t offset_of(const char *path, const char *symbol)
{
	return place_of(path, symbol, NULL);
}

/* Where a byte pattern lies behind an offset; 0: nowhere. */
static uint64_t find_bytes(const char *path, uint64_t from, const char *pattern, size_t length)
{
	uint8_t code[256];
	int fd = open(path, O_RDONLY);
	ssize_t got = pread(fd, code, sizeof(code), (off_t)from);
	uint8_t *found = got > 0 ? memmem(code, (size_t)got, pattern, length) : NULL;

	close(fd);
	return found ? from + (uint64_t)(found - code) : 0;
}

static void pair_path(char *out)
{
	snprintf(out, 128, "%s/pair", directory);
}

START_TEST(test_made_program)
{
	struct lookup lookup;
	char path[128];
	char build_id[FS_BUILD_ID_TEXT];
	uint64_t touch;

	compile("-g");
	pair_path(path);
	read_build_id(path, build_id);
	touch = offset_of(path, "touch");
	lookup_init(&lookup, "/home/me/pair", build_id);
	lookup_add(&lookup, touch, true);
	lookup_add(&lookup, offset_of(path, "main"), true);
	lookup_add(&lookup, UINT64_MAX, true);
	lookup_add(&lookup, 0, true);
	lookup_run(&lookup, directory, false);
	ck_assert_msg(lookup.dso.symbols == FS_SYMBOLS_VERIFIED, "%s", lookup.dso.reason);
	ck_assert_str_eq(lookup.dso.reason, "");
	ck_assert_str_eq(lookup.dso.file_build_id, build_id);
	ck_assert_str_eq(lookup.dso.file_path, path);
	ck_assert_str_eq(function_name(&lookup, 0), "touch");
	ck_assert_str_eq(function_name(&lookup, 1), "main");
	ck_assert_uint_eq(lookup.results[0].function_offset, 0);
	ck_assert_uint_eq(lookup.results[0].line, 5);
	ck_assert_ptr_nonnull(strstr(text(&lookup, lookup.results[0].file), "pair.c"));
	for (size_t i = 2; i < 4; i++) {
		ck_assert_str_eq(function_name(&lookup, i), "");
		ck_assert_int_eq(lookup.results[i].op, -1);
	}
	lookup_free(&lookup);
}
END_TEST

/* One place for answers. */
struct kept {
	char build_id[FS_BUILD_ID_TEXT], files[32];
	uint8_t bytes[4096];
	size_t size;
};

static int each_kept(void *context, const char *build_id, const char *files,
		     bool (*take)(void *taker, const uint8_t *bytes, size_t size), void *taker,
		     struct fs_error *error)
{
	struct kept *kept = context;

	(void)error;
	if (!strcmp(build_id, kept->build_id) && !strcmp(files, kept->files) &&
	    !take(taker, kept->bytes, kept->size))
		kept->files[0] = '\0';
	return 0;
}

static int keep(void *context, const char *build_id, const char *files, const uint8_t *bytes,
		size_t size, struct fs_error *error)
{
	struct kept *kept = context;

	(void)error;
	strcpy(kept->build_id, build_id);
	strcpy(kept->files, files);
	ck_assert_uint_lt(size, sizeof(kept->bytes));
	memcpy(kept->bytes, bytes, size);
	kept->size = size;
	return 0;
}

/* What was asked before needs no helper, and no second block. */
START_TEST(test_kept_answers)
{
	struct kept kept = { 0 };
	const struct fs_symbol_cache cache = { .each = each_kept, .keep = keep, .context = &kept };
	char path[128];
	char build_id[FS_BUILD_ID_TEXT];

	compile("-g");
	pair_path(path);
	read_build_id(path, build_id);
	for (int round = 0; round < 4; round++) {
		struct lookup lookup;

		lookup_init(&lookup, "/home/me/pair", build_id);
		lookup.cache = &cache;
		lookup_add(&lookup, offset_of(path, "touch"), true);
		if (round == 2)
			memset(kept.bytes + kept.size / 2, 0, 8);
		if (round == 3)
			lookup_add(&lookup, offset_of(path, "main"), true);
		lookup_run(&lookup, directory, false);
		ck_assert_int_eq(lookup.dso.symbols, FS_SYMBOLS_VERIFIED);
		ck_assert_int_eq(lookup.helped, round != 1);
		ck_assert_int_eq(strstr(lookup.dso.reason, "damaged") != NULL, round == 2);
		ck_assert_str_eq(function_name(&lookup, 0), "touch");
		ck_assert_uint_eq(lookup.results[0].line, 5);
		if (round == 3)
			ck_assert_str_eq(function_name(&lookup, 1), "main");
		lookup_free(&lookup);
	}
}
END_TEST

START_TEST(test_inlined)
{
	static const char source[] = "#define INLINE static inline __attribute__((always_inline))\n"
				     "INLINE int inner(volatile int *p) { return *p; }\n"
				     "INLINE int middle(volatile int *p)\n"
				     "{\n"
				     "	return inner(p);\n"
				     "}\n"
				     "int outer(volatile int *p)\n"
				     "{\n"
				     "	return 1 +\n"
				     "	        middle(p);\n"
				     "}\n"
				     "int main(int argc, char **argv) { return outer(&argc); }\n";
	static const struct {
		const char *name;
		uint32_t line, column;
	} wanted[] = { { "inner", 5, 9 }, { "middle", 10, 10 } };
	struct lookup lookup;
	const struct fs_symbol_result *result = &lookup.results[0];
	uint32_t number;
	char path[128];
	char build_id[FS_BUILD_ID_TEXT];

	write_source("pair.c", source);
	run("cd %s && gcc -g -O2 -fcf-protection=none -Wl,--build-id pair.c -o pair", directory);
	pair_path(path);
	read_build_id(path, build_id);
	lookup_init(&lookup, "/pair", build_id);
	lookup_add(&lookup, offset_of(path, "outer"), true);
	lookup_add(&lookup, offset_of(path, "_start"), true);
	lookup_run(&lookup, directory, false);
	ck_assert_str_eq(function_name(&lookup, 0), "outer");
	ck_assert_uint_eq(result->line, 2);
	ck_assert_uint_eq(result->column, 44);
	number = result->inlined;
	for (size_t i = 0; i < 2; i++) {
		const struct fs_symbol_inlined *inlined = &lookup.dso.inlined[number];

		ck_assert_uint_lt(number, lookup.dso.inlined_count);
		ck_assert_str_eq(text(&lookup, inlined->name), wanted[i].name);
		ck_assert_uint_eq(inlined->call_line, wanted[i].line);
		ck_assert_uint_eq(inlined->call_column, wanted[i].column);
		ck_assert_ptr_nonnull(strstr(text(&lookup, inlined->call_file), "pair.c"));
		number = inlined->caller;
	}
	ck_assert_uint_eq(number, FS_SYMBOL_NONE);
	ck_assert_uint_eq(lookup.results[1].inlined, FS_SYMBOL_NONE);
	ck_assert_uint_eq(lookup.results[1].column, 0);
	lookup_free(&lookup);
}
END_TEST

/* Stubs of the procedure linkage table have the name of what they lead to, stripped or not. */
START_TEST(test_plt)
{
	static const char source[] = "#include <stdlib.h>\n"
				     "int main(int argc, char **argv)\n"
				     "{ void (*volatile f)(void *) = free; f(0);\n"
				     "return labs(argc) + (getenv(argv[0]) != 0); }\n";
	static const char *const options[] = { "-fcf-protection=none", "-fcf-protection=full",
					       "-fcf-protection=none -no-pie -Wl,-z,now" };
	struct lookup lookup;
	char path[128];
	char command[256];
	char line[256];
	FILE *dump;
	int stubs = 0;

	write_source("pair.c", source);
	run("cd %s && gcc -O1 -Wl,--build-id %s pair.c -o pair && strip pair", directory,
	    options[_i]);
	pair_path(path);
	snprintf(command, sizeof(command), "objdump -d %s | grep '@plt>:'", path);
	dump = popen(command, "r");
	ck_assert_ptr_nonnull(dump);
	while (fgets(line, sizeof(line), dump)) {
		unsigned long address;
		char name[64];

		ck_assert_int_eq(sscanf(line, "%lx <%63[^>]>", &address, name), 2);
		lookup_init(&lookup, "/pair", NULL);
		/* what is linked at 0x400000 without PIE lies at the same place of the file */
		lookup_add(&lookup, address & 0x3fffff, true);
		lookup_add(&lookup, (address & 0x3fffff) + 5, true);
		lookup_run(&lookup, directory, true);
		for (size_t i = 0; i < 2; i++)
			ck_assert_str_eq(function_name(&lookup, i), name);
		ck_assert_uint_eq(lookup.results[1].function_offset, 5);
		lookup_free(&lookup);
		stubs++;
	}
	pclose(dump);
	ck_assert_int_gt(stubs, 0);
}
END_TEST

/* ---- debug information elsewhere ---- */

/* The header is large enough for dwz to find it worth sharing. */
static const char outer_header[] =
	"struct shared { long first; int second[4]; struct deep { short third; struct deeper {\n"
	"char fourth, fifth, sixth; unsigned long long seventh; } eighth; } ninth, *tenth; };\n"
	"static inline __attribute__((always_inline)) int inner(volatile struct shared *p)\n"
	"{ return p->second[1]; }\n";

static const char outer_source[] = "#include \"shared.h\"\n"
				   "struct shared shared_object;\n"
				   "int outer(volatile struct shared *p)\n"
				   "{ return 1 + inner(p); }\n"
				   "int main(void) { return outer(&shared_object); }\n";

/* Make `pair` from outer_source. */
static void compile_outer(const char *options)
{
	write_source("shared.h", outer_header);
	write_source("pair.c", outer_source);
	run("cd %s && gcc -g -O2 -fcf-protection=none %s pair.c -o pair", directory, options);
}

/* Ask about the start of outer() at `offset`; the binary is recorded as /opt/app/pair. */
static void ask_outer(struct lookup *lookup, uint64_t offset, const char *build_id)
{
	lookup_init(lookup, "/opt/app/pair", build_id);
	lookup_add(lookup, offset, true);
	lookup_run(lookup, directory, true);
}

static void check_outer(const struct lookup *lookup, bool inlined)
{
	const struct fs_symbol_result *result = &lookup->results[0];

	ck_assert_msg(lookup->dso.arch, "%s", lookup->dso.reason);
	ck_assert_str_eq(function_name(lookup, 0), "outer");
	ck_assert_msg(result->line == 4, "line %u: %s", result->line, lookup->dso.reason);
	ck_assert_int_eq(result->inlined != FS_SYMBOL_NONE, inlined);
	if (!inlined)
		return;
	ck_assert_str_eq(text(lookup, lookup->dso.inlined[result->inlined].name), "inner");
	ck_assert_uint_eq(lookup->dso.inlined[result->inlined].call_line, 4);
	ck_assert_str_eq(text(lookup, result->field), "second[1]");
	ck_assert_uint_ne(result->type, FS_SYMBOL_NONE);
	ck_assert_str_eq(text(lookup, lookup->dso.types[result->type].name), "struct shared");
}

/* Without build-ids the CRC in .gnu_debuglink proves which file is the one. */
START_TEST(test_debug_link)
{
	static const char *const places[] = { "", "opt/app/", "opt/app/.debug/",
					      "usr/lib/debug/opt/app/", ".debug/" };
	struct lookup lookup;
	char path[128];
	uint64_t offset;

	compile_outer("-Wl,--build-id=none");
	pair_path(path);
	offset = offset_of(path, "outer");
	run("cd %s && mkdir -p opt/app/.debug .debug usr/lib/debug/opt/app && objcopy "
	    "--only-keep-debug pair pair.dbg && strip pair && objcopy "
	    "--add-gnu-debuglink=pair.dbg pair && mv pair opt/app && mv pair.dbg kept",
	    directory);
	ask_outer(&lookup, offset, NULL);
	ck_assert_str_eq(function_name(&lookup, 0), "");
	ck_assert_ptr_nonnull(strstr(lookup.dso.reason, "pair.dbg was not found"));
	lookup_free(&lookup);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		run("cd %s && mv kept %spair.dbg", directory, places[i]);
		ask_outer(&lookup, offset, NULL);
		check_outer(&lookup, true);
		lookup_free(&lookup);
		run("cd %s && mv %spair.dbg kept", directory, places[i]);
	}
	run("cd %s && cp kept pair.dbg && printf x >> pair.dbg", directory);
	ask_outer(&lookup, offset, NULL);
	ck_assert_str_eq(function_name(&lookup, 0), "");
	ck_assert_uint_eq(lookup.results[0].line, 0);
	ck_assert_ptr_nonnull(strstr(lookup.dso.reason, "pair.dbg has the CRC 0x"));
	lookup_free(&lookup);
	run("cd %s && ln -sf %s/kept opt/app/pair.dbg && rm pair.dbg", directory, directory);
	ask_outer(&lookup, offset, NULL); /* the link leads to nothing within the root */
	ck_assert_uint_eq(lookup.results[0].line, 0);
	lookup_free(&lookup);
}
END_TEST

/* What has another build-id is not used, whatever its name. */
START_TEST(test_debug_link_build_id)
{
	struct lookup lookup;
	char path[128];
	char build_id[FS_BUILD_ID_TEXT];
	uint64_t offset;

	compile_outer("-Wl,--build-id=0x1111222233334444555566667777888899990000");
	pair_path(path);
	read_build_id(path, build_id);
	offset = offset_of(path, "outer");
	run("cd %s && objcopy --only-keep-debug pair pair.dbg && strip pair && objcopy "
	    "--add-gnu-debuglink=pair.dbg pair && mv pair kept && cp pair.dbg right",
	    directory);
	compile_outer("-Wl,--build-id=0x2222222233334444555566667777888899990000");
	run("cd %s && objcopy --only-keep-debug pair pair.dbg && mv kept pair", directory);
	ask_outer(&lookup, offset, build_id);
	ck_assert_uint_eq(lookup.results[0].line, 0);
	ck_assert_ptr_nonnull(strstr(lookup.dso.reason, "build-id 22222222"));
	lookup_free(&lookup);
	run("cd %s && mv right pair.dbg && printf x >> pair.dbg", directory); /* the CRC differs */
	ask_outer(&lookup, offset, build_id);
	check_outer(&lookup, true);
	lookup_free(&lookup);
}
END_TEST

/* What dwz moves into a file that two share, named by .gnu_debugaltlink. */
START_TEST(test_supplementary)
{
	struct lookup lookup;
	char path[128];
	uint64_t offset;

	if (system("command -v dwz >/dev/null")) {
		fprintf(stderr, "no dwz: its files are not tested\n");
		return;
	}
	compile_outer("-Wl,--build-id");
	pair_path(path);
	offset = offset_of(path, "outer");
	run("cd %s && sed s/shared_object/other_object/ pair.c > other.c && gcc -g -O2 "
	    "-fcf-protection=none other.c -o other && dwz -m common.dbg -M "
	    "/usr/lib/debug/.dwz/common.dbg pair other && mkdir .dwz",
	    directory);
	ask_outer(&lookup, offset, NULL); /* in the root itself */
	check_outer(&lookup, true);
	lookup_free(&lookup);
	run("cd %s && mv common.dbg .dwz", directory);
	ask_outer(&lookup, offset, NULL);
	check_outer(&lookup, true);
	lookup_free(&lookup);
	run("cd %s && mv .dwz/common.dbg kept", directory);
	ask_outer(&lookup, offset, NULL);
	ck_assert_str_eq(function_name(&lookup, 0), "outer");
	ck_assert_uint_eq(lookup.results[0].line, 4);
	ck_assert_ptr_nonnull(strstr(lookup.dso.reason, "common.dbg was not found"));
	lookup_free(&lookup);
	run("cd %s && sed -i s/first/other/ shared.h && gcc -g -O2 pair.c -o pair2 && gcc -g "
	    "-O2 other.c -o other2 && dwz "
	    "-m .dwz/common.dbg pair2 other2",
	    directory);
	ask_outer(&lookup, offset, NULL);
	ck_assert_ptr_nonnull(strstr(lookup.dso.reason, "common.dbg has the "));
	lookup_free(&lookup);
}
END_TEST

/* .debug_sup of DWARF 5 does the same. libdw would follow it to wrong entries; nothing is followed.
 */
START_TEST(test_debug_sup)
{
	struct lookup lookup;
	char path[128];
	uint64_t offset;

	if (system("command -v dwz >/dev/null")) {
		fprintf(stderr, "no dwz: its files are not tested\n");
		return;
	}
	compile_outer("-Wl,--build-id");
	pair_path(path);
	offset = offset_of(path, "outer");
	run("cd %s && sed s/shared_object/other_object/ pair.c > other.c && gcc -g -O2 other.c -o "
	    "other && dwz --dwarf-5 -m common.dbg pair other",
	    directory);
	ask_outer(&lookup, offset, NULL);
	check_outer(&lookup, false);
	ck_assert_uint_eq(lookup.results[0].type, FS_SYMBOL_NONE);
	ck_assert_ptr_nonnull(strstr(lookup.dso.reason, ".debug_sup"));
	lookup_free(&lookup);
}
END_TEST

/* Compressed sections, other versions of DWARF, and what .dwo files hold is said to be missing. */
START_TEST(test_dwarf_forms)
{
	static const struct {
		const char *options;
		bool inlined;
	} forms[] = { { "-gz=zlib", true },
		      { "-gdwarf-3", true },
		      { "-gdwarf-4", true },
		      { "-gdwarf-5", true },
		      { "-gsplit-dwarf", false } };
	struct lookup lookup;
	char path[128];

	compile_outer(forms[_i].options);
	pair_path(path);
	ask_outer(&lookup, offset_of(path, "outer"), NULL);
	check_outer(&lookup, forms[_i].inlined);
	ck_assert_int_eq(strstr(lookup.dso.reason, ".dwo") == NULL, forms[_i].inlined);
	lookup_free(&lookup);
}
END_TEST

#if defined(__x86_64__)
static const char lock_add[] = "\xf0\x83\x47\x08\x01"; /* lock addl $1, 8(%rdi) */

START_TEST(test_skid)
{
	struct lookup lookup;
	char path[128];
	char build_id[FS_BUILD_ID_TEXT];
	uint64_t touch;
	uint64_t add;

	compile("-g");
	pair_path(path);
	read_build_id(path, build_id);
	touch = offset_of(path, "touch");
	add = find_bytes(path, touch, lock_add, 5);
	ck_assert_uint_ne(add, 0);
	lookup_init(&lookup, "pair", build_id);
	lookup.dso.path = "/pair";
	lookup_add(&lookup, add, true);
	lookup_add(&lookup, add + 5, false); /* behind it */
	lookup_add(&lookup, touch, false);   /* nothing stands before a function's start */
	lookup_add(&lookup, add + 2, false); /* no boundary */
	lookup_run(&lookup, directory, false);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_eq(lookup.results[i].op, FS_OP_ATOMIC);
		ck_assert_uint_eq(lookup.results[i].width, 4);
		ck_assert_str_eq(text(&lookup, lookup.results[i].base_register), "rdi");
		ck_assert_int_eq(lookup.results[i].displacement, 8);
		ck_assert_uint_eq(lookup.results[i].line, 5);
		ck_assert_int_eq(lookup.results[i].method,
				 i ? FS_OPERAND_METHOD_PRECEDING : FS_OPERAND_METHOD_INSTRUCTION);
	}
	for (size_t i = 2; i < 4; i++) {
		ck_assert_int_eq(lookup.results[i].op, -1);
		ck_assert_int_eq(lookup.results[i].method, FS_OPERAND_METHOD_NONE);
		ck_assert_str_eq(function_name(&lookup, i), "touch");
	}
	lookup_free(&lookup);
}
END_TEST

/* Assembler by which each rule about the instruction before is met. */
START_TEST(test_skid_rules)
{
	static const char source[] = ".globl rules\n.type rules,@function\nrules:\n"
				     "movl (%rdi),%eax\n"     /* 0, 2 bytes */
				     "rep stosb\n"	      /* 2, 2 */
				     "call *(%rsi)\n"	      /* 4, 2 */
				     "nop\n"		      /* 6, 1 */
				     "push %rbx\n"	      /* 7, 1 */
				     "jmp 1f\n"		      /* 8, 2 */
				     "1: mov %rax,16(%rdx)\n" /* 10, 4 */
				     "ret\n"		      /* 14, 1 */
				     ".size rules,.-rules\n"
				     ".globl _start\n_start: ret\n";
	static const struct {
		uint64_t offset;
		int op;
	} wanted[] = {
		{ 2, -1 },	    /* a rep stands here, and may be the one */
		{ 4, FS_OP_STORE }, /* rep stosb has ended */
		{ 6, -1 },	    /* behind a call: a return comes here, too */
		{ 7, -1 },	    /* nop */
		{ 8, FS_OP_STORE }, /* push */
		{ 10, -1 },	    /* behind a jump */
		{ 14, FS_OP_STORE },
	};
	struct lookup lookup;
	char path[128];
	char build_id[FS_BUILD_ID_TEXT];
	uint64_t start;
	FILE *file;

	snprintf(path, sizeof(path), "%s/rules.s", directory);
	file = fopen(path, "w");
	fputs(source, file);
	fclose(file);
	run("cd %s && gcc -nostdlib -static -Wl,--build-id rules.s -o rules", directory);
	snprintf(path, sizeof(path), "%s/rules", directory);
	read_build_id(path, build_id);
	start = offset_of(path, "rules");
	lookup_init(&lookup, "/rules", build_id);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		lookup_add(&lookup, start + wanted[i].offset, false);
	lookup_run(&lookup, directory, false);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		ck_assert_msg(lookup.results[i].op == wanted[i].op, "at %d: op %d",
			      (int)wanted[i].offset, lookup.results[i].op);
	lookup_free(&lookup);
}
END_TEST
#endif

START_TEST(test_stripped_and_separate_debug)
{
	struct lookup lookup;
	char path[128];
	char build_id[FS_BUILD_ID_TEXT];
	uint64_t touch;
	uint64_t address;

	compile("-g");
	pair_path(path);
	read_build_id(path, build_id);
	touch = place_of(path, "touch", &address);
	run("cd %s && objcopy --only-keep-debug pair kept && strip pair", directory);
	lookup_init(&lookup, "/pair", build_id);
	lookup_add(&lookup, touch, true);
	lookup_run(&lookup, directory, false);
	ck_assert_int_eq(lookup.dso.symbols, FS_SYMBOLS_STRIPPED);
	ck_assert_str_ne(lookup.dso.reason, "");
	ck_assert_str_eq(function_name(&lookup, 0), "");
	ck_assert(lookup.dso.operands);
	ck_assert_int_ne(lookup.results[0].op, -1);
	fs_symbol_dso_free(&lookup.dso);

	run("cd %s && mkdir -p .build-id/%.2s && mv kept .build-id/%.2s/%s.debug", directory,
	    build_id, build_id, build_id + 2);
	lookup_run(&lookup, directory, false);
	ck_assert_int_eq(lookup.dso.symbols, FS_SYMBOLS_VERIFIED);
	ck_assert_str_eq(function_name(&lookup, 0), "touch");
	ck_assert_uint_eq(lookup.results[0].line, 5);
	ck_assert_int_ne(lookup.results[0].op, -1);
	fs_symbol_dso_free(&lookup.dso);

	/* the debug file alone: its file offsets are not those of the binary, addresses are */
	run("rm %s/pair", directory);
	lookup_run(&lookup, directory, false);
	ck_assert_int_eq(lookup.dso.symbols, FS_SYMBOLS_FAILED);
	ck_assert_ptr_nonnull(strstr(lookup.dso.reason, "debug file"));
	lookup.dso.kind = FS_SYMBOL_LINKED;
	lookup.queries[0].offset = address;
	lookup_run(&lookup, directory, false);
	ck_assert_int_eq(lookup.dso.symbols, FS_SYMBOLS_VERIFIED);
	ck_assert_str_ne(lookup.dso.reason, "");
	ck_assert_str_eq(function_name(&lookup, 0), "touch");
	ck_assert_uint_eq(lookup.results[0].line, 5);
	ck_assert(!lookup.dso.operands);
	ck_assert_int_eq(lookup.results[0].op, -1);
	lookup_free(&lookup);
}
END_TEST

START_TEST(test_demangling)
{
	static const char source[] =
		"int a(int x) __asm__(\"_ZN3foo3barEi\"); int a(int x) { return x + 1; }\n"
		"int b(int x) __asm__(\"_ZN4core3fmt5Write9write_str17h0123456789abcdefE\");\n"
		"int b(int x) { return x + 2; }\n"
		"int c(int x) __asm__(\"_RNvC7mycrate3foo\"); int c(int x) { return x + 3; }\n"
		"int d(int x) { return x + 4; }\n"
		"int v __asm__(\"_ZN3foo5valueE\") = 1;\n"
		"int main(void) { return a(1) + b(2) + c(3) + d(4); }\n";
	static const struct {
		const char *linkage;
		const char *name;
	} wanted[] = {
		{ "_ZN3foo3barEi", "foo::bar" },
		{ "_ZN4core3fmt5Write9write_str17h0123456789abcdefE",
		  "core::fmt::Write::write_str" },
		{ "_RNvC7mycrate3foo", "mycrate::foo" },
		{ "d", "d" },
	};
	struct fs_symbol_object_query variable;
	struct fs_symbol_object object;
	struct lookup lookup;
	uint64_t value;
	uint64_t code;
	char path[128];

	write_source("m.c", source);
	run("cd %s && gcc -O0 -Wl,--build-id=none m.c -o m", directory);
	snprintf(path, sizeof(path), "%s/m", directory);
	lookup_init(&lookup, "/m", NULL);
	for (size_t i = 0; i < 4; i++)
		lookup_add(&lookup, offset_of(path, wanted[i].linkage), true);
	place_of(path, "_ZN3foo5valueE", &value);
	variable.offset = place_of(path, "d", &code);
	variable.distance = value - code;
	lookup.dso.object_queries = &variable;
	lookup.dso.objects = &object;
	lookup.dso.object_query_count = 1;
	lookup_run(&lookup, directory, true);
	ck_assert_int_eq(lookup.dso.symbols, FS_SYMBOLS_UNVERIFIED);
	ck_assert_str_eq(lookup.dso.file_build_id, "");
	for (size_t i = 0; i < 4; i++) {
		uint32_t function = lookup.results[i].function;

		ck_assert_str_eq(function_name(&lookup, i), wanted[i].name);
		ck_assert_str_eq(text(&lookup, lookup.dso.functions[function].linkage_name),
				 i == 3 ? "" : wanted[i].linkage);
	}
	ck_assert_str_eq(text(&lookup, object.name), "foo::value");
	lookup_free(&lookup);
}
END_TEST

/*
 * Debug information that takes much longer to use than its size suggests: as many variables as
 * code, each said to hold in all of it, and a type that is defined by itself.
 */
static const char bomb[] =
	".text\n"
	".type bomb, @function\n"
	"bomb: .rept 4000; movl (%rdi), %eax; jne .+2; .endr; ret\n"
	".Lend: .size bomb, . - bomb\n"
	".globl _start\n"
	"_start: ret\n"
	".section .debug_abbrev,\"\",@progbits\n"
	".byte 1, 0x11, 1, 0x11, 0x01, 0x12, 0x07, 0, 0\n"	       /* unit: low_pc, high_pc */
	".byte 2, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0\n" /* function */
	".byte 3, 0x05, 0, 0x02, 0x18, 0x49, 0x13, 0, 0\n" /* parameter: location, type */
	".byte 4, 0x0f, 0, 0x0b, 0x0b, 0x49, 0x13, 0, 0\n" /* pointer */
	".byte 5, 0x01, 1, 0x49, 0x13, 0, 0\n"		   /* array */
	".byte 6, 0x21, 0, 0x2f, 0x0b, 0, 0\n"		   /* its bounds */
	".byte 7, 0x16, 0, 0x49, 0x13, 0, 0, 0\n"	   /* typedef */
	".section .debug_info,\"\",@progbits\n"
	".Linfo: .long .Linfo_end - .Lversion\n"
	".Lversion: .short 4; .long .debug_abbrev; .byte 8\n"
	".byte 1; .quad bomb, .Lend - bomb\n"
	".byte 2; .asciz \"bomb\"; .quad bomb, .Lend - bomb\n"
	".rept 100000; .byte 3, 1, 0x55; .long .Lpointer - .Linfo; .endr; .byte 0\n"
	".Lpointer: .byte 4, 8; .long .Larray - .Linfo\n"
	".Larray: .byte 5; .long .Lself - .Linfo; .byte 6, 9, 0\n"
	".Lself: .byte 7; .long .Lself - .Linfo; .byte 0\n"
	".Linfo_end:\n";

START_TEST(test_bomb)
{
	struct lookup lookup;
	char path[128];

	write_source("bomb.s", bomb);
	run("cd %s && gcc -nostdlib -static -Wl,--build-id=none bomb.s -o bomb", directory);
	snprintf(path, sizeof(path), "%s/bomb", directory);
	lookup_init(&lookup, "/bomb", NULL);
	lookup.timeout_ms = 500;
	lookup_add(&lookup, offset_of(path, "bomb"), true);
	lookup_run(&lookup, directory, true);
	ck_assert_int_eq(lookup.dso.symbols, FS_SYMBOLS_FAILED);
	ck_assert_str_eq(lookup.dso.reason, "reading it took longer than 500 ms");
	lookup_free(&lookup);
}
END_TEST

START_TEST(test_unverified_is_not_used)
{
	struct lookup lookup;
	char path[128];

	compile("-g");
	pair_path(path);
	lookup_init(&lookup, "/pair", "00112233445566778899aabbccddeeff00112233");
	lookup_add(&lookup, offset_of(path, "touch"), true);
	lookup_run(&lookup, directory, false);
	ck_assert_int_eq(lookup.dso.symbols, FS_SYMBOLS_UNVERIFIED);
	ck_assert_ptr_nonnull(strstr(lookup.dso.reason, "--unverified-symbols"));
	ck_assert_str_eq(function_name(&lookup, 0), "");
	lookup_run(&lookup, directory, true);
	ck_assert_int_eq(lookup.dso.symbols, FS_SYMBOLS_UNVERIFIED);
	ck_assert_str_eq(function_name(&lookup, 0), "touch");
	lookup_free(&lookup);
}
END_TEST

START_TEST(test_relocatable_object)
{
	struct lookup lookup;

	compile("-g");
	run("cd %s && gcc -g -c pair.c -o pair.ko", directory);
	lookup_init(&lookup, "/pair.ko", NULL);
	lookup_add(&lookup, 64, true);
	lookup_run(&lookup, directory, true);
	ck_assert_int_eq(lookup.dso.symbols, FS_SYMBOLS_FAILED);
	ck_assert_ptr_nonnull(strstr(lookup.dso.reason, "relocatable"));
	lookup_free(&lookup);
}
END_TEST

/* An open file (a member of an archive) instead of a root; no roots at all; missing. */
START_TEST(test_given_file_and_none)
{
	struct lookup lookup;
	struct fs_symbol_options options = { 0 };
	char path[128];
	char build_id[FS_BUILD_ID_TEXT];

	compile("-g");
	pair_path(path);
	read_build_id(path, build_id);
	lookup_init(&lookup, "/usr/bin/pair", build_id);
	lookup_add(&lookup, offset_of(path, "touch"), true);
	options.strings = &lookup.strings;
	ck_assert_int_eq(fs_symbolise(&options, &lookup.dso, 1, NULL, NULL), 0);
	ck_assert_int_eq(lookup.dso.symbols, FS_SYMBOLS_NOT_ASKED);
	lookup.dso.fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(fs_symbolise(&options, &lookup.dso, 1, NULL, NULL), 0);
	ck_assert_int_eq(lookup.dso.symbols, FS_SYMBOLS_VERIFIED);
	ck_assert_str_eq(function_name(&lookup, 0), "touch");
	fs_symbol_dso_free(&lookup.dso);
	close(lookup.dso.fd);
	lookup.dso.fd = -1;
	lookup.dso.path = "/no/such";
	lookup_run(&lookup, directory, false);
	ck_assert_int_eq(lookup.dso.symbols, FS_SYMBOLS_MISSING);
	lookup_free(&lookup);
}
END_TEST

/* ---- helpers that fail ---- */

/* Three DSOs, the one in the middle makes its helper misbehave. */
static void run_fault(enum fs_helper_fault fault, const char *reason)
{
	struct lookup lookups[3];
	struct fs_symbol_dso dsos[3];
	struct fs_isolation isolation;
	struct fs_error error;
	const char *roots[] = { directory };
	struct fs_symbol_options options = { .roots = roots,
					     .root_count = 1,
					     .timeout_ms = fault == FS_HELPER_HANG ? 300 : 20000,
					     .test_fault = (int)fault,
					     .test_fault_dso = 1 };
	char path[128];
	char build_id[FS_BUILD_ID_TEXT];

	pair_path(path);
	read_build_id(path, build_id);
	for (size_t i = 0; i < 3; i++) {
		lookup_init(&lookups[i], "/pair", build_id);
		lookup_add(&lookups[i], offset_of(path, "touch"), true);
		dsos[i] = lookups[i].dso;
	}
	options.strings = &lookups[0].strings;
	ck_assert_int_eq(fs_symbolise(&options, dsos, 3, &isolation, &error), 0);
	ck_assert(isolation.seccomp);
	for (size_t i = 0; i < 3; i++) {
		if (i == 1) {
			ck_assert_int_eq(dsos[i].symbols, FS_SYMBOLS_FAILED);
			ck_assert_msg(strstr(dsos[i].reason, reason), "%s", dsos[i].reason);
			ck_assert_uint_eq(dsos[i].function_count, 0);
			ck_assert_uint_eq(lookups[i].results[0].function, FS_SYMBOL_NONE);
		} else {
			ck_assert_int_eq(dsos[i].symbols, FS_SYMBOLS_VERIFIED);
			ck_assert_uint_eq(dsos[i].function_count, 1);
		}
		fs_symbol_dso_free(&dsos[i]);
		fs_interner_free(&lookups[i].strings);
	}
}

#if defined(__SANITIZE_ADDRESS__)
#define KILLED "held" /* the filter refuses there instead of killing */
#else
#define KILLED "signal 31"
#endif

START_TEST(test_helper_faults)
{
	compile("-g");
	run_fault(FS_HELPER_CRASH, "signal 4");
	run_fault(FS_HELPER_HANG, "longer than 300 ms");
	run_fault(FS_HELPER_VANISH, "no answer");
	run_fault(FS_HELPER_GARBAGE, "malformed");
	run_fault(FS_HELPER_FLOOD, "over 256 MiB");
}
END_TEST

START_TEST(test_helper_is_sealed)
{
	compile("-g");
	run_fault(FS_HELPER_WRITE_FILE, "held");
	run_fault(FS_HELPER_READ_FILE, "held");
	run_fault(FS_HELPER_SOCKET, KILLED);
	run_fault(FS_HELPER_EXECUTE, KILLED);
	run_fault(FS_HELPER_FORK, KILLED);
}
END_TEST

static bool refuse(void *context)
{
	return --*(int *)context < 0;
}

START_TEST(test_cancelled)
{
	struct lookup lookup;
	struct fs_error error;
	int patience = 0;
	const char *roots[] = { directory };
	struct fs_symbol_options options = {
		.roots = roots, .root_count = 1, .cancelled = refuse, .context = &patience
	};
	char path[128];

	compile("-g");
	pair_path(path);
	lookup_init(&lookup, "/pair", NULL);
	lookup_add(&lookup, offset_of(path, "touch"), true);
	options.strings = &lookup.strings;
	options.allow_unverified = true;
	ck_assert_int_eq(fs_symbolise(&options, &lookup.dso, 1, NULL, &error), ECANCELED);
	patience = 1; /* and while the helper hangs */
	options.test_fault = FS_HELPER_HANG;
	ck_assert_int_eq(fs_symbolise(&options, &lookup.dso, 1, NULL, &error), ECANCELED);
	lookup_free(&lookup);
}
END_TEST

/* ---- damaged files ---- */

static uint32_t random_state = 1;

static uint32_t random_number(void)
{
	random_state = random_state * 1664525u + 1013904223u;
	return random_state >> 8;
}

static uint8_t *read_file(const char *path, size_t *ret_size)
{
	struct stat status;
	int fd = open(path, O_RDONLY);
	uint8_t *bytes;

	ck_assert_int_eq(fstat(fd, &status), 0);
	bytes = malloc((size_t)status.st_size);
	ck_assert_int_eq(read(fd, bytes, (size_t)status.st_size), status.st_size);
	close(fd);
	*ret_size = (size_t)status.st_size;
	return bytes;
}

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

/* Headers, section headers and debug sections are hit more often than chance would. */
static void damage(uint8_t *bytes, size_t size)
{
	Elf64_Ehdr header;
	unsigned int hits = 1 + random_number() % 16;

	memcpy(&header, bytes, sizeof(header));
	while (hits--) {
		size_t at = random_number() % size;

		if (random_number() % 3 == 0)
			at = 16 + random_number() % (sizeof(header) + 400);
		else if (random_number() % 3 == 0 && header.e_shoff < size)
			at = header.e_shoff + random_number() % (size - header.e_shoff);
		bytes[at] = (uint8_t)random_number();
	}
}

START_TEST(test_damaged_files)
{
	enum { ROUNDS = 500 };
	struct fs_symbol_options options = { .allow_unverified = true, .timeout_ms = 10000 };
	const char *roots[] = { directory };
	struct lookup lookup;
	char path[128];
	char bad[128];
	uint8_t *whole;
	size_t size;
	uint64_t touch;
	size_t count[FS_SYMBOLS_MAX] = { 0 };

	compile("-g");
	pair_path(path);
	snprintf(bad, sizeof(bad), "%s/bad", directory);
	touch = offset_of(path, "touch");
	whole = read_file(path, &size);
	options.roots = roots;
	options.root_count = 1;
	for (int round = 0; round < ROUNDS; round++) {
		uint8_t *copy = malloc(size);
		struct fs_error error = { 0 };

		memcpy(copy, whole, size);
		damage(copy, size);
		write_file(bad, copy, round % 5 ? size : random_number() % size);
		free(copy);
		lookup_init(&lookup, "/bad", NULL);
		for (uint64_t i = 0; i < 40; i++)
			lookup_add(&lookup, touch + i, i & 1);
		options.strings = &lookup.strings;
		ck_assert_msg(fs_symbolise(&options, &lookup.dso, 1, NULL, &error) == 0, "%s",
			      error.text);
		count[lookup.dso.symbols]++;
		ck_assert(lookup.dso.symbols != FS_SYMBOLS_FAILED || lookup.dso.reason[0]);
		lookup_free(&lookup);
	}
	free(whole);
	printf("%d damaged files: %zu used, %zu failed\n", ROUNDS, count[FS_SYMBOLS_UNVERIFIED],
	       count[FS_SYMBOLS_FAILED]);
	ck_assert_uint_gt(count[FS_SYMBOLS_UNVERIFIED], 0);
	ck_assert_uint_gt(count[FS_SYMBOLS_FAILED], 0);
}
END_TEST

/* An answer that has been tampered with is refused or read, and never trusted too far. */
START_TEST(test_tampered_answers)
{
	struct fs_symbol_function function = { .name = 0, .linkage_name = FS_SYMBOL_NONE };
	struct fs_symbol_result result = fs_symbol_result_unknown();
	struct fs_symbol_type type = { .name = 0, .size = 8, .kind = FS_TYPE_STRUCT };
	struct fs_symbol_field field = { .name = 1, .type_name = 2, .size = 4, .elements = 2 };
	struct fs_symbol_object object = { .name = 1, .size = 8, .type = 0, .field = 2 };
	const struct fs_symbol_object_query query = { 0 };
	struct fs_symbol_object answer;
	static struct fs_reply_writer writer;
	struct fs_isolation isolation;
	struct lookup lookup;
	uint8_t good[512];
	ssize_t size;
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	writer.fd = ends[1];
	fs_reply_first(&writer, 3);
	fs_reply_binary(&writer, FS_REPLY_ARCH_X86_64, 3);
	fs_reply_text(&writer, "name", 4);
	fs_reply_text(&writer, "file", 4);
	fs_reply_text(&writer, "rax", 3);
	fs_reply_function(&writer, &function);
	result.function = result.type = 0;
	result.file = result.field = 1;
	result.base_register = result.variable = 2;
	result.type_method = FS_TYPE_METHOD_FLOW;
	fs_reply_type(&writer, &type);
	fs_reply_field(&writer, &field);
	fs_reply_code(&writer, 0, &result);
	fs_reply_object(&writer, 0, &object);
	fs_reply_last(&writer, FS_REPLY_DONE, "");
	size = read(ends[0], good, sizeof(good));
	close(ends[0]);
	close(ends[1]);
	lookup_init(&lookup, "/x", NULL);
	lookup_add(&lookup, 0, true);
	lookup.dso.object_queries = &query;
	lookup.dso.objects = &answer;
	lookup.dso.object_query_count = 1;
	ck_assert_int_eq(fs_symbol_reply_read(good, (size_t)size, &lookup.strings, &lookup.dso,
					      &isolation, NULL),
			 0);
	ck_assert_str_eq(function_name(&lookup, 0), "name");
	ck_assert_str_eq(lookup.dso.arch, "x86_64");
	ck_assert_uint_eq(lookup.dso.type_count, 1);
	ck_assert_uint_eq(lookup.dso.field_count, 1);
	ck_assert_uint_eq(lookup.dso.fields[0].elements, 2);
	ck_assert_int_eq(lookup.results[0].type_method, FS_TYPE_METHOD_FLOW);
	ck_assert_uint_eq(answer.type, 0);
	fs_symbol_dso_free(&lookup.dso);
	for (int round = 0; round < 200000; round++) {
		uint8_t bad[sizeof(good)];
		size_t cut = round % 4 ? (size_t)size : random_number() % (size_t)size;
		uint8_t *exact = malloc(cut ? cut : 1);

		memcpy(bad, good, (size_t)size);
		for (unsigned int i = random_number() % 3 + (cut == (size_t)size); i; i--)
			bad[random_number() % (size_t)size] = (uint8_t)random_number();
		memcpy(exact, bad, cut);
		if (fs_symbol_reply_read(exact, cut, &lookup.strings, &lookup.dso, &isolation,
					 NULL) == 0)
			function_name(&lookup, 0);
		else
			ck_assert_uint_eq(lookup.results[0].function, FS_SYMBOL_NONE);
		fs_symbol_dso_free(&lookup.dso);
		free(exact);
	}
	lookup_free(&lookup);
}
END_TEST

/* The sentence is empty: there is still one to show. */
START_TEST(test_refusal_without_a_reason)
{
	static const uint8_t answer[] = { 1, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0,
					  2, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0 };
	struct fs_isolation isolation;
	struct fs_error error = { 0 };
	struct lookup lookup;

	lookup_init(&lookup, "/x", NULL);
	ck_assert_int_eq(fs_symbol_reply_read(answer, sizeof(answer), &lookup.strings, &lookup.dso,
					      &isolation, &error),
			 FS_REFUSED);
	ck_assert_str_eq(error.text, "the helper gave up without a reason");
	lookup_free(&lookup);
}
END_TEST

/* ---- the traced programs ---- */

static void check_traced(const char *root, const uint64_t *offsets, const int *ops,
			 const uint32_t *lines, size_t count)
{
	struct lookup lookup;
	char path[128];
	char build_id[FS_BUILD_ID_TEXT];

	snprintf(path, sizeof(path), "%s/01_ggml_barrier", root);
	if (access(path, R_OK)) {
		printf("SKIP: %s is absent\n", path);
		return;
	}
	read_build_id(path, build_id);
	lookup_init(&lookup, "/opt/elsewhere/01_ggml_barrier", build_id);
	for (size_t i = 0; i < count; i++)
		lookup_add(&lookup, offsets[i], true);
	lookup_run(&lookup, root, false);
	ck_assert_msg(lookup.dso.symbols == FS_SYMBOLS_VERIFIED, "%s", lookup.dso.reason);
	for (size_t i = 0; i < count; i++) {
		ck_assert_str_eq(function_name(&lookup, i), "pool_barrier");
		ck_assert_uint_eq(lookup.results[i].function_offset, offsets[i] - offsets[0]);
		ck_assert_int_eq(lookup.results[i].op, ops[i]);
		ck_assert_uint_eq(lookup.results[i].line, lines[i]);
		ck_assert_uint_eq(lookup.results[i].width,
				  ops[i] == FS_OP_OTHER || ops[i] == FS_OP_BRANCH ? 0 : 4);
	}
	ck_assert_uint_eq(lookup.dso.function_count, 1);
	lookup_free(&lookup);
}

START_TEST(test_traced_aarch64)
{
	static const uint64_t offsets[] = { 0xc90, 0xc94, 0xca0, 0xcb4, 0xcc0, 0xcd0, 0xcd4 };
	static const int ops[] = { FS_OP_OTHER, FS_OP_LOAD,  FS_OP_ATOMIC, FS_OP_BRANCH,
				   FS_OP_LOAD,	FS_OP_STORE, FS_OP_ATOMIC };
	static const uint32_t lines[] = { 30, 30, 31, 32, 37, 33, 34 };

	check_traced("../shared/traces/aarch64/bin", offsets, ops, lines, 7);
}
END_TEST

START_TEST(test_traced_x86_64)
{
	static const uint64_t offsets[] = { 0x13f0, 0x13f3, 0x1400, 0x141a, 0x1428, 0x142f };
	static const int ops[] = { FS_OP_LOAD, FS_OP_OTHER, FS_OP_ATOMIC,
				   FS_OP_LOAD, FS_OP_STORE, FS_OP_ATOMIC };
	static const uint32_t lines[] = { 30, 30, 31, 37, 33, 34 };

	check_traced("../shared/traces/x86_64/bin", offsets, ops, lines, 6);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("symbol");
	TCase *cases = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_set_timeout(cases, 300);
	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, test_made_program);
	tcase_add_test(cases, test_kept_answers);
	tcase_add_test(cases, test_inlined);
	tcase_add_loop_test(cases, test_plt, 0, 3);
	tcase_add_test(cases, test_debug_link);
	tcase_add_test(cases, test_debug_link_build_id);
	tcase_add_test(cases, test_supplementary);
	tcase_add_test(cases, test_debug_sup);
	tcase_add_loop_test(cases, test_dwarf_forms, 0, 5);
#if defined(__x86_64__)
	tcase_add_test(cases, test_skid);
	tcase_add_test(cases, test_skid_rules);
#endif
	tcase_add_test(cases, test_stripped_and_separate_debug);
	tcase_add_test(cases, test_demangling);
	tcase_add_test(cases, test_bomb);
	tcase_add_test(cases, test_unverified_is_not_used);
	tcase_add_test(cases, test_relocatable_object);
	tcase_add_test(cases, test_given_file_and_none);
	tcase_add_test(cases, test_helper_faults);
	tcase_add_test(cases, test_helper_is_sealed);
	tcase_add_test(cases, test_cancelled);
	tcase_add_test(cases, test_damaged_files);
	tcase_add_test(cases, test_tampered_answers);
	tcase_add_test(cases, test_refusal_without_a_reason);
	tcase_add_test(cases, test_traced_aarch64);
	tcase_add_test(cases, test_traced_x86_64);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
