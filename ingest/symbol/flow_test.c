/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Types and fields of accesses, in a program that is compiled here: by every compiler that is
 * there, at several levels of optimisation, with DWARF 4 and 5. Each function of the subject makes
 * accesses that are known from its source; all that are named must be among them, and the ones that
 * matter must be named.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/symbol/symbol.h"

enum { CODES_MAX = 4096 };

static const char subject[] =
	"struct inner { int x, y; long z; };\n"
	"struct item { long key; int count; struct item *next; };\n"
	"union either { int number; long wide; char text[24]; };\n"
	"struct whole {\n"
	"	long first;\n"
	"	struct inner in;\n"
	"	struct item items[4];\n"
	"	union either u;\n"
	"	struct { int anonymous_a, anonymous_b; };\n"
	"	struct item *list;\n"
	"	unsigned low : 3, high : 7;\n"
	"	long numbers[8];\n"
	"	long tail[];\n"
	"};\n"
	"struct whole *volatile keep;\n"
	"struct whole global_whole;\n"
	"static struct inner static_inner[3];\n"
	"static __thread struct inner thread_inner;\n"
	"#define F __attribute__((noinline, noclone, used))\n"
	"F void other(void) { __asm__ volatile(\"\" ::: \"memory\"); }\n"
	"F void sink(void *p) { __asm__ volatile(\"\" :: \"r\"(p) : \"memory\"); }\n"
	"F struct item *make(struct whole *w) { __asm__(\"\" : \"+r\"(w)); return &w->items[2]; }\n"
	"F int direct(struct whole *w) { return w->in.y; }\n"
	"F long chained(struct whole *w) { return w->list->next->key; }\n"
	"F int looped(struct whole *w, int n)\n"
	"{ int s = 0; for (int i = 0; i < n; i++) { s += w->items[i].count; other(); } return s; "
	"}\n"
	"F int walked(struct item *i)\n"
	"{ int s = 0; for (; i; i = i->next) s += i->count; return s; }\n"
	"F int global_read(void) { return global_whole.in.x; }\n"
	"F int static_read(int i) { static_inner[i].y++; return static_inner[1].x; }\n"
	"F int thread_read(void) { thread_inner.y++; return thread_inner.x; }\n"
	"F int selected(struct whole *a, struct whole *b, int c)\n"
	"{ struct whole *w = c ? a : b; other(); return w->in.x; }\n"
	"F int returned(struct whole *w) { return make(w)->count; }\n"
	"F int across(struct whole *w) { other(); w->in.y++; other(); return w->in.x; }\n"
	"F void stored(struct whole *w, struct item *i)\n"
	"{ w->list = i; i->next = w->items; w->items[1].count = 3; }\n"
	"F long switched(struct whole *w, int k)\n"
	"{\n"
	"	switch (k) {\n"
	"	case 0: return w->first; case 1: return w->in.z; case 2: return w->items[0].key;\n"
	"	case 3: return w->u.wide; case 4: other(); return w->numbers[1];\n"
	"	case 5: return w->in.x * 3; case 6: return w->anonymous_a; default: return 0;\n"
	"	}\n"
	"}\n"
	"F long flexible(struct whole *w, long i) { return w->tail[i]; }\n"
	"F long indexed(struct whole *w, long i) { return w->numbers[i] + w->numbers[i + 1]; }\n"
	"F int untyped(void *p) { struct whole *w = p; other(); return w->in.y; }\n"
	"F int element(struct item *a, long i) { return a[i].count; }\n"
	"F int on_stack(void) { struct inner l; l.x = 7; sink(&l); return l.y; }\n"
	"F unsigned bits(struct whole *w) { return w->high; }\n"
	"F int unnamed(struct whole *w) { return w->anonymous_b; }\n"
	"F int united(struct whole *w) { return w->u.number; }\n"
	"F void counted(struct whole *w) { __atomic_fetch_add(&w->in.z, 1, 5); }\n"
	"F void swapped(struct whole *w)\n"
	"{ long o = 0; __atomic_compare_exchange_n(&w->first, &o, 1, 0, 5, 5); }\n"
	/* runs on from where it says */
	"F void wiped(struct whole *w)\n"
	"{\n"
	"#ifdef __x86_64__\n"
	"	void *p = w; long n = 4;\n"
	"	__asm__ volatile(\"rep stosq\" : \"+D\"(p), \"+c\"(n) : \"a\"(0) : \"memory\");\n"
	"#endif\n"
	"}\n"
	"int main(void)\n"
	"{\n"
	"	struct whole *w = keep;\n"
	"	direct(w); chained(w); looped(w, 3); walked(w->list); global_read(); "
	"static_read(1);\n"
	"	thread_read(); selected(w, w, 1); returned(w); across(w); stored(w, w->list);\n"
	"	switched(w, 3); flexible(w, 2); indexed(w, 2); untyped(w); element(w->list, 2);\n"
	"	sink(&thread_inner); sink(static_inner); on_stack(); bits(w); unnamed(w); "
	"united(w); counted(w); swapped(w); wiped(w);\n"
	"	return 0;\n"
	"}\n";

static const char subject_cxx[] =
	"#define F extern \"C\" __attribute__((noinline, used))\n"
	"namespace pool {\n"
	"struct Base { virtual int kind() const { return 1; } int id; long stamp; };\n"
	"struct Ref { Base *base; };\n"
	"template<class T> struct Node { T value; int refs; Node *next; };\n"
	"template<class T, int N> struct Ring { T slot[N]; unsigned head, tail; };\n"
	"struct Derived : Base { Ring<long, 8> ring; Node<Ref> *list; bool flag; };\n"
	"class Locked { public: int lock; static long total; };\n"
	"long Locked::total;\n"
	/* as vectors are: an empty class and the data at one place */
	"struct Entry { long reads; int errors; double mean; };\n"
	"template<class T> struct Empty { };\n"
	"template<class T> struct Span { T *start, *finish; };\n"
	"template<class T> struct Vector\n"
	"{ struct Impl : Empty<T>, Span<T> { }; Impl impl;\n"
	"  __attribute__((always_inline)) T &at(long i) { return impl.start[i]; } "
	"};\n"
	/* as shared pointers and maps are: bytes for an object */
	"template<class T> struct Raw { alignas(T) unsigned char bytes[sizeof(T)]; };\n"
	"struct Holder { long used; Raw<Entry> raw; };\n"
	/* as iterators are: a class of one pointer, to the base of what it stands at */
	"struct Link { Link *next; };\n"
	"template<class T> struct Linked : Link { T value; };\n"
	"struct Iterator { Link *link; };\n"
	"}\n"
	"using namespace pool;\n"
	"F int inherited(Derived *d) { return d->id; }\n"
	"F long ring(Derived *d, unsigned long i) { return d->ring.slot[i] + d->ring.tail; }\n"
	"F int listed(Derived &d)\n"
	"{ int s = 0; for (auto *n = d.list; n; n = n->next) s += n->refs + n->value.base->id; "
	"return "
	"s; }\n"
	"F bool constant(const Derived &d) { return d.flag; }\n"
	"F long derived(Base *b) { return static_cast<Derived *>(b)->ring.head; }\n"
	"F void locked(Locked &l) { l.lock = 1; }\n"
	"F void emptied(Vector<Entry> &v, long i) { v.at(i).errors++; }\n"
	"F void held(Holder &h) { ((Entry *)h.raw.bytes)->errors = 1; h.used = 1; }\n"
	"F int iterated(Iterator i, long n)\n"
	"{\n"
	"	int s = 0;\n"
	"	for (; n; n--, i.link = i.link->next) {\n"
	"		Entry &e = ((Linked<Entry> *)i.link)->value;\n"
	"		s += e.errors;\n"
	"	}\n"
	"	return s;\n"
	"}\n"
	"int main(int c, char **v)\n"
	"{\n"
	"	Derived d{};\n"
	"	Locked l;\n"
	"	locked(l);\n"
	"	Vector<Entry> entries{};\n"
	"	Holder h{};\n"
	"	emptied(entries, c);\n"
	"	held(h);\n"
	"	iterated(Iterator{}, c - 1);\n"
	"	Locked::total = c;\n"
	"	return inherited(&d) + ring(&d, c) + listed(d) + constant(d) + derived(&d);\n"
	"}\n";

/* What a function accesses: "type field", separated by semicolons; with ! one that must be named.
 */
struct expectation {
	const char *function, *accesses;
};

static const struct expectation expected_cxx[] = {
	{ "inherited", "!struct Derived id" },
	{ "ring", "!struct Derived ring.slot[];!struct Derived ring.tail" },
	{ "listed", "!struct Derived list;!struct Node<pool::Ref> refs;"
		    "!struct Node<pool::Ref> next;!struct Node<pool::Ref> value.base;"
		    "!struct Base id" },
	{ "constant", "!struct Derived flag" },
	{ "derived", "" }, /* outside of Base: not known is right */
	{ "locked", "!class Locked lock" },
	{ "emptied", "!struct Vector<pool::Entry> impl.start;!struct Entry errors" },
	{ "held", "!struct Holder raw.errors;!struct Holder used" },
	{ "iterated",
	  "!struct Link next;struct Iterator link;struct Linked<pool::Entry> value.errors;"
	  "struct Entry errors" },
	{ NULL, NULL },
};

/* Without std, so that nothing else stands in the text. */
static const char subject_rust[] =
	"#![no_std]\n"
	"#![allow(dead_code, unknown_lints, private_interfaces)]\n"
	"use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};\n"
	"#[panic_handler] fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }\n"
	"pub struct Counters { hits: AtomicU64, misses: AtomicU64 }\n"
	"pub struct Slot { sum: u64, count: u32, pair: (u16, u8) }\n"
	"pub enum Job { Idle, Run { id: u32, steps: AtomicU64 }, Pair(AtomicU32, AtomicU32) }\n"
	"pub struct Shared { job: Job, counters: Counters, next: Option<&'static Shared> }\n"
	"#[no_mangle] #[inline(never)] pub fn counted(c: &Counters)\n"
	"{ c.hits.fetch_add(1, Relaxed); c.misses.store(2, Relaxed); }\n"
	"#[no_mangle] #[inline(never)] pub fn matched(s: &Shared)\n"
	"{\n"
	"	match &s.job {\n"
	"	Job::Run { steps, .. } => { steps.fetch_add(1, Relaxed); }\n"
	"	Job::Pair(_, b) => b.store(1, Relaxed),\n"
	"	Job::Idle => {}\n"
	"	}\n"
	"}\n"
	"#[no_mangle] #[inline(never)] pub fn sliced(v: &mut [Slot], i: usize)\n"
	"{ if i < v.len() { v[i].count += 1; v[i].pair.1 = 3; } }\n"
	"#[no_mangle] #[inline(never)] pub fn optional(s: &Shared) -> u64\n"
	"{ match s.next { Some(n) => n.counters.misses.load(Relaxed), None => 0 } }\n";

static const struct expectation expected_rust[] = {
	{ "counted", "!struct Counters hits.v.value;!struct Counters misses.v.value" },
	{ "matched", "struct Shared job;!struct Shared job.Run.steps.v.value;"
		     "!struct Shared job.Pair.__1.v.value" },
	{ "sliced", "!struct Slot count;!struct Slot pair.__1" },
	{ "optional", "!struct Shared next.Some.__0;!struct Shared counters.misses.v.value" },
	{ NULL, NULL },
};

static const struct expectation expected[] = {
	{ "direct", "!struct whole in.y" },
	{ "chained", "!struct whole list;!struct item next;!struct item key" },
	{ "looped", "!struct whole items[].count" },
	{ "walked", "!struct item next;!struct item count" },
	{ "global_read", "!struct whole in.x" },
	{ "static_read", "!struct inner[3] [].y;!struct inner[3] [1].x" },
	{ "thread_read", "!struct inner x;!struct inner y" },
	{ "selected", "!struct whole in.x" },
	{ "returned", "!struct item count" },
	{ "across", "!struct whole in.x;!struct whole in.y" },
	{ "stored", "!struct whole list;!struct item next;!struct whole items[1].count" },
	{ "switched", "!struct whole first;!struct whole in.z;!struct whole items[0].key;"
		      "!struct whole u.wide;!struct whole numbers[1];!struct whole in.x;"
		      "!struct whole anonymous_a" },
	{ "flexible", "!struct whole tail[]" },
	{ "indexed", "!struct whole numbers[]" },
	{ "untyped", "!struct whole in.y" },
	{ "element", "!struct item count" },
	{ "on_stack", "struct inner x;!struct inner y" },
	{ "bits", "struct whole low;struct whole high" },
	{ "unnamed", "!struct whole anonymous_b" },
	{ "united", "!struct whole u.number" },
	{ "counted", "!struct whole in.z" },
	{ "swapped", "!struct whole first" },
	{ "wiped", "" },
	{ NULL, NULL },
};

static char directory[64];

static void make_directory(void)
{
	strcpy(directory, "/tmp/fsight-flow-test.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void remove_directory(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
}

/* The code addresses of the subject, each with its function. */
struct code {
	struct fs_symbol_query queries[CODES_MAX];
	struct fs_symbol_result results[CODES_MAX];
	char functions[CODES_MAX][32];
	size_t count;
};

static void read_code(const char *prefix, struct code *code)
{
	char command[256];
	char line[512];
	char function[32] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), "%sobjdump -d --no-show-raw-insn -j .text %s/subject",
		 prefix, directory);
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	code->count = 0;
	while (fgets(line, sizeof(line), pipe)) {
		uint64_t address;

		if (sscanf(line, "%*x <%31[^>]>:", function) == 1)
			continue;
		if (sscanf(line, " %" SCNx64 ":", &address) != 1 || code->count == CODES_MAX)
			continue;
		code->queries[code->count].offset = address;
		code->queries[code->count].exact = true;
		strcpy(code->functions[code->count++], function);
	}
	ck_assert_int_eq(pclose(pipe), 0);
}

/* Elements by number stand for any, and so do whole paths to them. */
static void without_numbers(const char *field, char *out)
{
	for (; *field; field++) {
		*out++ = *field;
		if (*field == '[')
			field += strspn(field + 1, "0123456789");
	}
	*out = '\0';
}

/* Whether `access` stands in a list, and mark it as seen there. */
static bool take(char *list, const char *access)
{
	char bare[256];
	size_t length;

	for (char *item = list; *item; item += strcspn(item, ";"), item += *item == ';') {
		char *name = item + (*item == '!' || *item == ' ');
		char wanted[256];

		length = strcspn(name, ";");
		snprintf(wanted, sizeof(wanted), "%.*s", (int)length, name);
		without_numbers(wanted, bare);
		if (strcmp(wanted, access) != 0) {
			char given[256];

			without_numbers(access, given);
			if (strcmp(bare, given) != 0)
				continue;
		}
		if (*item == '!')
			*item = ' ';
		return true;
	}
	return false;
}

static void check_function(const struct code *code, const struct fs_symbol_dso *dso,
			   const struct fs_interner *strings, const struct expectation *expectation,
			   const char *how)
{
	char list[512];

	strcpy(list, expectation->accesses);
	for (size_t i = 0; i < code->count; i++) {
		const struct fs_symbol_result *result = &code->results[i];
		const struct fs_symbol_type *type;
		char access[256];

		if (strcmp(code->functions[i], expectation->function) != 0 ||
		    result->type == FS_SYMBOL_NONE || result->field == FS_SYMBOL_NONE)
			continue;
		type = &dso->types[result->type];
		snprintf(access, sizeof(access), "%s %s", fs_interned(strings, type->name, NULL),
			 fs_interned(strings, result->field, NULL));
		ck_assert_msg(take(list, access), "%s: %s: 0x%" PRIx64 " is called %s", how,
			      expectation->function, code->queries[i].offset, access);
	}
	ck_assert_msg(!strchr(list, '!'), "%s: %s: not named: %s", how, expectation->function,
		      list);
}

static void check_subject(const char *prefix, const struct expectation *expectations,
			  const char *how)
{
	static struct code code;
	struct fs_interner strings;
	const char *root = directory;
	struct fs_symbol_options options = {
		.roots = &root, .root_count = 1, .allow_unverified = true, .strings = &strings
	};
	struct fs_symbol_dso dso = { .path = "/subject", .fd = -1, .kind = FS_SYMBOL_LINKED };
	struct fs_error error = { 0 };

	read_code(prefix, &code);
	ck_assert_uint_gt(code.count, 20);
	fs_interner_init(&strings);
	dso.queries = code.queries;
	dso.results = code.results;
	dso.query_count = code.count;
	ck_assert_msg(fs_symbolise(&options, &dso, 1, NULL, &error) == 0, "%s", error.text);
	ck_assert_msg(dso.symbols == FS_SYMBOLS_UNVERIFIED, "%s: %s", how, dso.reason);
	for (; expectations->function; expectations++)
		check_function(&code, &dso, &strings, expectations, how);
	fs_symbol_dso_free(&dso);
	fs_interner_free(&strings);
}

enum language { C, CXX, RUST, LANGUAGES };

static const struct {
	const char *source;
	const struct expectation *expected;
} subjects[LANGUAGES] = {
	[C] = { subject, expected },
	[CXX] = { subject_cxx, expected_cxx },
	[RUST] = { subject_rust, expected_rust },
};

static const struct {
	const char *compiler, *prefix;
	enum language language;
} compilers[] = {
	{ "gcc", "", C },
	{ "clang", "", C },
	{ "clang -x c++ -fno-rtti -fno-exceptions", "", CXX },
	{ "g++ -x c++ -fno-rtti -fno-exceptions", "", CXX },
	{ "aarch64-linux-gnu-gcc -mno-outline-atomics", "aarch64-linux-gnu-", C },
	{ "aarch64-linux-gnu-gcc -march=armv8.1-a", "aarch64-linux-gnu-", C },
	{ "aarch64-linux-gnu-g++ -x c++ -fno-rtti -fno-exceptions", "aarch64-linux-gnu-", CXX },
	{ "rustc --edition 2021 --crate-type cdylib --crate-name subject -C panic=abort "
	  "-C link-arg=-nostdlib -g",
	  "", RUST },
};

static void check_with(size_t number, const char *flags)
{
	const char *compiler = compilers[number].compiler;
	char command[512];

	snprintf(command, sizeof(command),
		 "cd %s && %s %s subject.c -o subject 2>errors || "
		 "{ cat errors; exit 1; }",
		 directory, compiler, flags);
	ck_assert_int_eq(system(command), 0);
	snprintf(command, sizeof(command), "%s %s", compiler, flags);
	check_subject(compilers[number].prefix, subjects[compilers[number].language].expected,
		      command);
}

START_TEST(test_named)
{
	static const char *const flags[] = { "-O0 -g -w",	    "-O1 -g -w", "-O2 -g -w",
					     "-O3 -g -w",	    "-Os -g -w", "-O2 -gdwarf-4 -w",
					     "-O2 -g -fPIE -pie -w" };
	static const char *const flags_rust[] = { "-C opt-level=2", "-C opt-level=3" };
	bool rust = compilers[_i].language == RUST;
	size_t count = rust ? sizeof(flags_rust) / sizeof(flags_rust[0])
			    : sizeof(flags) / sizeof(flags[0]);
	const char *compiler = compilers[_i].compiler;
	char command[128];
	char path[128];
	FILE *file;

	snprintf(command, sizeof(command), "command -v %.*s >/dev/null",
		 (int)strcspn(compiler, " "), compiler);
	if (system(command) != 0) {
		printf("SKIP: %s is absent\n", compiler);
		return;
	}
	snprintf(path, sizeof(path), "%s/subject.c", directory);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(subjects[compilers[_i].language].source, file);
	fclose(file);
	for (size_t i = 0; i < count; i++)
		check_with((size_t)_i, rust ? flags_rust[i] : flags[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("flow");
	TCase *tests = tcase_create("flow");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tests, make_directory, remove_directory);
	tcase_add_loop_test(tests, test_named, 0, sizeof(compilers) / sizeof(compilers[0]));
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
