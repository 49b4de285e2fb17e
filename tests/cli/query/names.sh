# SPDX-License-Identifier: GPL-2.0-only
# Names from a trace never drive a terminal, run in a spreadsheet or break a format.
. "$CLI/lib.sh"
need script

python3 "$CLI/names.py" "$SAMPLES/barrier.before.x86.c2c.data"
