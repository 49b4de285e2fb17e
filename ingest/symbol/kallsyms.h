/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of kernel code and data from a copy of /proc/kallsyms.
 *
 * A line is "ADDRESS TYPE NAME", of a module followed by a tab and "[MODULE]"; addresses are hex,
 * types are nm's letters (kernel/kallsyms.c, s_show). The file does not say which kernel it is
 * of, nor how long a symbol is.
 */
#ifndef FS_INGEST_SYMBOL_KALLSYMS_H
#define FS_INGEST_SYMBOL_KALLSYMS_H

#include "ingest/symbol/symbol.h"

struct fs_kallsym {
	uint64_t address;
	uint32_t name, module; /* where they begin in the text; module 0: the kernel */
	uint16_t name_length, module_length;
	char type; /* nm's letter */
};

struct fs_kallsyms {
	const char *text;	  /* the caller's */
	struct fs_kallsym *items; /* by address, one for each and kind of symbol */
	size_t count, capacity;
};

/* Larger files are no kallsyms. */
enum { FS_KALLSYMS_MAX = 64 << 20 };

/*
 * Read a text, which must outlive the table; lines that are none of it are skipped. Returns 0 or
 * FS_NOMEM; the table wants fs_kallsyms_free() in either case.
 */
int fs_kallsyms_parse(const char *text, size_t size, struct fs_kallsyms *ret_kallsyms);
void fs_kallsyms_free(struct fs_kallsyms *kallsyms);

/*
 * Answer the queries of a DSO that is the kernel or a module, and set its status and reason: the
 * text has no build-id, so it is unverified at best. Names are taken if it has the reference
 * symbol; that tells how much higher the trace's addresses are. Modules move by themselves, so
 * theirs are only taken from the same boot, where that is nothing. Data of modules is asked of the
 * kernel. Returns 0 or FS_NOMEM.
 */
int fs_kallsyms_answer(const struct fs_kallsyms *kallsyms, struct fs_interner *strings,
		       struct fs_symbol_dso *dso);

/*
 * Name the data of modules that a kernel whose own binary was read is asked about. Nothing, where
 * the text is of another boot. Returns 0 or FS_NOMEM.
 */
int fs_kallsyms_add_modules(const struct fs_kallsyms *kallsyms, struct fs_interner *strings,
			    struct fs_symbol_dso *dso);

#endif
