# SPDX-License-Identifier: GPL-2.0-only
# Time grows with the file and no faster, and memory stays within bounds, whatever fills the file.
. "$CLI/lib.sh"
need zstd

trials bounds >measured
