# SPDX-License-Identifier: GPL-2.0-only
# Databases made to attack their reader by schema, header, journal or pages are refused.
. "$CLI/lib.sh"

for name in neighbours.watch barrier.before.x86.c2c; do
	"$FSINGEST" -q --db good.db --symbols "$SAMPLES/bin/x86_64" "$SAMPLES/$name.data"
done
python3 "$CLI/hostile.py" good.db "$SAMPLES/barrier.before.n1.cyc.data" schemas files damaged_pages
