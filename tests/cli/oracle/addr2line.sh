# SPDX-License-Identifier: GPL-2.0-only
# Functions, inlined calls and lines of random addresses are those that addr2line tells.
. "$CLI/lib.sh"
need addr2line c++filt llvm-addr2line nm

python3 -B "$TOP_SOURCE/tests/accuracy/addr2line.py" --fsingest "$FSINGEST" --count 1000 "$FSQUERY" >&2
