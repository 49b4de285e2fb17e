# SPDX-License-Identifier: GPL-2.0-only
# Samples with fields of variable length: every count is checked, the neighbours are read.
. "$CLI/lib.sh"

trials samples
