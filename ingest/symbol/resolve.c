/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queries are sorted by address, so that a unit's functions and a function's instructions are
 * walked once. A file offset becomes a link-time address by the PT_LOAD segment that holds it.
 *
 * On x86 a query that is not exact stands behind the instruction meant: the function is decoded
 * from its start, and the instruction that ends at the address is taken, if there is one, if it
 * always leads on to the address, and if the instruction at the address cannot be the one meant
 * (an interrupted rep). On A64 the address is always that of the access: SPE says so, and a
 * watchpoint exception is taken before its instruction has run.
 */
#include "ingest/symbol/resolve.h"

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <libiberty/demangle.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/vector.h"
#include "ingest/symbol/describe.h"
#include "ingest/symbol/dwarf_index.h"
#include "ingest/symbol/elf_symbols.h"
#include "ingest/symbol/flow.h"
#include "ingest/symbol/inlines.h"
#include "ingest/symbol/operand.h"
#include "ingest/symbol/plt.h"

/* Functions longer than this are not decoded to find an instruction's start. */
enum { FUNCTION_MAX = 1 << 20, INSTRUCTION_MAX = 15, PAGE = 4096, RELEASE_EVERY = 64 };

struct segment {
	uint64_t offset;
	uint64_t address;
	uint64_t loaded; /* of a module: from its first byte, as the kernel lays it out */
	uint64_t size;	 /* in the file */
	uint64_t memory; /* when mapped */
	bool executable;
};

/* A query with its place. */
struct item {
	uint64_t address;
	uint64_t offset;
	uint32_t query;
	bool placed; /* in a segment */
	bool code;   /* in an executable one, with bytes */
};

/* Where decoding a function has got to. */
struct cursor {
	uint64_t function;
	uint64_t at;	   /* start of an instruction */
	uint64_t previous; /* start of the one before, or == at */
	bool lost;	   /* bytes that are no instruction were met */
	bool valid;
};

struct resolver {
	const struct fs_resolve_job *job;
	struct fs_reply_writer *writer;
	Elf *elf;		     /* NULL without a binary */
	Elf *debug_elf;		     /* NULL without a debug file */
	Dwfl *module, *debug_module; /* own these where they are relocatable */
	Elf *supplementary_elf;	     /* NULL without one */
	struct fs_elf_symbols symbols;
	struct fs_elf_symbols stubs; /* of the procedure linkage table */
	struct fs_elf_symbols variables;
	struct fs_elf_symbols thread_locals;
	struct fs_dwarf_index dwarf;
	bool bad_dwarf; /* there is debug information, but none that can be read */
	struct fs_inlines inlines;
	struct fs_table inlined; /* entry of an inlined function -> number sent */
	struct fs_data_types types;
	struct fs_globals globals;
	struct fs_flow *flow; /* NULL without DWARF or bytes */
	struct fs_descriptions descriptions;
	uint64_t thread_block; /* as fs_flow_source has it */
	struct segment *segments;
	size_t segment_count;
	uint64_t slide; /* of the kernel: run-time less link-time addresses */
	enum fs_reply_arch arch;
	struct fs_x86 *x86;
	struct cursor cursor;
	struct item *items;
	struct fs_table functions; /* address, size -> number sent */
	const char *complaint;	   /* why nothing can be answered */
};

/* ---- the file ---- */

/*
 * How far the thread's block lies from the thread pointer, by the ELF handling of thread-local
 * storage: behind the 16 bytes of the thread control block on AArch64, before it on x86-64.
 */
static uint64_t thread_block_of(const struct resolver *resolver, const GElf_Phdr *header)
{
	uint64_t align = header->p_align ? header->p_align : 1;

	if (resolver->arch != FS_REPLY_ARCH_X86_64)
		return align > 16 ? align : 16;
	return (header->p_memsz + align - 1) / align * align;
}

static int read_segments(struct resolver *resolver, Elf *elf)
{
	size_t capacity = 0;
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header))
			continue;
		if (header.p_type == PT_TLS)
			resolver->thread_block = thread_block_of(resolver, &header);
		if (header.p_type != PT_LOAD ||
		    header.p_offset + header.p_filesz < header.p_offset ||
		    header.p_vaddr + header.p_filesz < header.p_vaddr)
			continue;
		FS_TRY(FS_RESERVE(resolver->segments, capacity, resolver->segment_count + 1));
		resolver->segments[resolver->segment_count++] = (struct segment){
			.offset = header.p_offset,
			.address = header.p_vaddr,
			.size = header.p_filesz,
			.memory = header.p_memsz,
			.executable = header.p_flags & PF_X,
		};
	}
	return 0;
}

/*
 * A module's sections, where the kernel's loader puts them (kernel/module: layout_sections): those
 * with code first, in the order of the file, each aligned, without those of .init. On AArch64 the
 * loader sizes .plt and .text.ftrace_trampoline itself, so what stands behind is not known.
 */
static int read_sections(struct resolver *resolver, Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t capacity = 0;
	uint64_t end = 0;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;
		uint64_t align;

		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC) ||
		    !(header.sh_flags & SHF_EXECINSTR))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || !strncmp(name, ".init", 5))
			continue;
		if (!strcmp(name, ".plt") || !strcmp(name, ".text.ftrace_trampoline"))
			break;
		align = header.sh_addralign ? header.sh_addralign : 1;
		if (header.sh_size > UINT32_MAX || align > UINT32_MAX || end > UINT32_MAX)
			break;
		end = (end + align - 1) / align * align;
		FS_TRY(FS_RESERVE(resolver->segments, capacity, resolver->segment_count + 1));
		resolver->segments[resolver->segment_count++] = (struct segment){
			.offset = header.sh_offset,
			.address = header.sh_addr,
			.loaded = end,
			.size = header.sh_size,
			.memory = header.sh_size,
			.executable = true,
		};
		end += header.sh_size;
	}
	return 0;
}

static int no_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word checksum, char **ret_file)
{
	(void)module, (void)user, (void)name, (void)base, (void)file, (void)link, (void)checksum;
	*ret_file = NULL;
	return -1;
}

/*
 * Open an ELF file. A relocatable one, such as a kernel module, is given to libdwfl, which lays
 * its sections out in some way and then relocates its debug information.
 */
static Elf *open_elf(int fd, Dwfl **ret_module)
{
	static const Dwfl_Callbacks callbacks = {
		.find_debuginfo = no_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	Dwfl_Module *module = NULL;
	GElf_Ehdr header;
	Dwarf_Addr bias;

	if (!elf || !gelf_getehdr(elf, &header) || header.e_type != ET_REL)
		return elf;
	elf_end(elf);
	*ret_module = dwfl_begin(&callbacks);
	if (*ret_module)
		module = dwfl_report_offline(*ret_module, "module", "module", fd);
	if (!module)
		return NULL;
	dwfl_report_end(*ret_module, NULL, NULL);
	dwfl_module_getdwarf(module, &bias);
	return dwfl_module_getelf(module, &bias);
}

static enum fs_reply_arch arch_of(Elf *elf)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(elf, &header))
		return FS_REPLY_ARCH_OTHER;
	switch (header.e_machine) {
	case EM_AARCH64:
		return FS_REPLY_ARCH_AARCH64;
	case EM_X86_64:
		return FS_REPLY_ARCH_X86_64;
	case EM_386:
		return FS_REPLY_ARCH_I686;
	default:
		return FS_REPLY_ARCH_OTHER;
	}
}

/* libdwfl closes the file of a module; what it mapped stays. */
static size_t read_mapped(Elf *elf, uint64_t offset, uint8_t *out, size_t size)
{
	size_t mapped;
	const char *bytes = elf_rawfile(elf, &mapped);

	if (!bytes || offset >= mapped)
		return 0;
	size = size < mapped - offset ? size : (size_t)(mapped - offset);
	memcpy(out, bytes + offset, size);
	return size;
}

static size_t read_code(const struct resolver *resolver, uint64_t offset, uint8_t *out, size_t size)
{
	if (resolver->module)
		return read_mapped(resolver->elf, offset, out, size);
	ssize_t got = offset > INT64_MAX ? -1 : pread(resolver->job->fd, out, size, (off_t)offset);

	return got > 0 ? (size_t)got : 0;
}

static size_t read_address(void *context, uint64_t address, void *buffer, size_t size)
{
	const struct resolver *resolver = context;

	for (size_t i = 0; i < resolver->segment_count; i++) {
		const struct segment *segment = &resolver->segments[i];
		uint64_t at = address - segment->address;

		if (address < segment->address || at >= segment->size)
			continue;
		if (size > segment->size - at)
			size = (size_t)(segment->size - at);
		return read_code(resolver, segment->offset + at, buffer, size);
	}
	return 0;
}

/* Follow addresses through functions where there are types and bytes of a known architecture. */
static int open_flow(struct resolver *resolver)
{
	const struct fs_flow_source source = {
		.types = &resolver->types,
		.globals = &resolver->globals,
		.index = &resolver->dwarf,
		.x86 = resolver->x86,
		.thread_block = resolver->thread_block,
		.read = read_address,
		.context = resolver,
	};
	bool known =
		resolver->arch == FS_REPLY_ARCH_AARCH64 || resolver->arch == FS_REPLY_ARCH_X86_64;

	fs_data_types_init(&resolver->types,
			   resolver->dwarf.lines_only ? NULL : resolver->dwarf.dwarf);
	fs_descriptions_init(&resolver->descriptions, resolver->writer, &resolver->types);
	if (!resolver->types.dwarf || !resolver->elf || !known)
		return 0;
	resolver->flow = fs_flow_open(&source);
	return resolver->flow ? 0 : FS_NOMEM;
}

/* Symbols of one kind: of the debug file where it has all, else of the binary. */
static int read_table(struct resolver *resolver, struct fs_elf_symbols *symbols)
{
	if (resolver->debug_elf)
		FS_TRY(fs_elf_symbols_add(symbols, resolver->debug_elf));
	if (resolver->elf && !symbols->full)
		FS_TRY(fs_elf_symbols_add(symbols, resolver->elf));
	return fs_elf_symbols_index(symbols);
}

static int read_symbols(struct resolver *resolver)
{
	resolver->variables.kind = FS_ELF_VARIABLES;
	resolver->thread_locals.kind = FS_ELF_THREAD_LOCALS;
	resolver->globals.thread_symbols = &resolver->thread_locals;
	FS_TRY(read_table(resolver, &resolver->symbols));
	if (resolver->elf)
		FS_TRY(fs_plt_add(&resolver->stubs, resolver->elf, &resolver->symbols));
	FS_TRY(fs_elf_symbols_index(&resolver->stubs));
	FS_TRY(read_table(resolver, &resolver->variables));
	FS_TRY(read_table(resolver, &resolver->thread_locals));
	if (resolver->debug_elf)
		FS_TRY(fs_dwarf_index_open(&resolver->dwarf, resolver->debug_elf,
					   resolver->supplementary_elf));
	resolver->bad_dwarf = resolver->dwarf.unreadable;
	if (resolver->elf && !resolver->dwarf.dwarf) {
		FS_TRY(fs_dwarf_index_open(&resolver->dwarf, resolver->elf,
					   resolver->debug_elf ? NULL
							       : resolver->supplementary_elf));
		resolver->bad_dwarf |= resolver->dwarf.unreadable;
	}
	resolver->bad_dwarf &= !resolver->dwarf.dwarf;
	return 0;
}

static int open_file(struct resolver *resolver)
{
	Elf *elf;
	uint32_t flags = 0;

	elf_version(EV_CURRENT);
	resolver->elf = open_elf(resolver->job->fd, &resolver->module);
	resolver->debug_elf = open_elf(resolver->job->debug_fd, &resolver->debug_module);
	if (resolver->job->supplementary_fd >= 0)
		resolver->supplementary_elf =
			elf_begin(resolver->job->supplementary_fd, ELF_C_READ_MMAP, NULL);
	elf = resolver->elf ? resolver->elf : resolver->debug_elf;
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		return FS_REFUSED;
	resolver->arch = arch_of(elf);
	FS_TRY(resolver->module || resolver->debug_module ? read_sections(resolver, elf)
							  : read_segments(resolver, elf));
	FS_TRY(read_symbols(resolver));
	if (resolver->arch == FS_REPLY_ARCH_X86_64 || resolver->arch == FS_REPLY_ARCH_I686) {
		resolver->x86 = fs_x86_open(resolver->arch == FS_REPLY_ARCH_X86_64);
		if (!resolver->x86)
			return FS_NOMEM;
	}
	FS_TRY(open_flow(resolver));
	if (resolver->symbols.full || resolver->dwarf.dwarf)
		flags |= FS_REPLY_SYMBOLS;
	if (resolver->elf && resolver->arch != FS_REPLY_ARCH_OTHER)
		flags |= FS_REPLY_OPERANDS;
	if (resolver->bad_dwarf)
		flags |= FS_REPLY_BAD_DWARF;
	if (resolver->dwarf.split)
		flags |= FS_REPLY_SPLIT;
	if (resolver->dwarf.lines_only)
		flags |= FS_REPLY_LINES_ONLY;
	fs_reply_binary(resolver->writer, resolver->arch, flags);
	return 0;
}

/* Place a query in the segment that holds it; segments share pages, so code goes first. */
static void place(const struct resolver *resolver, struct item *item, uint64_t wanted)
{
	bool by_address =
		resolver->job->kind == FS_SYMBOL_LINKED || resolver->job->kind == FS_SYMBOL_KERNEL;

	wanted -= resolver->slide;
	for (int executable = 1; executable >= 0 && !item->placed; executable--) {
		for (size_t i = 0; i < resolver->segment_count && !item->placed; i++) {
			const struct segment *segment = &resolver->segments[i];
			uint64_t start = resolver->job->kind == FS_SYMBOL_MODULE ? segment->loaded
					 : by_address				 ? segment->address
										 : segment->offset;

			if (segment->executable != executable || wanted < start ||
			    wanted - start >= segment->size)
				continue;
			item->address = segment->address + (wanted - start);
			item->offset = segment->offset + (wanted - start);
			item->placed = true;
			item->code = executable && resolver->elf;
		}
	}
	if (!item->placed && by_address) { /* a debug file has no bytes there */
		item->address = wanted;
		item->placed = true;
	}
}

static int compare_items(const void *a, const void *b)
{
	const struct item *left = a;
	const struct item *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return (left->query > right->query) - (left->query < right->query);
}

static int place_queries(struct resolver *resolver)
{
	size_t count = resolver->job->query_count;

	resolver->items = calloc(count ? count : 1, sizeof(*resolver->items));
	if (!resolver->items)
		return FS_NOMEM;
	for (size_t i = 0; i < count; i++) {
		resolver->items[i].query = (uint32_t)i;
		place(resolver, &resolver->items[i], resolver->job->queries[i].offset);
	}
	qsort(resolver->items, count, sizeof(*resolver->items), compare_items);
	return 0;
}

/* ---- names ---- */

/* name@VERSION and name@@VERSION: the version is no part of the name. */
static char *without_version(const char *linkage_name)
{
	const char *at = strchr(linkage_name, '@');

	if (!at || at == linkage_name)
		return NULL;
	return strndup(linkage_name, (size_t)(at - linkage_name));
}

/*
 * Send the name to show: what libiberty makes of the linkage name, else `plain`, else the linkage
 * name itself, as perf shows them (C++ without parameters, Rust without hash). One of the two is
 * not NULL. *ret_same tells whether it is the linkage name as it stands.
 */
static int send_name(struct resolver *resolver, const char *linkage_name, const char *plain,
		     uint32_t *ret_name, bool *ret_same)
{
	char *bare = linkage_name ? without_version(linkage_name) : NULL;
	const char *start = bare ? bare : linkage_name;
	char *demangled = start ? cplus_demangle(start, DMGL_AUTO) : NULL;
	const char *name = demangled ? demangled : plain ? plain : start;
	int code = fs_describe_text(&resolver->descriptions, name, strlen(name), ret_name);

	*ret_same = linkage_name && !strcmp(linkage_name, name);
	free(demangled);
	free(bare);
	return code;
}

static int name_function(struct resolver *resolver, const char *linkage_name, const char *plain,
			 struct fs_symbol_function *function)
{
	bool same;

	function->linkage_name = FS_SYMBOL_NONE;
	FS_TRY(send_name(resolver, linkage_name, plain, &function->name, &same));
	if (!linkage_name || same)
		return 0;
	return fs_describe_text(&resolver->descriptions, linkage_name, strlen(linkage_name),
				&function->linkage_name);
}

/* An address of a module as it counts from its first byte; others stay. */
static uint64_t in_module(const struct resolver *resolver, uint64_t address)
{
	for (size_t i = 0; i < resolver->segment_count; i++) {
		const struct segment *segment = &resolver->segments[i];

		if (resolver->job->kind == FS_SYMBOL_MODULE && address >= segment->address &&
		    address - segment->address < segment->size)
			return segment->loaded + (address - segment->address);
	}
	return address;
}

/* The number of a function, sent when it is new. */
static int function_id(struct resolver *resolver, uint64_t address, uint64_t size,
		       const char *linkage_name, const char *plain, uint32_t *ret_id)
{
	struct fs_symbol_function function = { .address = in_module(resolver, address),
					       .size = size };
	const uint64_t key[] = { address, size };
	bool added;

	if (!fs_table_put(&resolver->functions, key, ret_id, &added))
		return FS_NOMEM;
	if (!added)
		return 0;
	FS_TRY(name_function(resolver, linkage_name, plain, &function));
	fs_reply_function(resolver->writer, &function);
	return 0;
}

/* A stub has no symbol; objdump and perf call it by what it leads to. */
static int stub_id(struct resolver *resolver, const struct fs_elf_symbol *stub, uint32_t *ret_id)
{
	char *bare = without_version(stub->name);
	const char *start = bare ? bare : stub->name;
	char *demangled = cplus_demangle(start, DMGL_AUTO);
	char *name = NULL;
	int code = FS_NOMEM;

	if (asprintf(&name, "%s@plt", demangled ? demangled : start) >= 0)
		code = function_id(resolver, stub->address, stub->size, NULL, name, ret_id);
	else
		name = NULL;
	free(name);
	free(demangled);
	free(bare);
	return code;
}

static int find_function(struct resolver *resolver, uint64_t address,
			 struct fs_symbol_result *result, uint64_t *ret_start)
{
	const struct fs_elf_symbol *symbol = fs_elf_symbols_find(&resolver->symbols, address);
	const struct fs_elf_symbol *stub = fs_elf_symbols_find(&resolver->stubs, address);
	struct fs_dwarf_function function;

	if (stub) {
		*ret_start = stub->address;
		FS_TRY(stub_id(resolver, stub, &result->function));
	} else if (symbol) {
		*ret_start = symbol->address;
		FS_TRY(function_id(resolver, symbol->address, symbol->size, symbol->name, NULL,
				   &result->function));
	} else if (fs_dwarf_function(&resolver->dwarf, address, &function)) {
		*ret_start = function.address;
		FS_TRY(function_id(resolver, function.address, function.size, function.linkage_name,
				   function.name, &result->function));
	} else {
		return 0;
	}
	result->function_offset = address - *ret_start;
	return 0;
}

/* ---- places in the source ---- */

/* The path of a place, as far as it is known. */
static int send_path(struct resolver *resolver, const struct fs_dwarf_place *place,
		     uint32_t *ret_id)
{
	char joined[PATH_MAX];
	const char *path = place->path;

	*ret_id = FS_SYMBOL_NONE;
	if (!path)
		return 0;
	if (place->directory && (size_t)snprintf(joined, sizeof(joined), "%s/%s", place->directory,
						 path) < sizeof(joined))
		path = joined;
	return fs_describe_text(&resolver->descriptions, path, strlen(path), ret_id);
}

/* The number of an inlined function, sent behind its callers when it is new. */
static int inlined_id(struct resolver *resolver, uint32_t inlined, uint32_t *ret_id)
{
	const struct fs_inlined *item;
	struct fs_symbol_inlined frame = { .name = FS_SYMBOL_NONE };
	struct fs_inlined_call call;
	uint64_t *number;
	bool ignored;

	*ret_id = FS_SYMBOL_NONE;
	if (inlined == FS_NOT_INLINED)
		return 0;
	item = &resolver->inlines.items[inlined];
	number = fs_table_get(&resolver->inlined, &item->die);
	if (number)
		*ret_id = (uint32_t)*number;
	if (number || resolver->inlined.count >= FS_REPLY_INLINED_MAX)
		return 0;
	FS_TRY(inlined_id(resolver, item->caller, &frame.caller));
	fs_inlined_call(&resolver->inlines, inlined, &call);
	if (call.name || call.linkage_name)
		FS_TRY(send_name(resolver, call.linkage_name, call.name, &frame.name, &ignored));
	FS_TRY(send_path(resolver, &call.place, &frame.call_file));
	frame.call_line = call.place.line;
	frame.call_column = call.place.column;
	number = fs_table_put(&resolver->inlined, &item->die, ret_id, NULL);
	if (!number)
		return FS_NOMEM;
	*number = *ret_id;
	fs_reply_inlined(resolver->writer, &frame);
	return 0;
}

static int find_place(struct resolver *resolver, uint64_t address, struct fs_symbol_result *result)
{
	struct fs_dwarf_place place;
	uint32_t inlined;

	if (fs_dwarf_place(&resolver->dwarf, address, &place)) {
		FS_TRY(send_path(resolver, &place, &result->file));
		result->line = place.line;
		result->column = place.column;
	}
	FS_TRY(fs_inlines_at(&resolver->inlines, address, &inlined));
	return inlined_id(resolver, inlined, &result->inlined);
}

/* ---- operands ---- */

static int set_operand(struct resolver *resolver, const struct fs_operand *operand,
		       uint64_t address, enum fs_operand_method method,
		       struct fs_symbol_result *result)
{
	result->op = fs_operand_op(operand);
	result->width = operand->width;
	result->method = method;
	if (!operand->base[0])
		return 0;
	result->displacement = operand->displacement;
	if (operand->from_here)
		result->displacement = (int64_t)(address + (uint64_t)operand->displacement);
	return fs_describe_text(&resolver->descriptions, operand->base, strlen(operand->base),
				&result->base_register);
}

static bool decode_at(struct resolver *resolver, uint64_t offset, struct fs_operand *ret_operand)
{
	uint8_t bytes[INSTRUCTION_MAX];
	size_t size = read_code(resolver, offset, bytes, sizeof(bytes));
	uint32_t word;

	if (resolver->x86)
		return fs_operand_x86(resolver->x86, bytes, size, ret_operand);
	if (size < sizeof(word) || offset % sizeof(word))
		return false;
	memcpy(&word, bytes, sizeof(word));
	return fs_operand_a64(word, ret_operand);
}

/*
 * Decode from a function's start up to `address`. True when an instruction ends there;
 * *ret_start is where it begins.
 */
static bool walk_to(struct resolver *resolver, const struct item *item, uint64_t function,
		    uint64_t *ret_start)
{
	struct cursor *cursor = &resolver->cursor;
	uint64_t base = item->offset - (item->address - function);

	if (item->address - function > FUNCTION_MAX || item->address - function > item->offset)
		return false;
	if (!cursor->valid || cursor->function != function || cursor->at > item->address)
		*cursor = (struct cursor){
			.function = function, .at = function, .previous = function, .valid = true
		};
	while (cursor->at < item->address && !cursor->lost) {
		uint8_t bytes[INSTRUCTION_MAX];
		size_t size =
			read_code(resolver, base + (cursor->at - function), bytes, sizeof(bytes));
		size_t length = fs_x86_length(resolver->x86, bytes, size);

		if (!length) {
			cursor->lost = true;
			break;
		}
		cursor->previous = cursor->at;
		cursor->at += length;
	}
	*ret_start = cursor->previous;
	return cursor->at == item->address && cursor->previous < cursor->at && !cursor->lost;
}

/*
 * What the access at an address is to: the type, the field and how that is known. One that repeats
 * itself runs from there through the object: its field is not known.
 */
static int find_type(struct resolver *resolver, uint64_t address, const struct fs_operand *operand,
		     struct fs_symbol_result *result)
{
	struct fs_typed_access access;

	if (!resolver->flow || !fs_flow_access(resolver->flow, address, &access))
		return 0;
	if (operand->interrupted) {
		access.stride = 1;
		access.within = true;
	}
	result->type_offset = access.offset;
	result->stride = access.stride;
	result->within = access.within;
	result->type_method = access.method;
	if (access.name)
		FS_TRY(fs_describe_text(&resolver->descriptions, access.name, strlen(access.name),
					&result->variable));
	if (!operand->interrupted)
		FS_TRY(fs_describe_path(&resolver->descriptions, access.type,
					(uint64_t)access.offset, result->width, !access.within,
					&result->field));
	return fs_describe_type(&resolver->descriptions, access.type, &result->type);
}

/* The line of the access is then told, too, not that of where the pointer stands. */
static int find_preceding(struct resolver *resolver, const struct item *item, uint64_t function,
			  struct fs_symbol_result *result)
{
	struct fs_operand here;
	struct fs_operand before;
	uint64_t start;

	if (!walk_to(resolver, item, function, &start))
		return 0;
	if (!decode_at(resolver, item->offset, &here) || here.interrupted)
		return 0;
	if (!decode_at(resolver, item->offset - (item->address - start), &before) ||
	    before.breaks_flow || before.kind != FS_OPERAND_MEMORY)
		return 0;
	FS_TRY(find_place(resolver, start, result));
	FS_TRY(set_operand(resolver, &before, start, FS_OPERAND_METHOD_PRECEDING, result));
	return find_type(resolver, start, &before, result);
}

static int find_operand(struct resolver *resolver, const struct item *item, uint64_t function,
			struct fs_symbol_result *result)
{
	struct fs_operand operand;
	bool exact = resolver->job->queries[item->query].exact;

	if (!item->code || resolver->arch == FS_REPLY_ARCH_OTHER)
		return 0;
	if (!exact && resolver->x86)
		return result->function == FS_SYMBOL_NONE
			       ? 0
			       : find_preceding(resolver, item, function, result);
	if (!decode_at(resolver, item->offset, &operand))
		return 0;
	FS_TRY(set_operand(resolver, &operand, item->address, FS_OPERAND_METHOD_INSTRUCTION,
			   result));
	if (operand.kind != FS_OPERAND_MEMORY)
		return 0;
	return find_type(resolver, item->address, &operand, result);
}

/* ---- variables ---- */

/* The link-time address of a place that lies `distance` behind the start of a mapping. */
static bool place_object(const struct resolver *resolver,
			 const struct fs_symbol_object_query *query, uint64_t *ret_address)
{
	if (resolver->job->kind == FS_SYMBOL_KERNEL) {
		*ret_address = query->distance -
			       (query->offset == FS_SYMBOL_LINK_TIME ? 0 : resolver->slide);
		return true;
	}
	for (size_t i = 0; i < resolver->segment_count; i++) {
		const struct segment *segment = &resolver->segments[i];
		uint64_t before = segment->offset % PAGE; /* mappings begin at whole pages */

		if (!segment->executable || query->offset < segment->offset - before ||
		    query->offset >= segment->offset + segment->size)
			continue;
		*ret_address =
			segment->address + (query->offset - segment->offset) + query->distance;
		return true;
	}
	return false;
}

static bool is_data(const struct resolver *resolver, uint64_t address)
{
	for (size_t i = 0; i < resolver->segment_count; i++) {
		const struct segment *segment = &resolver->segments[i];

		if (address >= segment->address && address - segment->address < segment->memory)
			return true;
	}
	return false;
}

static int answer_object(struct resolver *resolver, uint32_t number)
{
	const struct fs_symbol_object_query *query = &resolver->job->object_queries[number];
	struct fs_symbol_object object = { .type = FS_SYMBOL_NONE, .field = FS_SYMBOL_NONE };
	const struct fs_elf_symbol *symbol;
	const struct fs_global *global;
	const char *plain;
	uint64_t address;
	bool ignored;

	if (!place_object(resolver, query, &address) || !is_data(resolver, address))
		return 0;
	FS_TRY(fs_globals_read(&resolver->types, &resolver->globals));
	global = fs_global_at(&resolver->globals, address);
	symbol = fs_elf_symbols_find(&resolver->variables, address);
	if (!global && !symbol)
		return 0;
	object.address = global ? global->address : symbol->address;
	object.size = global ? global->size : symbol->size;
	object.offset = address - object.address;
	plain = global ? global->name : NULL;
	if (!plain && !symbol)
		return 0;
	FS_TRY(send_name(resolver, plain ? NULL : symbol->name, plain, &object.name, &ignored));
	if (global) {
		FS_TRY(fs_describe_path(&resolver->descriptions, global->type, object.offset, 0,
					true, &object.field));
		FS_TRY(fs_describe_type(&resolver->descriptions, global->type, &object.type));
	}
	fs_reply_object(resolver->writer, number, &object);
	return 0;
}

/* ---- all of it ---- */

static int answer(struct resolver *resolver, const struct item *item)
{
	struct fs_symbol_result result = fs_symbol_result_unknown();
	uint64_t function = 0;

	if (!item->placed)
		return 0;
	FS_TRY(find_function(resolver, item->address, &result, &function));
	FS_TRY(find_place(resolver, item->address, &result));
	FS_TRY(find_operand(resolver, item, function, &result));
	fs_reply_code(resolver->writer, item->query, &result);
	return 0;
}

/*
 * The kernel lies where its boot chose (KASLR). A symbol that the trace places tells how far that
 * is from where it was linked. Returns what is in the way; NULL: nothing.
 */
static const char *find_slide(struct resolver *resolver)
{
	uint64_t linked;

	if (!resolver->job->reference || !*resolver->job->reference)
		return "the trace does not say where the kernel lay; record as root, or with "
		       "kernel.kptr_restrict=0";
	if (!(resolver->debug_elf &&
	      fs_elf_symbol_value(resolver->debug_elf, resolver->job->reference, &linked)) &&
	    !(resolver->elf &&
	      fs_elf_symbol_value(resolver->elf, resolver->job->reference, &linked)))
		return "it has no symbol by which the trace says where the kernel lay";
	resolver->slide = resolver->job->reference_address - linked;
	return NULL;
}

/*
 * What makes it impossible to place queries; NULL: nothing. objcopy --only-keep-debug gives up
 * the segments' file offsets (elfutils' strip keeps them), a relocatable object has none.
 */
static const char *misplaced(struct resolver *resolver)
{
	Elf *elf = resolver->elf ? resolver->elf : resolver->debug_elf;
	GElf_Ehdr header;

	if (gelf_getehdr(elf, &header) &&
	    (header.e_type == ET_REL) != (resolver->job->kind == FS_SYMBOL_MODULE))
		return header.e_type == ET_REL ? "it is a relocatable object, whose code has no "
						 "addresses of its own"
					       : "it is no kernel module";
	if (resolver->job->kind == FS_SYMBOL_MODULE)
		return NULL;
	if (resolver->job->kind == FS_SYMBOL_KERNEL)
		return find_slide(resolver);
	if (resolver->elf || resolver->job->kind == FS_SYMBOL_LINKED)
		return NULL;
	for (size_t i = 0; i < resolver->segment_count; i++) {
		if (resolver->segments[i].executable && resolver->segments[i].size)
			return NULL;
	}
	return "only a separate debug file was found, and it does not tell which address a file "
	       "offset has; the binary is needed, too";
}

/*
 * Give back the memory that pages of a mapped file take; they are read again when they are needed.
 * The debug information of a kernel is larger than what we may use, and a thousand addresses far
 * from each other touch all of it. Not of a relocatable file, whose pages libdwfl has changed, nor
 * of one that could not be mapped and lies in other memory.
 */
static void release_pages(Elf *elf)
{
	size_t size = 0;
	char *mapped = elf ? elf_rawfile(elf, &size) : NULL;

	if (mapped && (uintptr_t)mapped % PAGE == 0)
		madvise(mapped, size, MADV_DONTNEED);
}

static int answer_all(struct resolver *resolver)
{
	FS_TRY(open_file(resolver));
	resolver->complaint = misplaced(resolver);
	if (resolver->complaint)
		return FS_REFUSED;
	FS_TRY(place_queries(resolver));
	for (size_t i = 0; i < resolver->job->query_count; i++) {
		FS_TRY(answer(resolver, &resolver->items[i]));
		if (i % RELEASE_EVERY == 0 && !resolver->module && !resolver->debug_module) {
			release_pages(resolver->elf);
			release_pages(resolver->debug_elf);
		}
	}
	for (size_t i = 0; i < resolver->job->object_query_count; i++)
		FS_TRY(answer_object(resolver, (uint32_t)i));
	return 0;
}

static void free_resolver(struct resolver *resolver)
{
	fs_flow_close(resolver->flow);
	fs_globals_free(&resolver->globals);
	fs_data_types_free(&resolver->types);
	fs_descriptions_free(&resolver->descriptions);
	fs_inlines_free(&resolver->inlines);
	fs_table_free(&resolver->inlined);
	fs_dwarf_index_close(&resolver->dwarf);
	fs_elf_symbols_free(&resolver->stubs);
	fs_elf_symbols_free(&resolver->variables);
	fs_elf_symbols_free(&resolver->thread_locals);
	fs_elf_symbols_free(&resolver->symbols);
	fs_x86_close(resolver->x86);
	fs_table_free(&resolver->functions);
	free(resolver->segments);
	free(resolver->items);
	if (!resolver->module)
		elf_end(resolver->elf);
	if (!resolver->debug_module)
		elf_end(resolver->debug_elf);
	dwfl_end(resolver->module);
	dwfl_end(resolver->debug_module);
	elf_end(resolver->supplementary_elf);
}

void fs_resolve(const struct fs_resolve_job *job, struct fs_reply_writer *writer)
{
	struct resolver resolver = { .job = job, .writer = writer };
	int code;

	resolver.inlines.index = &resolver.dwarf;
	fs_table_init(&resolver.functions, 16, 8);
	fs_table_init(&resolver.inlined, 8, 8);
	code = answer_all(&resolver);
	if (code == FS_REFUSED)
		fs_reply_last(writer, FS_REPLY_UNREADABLE,
			      resolver.complaint ? resolver.complaint
						 : "libelf cannot read the file");
	else if (code)
		fs_reply_last(writer, FS_REPLY_NO_MEMORY, "the helper ran out of memory");
	else
		fs_reply_last(writer, FS_REPLY_DONE, "");
	free_resolver(&resolver);
}
