/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of Arm cores by their MIDR_EL1: where a recording does not describe its CPU, as perf on
 * Arm does not, the number that stands in its place tells little.
 */
#ifndef FS_QUERY_ARM_CORE_H
#define FS_QUERY_ARM_CORE_H

#include <stdint.h>

/* The core with that implementer (bits 31:24) and part number (15:4); NULL: not known. Numbers:
 * kernel, arch/arm64/include/asm/cputype.h. */
const char *fs_arm_core_name(uint64_t midr);

#endif
