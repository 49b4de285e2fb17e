/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How it works: one parser per feature, all of the same form, in a table by feature bit. A parser
 * reads its section through the bounds-checked reader and reports whether it made sense.
 */
#include "ingest/perfdata/host.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/vector.h"

enum {
	FEATURE_SIZE_MAX = 64 << 20,
	LIST_MAX = 1 << 16, /* entries of any list in a feature */
	ATTR_SIZE_MIN = 64,
	FACTS_MAX = 1 << 17,
	FACT_BYTES_MAX = 16 << 20,
	CAPABILITIES_MAX = 1 << 14,
	CMDLINE_MAX = 1 << 16,
	CPU_STEPS_MAX = 1 << 22, /* CPUs in all lists together: "0-65535" may be repeated */
};

struct parse {
	struct fs_perf_file *file;
	struct fs_host *host;
	struct fs_loss *loss;
	struct fs_reader reader;
	size_t cpu_steps;
	size_t event_capacity; /* of the events that EVENT_DESC adds */
};

/* `str`: u32 length, then that many bytes with a NUL somewhere. Caller frees. */
static char *read_string(struct fs_reader *reader)
{
	uint32_t length = fs_read_u32(reader);
	const uint8_t *bytes = fs_read_bytes(reader, length);

	return bytes ? strndup((const char *)bytes, length) : NULL;
}

static bool take_string(struct parse *parse, char **target)
{
	free(*target);
	*target = read_string(&parse->reader);
	return *target;
}

int fs_host_add_fact(struct fs_host *host, struct fs_loss *loss, const char *value, size_t size,
		     const char *name_format, ...)
{
	struct fs_fact *fact;
	va_list args;

	size = strnlen(value, size);
	if (host->fact_count >= FACTS_MAX || size > FACT_BYTES_MAX - host->fact_bytes) {
		fs_loss_add(loss, FS_LOSS_LIMIT, 1, 0, UINT64_MAX, "facts over %d or %d MiB",
			    FACTS_MAX, FACT_BYTES_MAX >> 20);
		return 0;
	}
	if (FS_RESERVE(host->facts, host->fact_capacity, host->fact_count + 1))
		return FS_NOMEM;
	fact = &host->facts[host->fact_count];
	va_start(args, name_format);
	if (vasprintf(&fact->name, name_format, args) < 0)
		fact->name = NULL;
	va_end(args);
	fact->value = strndup(value, size);
	if (!fact->name || !fact->value) {
		free(fact->name);
		free(fact->value);
		*fact = (struct fs_fact){ 0 };
		return FS_NOMEM;
	}
	host->fact_bytes += size;
	host->fact_count++;
	return 0;
}

static bool add_number(struct parse *parse, const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return !fs_host_add_fact(parse->host, parse->loss, text, sizeof(text), "%s", name);
}

static bool parse_hostname(struct parse *parse)
{
	return take_string(parse, &parse->host->hostname);
}

static bool parse_os_release(struct parse *parse)
{
	return take_string(parse, &parse->host->os_release);
}

static bool parse_version(struct parse *parse)
{
	return take_string(parse, &parse->host->perf_version);
}

static bool parse_arch(struct parse *parse)
{
	return take_string(parse, &parse->host->arch);
}

static bool parse_cpu_description(struct parse *parse)
{
	return take_string(parse, &parse->host->cpu_description);
}

static bool parse_cpuid(struct parse *parse)
{
	return take_string(parse, &parse->host->cpuid);
}

static bool parse_nrcpus(struct parse *parse)
{
	parse->host->cpus_available = fs_read_u32(&parse->reader);
	parse->host->cpus_online = fs_read_u32(&parse->reader);
	return !parse->reader.failed;
}

static bool parse_total_mem(struct parse *parse)
{
	parse->host->memory_kib = fs_read_u64(&parse->reader);
	return !parse->reader.failed;
}

/* Append an argument so that a POSIX shell reads it back. */
static void quote(FILE *out, const char *argument)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./=,:@+%";

	if (*argument && strspn(argument, plain) == strlen(argument)) {
		fputs(argument, out);
		return;
	}
	fputc('\'', out);
	for (; *argument; argument++)
		if (*argument == '\'')
			fputs("'\\''", out);
		else
			fputc(*argument, out);
	fputc('\'', out);
}

static bool parse_cmdline(struct parse *parse)
{
	uint32_t count = fs_read_u32(&parse->reader);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return false;
	for (uint32_t i = 0; i < count && !parse->reader.failed && ftell(out) < CMDLINE_MAX; i++) {
		char *argument = read_string(&parse->reader);

		if (argument) {
			if (i)
				fputc(' ', out);
			quote(out, argument);
		}
		free(argument);
	}
	if (fclose(out) || parse->reader.failed) {
		free(text);
		return false;
	}
	free(parse->host->cmdline);
	parse->host->cmdline = text;
	return true;
}

/* The events of the file by their first id; of two with one id the first counts. */
static bool index_events(const struct fs_perf_file *file, struct fs_table *by_id)
{
	for (size_t i = 0; i < file->event_count; i++) {
		uint64_t *index;
		bool added;

		if (!file->events[i].id_count)
			continue;
		index = fs_table_put(by_id, &file->events[i].ids[0], NULL, &added);
		if (!index)
			return false;
		if (added)
			*index = i;
	}
	return true;
}

/* | attr | u32 nr_ids, str name, nr_ids * u64 | */
struct description {
	const uint8_t *attr;
	char *name; /* the reader's to free */
	struct fs_reader ids;
	size_t id_count;
};

static bool read_description(struct fs_reader *reader, uint32_t attr_size,
			     struct description *ret_description)
{
	struct description description = { .attr = fs_read_bytes(reader, attr_size) };
	uint32_t id_count = fs_read_u32(reader);

	description.name = read_string(reader);
	if (id_count > fs_reader_left(reader) / 8)
		reader->failed = true;
	description.id_count = id_count;
	description.ids = *reader;
	if (!reader->failed)
		fs_read_bytes(reader, (size_t)id_count * 8);
	*ret_description = description;
	return !reader->failed;
}

/* Give an event without ids those of its description. */
static bool take_ids(struct fs_event *event, struct description *description)
{
	event->ids = malloc(description->id_count * 8);
	if (!event->ids)
		return false;
	event->id_count = description->id_count;
	for (size_t i = 0; i < event->id_count; i++)
		event->ids[i] = fs_read_u64(&description->ids);
	return true;
}

/* An event that the attrs section has lost. */
static bool add_event(struct parse *parse, const struct description *description,
		      uint32_t attr_size)
{
	struct fs_perf_file *file = parse->file;
	struct fs_event *event;

	if (parse->event_capacity < file->event_count)
		parse->event_capacity = file->event_count;
	if (file->event_count == LIST_MAX ||
	    FS_RESERVE(file->events, parse->event_capacity, file->event_count + 1))
		return false;
	event = &file->events[file->event_count++];
	*event = (struct fs_event){ .leader = -1 };
	fs_attr_parse(description->attr, attr_size, file->swap, &event->attr);
	if (event->attr.sample_type & ~(uint64_t)FS_SAMPLE_KNOWN)
		fs_loss_add(parse->loss, FS_LOSS_UNKNOWN_SAMPLE_FIELDS, 1, 0,
			    file->features[FS_FEATURE_EVENT_DESC].offset, "event %zu",
			    file->event_count - 1);
	return true;
}

/*
 * Names the event of the file that has the same first id, of several that at the same position;
 * without one, the event at the same position. What the attrs section does not have of it, the
 * description gives.
 */
static bool apply_description(struct parse *parse, const struct fs_table *by_id, size_t position,
			      uint32_t attr_size, struct description *description)
{
	struct fs_perf_file *file = parse->file;
	const uint64_t *index = NULL;
	struct fs_event *event;

	if (description->id_count) {
		struct fs_reader ids = description->ids;
		uint64_t first_id = fs_read_u64(&ids);

		if (position >= file->event_count || !file->events[position].id_count ||
		    file->events[position].ids[0] != first_id)
			index = fs_table_get(by_id, &first_id);
	}
	position = index ? (size_t)*index : position;
	if (position == file->event_count && attr_size >= ATTR_SIZE_MIN && description->id_count &&
	    !add_event(parse, description, attr_size))
		return false;
	if (position >= file->event_count)
		return true;
	event = &file->events[position];
	if (!event->name) {
		event->name = description->name;
		description->name = NULL;
	}
	return event->id_count || !description->id_count || take_ids(event, description);
}

static bool parse_event_desc(struct parse *parse)
{
	uint32_t count = fs_read_u32(&parse->reader);
	uint32_t attr_size = fs_read_u32(&parse->reader);
	struct fs_table by_id;
	bool indexed;

	fs_table_init(&by_id, 8, 8);
	indexed = index_events(parse->file, &by_id);
	for (uint32_t i = 0; indexed && i < count && !parse->reader.failed; i++) {
		struct description description;

		indexed = !read_description(&parse->reader, attr_size, &description) ||
			  apply_description(parse, &by_id, i, attr_size, &description);
		free(description.name);
	}
	fs_table_free(&by_id);
	return indexed && !parse->reader.failed;
}

struct fs_cpu *fs_host_cpu(struct fs_host *host, uint64_t cpu)
{
	if (cpu >= FS_CPUS_MAX || FS_RESERVE(host->cpus, host->cpu_capacity, (size_t)cpu + 1))
		return NULL;
	for (; host->cpu_count <= cpu; host->cpu_count++)
		host->cpus[host->cpu_count] =
			(struct fs_cpu){ .node = -1, .package = -1, .core = -1 };
	host->cpus[cpu].present = true;
	return &host->cpus[cpu];
}

/* Call set(cpu, value) for each CPU of a list such as "0-3,8"; false when it is malformed. */
static bool each_cpu(struct parse *parse, const char *list,
		     void (*set)(struct fs_cpu *cpu, int value), int value)
{
	while (*list && *list != '\n') {
		char *end;
		unsigned long first = strtoul(list, &end, 10);
		unsigned long last = first;

		if (end == list)
			return false;
		if (*end == '-') {
			list = end + 1;
			last = strtoul(list, &end, 10);
			if (end == list)
				return false;
		}
		if (last < first || last >= FS_CPUS_MAX)
			return false;
		for (; first <= last; first++) {
			struct fs_cpu *cpu = fs_host_cpu(parse->host, first);

			if (!cpu || ++parse->cpu_steps > CPU_STEPS_MAX)
				return false;
			set(cpu, value);
		}
		if (*end && *end != ',')
			return *end == '\n';
		list = *end ? end + 1 : end;
	}
	return true;
}

static void set_node(struct fs_cpu *cpu, int node)
{
	cpu->node = node;
}

static void set_core(struct fs_cpu *cpu, int core)
{
	if (cpu->core < 0 || core < cpu->core)
		cpu->core = core;
}

/*
 * | u32 n, n * str core-sibling lists | u32 n, n * str thread-sibling lists |
 * | nrcpus * {u32 core_id, u32 socket_id} | ... dies, not used |
 */
static bool parse_cpu_topology(struct parse *parse)
{
	struct fs_reader *reader = &parse->reader;
	uint32_t count = fs_read_u32(reader);
	bool good = true;

	for (uint32_t i = 0; i < count && !reader->failed; i++)
		free(read_string(reader));
	count = fs_read_u32(reader);
	for (uint32_t i = 0; i < count && !reader->failed; i++) {
		char *list = read_string(reader);

		if (list)
			good &= each_cpu(parse, list, set_core, (int)strtoul(list, NULL, 10));
		free(list);
	}
	if (reader->failed)
		return false;
	for (uint32_t i = 0; i < parse->host->cpus_available && fs_reader_left(reader) >= 8; i++) {
		struct fs_cpu *cpu = fs_host_cpu(parse->host, i);

		fs_read_u32(reader); /* core_id */
		if (!cpu)
			return false;
		cpu->package = (int)fs_read_u32(reader);
	}
	return good;
}

static bool parse_numa_topology(struct parse *parse)
{
	struct fs_host *host = parse->host;
	uint32_t count = fs_read_u32(&parse->reader);
	bool good = count <= LIST_MAX;

	for (uint32_t i = 0; i < count && i < LIST_MAX; i++) {
		struct fs_numa_node node;

		node.node = fs_read_u32(&parse->reader);
		node.memory_kib = fs_read_u64(&parse->reader);
		node.free_kib = fs_read_u64(&parse->reader);
		node.cpus = read_string(&parse->reader);
		if (!node.cpus ||
		    FS_RESERVE(host->nodes, host->node_capacity, host->node_count + 1)) {
			free(node.cpus);
			return false;
		}
		host->nodes[host->node_count++] = node;
		good &= node.node < FS_CPUS_MAX &&
			each_cpu(parse, node.cpus, set_node, (int)node.node);
	}
	return good && !parse->reader.failed;
}

static bool parse_pmu_mappings(struct parse *parse)
{
	struct fs_host *host = parse->host;
	uint32_t count = fs_read_u32(&parse->reader);

	for (uint32_t i = 0; i < count && i < LIST_MAX && !parse->reader.failed; i++) {
		struct fs_pmu *pmu;

		if (FS_RESERVE(host->pmus, host->pmu_capacity, host->pmu_count + 1))
			return false;
		pmu = &host->pmus[host->pmu_count];
		pmu->type = fs_read_u32(&parse->reader);
		pmu->name = read_string(&parse->reader);
		host->pmu_count += pmu->name != NULL;
	}
	return !parse->reader.failed && count <= LIST_MAX;
}

static bool parse_group_desc(struct parse *parse)
{
	uint32_t count = fs_read_u32(&parse->reader);
	uint32_t events = (uint32_t)parse->file->event_count;
	uint32_t left = events;

	for (uint32_t i = 0; i < count && !parse->reader.failed; i++) {
		uint32_t leader;
		uint32_t members;

		char *name = read_string(&parse->reader);

		leader = fs_read_u32(&parse->reader);
		members = fs_read_u32(&parse->reader);
		if (name && !parse->reader.failed)
			fs_host_add_fact(parse->host, parse->loss, name, SIZE_MAX,
					 "event_group.%" PRIu32, leader);
		free(name);
		/* an event is in one group: together the groups have no more members than events */
		if (leader > events || members > events - leader || members > left)
			return false;
		left -= members;
		for (uint32_t k = leader; k < leader + members; k++)
			parse->file->events[k].leader = (int)leader;
	}
	return !parse->reader.failed;
}

static void drop_cache(struct fs_host *host)
{
	struct fs_cache *cache = &host->caches[--host->cache_count];

	free(cache->type);
	free(cache->size);
	free(cache->cpus);
}

static bool parse_cache(struct parse *parse)
{
	struct fs_host *host = parse->host;
	uint32_t version = fs_read_u32(&parse->reader);
	uint32_t count = fs_read_u32(&parse->reader);

	for (uint32_t i = 0; i < count && i < LIST_MAX; i++) {
		struct fs_cache cache;

		if (FS_RESERVE(host->caches, host->cache_capacity, host->cache_count + 1))
			return false;
		cache.level = fs_read_u32(&parse->reader);
		cache.line_size = fs_read_u32(&parse->reader);
		cache.sets = fs_read_u32(&parse->reader);
		cache.ways = fs_read_u32(&parse->reader);
		cache.type = read_string(&parse->reader);
		cache.size = read_string(&parse->reader);
		cache.cpus = read_string(&parse->reader);
		host->caches[host->cache_count++] = cache;
		if (parse->reader.failed) {
			drop_cache(host);
			return false;
		}
	}
	return version == 1 && count <= LIST_MAX && !parse->reader.failed;
}

static bool parse_sample_time(struct parse *parse)
{
	parse->host->first_sample_ns = fs_read_u64(&parse->reader);
	parse->host->last_sample_ns = fs_read_u64(&parse->reader);
	return !parse->reader.failed;
}

static bool add_range(struct fs_host *host, uint64_t node, uint64_t first, uint64_t last)
{
	struct fs_memory_range *range;

	/* every other bit set would make 100 bytes of each byte of the file */
	if (host->range_count == LIST_MAX ||
	    FS_RESERVE(host->ranges, host->range_capacity, host->range_count + 1))
		return false;
	range = &host->ranges[host->range_count++];
	*range = (struct fs_memory_range){ .node = node, .first = first, .last = last };
	return true;
}

/* Bit i of a node's bitmap: physical memory [i * block, +block) belongs to it. */
static bool parse_mem_topology(struct parse *parse)
{
	struct fs_reader *reader = &parse->reader;
	uint64_t version = fs_read_u64(reader);
	uint64_t block = fs_read_u64(reader);
	uint64_t count = fs_read_u64(reader);

	if (version != 1 || !block || block > 1ull << 48)
		return false;
	for (uint64_t i = 0; i < count && i < LIST_MAX && !reader->failed; i++) {
		uint64_t node = fs_read_u64(reader);
		uint64_t bits = fs_read_u64(reader);
		uint64_t run = 0;
		uint64_t word = 0;

		fs_read_u64(reader); /* the size once more */
		if (bits > fs_reader_left(reader) * 8 || bits > UINT64_MAX / block)
			return false;
		for (uint64_t bit = 0; bit <= bits; bit++) {
			bool set;

			if (bit < bits && bit % 64 == 0)
				word = fs_read_u64(reader);
			set = bit < bits && word >> bit % 64 & 1;
			if (!set && run &&
			    !add_range(parse->host, node, (bit - run) * block, bit * block - 1))
				return false;
			run = set ? run + 1 : 0;
		}
	}
	return !reader->failed && count <= LIST_MAX;
}

static bool parse_clock_id(struct parse *parse)
{
	parse->host->clock_resolution_ns = fs_read_u64(&parse->reader);
	return !parse->reader.failed;
}

static bool parse_clock_data(struct parse *parse)
{
	struct fs_host *host = parse->host;
	uint32_t version = fs_read_u32(&parse->reader);

	host->clock_id = fs_read_u32(&parse->reader);
	host->clock_wall_ns = fs_read_u64(&parse->reader);
	host->clock_ns = fs_read_u64(&parse->reader);
	host->has_clock_data = !parse->reader.failed && version == 1;
	return host->has_clock_data;
}

static bool parse_e_machine(struct parse *parse)
{
	parse->host->e_machine = fs_read_u32(&parse->reader);
	return !parse->reader.failed;
}

static bool is_line_size(uint32_t size)
{
	return size >= 16 && size <= 4096 && !(size & (size - 1));
}

static bool parse_line_size(struct parse *parse)
{
	uint32_t size = fs_read_u32(&parse->reader);

	if (parse->reader.failed || !is_line_size(size))
		return false;
	parse->host->line_size = size;
	parse->host->line_size_source = "cln_size";
	return true;
}

bool fs_build_id_is_told(const uint8_t *id, size_t length)
{
	while (length && !id[length - 1])
		length--;
	return length;
}

/* perf before 5.12 kept no length; ids are padded with zeros to 20 bytes. */
static uint8_t unsized_length(const uint8_t *id)
{
	static const uint8_t zeros[4];
	uint8_t length = 20;

	while (length && !memcmp(id + length - 4, zeros, 4))
		length -= 4;
	return length;
}

/*
 * | s32 pid | u8 id[20] | u8 length, u8, u16 | path |
 * The length is valid if bit 15 of misc is set.
 */
bool fs_host_add_build_id(struct fs_host *host, uint16_t misc, struct fs_reader record)
{
	struct fs_build_id *entry;
	const uint8_t *id;
	uint8_t length;

	fs_read_u32(&record); /* pid */
	id = fs_read_bytes(&record, 20);
	length = fs_read_u8(&record);
	fs_read_bytes(&record, 3);
	if (record.failed || (misc & 1 << 15 && length > 20))
		return false;
	if (!(misc & 1 << 15))
		length = unsized_length(id);
	if (!fs_build_id_is_told(id, length))
		return true;
	if (FS_RESERVE(host->build_ids, host->build_id_capacity, host->build_id_count + 1))
		return false;
	entry = &host->build_ids[host->build_id_count];
	fs_hex(entry->hex, id, length);
	entry->cpumode = misc & FS_MISC_CPUMODE;
	entry->path = strndup((const char *)record.data + record.offset, fs_reader_left(&record));
	host->build_id_count += entry->path != NULL;
	return true;
}

/* A sequence of HEADER_BUILD_ID records, each with its header of 8 bytes. */
static bool parse_build_id(struct parse *parse)
{
	while (fs_reader_left(&parse->reader) >= 8) {
		const uint8_t *bytes;
		uint16_t misc;
		uint16_t size;

		fs_read_u32(&parse->reader);
		misc = fs_read_u16(&parse->reader);
		size = fs_read_u16(&parse->reader);
		if (size < 8)
			return false;
		bytes = fs_read_bytes(&parse->reader, size - 8u);
		if (!bytes ||
		    !fs_host_add_build_id(parse->host, misc,
					  fs_reader_like(&parse->reader, bytes, size - 8u)))
			return false;
	}
	return !parse->reader.failed;
}

/* Only whether it is there matters; or others read it. */
static bool parse_nothing(struct parse *parse)
{
	(void)parse;
	return true;
}

/* The index of AUXTRACE records, which the walk over all records meets anyway. */
static bool parse_auxtrace(struct parse *parse)
{
	uint64_t count = fs_read_u64(&parse->reader);

	return !parse->reader.failed && count <= fs_reader_left(&parse->reader) / 16;
}

/* | u64 version | */
static bool parse_dir_format(struct parse *parse)
{
	uint64_t version = fs_read_u64(&parse->reader);

	return !parse->reader.failed && add_number(parse, "dir_format.version", version);
}

/* | u32 version, type, level, ratio, mmap_len | */
static bool parse_compressed(struct parse *parse)
{
	static const char *const names[] = { "compressed.version", "compressed.type",
					     "compressed.level", "compressed.ratio",
					     "compressed.mmap_length" };
	bool good = true;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint32_t value = fs_read_u32(&parse->reader);

		if (parse->reader.failed)
			return false;
		good &= add_number(parse, names[i], value);
	}
	return good;
}

/* | u32 nr | nr * {u32 info_len, data_len, u64 arrays, info, data} |: how many and how large */
static bool parse_bpf_programs(struct parse *parse)
{
	struct fs_reader *reader = &parse->reader;
	uint32_t count = fs_read_u32(reader);

	for (uint32_t i = 0; i < count && !reader->failed; i++) {
		uint32_t info = fs_read_u32(reader);
		uint32_t data = fs_read_u32(reader);

		fs_read_u64(reader);
		fs_read_bytes(reader, info);
		fs_read_bytes(reader, data);
	}
	return !reader->failed && add_number(parse, "bpf_prog_info.count", count);
}

/* | u32 nr | nr * {u32 id, size, data} | */
static bool parse_bpf_btf(struct parse *parse)
{
	struct fs_reader *reader = &parse->reader;
	uint32_t count = fs_read_u32(reader);

	for (uint32_t i = 0; i < count && !reader->failed; i++) {
		fs_read_u32(reader);
		fs_read_bytes(reader, fs_read_u32(reader));
	}
	return !reader->failed && add_number(parse, "bpf_btf.count", count);
}

static void free_capability(struct fs_pmu_capability *capability)
{
	free(capability->pmu);
	free(capability->name);
	free(capability->value);
}

/* Takes the strings over. */
static bool add_capability(struct parse *parse, struct fs_pmu_capability capability)
{
	struct fs_host *host = parse->host;

	if (!capability.pmu || !capability.name || !capability.value ||
	    host->capability_count >= CAPABILITIES_MAX ||
	    FS_RESERVE(host->capabilities, host->capability_capacity, host->capability_count + 1)) {
		free_capability(&capability);
		return false;
	}
	host->capabilities[host->capability_count++] = capability;
	return true;
}

/* | n * {str name, str value} |, of a PMU that is named behind them or is the CPU's own */
static bool read_capabilities(struct parse *parse, uint32_t count, bool named)
{
	size_t first = parse->host->capability_count;
	bool good = true;
	char *pmu;

	for (uint32_t i = 0; good && i < count; i++) {
		struct fs_pmu_capability capability = { .pmu = strdup("cpu") };

		capability.name = read_string(&parse->reader);
		capability.value = read_string(&parse->reader);
		good = add_capability(parse, capability);
	}
	pmu = named && good ? read_string(&parse->reader) : NULL;
	for (size_t i = first; pmu && i < parse->host->capability_count; i++) {
		free(parse->host->capabilities[i].pmu);
		parse->host->capabilities[i].pmu = strdup(pmu);
		good &= parse->host->capabilities[i].pmu != NULL;
	}
	good &= !named || pmu;
	free(pmu);
	return good;
}

static bool parse_cpu_pmu_caps(struct parse *parse)
{
	return read_capabilities(parse, fs_read_u32(&parse->reader), false);
}

/* | u32 nr | nr * {u32 n, n * {str, str}, str pmu} | */
static bool parse_pmu_caps(struct parse *parse)
{
	uint32_t count = fs_read_u32(&parse->reader);
	bool good = true;

	for (uint32_t i = 0; good && i < count; i++)
		good = read_capabilities(parse, fs_read_u32(&parse->reader), true);
	return good && !parse->reader.failed;
}

/* | u32 nr | nr * {str pmu, str cpus} | */
static bool parse_hybrid_topology(struct parse *parse)
{
	uint32_t count = fs_read_u32(&parse->reader);
	bool good = true;

	for (uint32_t i = 0; good && i < count; i++) {
		struct fs_pmu_capability capability = { .name = strdup("cpus") };

		capability.pmu = read_string(&parse->reader);
		capability.value = read_string(&parse->reader);
		good = add_capability(parse, capability);
	}
	return good && !parse->reader.failed;
}

/* | u32 schedstat_version, max_domains | per CPU its scheduling domains, not used | */
static bool parse_cpu_domains(struct parse *parse)
{
	uint32_t version = fs_read_u32(&parse->reader);
	uint32_t domains = fs_read_u32(&parse->reader);

	return !parse->reader.failed && add_number(parse, "schedstat_version", version) &&
	       add_number(parse, "scheduling_domains", domains);
}

/* A NUL behind each key and each value. */
static bool parse_meta_info(struct parse *parse)
{
	struct fs_reader *reader = &parse->reader;

	while (fs_reader_left(reader)) {
		const char *text[2];

		for (int i = 0; i < 2; i++) {
			size_t left = fs_reader_left(reader);
			size_t length;

			text[i] = (const char *)reader->data + reader->offset;
			length = strnlen(text[i], left);
			if (length == left)
				return false;
			fs_read_bytes(reader, length + 1);
		}
		if (fs_host_add_fact(parse->host, parse->loss, text[1], SIZE_MAX, "simpleperf.%s",
				     text[0]))
			return false;
	}
	return true;
}

static const struct {
	const char *name;
	bool (*parse)(struct parse *parse); /* NULL: not read here, for the reason beside it */
} parsers[FS_FEATURE_KNOWN_MAX + 1] = {
	[FS_FEATURE_TRACING_DATA] = { "TRACING_DATA", parse_nothing },
	[FS_FEATURE_BUILD_ID] = { "BUILD_ID", parse_build_id },
	[FS_FEATURE_HOSTNAME] = { "HOSTNAME", parse_hostname },
	[FS_FEATURE_OSRELEASE] = { "OSRELEASE", parse_os_release },
	[FS_FEATURE_VERSION] = { "VERSION", parse_version },
	[FS_FEATURE_ARCH] = { "ARCH", parse_arch },
	[FS_FEATURE_NRCPUS] = { "NRCPUS", parse_nrcpus },
	[FS_FEATURE_CPUDESC] = { "CPUDESC", parse_cpu_description },
	[FS_FEATURE_CPUID] = { "CPUID", parse_cpuid },
	[FS_FEATURE_TOTAL_MEM] = { "TOTAL_MEM", parse_total_mem },
	[FS_FEATURE_CMDLINE] = { "CMDLINE", parse_cmdline },
	[FS_FEATURE_EVENT_DESC] = { "EVENT_DESC", parse_event_desc },
	[FS_FEATURE_CPU_TOPOLOGY] = { "CPU_TOPOLOGY", parse_cpu_topology },
	[FS_FEATURE_NUMA_TOPOLOGY] = { "NUMA_TOPOLOGY", parse_numa_topology },
	[15] = { "BRANCH_STACK", parse_nothing },
	[FS_FEATURE_PMU_MAPPINGS] = { "PMU_MAPPINGS", parse_pmu_mappings },
	[FS_FEATURE_GROUP_DESC] = { "GROUP_DESC", parse_group_desc },
	[FS_FEATURE_AUXTRACE] = { "AUXTRACE", parse_auxtrace },
	[19] = { "STAT", parse_nothing },
	[FS_FEATURE_CACHE] = { "CACHE", parse_cache },
	[FS_FEATURE_SAMPLE_TIME] = { "SAMPLE_TIME", parse_sample_time },
	[FS_FEATURE_MEM_TOPOLOGY] = { "MEM_TOPOLOGY", parse_mem_topology },
	[FS_FEATURE_CLOCKID] = { "CLOCKID", parse_clock_id },
	[FS_FEATURE_DIR_FORMAT] = { "DIR_FORMAT", parse_dir_format },
	[FS_FEATURE_BPF_PROG_INFO] = { "BPF_PROG_INFO", parse_bpf_programs },
	[FS_FEATURE_BPF_BTF] = { "BPF_BTF", parse_bpf_btf },
	[FS_FEATURE_COMPRESSED] = { "COMPRESSED", parse_compressed },
	[FS_FEATURE_CPU_PMU_CAPS] = { "CPU_PMU_CAPS", parse_cpu_pmu_caps },
	[FS_FEATURE_CLOCK_DATA] = { "CLOCK_DATA", parse_clock_data },
	[FS_FEATURE_HYBRID_TOPOLOGY] = { "HYBRID_TOPOLOGY", parse_hybrid_topology },
	[FS_FEATURE_PMU_CAPS] = { "PMU_CAPS", parse_pmu_caps },
	[FS_FEATURE_CPU_DOMAIN_INFO] = { "CPU_DOMAIN_INFO", parse_cpu_domains },
	[FS_FEATURE_E_MACHINE] = { "E_MACHINE", parse_e_machine },
	[FS_FEATURE_CLN_SIZE] = { "CLN_SIZE", parse_line_size },
	/* symbols of Android binaries, in a layout that no document states */
	[FS_FEATURE_SIMPLEPERF_FILE] = { "SIMPLEPERF_FILE", NULL },
	[FS_FEATURE_SIMPLEPERF_META_INFO] = { "SIMPLEPERF_META_INFO", parse_meta_info },
	[FS_FEATURE_SIMPLEPERF_FILE2] = { "SIMPLEPERF_FILE2", NULL },
};

const char *fs_feature_name(unsigned int bit)
{
	return bit <= FS_FEATURE_KNOWN_MAX ? parsers[bit].name : NULL;
}

static int read_feature(struct parse *parse, unsigned int bit, struct fs_loss *loss,
			struct fs_error *error)
{
	struct fs_section section = parse->file->features[bit];
	uint8_t *bytes;

	if (bit > FS_FEATURE_KNOWN_MAX || !parsers[bit].name) {
		fs_loss_add(loss, FS_LOSS_UNKNOWN_FEATURE, 1, section.size, section.offset,
			    "feature %u", bit);
		return 0;
	}
	if (!parsers[bit].parse) {
		if (section.size)
			fs_loss_add(loss, FS_LOSS_UNUSED_FEATURE, 1, section.size, section.offset,
				    "feature %s", parsers[bit].name);
		return 0;
	}
	if (section.size > FEATURE_SIZE_MAX) {
		fs_loss_add(loss, FS_LOSS_LIMIT, 1, section.size, section.offset,
			    "feature %s over %d MiB", parsers[bit].name, FEATURE_SIZE_MAX >> 20);
		return 0;
	}
	bytes = malloc(section.size ? section.size : 1);
	if (!bytes)
		return fs_fail(error, FS_NOMEM, "out of memory for feature %s", parsers[bit].name);
	if (fs_perf_read(parse->file, section.offset, bytes, section.size, error)) {
		free(bytes);
		return FS_REFUSED;
	}
	parse->reader = fs_perf_reader(parse->file, bytes, section.size);
	if (!parsers[bit].parse(parse))
		fs_loss_add(loss, FS_LOSS_BAD_FEATURE, 1, section.size, section.offset,
			    "feature %s", parsers[bit].name);
	free(bytes);
	return 0;
}

/* The line size of the first-level data cache, else of any cache, else unknown. */
static void settle_line_size(struct fs_host *host)
{
	if (host->line_size)
		return;
	for (size_t i = 0; i < host->cache_count; i++) {
		const struct fs_cache *cache = &host->caches[i];

		if (!is_line_size(cache->line_size) ||
		    (host->line_size &&
		     (cache->level != 1 || !cache->type || strcmp(cache->type, "Data") != 0)))
			continue;
		host->line_size = cache->line_size;
		host->line_size_source = "cache";
	}
}

int fs_host_read(struct fs_perf_file *file, struct fs_host *host, struct fs_loss *loss,
		 struct fs_error *error)
{
	struct parse parse = { .file = file, .host = host, .loss = loss };

	*host = (struct fs_host){ 0 };
	for (unsigned int bit = 0; bit < FS_FEATURE_BITS; bit++)
		if (file->has_feature[bit])
			FS_TRY(read_feature(&parse, bit, loss, error));
	settle_line_size(host);
	return 0;
}

void fs_host_free(struct fs_host *host)
{
	while (host->cache_count)
		drop_cache(host);
	for (size_t i = 0; i < host->node_count; i++)
		free(host->nodes[i].cpus);
	for (size_t i = 0; i < host->pmu_count; i++)
		free(host->pmus[i].name);
	for (size_t i = 0; i < host->build_id_count; i++)
		free(host->build_ids[i].path);
	for (size_t i = 0; i < host->capability_count; i++)
		free_capability(&host->capabilities[i]);
	for (size_t i = 0; i < host->fact_count; i++) {
		free(host->facts[i].name);
		free(host->facts[i].value);
	}
	free(host->capabilities);
	free(host->facts);
	free(host->hostname);
	free(host->os_release);
	free(host->perf_version);
	free(host->arch);
	free(host->cpu_description);
	free(host->cpuid);
	free(host->cmdline);
	free(host->cpus);
	free(host->caches);
	free(host->nodes);
	free(host->ranges);
	free(host->pmus);
	free(host->build_ids);
	*host = (struct fs_host){ 0 };
}
