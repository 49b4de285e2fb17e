/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recording machine, from the header's feature sections (layouts: tools/perf/util/header.c).
 * A section that does not parse costs only itself.
 */
#ifndef FS_PERFDATA_HOST_H
#define FS_PERFDATA_HOST_H

#include "ingest/perfdata/perf_file.h"

enum fs_feature {
	FS_FEATURE_TRACING_DATA = 1,
	FS_FEATURE_BUILD_ID = 2,
	FS_FEATURE_HOSTNAME = 3,
	FS_FEATURE_OSRELEASE = 4,
	FS_FEATURE_VERSION = 5,
	FS_FEATURE_ARCH = 6,
	FS_FEATURE_NRCPUS = 7,
	FS_FEATURE_CPUDESC = 8,
	FS_FEATURE_CPUID = 9,
	FS_FEATURE_TOTAL_MEM = 10,
	FS_FEATURE_CMDLINE = 11,
	FS_FEATURE_EVENT_DESC = 12,
	FS_FEATURE_CPU_TOPOLOGY = 13,
	FS_FEATURE_NUMA_TOPOLOGY = 14,
	FS_FEATURE_PMU_MAPPINGS = 16,
	FS_FEATURE_GROUP_DESC = 17,
	FS_FEATURE_AUXTRACE = 18,
	FS_FEATURE_CACHE = 20,
	FS_FEATURE_SAMPLE_TIME = 21,
	FS_FEATURE_MEM_TOPOLOGY = 22,
	FS_FEATURE_CLOCKID = 23,
	FS_FEATURE_DIR_FORMAT = 24,
	FS_FEATURE_BPF_PROG_INFO = 25,
	FS_FEATURE_BPF_BTF = 26,
	FS_FEATURE_CPU_PMU_CAPS = 28,
	FS_FEATURE_CLOCK_DATA = 29,
	FS_FEATURE_HYBRID_TOPOLOGY = 30,
	FS_FEATURE_PMU_CAPS = 31,
	FS_FEATURE_CPU_DOMAIN_INFO = 32,
	FS_FEATURE_E_MACHINE = 33,
	FS_FEATURE_CLN_SIZE = 34,
	FS_FEATURE_SIMPLEPERF_FILE = 128,
	FS_FEATURE_SIMPLEPERF_META_INFO = 129,
	FS_FEATURE_SIMPLEPERF_FILE2 = 132,
	FS_FEATURE_KNOWN_MAX = 132,
};

enum { FS_CPUS_MAX = 1 << 16 };

struct fs_cpu {
	int node; /* -1: not told; as the others */
	int package;
	int core; /* smallest CPU number among the core's threads */
	bool present;
};

struct fs_cache {
	uint32_t level, line_size, sets, ways;
	char *type, *size, *cpus;
};

struct fs_numa_node {
	uint32_t node;
	uint64_t memory_kib, free_kib;
	char *cpus;
};

struct fs_memory_range {
	uint64_t node, first, last; /* physical addresses, last inclusive */
};

struct fs_pmu {
	uint32_t type;
	char *name;
};

/* What a PMU can do: a CAPS feature, or with the name "cpus" which CPUs have it. */
struct fs_pmu_capability {
	char *pmu, *name, *value;
};

/* A line of the database's table `fact`. */
struct fs_fact {
	char *name, *value;
};

struct fs_build_id {
	char *path;
	char hex[41];
	uint16_t cpumode;
};

/* Strings are NULL and numbers 0 where the file does not say. */
struct fs_host {
	char *hostname, *os_release, *perf_version, *arch, *cpu_description, *cpuid, *cmdline;
	uint32_t cpus_available, cpus_online;
	uint64_t memory_kib;
	struct fs_cpu *cpus; /* by number */
	size_t cpu_count, cpu_capacity;
	struct fs_cache *caches;
	size_t cache_count, cache_capacity;
	struct fs_numa_node *nodes;
	size_t node_count, node_capacity;
	struct fs_memory_range *ranges;
	size_t range_count, range_capacity;
	struct fs_pmu *pmus;
	size_t pmu_count, pmu_capacity;
	struct fs_pmu_capability *capabilities;
	size_t capability_count, capability_capacity;
	struct fs_fact *facts;
	size_t fact_count, fact_capacity;
	size_t fact_bytes; /* of their values */
	struct fs_build_id *build_ids;
	size_t build_id_count, build_id_capacity;
	uint64_t first_sample_ns, last_sample_ns;
	uint64_t clock_resolution_ns;
	bool has_clock_data;
	uint32_t clock_id;
	uint64_t clock_wall_ns, clock_ns;
	uint32_t e_machine;
	uint32_t line_size; /* 0: not recorded */
	const char *line_size_source;
};

/* Read all features; names and units of events go into file->events. Fails only on I/O errors
 * and lack of memory. Free with fs_host_free() also after a failure. */
int fs_host_read(struct fs_perf_file *file, struct fs_host *host, struct fs_loss *loss,
		 struct fs_error *error);
void fs_host_free(struct fs_host *host);

/* Whether a build-id is one: recorders write zeros, or no length, where there is none. */
bool fs_build_id_is_told(const uint8_t *id, size_t length);

/* Add the payload of a HEADER_BUILD_ID record; false when it makes no sense. */
bool fs_host_add_build_id(struct fs_host *host, uint16_t misc, struct fs_reader record);

/*
 * Keep a text of at most `size` bytes, up to a NUL, under a name made from the format. Beyond some
 * ten thousand facts, or 16 MiB of them, only the loss account grows. Returns 0 or FS_NOMEM.
 */
int fs_host_add_fact(struct fs_host *host, struct fs_loss *loss, const char *value, size_t size,
		     const char *name_format, ...) __attribute__((format(printf, 5, 6)));

/* The stable name of a feature, NULL for one that is not known. */
const char *fs_feature_name(unsigned int bit);

/* The entry of a CPU, made if need be; NULL when the number is beyond FS_CPUS_MAX or memory ran
 * out. */
struct fs_cpu *fs_host_cpu(struct fs_host *host, uint64_t cpu);

#endif
