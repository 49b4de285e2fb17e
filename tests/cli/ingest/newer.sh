# SPDX-License-Identifier: GPL-2.0-only
# What a newer perf may write is skipped or read in part, and counted; the rest is read in full.
. "$CLI/lib.sh"
need sqlite3

file=$SAMPLES/barrier.before.x86.c2c.data
all=2223

# import CODES OPERATION...: case.db stays
import()
{
	local status=0

	rm -f case.db*
	mutate "$file" new.data "${@:2}"
	"$FSINGEST" --db case.db new.data >/dev/null 2>ingest.err || status=$?
	[[ "|$1|" == *"|$status|"* ]] || { cat ingest.err >&2; fail "${*:2}: exit status $status, expected $1"; }
	expect_sound case.db
}
samples()
{
	query case.db 'SELECT count(*) FROM sample'
}

import 0 header types.size 0
expect 'samples of the unchanged file' "$(samples)" $all
cp case.db plain.db

import '0|3' insert type9 200 64 insert 300 200 4096
expect 'samples beside records of type 200' "$(samples)" $all
expect 'records of type 200 counted' \
	"$(query case.db "SELECT sum(count), sum(bytes) FROM loss WHERE scope = 'record type 200'")" '2|4160'

import 3 word type9 8 0xdeadbeef
expect 'samples beside one of an unknown event' "$(samples)" $all
[[ $(query case.db 'SELECT sum(count) FROM loss WHERE severity <> '"'info'") -ge 1 ]] ||
	fail 'a sample of an unknown event is not counted as lost'

for tail in 8 16 72; do
	import 0 attr-tail $tail
	expect "samples with attrs longer by $tail bytes" "$(samples)" $all
	expect "events with attrs longer by $tail bytes" \
		"$(query case.db 'SELECT name, config1, precise_ip, samples FROM event ORDER BY idx')" \
		"$(query plain.db 'SELECT name, config1, precise_ip, samples FROM event ORDER BY idx')"
done

for bit in 60 100 130 255; do
	import 0 feature-bit $bit
	expect "samples with feature $bit" "$(samples)" $all
	expect "host name with feature $bit" "$(query case.db 'SELECT hostname FROM trace')" simcap-x86_64
done
