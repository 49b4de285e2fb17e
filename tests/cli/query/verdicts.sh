# SPDX-License-Identifier: GPL-2.0-only
# Small programs whose verdict is known: sharing by bytes, threads, cores and time, and what is none.
# With a quarter and a sixteenth of the samples a verdict may be lost, but not become another one.
. "$CLI/lib.sh"

LINES='line BETWEEN 0x600000 AND 0x6fffff'
for every in 1 4 16; do
	PYTHONPATH=$CLI python3 -B "$CLI/query/verdicts.py" . "$every" >programs
	while read -r name verdict classes invalidations; do
		rm -f case.db
		"$FSINGEST" -q --db case.db "$name.data"
		got=$(query case.db "SELECT group_concat(verdict) FROM
			(SELECT DISTINCT verdict FROM line_finding WHERE $LINES ORDER BY 1)")
		if ((every > 1)); then
			for word in ${got//,/ }; do
				[[ ,$verdict,unknown, == *",$word,"* ]] || attempt expect "$name, one of $every" "$word" "$verdict"
			done
			continue
		fi
		attempt expect "$name" "$got" "$verdict"
		# sums are kept of lines that two threads of one process touched
		[[ $name == two-processes ]] || attempt expect "invalidations of $name" "$(query case.db "SELECT coalesce(sum(l1_misses), 0) FROM access
			WHERE line = 0x600000 AND op = (SELECT id FROM op WHERE name = 'store')")" "$invalidations"
		attempt expect "classes of $name" "$(query case.db "SELECT coalesce(group_concat(class), '-') FROM
			(SELECT DISTINCT class FROM pair_finding WHERE $LINES ORDER BY 1)")" "$classes"
		# without contention it says how much the capture would have shown
		if [[ $classes == - && $verdict != unknown ]]; then
			[[ $("$FSQUERY" --db case.db top-lines 2>&1) == *'no line above '*' this capture would have shown one above '* ]] ||
				attempt fail "$name: no power told"
		fi
		echo "$name: $(query case.db "SELECT group_concat(format('%x %s', line, reason_code), ', ') FROM
			(SELECT * FROM line_finding WHERE $LINES ORDER BY line)")"
	done <programs
done
finish_attempts
