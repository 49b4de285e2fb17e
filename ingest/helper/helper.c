/* SPDX-License-Identifier: GPL-2.0-only */
#include "ingest/helper/helper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/vector.h"
#include "ingest/helper/sandbox.h"

/*
 * Memory beyond the files themselves. Debug information unpacks to several times its size, and
 * what is read of it takes room again; more than that is a bomb.
 */
#define HELPER_MEMORY_MIN ((uint64_t)128 << 20)
#define HELPER_MEMORY_MAX ((uint64_t)2 << 30)
#define HELPER_MEMORY_SHARE 32

enum { HELPER_CPU_SECONDS = 60, READ_SIZE = 1 << 16 };

/* ---- the child ---- */

static void misbehave(enum fs_helper_fault fault, struct fs_reply_writer *writer)
{
	static const char garbage[] = "\x05\0\0\0\xff\xff\xff\xffgarbage";
	bool escaped = false;
	volatile bool forever = true;

	switch (fault) {
	case FS_HELPER_CRASH:
		__builtin_trap();
	case FS_HELPER_HANG:
	case FS_HELPER_SPIN:
		while (forever)
			;
		break;
	case FS_HELPER_GARBAGE:
		if (write(writer->fd, garbage, sizeof(garbage)) < 0)
			_exit(1);
		_exit(0);
	case FS_HELPER_FLOOD:
		while (forever)
			fs_reply_text(writer, garbage + 8, 7);
		break;
	case FS_HELPER_WRITE_FILE:
		escaped = open("/tmp/fs_helper_escaped", O_WRONLY | O_CREAT, 0600) >= 0;
		break;
	case FS_HELPER_SOCKET:
		escaped = socket(AF_INET, SOCK_DGRAM, 0) >= 0;
		break;
	case FS_HELPER_EXECUTE:
		execl("/bin/true", "true", (char *)NULL);
		break;
	case FS_HELPER_FORK:
		escaped = fork() >= 0;
		break;
	case FS_HELPER_READ_FILE:
		escaped = open("/etc/passwd", O_RDONLY) >= 0;
		break;
	case FS_HELPER_SOUND:
	case FS_HELPER_VANISH:
		_exit(0);
	}
	fs_reply_last(writer, FS_REPLY_UNREADABLE, escaped ? "escaped" : "held");
	_exit(0);
}

__attribute__((noreturn)) static void child(const struct fs_helper_job *job, int reply_fd,
					    uint64_t memory)
{
	struct fs_reply_writer *writer = calloc(1, sizeof(*writer));
	const int keep[] = { job->files[0], job->files[1], job->files[2], reply_fd };
	const struct fs_sandbox_limits limits = { .memory_bytes = memory,
						  .cpu_seconds = HELPER_CPU_SECONDS };
	struct fs_sandbox_state state;
	uint32_t protections;

	if (!writer)
		_exit(1);
	writer->fd = reply_fd;
	if (!fs_sandbox_detach(keep, sizeof(keep) / sizeof(keep[0])))
		_exit(1);
	state = fs_sandbox_seal(&limits, reply_fd);
	protections =
		(state.seccomp ? FS_REPLY_SECCOMP : 0u) | (state.landlock ? FS_REPLY_LANDLOCK : 0u);
	fs_reply_first(writer, protections);
	if (!state.seccomp) {
		fs_reply_last(writer, FS_REPLY_UNREADABLE,
			      "this kernel lets the helper not give up its rights (seccomp), so "
			      "the file was not parsed");
		_exit(0);
	}
	if (job->fault != FS_HELPER_SOUND)
		misbehave(job->fault, writer);
	job->work(job->context, writer);
	_exit(0);
}

/* ---- the parent ---- */

struct buffer {
	uint8_t *bytes;
	size_t capacity;
	size_t size;
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int receive(int fd, struct buffer *buffer, bool *ret_end, struct fs_error *error)
{
	ssize_t got;

	if (buffer->size > FS_REPLY_MAX)
		return fs_fail(error, FS_REFUSED, "the helper's answer is over %zu MiB",
			       FS_REPLY_MAX >> 20);
	if (FS_RESERVE(buffer->bytes, buffer->capacity, buffer->size + READ_SIZE))
		return fs_fail(error, FS_NOMEM, "out of memory for the helper's answer");
	got = read(fd, buffer->bytes + buffer->size, READ_SIZE);
	if (got < 0 && errno != EINTR && errno != EAGAIN)
		return fs_fail(error, FS_REFUSED, "reading the helper's answer: %s",
			       strerror(errno));
	*ret_end = got == 0;
	if (got > 0)
		buffer->size += (size_t)got;
	return 0;
}

/* Read until the child closes its end, the deadline passes or the caller has had enough. */
static int receive_all(const struct fs_helper_job *job, int fd, struct buffer *buffer,
		       struct fs_error *error)
{
	uint64_t deadline = now_ms() + job->timeout_ms;
	bool end = false;

	while (!end) {
		struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
		uint64_t now = now_ms();
		uint64_t wait = now < deadline ? deadline - now : 0;
		int ready = poll(&poll_fd, 1, (int)(wait < 500 ? wait : 500));

		if (job->cancelled && job->cancelled(job->cancelled_context))
			return fs_fail(error, ECANCELED, "cancelled");
		if (ready > 0)
			FS_TRY(receive(fd, buffer, &end, error));
		if (!end && now_ms() >= deadline)
			return fs_fail(error, FS_REFUSED, "reading it took longer than %u ms",
				       job->timeout_ms);
	}
	return 0;
}

/* End the child in any case; what it died of matters only if its answer has no end. */
static int reap(pid_t pid)
{
	int status = 0;
	pid_t got;

	kill(pid, SIGKILL);
	do {
		got = waitpid(pid, &status, 0);
	} while (got < 0 && errno == EINTR);
	return got == pid ? status : 0;
}

static uint64_t memory_for(uint64_t bytes)
{
	uint64_t most = (HELPER_MEMORY_MAX - HELPER_MEMORY_MIN) / HELPER_MEMORY_SHARE;

	return bytes + HELPER_MEMORY_MIN + HELPER_MEMORY_SHARE * (bytes < most ? bytes : most);
}

static uint64_t file_size(int fd)
{
	struct stat status;

	return fd >= 0 && !fstat(fd, &status) && status.st_size > 0 ? (uint64_t)status.st_size : 0;
}

/* Signals stay blocked until the child has its own dispositions. */
static pid_t start(const struct fs_helper_job *job, int pipe_fd)
{
	uint64_t inputs = file_size(job->files[0]) + (job->output ? 0 : file_size(job->files[1])) +
			  file_size(job->files[2]);
	uint64_t memory = memory_for(inputs);
	sigset_t all;
	sigset_t before;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		child(job, pipe_fd, memory);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static int explain(int status, struct fs_error *error)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		return fs_fail(error, FS_REFUSED, "the helper used more than %d s of CPU time",
			       HELPER_CPU_SECONDS);
	if (WIFSIGNALED(status))
		return fs_fail(error, FS_REFUSED, "the helper died of signal %d (%s)",
			       WTERMSIG(status), strsignal(WTERMSIG(status)));
	return fs_fail(error, FS_REFUSED, "the helper ended with status %d and no answer",
		       WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

int fs_helper_run(const struct fs_helper_job *job, struct fs_error *error)
{
	struct buffer buffer = { 0 };
	int ends[2];
	int status;
	int code;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return fs_fail(error, FS_REFUSED, "no pipe for the helper: %s", strerror(errno));
	pid = start(job, ends[1]);
	close(ends[1]);
	if (pid < 0) {
		code = fs_fail(error, FS_REFUSED, "no helper process: %s", strerror(errno));
		close(ends[0]);
		return code;
	}
	code = receive_all(job, ends[0], &buffer, error);
	close(ends[0]);
	status = reap(pid);
	if (!code) {
		code = job->read(job->context, buffer.bytes, buffer.size, error);
		if (code == FS_REFUSED && (WIFSIGNALED(status) || !buffer.size))
			explain(status, error);
	}
	free(buffer.bytes);
	return code;
}
