/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/load/hash_file.h"

#include <check.h>
#include <stdlib.h>
#include <unistd.h>

#include "ingest/perfdata/test_writer.h"

/* Digests by sha256sum. */
static const struct {
	const char *content;
	size_t repeats;
	const char *hex;
} files[] = {
	{ "", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
	{ "abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
	{ "a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0" },
};

START_TEST(digests)
{
	struct test_bytes bytes = { 0 };
	struct fs_hash_file hash;
	char path[64];
	int fd;

	for (size_t i = 0; i < files[_i].repeats; i++)
		test_put(&bytes, files[_i].content, strlen(files[_i].content));
	test_save(bytes.data, bytes.size, path);
	fd = open(path, O_RDONLY);
	ck_assert_int_eq(lseek(fd, 1, SEEK_SET), 1); /* where the descriptor stands is no matter */
	ck_assert_int_eq(fs_hash_file_begin(&hash, fd, NULL), 0);
	ck_assert_int_eq(fs_hash_file_end(&hash, NULL), 0);
	ck_assert_str_eq(hash.hex, files[_i].hex);
	ck_assert_int_eq(fs_hash_file_end(&hash, NULL), 0);
	close(fd);
	unlink(path);
	free(bytes.data);
}
END_TEST

START_TEST(a_failed_read_is_told)
{
	struct fs_error error = { 0 };
	struct fs_hash_file hash;
	int fd = open("/tmp", O_RDONLY);

	ck_assert_int_eq(fs_hash_file_begin(&hash, fd, NULL), 0);
	ck_assert_int_eq(fs_hash_file_end(&hash, &error), FS_REFUSED);
	ck_assert_int_eq(fs_hash_file_end(&hash, NULL), FS_REFUSED);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hash_file");
	TCase *tests = tcase_create("hash_file");
	SRunner *runner;
	int failed;

	tcase_add_loop_test(tests, digests, 0, 3);
	tcase_add_test(tests, a_failed_read_is_told);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
