/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Give up rights: what a process does before it parses a stranger's file.
 */
#ifndef FS_INGEST_HELPER_SANDBOX_H
#define FS_INGEST_HELPER_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fs_sandbox_limits {
	uint64_t memory_bytes; /* address space beyond what the process has now */
	uint64_t cpu_seconds;
};

struct fs_sandbox_state {
	bool seccomp;
	bool landlock;
};

/*
 * For a child right after fork(): default signals, death with the parent, no descriptors but
 * `keep` (which stay at their numbers) and /dev/null as 0, 1, 2; shared writable mappings of the
 * parent gone. Returns false if any of this failed.
 */
bool fs_sandbox_detach(const int *keep, size_t keep_count);

/*
 * Seal the process, for good: resource limits (no file growth, no core, no new descriptors,
 * memory except under AddressSanitizer), no new privileges, Landlock without any right, seccomp
 * with an allow-list of what reading open files and managing memory needs, and writing to
 * reply_fd. Anything else kills the process, except opening files, which is just refused.
 */
struct fs_sandbox_state fs_sandbox_seal(const struct fs_sandbox_limits *limits, int reply_fd);

#endif
