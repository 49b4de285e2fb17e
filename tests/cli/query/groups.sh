# SPDX-License-Identifier: GPL-2.0-only
# Slots of an array, one for each thread, are one finding over all lines; so are objects of a type, and what has no name.
. "$CLI/lib.sh"

[[ -d $SHARED/traces ]] || skip "no shared traces"
for trace in aarch64/03_linear_regression.before.spe x86_64/03_linear_regression.before.c2c aarch64/04_histogram.before.spe \
	aarch64/02_pcpu_chunk.before.spe x86_64/13_adjacent_line.before.c2c aarch64/14_mixed.before.spe; do
	for symbols in "--symbols=$SHARED/traces/${trace%%/*}/bin" ''; do
		rm -f case.db
		"$FSINGEST" -q --db case.db $symbols "$SHARED/traces/$trace.data"
		echo "$trace ${symbols:+with names}"
		"$FSQUERY" --db case.db groups --format csv --columns kind,verdict,lines,object,stride,slots_per_line,threads 2>/dev/null
		# each contended line is in one, and the sum is theirs
		expect "lines" "$(query case.db "SELECT sum(lines) FROM line_groups")" \
			"$(query case.db "SELECT count(*) FROM top_lines WHERE verdict IN ('false', 'true', 'mixed', 'adjacent')")"
		expect "cost" "$(query case.db "SELECT count(*) FROM line_groups AS g WHERE abs(cost_share -
			(SELECT sum(cost_share) FROM top_lines WHERE group_rank = g.rank)) > 1e-9")" 0
		expect "pairs" "$(query case.db "SELECT count(*) FROM pairs WHERE group_rank IS NULL")" 0
	done
done
