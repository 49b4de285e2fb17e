# SPDX-License-Identifier: GPL-2.0-only
# Samples per event, thread and line, loads and stores are those of perf, for the sample traces.
. "$CLI/lib.sh"
need perf sqlite3

compared=0
for file in "$SAMPLES"/*.{spe,c2c,watch}.data; do
	rm -f case.db
	"$FSINGEST" --db case.db "$file" >/dev/null 2>&1
	status=0
	python3 "$CLI/oracle/counts.py" "$file" case.db >&2 || status=$?
	((status == 0)) && compared=$((compared + 1))
	((status == 0 || status == 77)) || fail "${file##*/}: counts differ from perf's"
done
# perf 6.1 reads no SPE data with per-CPU metadata: the two hip12 captures.
((compared >= 9)) || fail "only $compared captures could be compared"
