/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/helper/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define FS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FS_ASAN 1
#endif
#endif
#ifndef FS_ASAN
#define FS_ASAN 0
#endif

/* ---- detaching ---- */

static void reset_signals(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		sigaction(number, &action, NULL); /* fails for some, harmlessly */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int compare_int(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* Close everything but 0..2 and the given descriptors. */
static bool close_others(const int *keep, size_t keep_count)
{
	unsigned int from = 3;
	int sorted[8];

	if (keep_count > sizeof(sorted) / sizeof(sorted[0]))
		return false;
	memcpy(sorted, keep, keep_count * sizeof(*keep));
	qsort(sorted, keep_count, sizeof(*sorted), compare_int);
	for (size_t i = 0; i < keep_count; i++) {
		unsigned int fd = (unsigned int)sorted[i];

		if (sorted[i] < 3)
			continue; /* -1: there is none */
		if (fd > from && close_range(from, fd - 1, 0))
			return false;
		from = fd + 1;
	}
	return !close_range(from, ~0u, 0);
}

/* A database's shared memory must not be within reach of a parser gone wild. */
static void unmap_shared(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	unsigned long first[64];
	unsigned long last[64];
	size_t count = 0;

	if (!maps)
		return;
	while (fgets(line, sizeof(line), maps)) {
		char rights[5];

		if (count < 64 &&
		    sscanf(line, "%lx-%lx %4s", &first[count], &last[count], rights) == 3 &&
		    rights[1] == 'w' && rights[3] == 's')
			count++;
	}
	fclose(maps);
	while (count--)
		munmap((void *)first[count], last[count] - first[count]);
}

bool fs_sandbox_detach(const int *keep, size_t keep_count)
{
	int null;

	reset_signals();
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_DUMPABLE, 0))
		return false;
	for (size_t i = 0; i < keep_count; i++) {
		if (keep[i] >= 0 && keep[i] < 3)
			return false;
	}
	if (!close_others(keep, keep_count))
		return false;
	unmap_shared();
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return false;
	for (int fd = 0; fd < 3; fd++) {
		if (dup2(null, fd) < 0)
			return false;
	}
	close(null);
	unsetenv("DEBUGINFOD_URLS");
	return true;
}

/* ---- sealing ---- */

static uint64_t address_space(void)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (!statm)
		return 0;
	if (fscanf(statm, "%lu", &pages) != 1)
		pages = 0;
	fclose(statm);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static bool limit(__rlimit_resource_t resource, uint64_t value)
{
	struct rlimit now;
	struct rlimit next = { .rlim_cur = value, .rlim_max = value };

	if (resource == RLIMIT_CPU) /* at the upper one comes SIGKILL, which does not say why */
		next.rlim_max++;
	if (getrlimit(resource, &now))
		return false;
	if (now.rlim_max != RLIM_INFINITY && next.rlim_max > now.rlim_max)
		next.rlim_max = now.rlim_max;
	if (next.rlim_cur > next.rlim_max)
		next.rlim_cur = next.rlim_max;
	return !setrlimit(resource, &next);
}

static bool set_limits(const struct fs_sandbox_limits *limits)
{
	uint64_t memory = address_space() + limits->memory_bytes;
	bool good = limit(RLIMIT_CPU, limits->cpu_seconds) && limit(RLIMIT_FSIZE, 0) &&
		    limit(RLIMIT_CORE, 0);

	if (!FS_ASAN) /* which reserves terabytes */
		good = good && limit(RLIMIT_AS, memory);
	return good;
}

/* A ruleset that handles every right this kernel knows, and grants none. */
static bool seal_landlock(void)
{
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	/* number of file system rights by ABI version, from the kernel's landlock.h */
	static const unsigned int rights[] = { 0, 13, 14, 15, 15, 16 };
	struct {
		uint64_t files;
		uint64_t network;
		uint64_t scoped;
	} attributes = { 0 };
	size_t size = sizeof(attributes.files);
	long fd;
	bool sealed;

	if (version < 1)
		return false;
	attributes.files = ((uint64_t)1 << rights[version > 5 ? 5 : version]) - 1;
	if (version >= 4) { /* bind and connect of TCP */
		attributes.network = 3;
		size += sizeof(attributes.network);
	}
	if (version >= 6) { /* abstract sockets, signals */
		attributes.scoped = 3;
		size += sizeof(attributes.scoped);
	}
	fd = syscall(SYS_landlock_create_ruleset, &attributes, size, 0);
	if (fd < 0)
		return false;
	sealed = !syscall(SYS_landlock_restrict_self, (int)fd, 0);
	close((int)fd);
	return sealed;
}

static bool allow(scmp_filter_ctx filter, const int *calls, size_t count, uint32_t action)
{
	for (size_t i = 0; i < count; i++) {
		int status = seccomp_rule_add(filter, action, calls[i], 0);

		if (status && status != -EDOM) /* not on this architecture */
			return false;
	}
	return true;
}

/* The calls whose arguments matter. */
static bool allow_checked(scmp_filter_ctx filter, int reply_fd)
{
	static const int mapping[] = { SCMP_SYS(mmap), SCMP_SYS(mprotect) };
	const struct scmp_arg_cmp write_fd =
		SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)(unsigned int)reply_fd, 0);
	int null_fd = STDERR_FILENO;

	for (size_t i = 0; i < 2; i++) {
		if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, mapping[i], 1,
				     SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)))
			return false;
	}
	if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
			     SCMP_A1(SCMP_CMP_EQ, F_GETFD, 0)) ||
	    seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
			     SCMP_A1(SCMP_CMP_EQ, F_GETFL, 0)))
		return false;
	return !seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, write_fd) &&
	       !seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 1,
				 SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)(unsigned int)null_fd, 0));
}

static bool seal_seccomp(int reply_fd)
{
	static const int allowed[] = {
		SCMP_SYS(read),		 SCMP_SYS(pread64),
		SCMP_SYS(lseek),	 SCMP_SYS(close),
		SCMP_SYS(fstat),	 SCMP_SYS(munmap),
		SCMP_SYS(mremap),	 SCMP_SYS(brk),
		SCMP_SYS(madvise),	 SCMP_SYS(futex),
		SCMP_SYS(exit),		 SCMP_SYS(exit_group),
		SCMP_SYS(rt_sigreturn),	 SCMP_SYS(rt_sigprocmask),
		SCMP_SYS(clock_gettime), SCMP_SYS(getrandom),
		SCMP_SYS(sched_yield),	 SCMP_SYS(restart_syscall),
		SCMP_SYS(sigaltstack),	 SCMP_SYS(sysinfo), /* qsort asks */
	};
	/* libdw looks for further debug files by itself; it shall just not find them */
	static const int refused[] = {
		SCMP_SYS(open),	    SCMP_SYS(openat),	  SCMP_SYS(openat2),   SCMP_SYS(stat),
		SCMP_SYS(lstat),    SCMP_SYS(access),	  SCMP_SYS(faccessat), SCMP_SYS(faccessat2),
		SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(getcwd),    SCMP_SYS(statx),
	};
	/* under AddressSanitizer much more is asked for; refuse it instead of dying */
	scmp_filter_ctx filter =
		seccomp_init(FS_ASAN ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_KILL_PROCESS);
	bool good;

	if (!filter)
		return false;
	good = allow(filter, allowed, sizeof(allowed) / sizeof(allowed[0]), SCMP_ACT_ALLOW) &&
	       allow(filter, refused, sizeof(refused) / sizeof(refused[0]),
		     SCMP_ACT_ERRNO(EACCES)) &&
	       allow_checked(filter, reply_fd);
	/* fstat is newfstatat with an empty path in newer C libraries */
	good = good && !seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
					 SCMP_A3(SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH));
	good = good && !seccomp_load(filter);
	seccomp_release(filter);
	return good;
}

struct fs_sandbox_state fs_sandbox_seal(const struct fs_sandbox_limits *limits, int reply_fd)
{
	struct fs_sandbox_state state = { 0 };

	if (!set_limits(limits) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return state;
	state.landlock = seal_landlock(); /* needs a descriptor, the last one */
	state.seccomp = limit(RLIMIT_NOFILE, 0) && seal_seccomp(reply_fd);
	return state;
}
