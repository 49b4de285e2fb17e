/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names, source places and memory operands of sampled code, from binaries under the symbol roots.
 *
 * The binary is found by locate.h, parsed in a helper process without rights (ingest/helper), and
 * the instruction at the address is read by operand.h. One DSO that cannot be read, or that kills
 * the helper, costs its own names only.
 */
#ifndef FS_INGEST_SYMBOL_SYMBOL_H
#define FS_INGEST_SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/access.h"
#include "common/error.h"
#include "common/intern.h"
#include "ingest/helper/reply.h"

/* No string, no function. */
#define FS_SYMBOL_NONE FS_REPLY_NONE

/* What became of a DSO: dso.symbols in the database. X(enum suffix, number, name) */
#define FS_SYMBOLS_LIST(X)                                                                         \
	X(NOT_ASKED, 0, "not_asked")   /* no symbol root, or nothing to look up */                 \
	X(VERIFIED, 1, "verified")     /* the build-id is the recorded one */                      \
	X(UNVERIFIED, 2, "unverified") /* another build-id, or none to compare; see the reason */  \
	X(MISSING, 3, "missing")       /* no such file under the roots */                          \
	X(STRIPPED, 4, "stripped") /* verified, but no .symtab nor DWARF: exported names only */   \
	X(FAILED, 5, "failed")	   /* unreadable, or the helper died or ran out of time */

#define FS_ENUM_SYMBOLS(suffix, number, name) FS_SYMBOLS_##suffix = (number),
enum fs_symbols { FS_SYMBOLS_LIST(FS_ENUM_SYMBOLS) FS_SYMBOLS_MAX };

/* The name stored in the database; never NULL. */
const char *fs_symbols_name(enum fs_symbols symbols);

/*
 * How op, width, base register and displacement are known: code.operand_method.
 * X(enum suffix, number, name or NULL)
 */
#define FS_OPERAND_METHOD_LIST(X)                                                                  \
	X(NONE, 0, NULL)                                                                           \
	X(INSTRUCTION, 1, "instruction") /* the instruction at the address */                      \
	X(PRECEDING, 2, "preceding")	 /* x86, not exact: the instruction that ends there */

#define FS_ENUM_OPERAND_METHOD(suffix, number, name) FS_OPERAND_METHOD_##suffix = (number),
enum fs_operand_method { FS_OPERAND_METHOD_LIST(FS_ENUM_OPERAND_METHOD) FS_OPERAND_METHOD_MAX };

/* The name stored in the database; NULL for FS_OPERAND_METHOD_NONE. */
const char *fs_operand_method_name(enum fs_operand_method method);

/* How the type of an access is known: code.type_method. X(enum suffix, number, name or NULL) */
#define FS_TYPE_METHOD_LIST(X)                                                                     \
	X(NONE, 0, NULL)                                                                           \
	X(VARIABLE, 1, "variable") /* a variable in the base register points to the object */      \
	X(FLOW, 2, "flow")	   /* the base register was computed or loaded from known ones */  \
	X(GLOBAL, 3, "global")	   /* a variable at a fixed address */                             \
	X(LOCAL, 4, "local")	   /* a variable on the stack */                                   \
	X(THREAD, 5, "thread")	   /* a thread-local variable */

#define FS_ENUM_TYPE_METHOD(suffix, number, name) FS_TYPE_METHOD_##suffix = (number),
enum fs_type_method { FS_TYPE_METHOD_LIST(FS_ENUM_TYPE_METHOD) FS_TYPE_METHOD_MAX };

/* The name stored in the database; NULL for FS_TYPE_METHOD_NONE. */
const char *fs_type_method_name(enum fs_type_method method);

/* X(enum suffix, number, name): type.kind */
#define FS_TYPE_KIND_LIST(X)                                                                       \
	X(OTHER, 0, "other")                                                                       \
	X(BASE, 1, "base") /* numbers, enumerations, bool */                                       \
	X(POINTER, 2, "pointer")                                                                   \
	X(STRUCT, 3, "struct")                                                                     \
	X(UNION, 4, "union")                                                                       \
	X(CLASS, 5, "class")                                                                       \
	X(ARRAY, 6, "array")

#define FS_ENUM_TYPE_KIND(suffix, number, name) FS_TYPE_##suffix = (number),
enum fs_type_kind { FS_TYPE_KIND_LIST(FS_ENUM_TYPE_KIND) FS_TYPE_KINDS };

/* The name stored in the database; never NULL. */
const char *fs_type_kind_name(enum fs_type_kind kind);

struct fs_symbol_query {
	uint64_t offset; /* file offset in the DSO; else see enum fs_symbol_code */
	bool exact;	 /* the operation's own address; else, on x86, it stands behind it */
};

/* A function of fs_symbol_dso.functions. Strings are numbers in the interner. */
struct fs_symbol_function {
	uint32_t name;	       /* demangled; never FS_SYMBOL_NONE */
	uint32_t linkage_name; /* as in the symbol table where it differs, else FS_SYMBOL_NONE */
	uint64_t address;      /* link-time address of its first byte */
	uint64_t size;	       /* bytes; 0: not told */
};

/* A function that the compiler put into another one, by debug information. */
struct fs_symbol_inlined {
	uint32_t name;	      /* interned, demangled; or FS_SYMBOL_NONE */
	uint32_t call_file;   /* interned path, or FS_SYMBOL_NONE */
	uint32_t call_line;   /* from 1; 0: unknown */
	uint32_t call_column; /* from 1; 0: unknown */
	uint32_t caller;      /* index of the one that it was put into; NONE: the function itself */
};

/*
 * The answer to one query. Everything unknown is FS_SYMBOL_NONE, 0 or -1 as stated. Function and
 * function_offset are those of the address asked for; file, line, column and inlined too, except
 * that with FS_OPERAND_METHOD_PRECEDING they are those of the access.
 */
struct fs_symbol_result {
	uint32_t function;	  /* index in fs_symbol_dso.functions, or FS_SYMBOL_NONE */
	uint64_t function_offset; /* bytes from the function's start; only with a function */
	uint32_t file;		  /* interned source path as DWARF has it, or FS_SYMBOL_NONE */
	uint32_t line;		  /* from 1; 0: unknown */
	uint32_t column;	  /* from 1; 0: unknown */
	uint32_t inlined;	  /* innermost: index in fs_symbol_dso.inlined, or FS_SYMBOL_NONE */
	int op;			  /* enum fs_op of the instruction; -1: unknown */
	uint32_t width;		  /* bytes the instruction accesses in all; 0: unknown */
	uint32_t base_register;	  /* interned, lower case (x0, sp, rax, rip, fs); or NONE */
	int64_t displacement;	  /* of the memory operand; only with a base register */
	enum fs_operand_method method;
	/* what the instruction accesses, from debug information */
	uint32_t type;	     /* index in fs_symbol_dso.types, or FS_SYMBOL_NONE */
	int64_t type_offset; /* of the access in the object; if `within`, of an array's first
				element */
	uint32_t stride;     /* an unknown multiple of it was added to the address; 0: none */
	bool within;	     /* that runs within an array of the object, else by whole objects */
	uint32_t field;	     /* interned path such as a.b[].c, or FS_SYMBOL_NONE */
	uint32_t variable;   /* interned name of the variable that is the object, or NONE */
	enum fs_type_method type_method;
};

/* A result of which nothing is known. */
struct fs_symbol_result fs_symbol_result_unknown(void);

/* A type of fs_symbol_dso.types. */
struct fs_symbol_type {
	uint32_t name;	    /* interned */
	uint64_t size;	    /* bytes; 0: not known */
	uint64_t alignment; /* that the source asks for; 0: none */
	enum fs_type_kind kind;
};

/* A field of fs_symbol_dso.fields: direct members, sorted as the file has them. An array is a type
 * with one field without a name. Whatever is told of types and fields tells types apart:
 * answers.c. */
struct fs_symbol_field {
	uint32_t type;	    /* index of its type */
	uint32_t name;	    /* interned, or FS_SYMBOL_NONE */
	uint32_t type_name; /* interned */
	uint32_t declared;  /* interned: the type as the source writes it, or FS_SYMBOL_NONE */
	uint32_t member;    /* index of the type of it, or of its elements, where that has fields */
	uint64_t offset, size;
	uint64_t alignment; /* that the source asks for; 0: none */
	uint64_t elements;  /* of an array, all dimensions together; 0: no array */
	uint16_t bit_offset, bit_size;
	bool base_class;
};

/* Which variable holds an address of data: given as a distance from an executable mapping. */
struct fs_symbol_object_query {
	uint64_t offset;   /* file offset of the mapping's first byte */
	uint64_t distance; /* of the kernel: the run-time address, and no offset; or the link-time
			      address, and the offset FS_SYMBOL_LINK_TIME */
};

enum { FS_SYMBOL_LINK_TIME = 1 };

struct fs_symbol_object {
	uint32_t name;	  /* interned, or FS_SYMBOL_NONE: no variable is known there */
	uint64_t address; /* link-time, of its first byte */
	uint64_t size;	  /* bytes; 0: not told */
	uint64_t offset;  /* of the address asked for in it */
	uint32_t type;	  /* index in fs_symbol_dso.types, or FS_SYMBOL_NONE */
	uint32_t field;	  /* interned path, or FS_SYMBOL_NONE */
};

/* What a DSO is: where its code lies in memory is told in different ways. */
enum fs_symbol_code {
	FS_SYMBOL_FILE = 0,   /* queries hold file offsets */
	FS_SYMBOL_LINKED = 1, /* queries hold link-time addresses */
	FS_SYMBOL_KERNEL = 2, /* queries hold run-time addresses */
	FS_SYMBOL_MODULE =
		3, /* queries count from the module's first byte, which was at `address` */
};

/* One DSO: the caller fills the first part, fs_symbolise() the second. */
struct fs_symbol_dso {
	const char *path;     /* as recorded; only ever looked for under the roots */
	const char *build_id; /* hex, as recorded; NULL or "": the trace does not say */
	int fd;		      /* open binary (from an archive) to use instead of looking, or -1 */
	enum fs_symbol_code kind;
	/* of the kernel and its modules */
	const char *reference;	    /* a symbol of the kernel, such as _text; "": not told */
	uint64_t reference_address; /* where that was at run time */
	uint64_t address;	    /* where the module's first byte was at run time */
	const struct fs_symbol_query *queries;
	struct fs_symbol_result *results; /* the caller's array, query_count long */
	size_t query_count;
	const struct fs_symbol_object_query *object_queries;
	struct fs_symbol_object *objects; /* the caller's array, object_query_count long */
	size_t object_query_count;

	enum fs_symbols symbols;
	char reason[256];	/* a sentence, "" for plainly verified; safe to print */
	char file_path[256];	/* the file that was used, escaped; "" if none */
	char file_build_id[41]; /* its build-id in hex, "" if it has none */
	const char *arch;	/* static: "aarch64", "x86_64", "i686", "other"; NULL: not read */
	bool names;		/* it, or its debug file, has .symtab or DWARF */
	bool operands;		/* instruction bytes were there to be decoded */
	bool bad_dwarf;		/* it has debug information that could not be read */
	bool split;		/* some of it lies in .dwo files, which are not read */
	bool lines_only;	/* it refers to others by .debug_sup, which cannot be followed */
	struct fs_symbol_function *functions; /* owned, as all below: fs_symbol_dso_free() */
	size_t function_count;
	struct fs_symbol_inlined *inlined; /* callers stand before what was put into them */
	size_t inlined_count, inlined_capacity;
	struct fs_symbol_type *types;
	size_t type_count, type_capacity;
	struct fs_symbol_field *fields;
	size_t field_count, field_capacity;
};

/*
 * Where answers are kept for the next time, by the build-id and by `files` (answers.h), a text.
 * Both return 0 or fail as the whole does.
 */
struct fs_symbol_cache {
	/* Call take(), which says whether it can use it, with each block, in the order they were
	 * kept in; one that cannot be used is forgotten. */
	int (*each)(void *context, const char *build_id, const char *files,
		    bool (*take)(void *taker, const uint8_t *bytes, size_t size), void *taker,
		    struct fs_error *error);
	int (*keep)(void *context, const char *build_id, const char *files, const uint8_t *bytes,
		    size_t size, struct fs_error *error);
	void *context;
};

struct fs_symbol_options {
	const char *const *roots; /* directories, searched in order */
	size_t root_count;
	const char *const *archives; /* tarballs, searched behind the roots */
	size_t archive_count;
	const char *vmlinux;   /* file with the kernel's names, instead of looking; or NULL */
	const char *kallsyms;  /* names of kernel and modules that no binary has; or NULL */
	bool allow_unverified; /* use files whose build-id differs or cannot be compared */
	const struct fs_symbol_cache *cache; /* or NULL */
	struct fs_interner *strings;	     /* receives all strings; not NULL */
	unsigned int timeout_ms;	     /* per DSO, wall time; 0: 60 s */
	bool (*cancelled)(void *context); /* asked between DSOs and about once a second; or NULL */
	void *context;
	int test_fault;	       /* tests only, enum fs_helper_fault of helper.h; 0 */
	size_t test_fault_dso; /* index of the DSO that it hits */
};

/*
 * Look up every query of every DSO. Each DSO gets a status of its own and a failing one stops
 * none of the others; results of a DSO that was not used are all-unknown.
 *
 * Fails only as a whole: FS_USAGE for a root that is no readable directory or a given file that
 * cannot be read, FS_NOMEM, and ECANCELED when cancelled() said so. Whatever it returned, the dsos
 * want fs_symbol_dso_free(). ret_isolation may be NULL; it is written on success only.
 *
 * Forks; may be called from a process with threads. Opens no network connection, executes
 * nothing, writes nothing.
 */
int fs_symbolise(const struct fs_symbol_options *options, struct fs_symbol_dso *dsos, size_t count,
		 struct fs_isolation *ret_isolation, struct fs_error *error);

/* Free what fs_symbolise() allocated in a DSO; not the caller's arrays nor fd. */
void fs_symbol_dso_free(struct fs_symbol_dso *dso);

#endif
