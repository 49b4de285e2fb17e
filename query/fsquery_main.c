/* SPDX-License-Identifier: GPL-2.0-only */
#include <locale.h>

#include "query/query.h"

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, ""); /* not numbers: they look the same everywhere */
	return fs_query_main(argc, argv, stdout, stderr);
}
