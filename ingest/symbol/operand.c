/* SPDX-License-Identifier: GPL-2.0-only */
/* What the decoders of all architectures share. */
#include "ingest/symbol/operand.h"

int fs_operand_op(const struct fs_operand *operand)
{
	switch (operand->kind) {
	case FS_OPERAND_NO_MEMORY:
		return FS_OP_OTHER;
	case FS_OPERAND_BRANCH:
		return FS_OP_BRANCH;
	case FS_OPERAND_PREFETCH:
		return FS_OP_PREFETCH;
	case FS_OPERAND_MEMORY:
		break;
	}
	if (operand->exclusive)
		return FS_OP_ATOMIC;
	if (operand->reads && operand->writes)
		return operand->several ? -1 : FS_OP_ATOMIC;
	if (operand->writes)
		return FS_OP_STORE;
	return operand->reads ? FS_OP_LOAD : -1;
}
