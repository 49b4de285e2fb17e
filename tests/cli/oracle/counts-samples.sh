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
# What the simulator wrote is all there, also where this perf cannot read it.
for truth in "$SAMPLES"/*.truth.json; do
	for format in spe c2c; do
		file=${truth%.truth.json}.$format.data
		[[ -e $file ]] || continue
		rm -f case.db
		"$FSINGEST" --db case.db "$file" >/dev/null 2>&1
		expect "samples of ${file##*/}" "$(query case.db 'SELECT samples FROM trace')" \
			"$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["files"][sys.argv[2]]["records"])' "$truth" $format)"
	done
done

# perf 6.1 reads no SPE data with per-CPU metadata: the two hip12 captures.
((compared >= 9)) || fail "only $compared captures could be compared"
