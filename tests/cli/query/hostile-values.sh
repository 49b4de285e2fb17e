# SPDX-License-Identifier: GPL-2.0-only
# Values that fsingest never writes are answered without harm, or refused in a sentence.
. "$CLI/lib.sh"

"$FSINGEST" -q --db good.db --symbols "$SAMPLES/bin/x86_64" "$SAMPLES/barrier.before.x86.c2c.data"
python3 "$CLI/hostile.py" good.db "$SAMPLES/barrier.before.n1.cyc.data" values noise many_rows
