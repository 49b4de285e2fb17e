# SPDX-License-Identifier: GPL-2.0-only
. "$SAMPLES/expected/lib.sh"
findings aarch64 barrier.before.n1.cyc barrier.before.n1.spe
