# SPDX-License-Identifier: GPL-2.0-only
# Samples per event, thread and line, loads and stores are those of perf, for the sample traces.
. "$CLI/lib.sh"
need perf sqlite3

for file in "$SAMPLES"/*.{spe,c2c,watch}.data; do
	compare_by counts.py "$file"
done
# perf 6.1 reads no SPE data with per-CPU metadata: the two hip12 captures.
finish_comparisons 9

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
