# SPDX-License-Identifier: GPL-2.0-only
# Writes, syncs, renames, reads and allocations that fail: no half database, no lost trace.
. "$CLI/lib.sh"

library=$(dirname "$FSINGEST")/tests/fault.so
[[ -e $library ]] || skip 'no fault.so here: built with a sanitizer'
python3 "$CLI/faults.py" "$library" "$SAMPLES/neighbours.watch.data" \
	"$SAMPLES/barrier.before.x86.c2c.data"
