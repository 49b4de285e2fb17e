# SPDX-License-Identifier: GPL-2.0-only
. "$SAMPLES/expected/lib.sh"
findings aarch64 chunk.before.n1.spe
