# SPDX-License-Identifier: GPL-2.0-only
# Mappings and tasks as kernels, mapss, JIT compilers and guests leave them.
. "$CLI/lib.sh"

trials maps
