# SPDX-License-Identifier: GPL-2.0-only
# Names that come later are those that ingest gives with the same binaries, to the digest.
. "$CLI/lib.sh"

# An exit status that is expected.
exits()
{
	local want=$1 got=0

	shift
	"$@" >/dev/null 2>&1 || got=$?
	[[ $got == "$want" ]] || fail "$*: exit $got, not $want"
}

for trace in barrier.before.n1.spe chunk.before.x86.c2c neighbours.watch; do
	arch=aarch64
	[[ $trace == barrier* ]] || arch=x86_64
	rm -f now.db later.db
	"$FSINGEST" -q --db now.db --symbols "$SAMPLES/bin/$arch" "$SAMPLES/$trace.data"
	"$FSINGEST" -q --db later.db "$SAMPLES/$trace.data"
	cmp -s <("$FSQUERY" --db now.db digest 2>&1) <("$FSQUERY" --db later.db digest 2>&1) &&
		fail "$trace: symbols make no difference"
	"$FSQUERY" -q --db later.db symbols --symbols "$SAMPLES/bin/$arch"
	diff <("$FSQUERY" --db now.db digest 2>/dev/null) \
		<("$FSQUERY" --db later.db digest 2>/dev/null) || fail "$trace: names differ"
	# again, and with nothing to be found: nothing changes
	mkdir -p empty
	"$FSQUERY" -q --db later.db symbols --symbols empty
	[[ $(sqlite3 later.db 'SELECT count(*) FROM code WHERE function_id IS NOT NULL') == \
		$(sqlite3 now.db 'SELECT count(*) FROM code WHERE function_id IS NOT NULL') ]] ||
		fail "$trace: names were lost"
done
exits 1 "$FSQUERY" --db later.db symbols
exits 1 "$FSQUERY" --db later.db symbols --symbols absent
exits 1 "$FSQUERY" --db later.db symbols --symbols empty more

# by an archive and by files of the kernel, too
"$FSINGEST" -q --db archive.db "$SAMPLES/chunk.before.x86.c2c.data"
tar -czf binaries.tgz -C "$SAMPLES/bin/x86_64" .
"$FSQUERY" -q --db archive.db symbols --archive binaries.tgz
"$FSINGEST" -q --db wanted.db --symbols "$SAMPLES/bin/x86_64" "$SAMPLES/chunk.before.x86.c2c.data"
diff <("$FSQUERY" --db wanted.db digest) <("$FSQUERY" --db archive.db digest) || fail "archive: names differ"
exits 0 "$FSQUERY" --db archive.db symbols --vmlinux "$SAMPLES/bin/x86_64/chunk"
exits 1 "$FSQUERY" --db archive.db symbols --archive "$SAMPLES/bin/x86_64/chunk"
exits 1 "$FSQUERY" --db archive.db symbols --vmlinux absent
exits 1 "$FSQUERY" --db archive.db symbols --kallsyms absent
