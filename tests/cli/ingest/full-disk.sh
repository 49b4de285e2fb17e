# SPDX-License-Identifier: GPL-2.0-only
# A full disk, under the database and its journal or under the temporary files.
. "$CLI/lib.sh"
need unshare sqlite3

first=$SAMPLES/neighbours.watch.data
second=$SAMPLES/barrier.after.n1.spe.data
if [[ ${1-} != inside ]]; then
	unshare -rm true 2>/dev/null || skip 'no mount namespaces here'
	mkdir small
	exec unshare -rm bash -eu -o pipefail "$0" inside
fi

# on_disk_of KIB: an empty disk at small/
on_disk_of()
{
	umount small 2>/dev/null || true
	mount -t tmpfs -o "size=${1}k" none small || skip 'cannot mount a tmpfs'
}

# full WHAT COMMAND...: must say that there is no room, with status 4
full()
{
	local status=0

	"${@:2}" >out 2>err || status=$?
	expect "$1: exit status" "$status" 4
	grep -qE 'full|No space' err || fail "$1: $(cat err)"
}

"$FSINGEST" -q --db whole.db "$second"
whole=$(($(stat -c %s whole.db) / 1024))
for share in 3 10 50 90; do
	on_disk_of $((whole * share / 100))
	full "a new database, $share %" "$FSINGEST" -q --db small/case.db "$second"
	expect 'files on the full disk' "$(ls -A small)" ''
done
"$FSINGEST" -q --db base.db "$first"
"$FSQUERY" --db base.db digest >base.digest
base=$(($(stat -c %s base.db) / 1024))
for share in 2 20 60; do
	on_disk_of $((base + whole * share / 100))
	cp base.db small/case.db
	full "a second trace, $share %" "$FSINGEST" -q --db small/case.db "$second"
	"$FSQUERY" --db small/case.db digest | cmp - base.digest || fail "after a full disk, $share %: changed"
	expect 'files on the full disk' "$(ls -A small)" case.db
done
# What goes through temporary files: standard input, and samples that await their roll-up.
on_disk_of 64
TMPDIR=small full 'standard input' "$FSINGEST" -q --db case.db - <"$second"
expect 'files on the full disk' "$(ls -A small)" ''
expect 'database' "$(compgen -G 'case.db*' || true)" ''
