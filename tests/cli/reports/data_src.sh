# SPDX-License-Identifier: GPL-2.0-only
# data_src and weights, by vendor: one class for each word, its certainty, and all of its parts.
. "$CLI/lib.sh"

trials data_src
