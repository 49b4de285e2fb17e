# SPDX-License-Identifier: GPL-2.0-only
# --thin 1 changes nothing, --thin N leaves one sample in N and no verdict that the whole contradicts;
# --line-size judges other lines; the database stays as it is.
. "$CLI/lib.sh"

for capture in barrier.before.n1.spe barrier.before.n1.cyc chunk.before.x86.c2c neighbours.watch; do
	"$FSINGEST" -q --db case.db --symbols "$SAMPLES/bin/aarch64" --symbols "$SAMPLES/bin/x86_64" \
		"$SAMPLES/$capture.data"
done
before=$(sha256sum <case.db)

# All tables of all traces, findings too.
"$FSQUERY" --db case.db digest --format csv >whole
"$FSQUERY" -q --db case.db --thin 1 digest --format csv >thin
expect 'digest of one sample in one' "$(cat thin)" "$(cat whole)"
if [[ -d $SHARED/traces ]]; then
	for file in "$SHARED"/traces/*/*.data; do
		rm -f one.db
		"$FSINGEST" -q --db one.db "$file" || [[ $? == 3 ]]
		"$FSQUERY" --db one.db digest --format csv >whole
		"$FSQUERY" -q --db one.db --thin 1 digest --format csv >thin
		cmp -s whole thin || fail "$file: --thin 1 changes its digest"
	done
fi

echo '# one sample in 4, and which: the same from the same seed'
thin='SELECT trace_id, name, count(*) AS samples FROM event JOIN sample ON event_id = event.id GROUP BY event.id'
"$FSQUERY" -q --db case.db --thin 4 sql "$thin" --format csv | tee drawn
"$FSQUERY" -q --db case.db --thin 4 sql "$thin" --format csv | cmp - drawn
rows='SELECT group_concat(rowid) FROM sample'
[[ $("$FSQUERY" -q --db case.db --thin 4 --seed 1 sql "$rows") != $("$FSQUERY" -q --db case.db --thin 4 sql "$rows") ]] ||
	fail 'two seeds draw the same samples'
expect 'counts that are not those of the samples' "$("$FSQUERY" -q --db case.db --thin 4 sql --format csv "
	SELECT 'event', id FROM event AS e WHERE role IS NOT 'stall_mem' AND role IS NOT 'instructions' AND
		samples <> (SELECT count(*) FROM sample WHERE event_id = e.id)
	UNION ALL SELECT 'trace', id FROM trace AS t WHERE memory_samples <>
		(SELECT sum(samples) FROM line_total WHERE trace_id = t.id)
	UNION ALL SELECT 'code', id FROM code AS c WHERE samples <> (SELECT count(*) FROM sample WHERE code_id = c.id)
	UNION ALL SELECT 'thread', id FROM thread AS t WHERE samples <>
		(SELECT count(*) FROM sample WHERE thread_id = t.id)" | tail -n +2)" ''

echo '# verdicts'
for thin in 1 4 16 64; do
	"$FSQUERY" -q --db case.db --trace 1 --thin $thin top-lines --format csv --columns line,verdict,confidence,samples \
		--limit 1 | tail -n +2
done
"$FSQUERY" -q --db case.db --trace 1 --thin 4 --seed 7 --line-size 128 top-lines --format json --limit 1 |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["filters"])'

echo '# lines of 128 bytes'
for size in 64 128 256; do
	"$FSQUERY" -q --db case.db --trace 3 --line-size $size top-lines --format csv --columns line,size,verdict,samples --limit 2
done

if [[ -d $SHARED/traces ]]; then
	"$FSINGEST" -q --db slots.db "$SHARED/traces/x86_64/13_adjacent_line.before.c2c.data"
	expect 'slots of 64 bytes, if a line had 64 or 128' "$(for size in 64 128; do
		"$FSQUERY" -q --db slots.db --line-size $size top-lines --format csv --columns verdict --limit 1 | tail -n 1
	done | xargs)" 'adjacent false'
fi

"$FSINGEST" -q --no-samples --db sums.db "$SAMPLES/neighbours.watch.data"
for refused in '2 --db sums.db --thin 2 top-lines' '1 --db case.db --thin 2 analyze' '1 --db case.db --line-size 32 top-lines' \
	'1 --db case.db --thin 0 top-lines' '1 --db case.db --thin 4x top-lines'; do
	status=0
	"$FSQUERY" ${refused#* } >out 2>>refusals || status=$?
	expect "exit status of fsquery ${refused#* }" "$status" "${refused%% *}"
done
echo '# refused'
cat refusals
expect 'the database afterwards' "$(sha256sum <case.db)" "$before"
expect 'files afterwards' "$(compgen -G 'case.db*')" case.db
