# SPDX-License-Identifier: GPL-2.0-only
# mem_bound of each CPU family is its formula on known sums, also grouped, multiplexed, absurd or not there.
. "$CLI/lib.sh"

trials mem_bound
