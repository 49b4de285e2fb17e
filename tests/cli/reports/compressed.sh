# SPDX-License-Identifier: GPL-2.0-only
# Compressed records are read wherever their stream was cut, and cannot grow without a limit.
. "$CLI/lib.sh"
need zstd

trials compressed
