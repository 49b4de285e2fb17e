# SPDX-License-Identifier: GPL-2.0-only
. "$SAMPLES/expected/lib.sh"
findings x86_64 chunk.after.x86.c2c
