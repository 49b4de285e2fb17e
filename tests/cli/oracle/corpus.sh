# SPDX-License-Identifier: GPL-2.0-only
# Real files of many perf versions and tools: as many samples as a recent perf counts.
. "$CLI/lib.sh"
need sqlite3
[[ -f $SHARED/corpus/INDEX.tsv ]] || skip "$SHARED/corpus is absent"

python3 "$CLI/oracle/corpus.py" "$SHARED/corpus" >eligible
(($(wc -l <eligible) >= 50)) || fail "only $(wc -l <eligible) files are eligible"
differing=0
while read -r file samples; do
	rm -f case.db
	status=0
	timeout 120 "$FSINGEST" --db case.db "$file" >/dev/null 2>err || status=$?
	if ((status != 0)); then
		echo "${file##*/}: exit status $status: $(tail -1 err)" >&2
		differing=$((differing + 1))
		continue
	fi
	# Each record is counted, and each has become a row.
	got=$(query case.db 'SELECT sample_records, (SELECT count(*) FROM sample) - spe_records FROM trace')
	if [[ $got != "$samples|$samples" ]]; then
		echo "${file##*/}: $got samples, perf counts $samples" >&2
		differing=$((differing + 1))
	fi
done <eligible
((differing == 0)) || fail "$differing of $(wc -l <eligible) files differ"

# All the others: read, salvaged or refused, but never worse.
for file in "$SHARED"/corpus/files/*.data; do
	attempt ingest_exits '0|2|3' "${file##*/}" "$file"
done
finish_attempts
