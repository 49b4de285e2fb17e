# SPDX-License-Identifier: GPL-2.0-only
. "$SAMPLES/expected/lib.sh"
findings aarch64 chunk.after.n1.spe
