# SPDX-License-Identifier: GPL-2.0-only
# Random damage never crashes the program, and never leaves an unsound database.
. "$CLI/lib.sh"

# More by hand: NOISE_FIRST=1000 NOISE_COUNT=5000 (of seeds)
first=${NOISE_FIRST:-1}
count=${NOISE_COUNT:-40}
for name in neighbours.watch barrier.before.x86.c2c barrier.before.n1.cyc chunk.before.n1.spe; do
	for ((seed = first; seed < first + count; seed++)); do
		mutate "$SAMPLES/$name.data" bad.data noise "$seed" $((1 + seed % 20))
		attempt ingest_exits '0|2|3' "$name with noise $seed $((1 + seed % 20))" bad.data
	done
done
finish_attempts
