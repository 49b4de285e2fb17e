/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finding binaries in a temporary tree: every layout, and every way out of a root that a stranger
 * might lay.
 */
#include "ingest/symbol/locate.h"

#include <check.h>
#include <elf.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64];  /* the temporary directory */
static char root[96]; /* the symbol root in it */
static struct fs_roots roots;

static const char id_a[] = "00112233445566778899aabbccddeeff00112233";
static const char id_b[] = "ffeeddccbbaa99887766554433221100ffeeddcc";

__attribute__((format(printf, 1, 2))) static void run(const char *format, ...)
{
	char command[512];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	ck_assert_msg(system(command) == 0, "%s", command);
}

/* The smallest ELF with a build-id: a header, a PT_NOTE, the note. */
struct small_elf {
	Elf64_Ehdr header;
	Elf64_Phdr program;
	Elf64_Nhdr note;
	char name[4];
	uint8_t id[20];
};

static void write_elf(const char *path, const char *id)
{
	struct small_elf file = { 0 };
	FILE *out;
	char full[256];

	memcpy(file.header.e_ident, ELFMAG, SELFMAG);
	file.header.e_ident[EI_CLASS] = ELFCLASS64;
	file.header.e_ident[EI_DATA] = ELFDATA2LSB;
	file.header.e_phoff = sizeof(file.header);
	file.header.e_phentsize = sizeof(file.program);
	file.header.e_phnum = 1;
	file.program.p_type = PT_NOTE;
	file.program.p_offset = offsetof(struct small_elf, note);
	file.program.p_filesz = sizeof(file.note) + sizeof(file.name) + sizeof(file.id);
	file.note = (Elf64_Nhdr){ .n_namesz = 4, .n_descsz = 20, .n_type = NT_GNU_BUILD_ID };
	memcpy(file.name, "GNU", 4);
	for (size_t i = 0; i < sizeof(file.id); i++) {
		char pair[3] = { id[2 * i], id[2 * i + 1], '\0' };

		file.id[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	snprintf(full, sizeof(full), "%s/%s", top, path);
	run("mkdir -p $(dirname %s)", full);
	out = fopen(full, "w");
	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(fwrite(&file, sizeof(file), 1, out), 1);
	fclose(out);
}

static void setup(void)
{
	const char *paths[] = { root };

	strcpy(top, "/tmp/fs_locate_XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	snprintf(root, sizeof(root), "%s/root", top);
	ck_assert_int_eq(mkdir(root, 0700), 0);
	ck_assert_int_eq(fs_roots_open(paths, 1, &roots, NULL), 0);
}

static void teardown(void)
{
	fs_roots_close(&roots);
	run("rm -rf %s", top);
}

static void check(const char *path, const char *id, enum fs_symbols symbols, const char *where)
{
	struct fs_located located;
	char expected[256];

	fs_locate(&roots, path, id, &located);
	ck_assert_msg(located.symbols == symbols, "%s %s: %s %s", path, id,
		      fs_symbols_name(located.symbols), located.reason);
	ck_assert_int_eq(located.fd >= 0,
			 symbols == FS_SYMBOLS_VERIFIED || symbols == FS_SYMBOLS_UNVERIFIED);
	ck_assert_int_eq(located.reason[0] == '\0', symbols == FS_SYMBOLS_VERIFIED);
	if (where) {
		snprintf(expected, sizeof(expected), "%s/%s", root, where);
		ck_assert_str_eq(located.path, expected);
	}
	fs_located_close(&located);
}

START_TEST(test_layouts)
{
	static const char *const places[] = {
		"usr/bin/app",
		"app",
		".build-id/00/112233445566778899aabbccddeeff00112233",
		".build-id/00/112233445566778899aabbccddeeff00112233/elf",
		"00/112233445566778899aabbccddeeff00112233",
		"00112233445566778899aabbccddeeff00112233/executable",
		"usr/bin/app/00112233445566778899aabbccddeeff00112233/elf",
	};
	char path[160];

	snprintf(path, sizeof(path), "root/%s", places[_i]);
	check("/usr/bin/app", id_a, FS_SYMBOLS_MISSING, NULL);
	write_elf(path, id_a);
	roots.no_openat2 = false;
	check("/usr/bin/app", id_a, FS_SYMBOLS_VERIFIED, places[_i]);
	check("/usr/bin/app (deleted)", id_a, FS_SYMBOLS_VERIFIED, places[_i]);
	roots.no_openat2 = true;
	check("/usr/bin/app", id_a, FS_SYMBOLS_VERIFIED, places[_i]);
}
END_TEST

/* ~/.debug as perf buildid-cache makes it: relative links from the id to the directory. */
START_TEST(test_perf_cache_links)
{
	write_elf("root/home/u/app/00112233445566778899aabbccddeeff00112233/elf", id_a);
	run("mkdir -p %s/.build-id/00 && ln -s ../../home/u/app/%s "
	    "%s/.build-id/00/112233445566778899aabbccddeeff00112233",
	    root, id_a, root);
	check("/other/path", id_a, FS_SYMBOLS_VERIFIED,
	      ".build-id/00/112233445566778899aabbccddeeff00112233/elf");
}
END_TEST

START_TEST(test_wrong_build_id)
{
	struct fs_located located;

	write_elf("root/usr/bin/app", id_b);
	check("/usr/bin/app", id_a, FS_SYMBOLS_UNVERIFIED, "usr/bin/app");
	check("/usr/bin/app", "", FS_SYMBOLS_UNVERIFIED, NULL);
	check("/usr/bin/app", NULL, FS_SYMBOLS_UNVERIFIED, NULL);
	fs_locate(&roots, "/usr/bin/app", id_a, &located);
	ck_assert_ptr_nonnull(strstr(located.reason, id_b));
	fs_located_close(&located);
	write_elf("root/app", id_a); /* the right one comes later, and wins */
	check("/usr/bin/app", id_a, FS_SYMBOLS_VERIFIED, "app");
}
END_TEST

START_TEST(test_padded_build_id)
{
	write_elf("root/x/app", "00112233445566778899aabbccddeeff00000000");
	check("/x/app", "00112233445566778899aabbccddeeff", FS_SYMBOLS_VERIFIED, "x/app");
	ck_assert(fs_build_id_equal("aabb", "AABB0000"));
	ck_assert(!fs_build_id_equal("aabb", "aabb01"));
	ck_assert(!fs_build_id_equal("", ""));
	ck_assert(!fs_build_id_equal("", "00"));
}
END_TEST

START_TEST(test_debug_file)
{
	struct fs_located located;

	write_elf("root/usr/lib/debug/.build-id/00/112233445566778899aabbccddeeff00112233.debug",
		  id_a);
	fs_locate(&roots, "/usr/bin/app", id_a, &located);
	ck_assert_int_eq(located.symbols, FS_SYMBOLS_VERIFIED);
	ck_assert(located.fd < 0 && located.debug_fd >= 0 && located.reason[0]);
	fs_located_close(&located);
	write_elf("root/usr/bin/app", id_a);
	fs_locate(&roots, "/usr/bin/app", id_a, &located);
	ck_assert(located.fd >= 0 && located.debug_fd >= 0 && !located.reason[0]);
	fs_located_close(&located);
}
END_TEST

/* What lies outside stays outside, by either way of opening. */
START_TEST(test_escapes)
{
	roots.no_openat2 = _i;
	write_elf("secret", id_a);
	write_elf("root/inside/real", id_a);
	/* openat2 stops at the root and finds nothing; the fall-back sees where it would lead */
	check("/../secret", id_a, _i ? FS_SYMBOLS_FAILED : FS_SYMBOLS_MISSING, NULL);
	check("/inside/../../secret", id_a, _i ? FS_SYMBOLS_FAILED : FS_SYMBOLS_MISSING, NULL);
	run("ln -s %s/secret %s/absolute; ln -s ../secret %s/relative; ln -s .. %s/up", top, root,
	    root, root);
	ck_assert_int_lt(fs_root_open_file(&roots, 0, "absolute"), 0);
	ck_assert_int_lt(fs_root_open_file(&roots, 0, "relative"), 0);
	ck_assert_int_lt(fs_root_open_file(&roots, 0, "up/secret"), 0);
	ck_assert_int_lt(fs_root_open_file(&roots, 0, "../secret"), 0);
	ck_assert_int_lt(fs_root_open_file(&roots, 0, "inside/../../secret"), 0);
	run("ln -s /proc/self/exe %s/magic; ln -s loop %s/loop", root, root);
	ck_assert_int_lt(fs_root_open_file(&roots, 0, "magic"), 0);
	ck_assert_int_lt(fs_root_open_file(&roots, 0, "loop"), 0);
	run("ln -s inside/real %s/good", root);
	check("/good", id_a, FS_SYMBOLS_VERIFIED, "good");
}
END_TEST

/* In a sysroot an absolute link means the root. */
START_TEST(test_absolute_link_in_sysroot)
{
	write_elf("root/usr/lib/libx.so.1", id_a);
	run("ln -s /usr/lib %s/lib", root);
	if (syscall(437, -1, "", NULL, 0) < 0 && errno == ENOSYS) {
		printf("SKIP: no openat2\n");
		return;
	}
	check("/lib/libx.so.1", id_a, FS_SYMBOLS_VERIFIED, "lib/libx.so.1");
}
END_TEST

START_TEST(test_no_regular_files)
{
	run("mkfifo %s/fifo; mkdir %s/directory; ln -s /dev/zero %s/device", root, root, root);
	ck_assert_int_eq(fs_root_open_file(&roots, 0, "fifo"), -EINVAL);
	ck_assert_int_eq(fs_root_open_file(&roots, 0, "directory"), -EINVAL);
	ck_assert_int_lt(fs_root_open_file(&roots, 0, "device"), 0);
	run("truncate -s 5G %s/huge", root);
	ck_assert_int_eq(fs_root_open_file(&roots, 0, "huge"), -EFBIG);
	check("/huge", id_a, FS_SYMBOLS_FAILED, "huge");
	run("echo no ELF > %s/text; : > %s/empty", root, root);
	check("/text", id_a, FS_SYMBOLS_FAILED, "text");
	check("/empty", id_a, FS_SYMBOLS_FAILED, "empty");
	check("/fifo", id_a, FS_SYMBOLS_MISSING, NULL);
}
END_TEST

START_TEST(test_odd_names)
{
	static const char *const names[] = { "",
					     "/",
					     "//anon",
					     "[vdso]",
					     "[kernel.kallsyms]",
					     ".",
					     "relative/app",
					     "/a\nb\x1b[31m" };
	char longest[5000];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check(names[i], id_a, FS_SYMBOLS_MISSING, NULL);
	memset(longest, 'a', sizeof(longest) - 1);
	longest[0] = '/';
	longest[sizeof(longest) - 1] = '\0';
	check(longest, id_a, FS_SYMBOLS_MISSING, NULL);
	check("/app", "../../../../etc/passwd", FS_SYMBOLS_MISSING, NULL);
	check("/app", "zz", FS_SYMBOLS_MISSING, NULL);
}
END_TEST

START_TEST(test_bad_root)
{
	const char *paths[] = { "/nonexistent/fsight" };
	struct fs_error error;
	struct fs_roots none;

	ck_assert_int_eq(fs_roots_open(paths, 1, &none, &error), FS_USAGE);
	ck_assert_ptr_nonnull(strstr(error.text, "/nonexistent/fsight"));
}
END_TEST

/* Headers and notes that point anywhere. */
START_TEST(test_damaged_headers)
{
	char path[128];
	uint8_t good[256];
	uint32_t state = 42;
	size_t size;
	FILE *file;

	write_elf("whole", id_a);
	snprintf(path, sizeof(path), "%s/whole", top);
	file = fopen(path, "r");
	size = fread(good, 1, sizeof(good), file);
	fclose(file);
	for (int round = 0; round < 3000; round++) {
		uint8_t bad[256];
		char id[FS_BUILD_ID_TEXT];
		size_t cut = size;
		int fd = open(path, O_RDWR | O_TRUNC);

		memcpy(bad, good, size);
		for (int i = 0; i < 1 + round % 4; i++) {
			state = state * 1664525 + 1013904223;
			bad[16 + (state >> 8) % (size - 16)] = (uint8_t)(state >> 24);
		}
		if (round % 8 == 0)
			cut = (state >> 4) % size;
		ck_assert_int_eq(write(fd, bad, cut), (ssize_t)cut);
		if (fs_build_id_read(fd, id))
			ck_assert_uint_le(strlen(id), 40);
		close(fd);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("locate");
	TCase *cases = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_loop_test(cases, test_layouts, 0, 7);
	tcase_add_test(cases, test_perf_cache_links);
	tcase_add_test(cases, test_wrong_build_id);
	tcase_add_test(cases, test_padded_build_id);
	tcase_add_test(cases, test_debug_file);
	tcase_add_loop_test(cases, test_escapes, 0, 2);
	tcase_add_test(cases, test_absolute_link_in_sysroot);
	tcase_add_test(cases, test_no_regular_files);
	tcase_add_test(cases, test_odd_names);
	tcase_add_test(cases, test_bad_root);
	tcase_add_test(cases, test_damaged_headers);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
