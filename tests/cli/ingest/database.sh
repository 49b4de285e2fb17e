# SPDX-License-Identifier: GPL-2.0-only
# A database that cannot be used is refused, and left as it was.
. "$CLI/lib.sh"
need sqlite3

file=$SAMPLES/neighbours.watch.data

# refused CODES WHAT DB
refused()
{
	local status=0

	"$FSINGEST" --db "$3" "$file" >/dev/null 2>ingest.err || status=$?
	[[ "|$1|" == *"|$status|"* ]] || { cat ingest.err >&2; fail "$2: exit status $status, expected $1"; }
	[[ -s ingest.err ]] || fail "$2: no word on stderr"
}

printf 'my notes\n%.0s' {1..1000} >notes.txt
sqlite3 other.db 'CREATE TABLE trace (id INTEGER PRIMARY KEY, mine TEXT); INSERT INTO trace VALUES (1, "x")'
sqlite3 empty-of-ours.db 'CREATE TABLE t (x)'
sha256sum notes.txt other.db empty-of-ours.db >before
refused 2 'a text file' notes.txt
refused 2 'a database of something else' other.db
refused 2 'another database of something else' empty-of-ours.db
sha256sum --quiet -c before || fail 'a foreign file was changed'

mkdir directory
refused '2|4' 'a directory' directory
refused '2|4' 'in a directory that does not exist' missing/case.db
refused '2|4' 'under a file' notes.txt/case.db
"$FSINGEST" --db good.db "$file" >/dev/null 2>&1
head -c 20000 good.db >torn.db
cp torn.db torn.before
refused '2|4' 'a torn database' torn.db
cmp -s torn.db torn.before || fail 'a torn database was changed'

# A full disk (as /dev/full shows it) and a read-only directory.
status=0
"$FSINGEST" --db /dev/full "$file" >/dev/null 2>&1 || status=$?
[[ $status == 2 || $status == 4 ]] || fail "/dev/full: exit status $status"
mkdir fixed
cp good.db fixed/good.db
chmod -R a-w,a+rx fixed
if ((EUID == 0)); then
	# Root may write everywhere: become somebody else, where that one can reach the program.
	chmod a+rx .
	as=(setpriv --reuid 65534 --regid 65534 --clear-groups --)
	"${as[@]}" test -x "$FSINGEST" -a -r "$file" -a -x . || exit 0
else
	as=()
fi
for db in fixed/new.db fixed/good.db; do
	status=0
	"${as[@]}" "$FSINGEST" --db "$db" "$SAMPLES/barrier.before.x86.c2c.data" >/dev/null 2>&1 || status=$?
	[[ $status == 2 || $status == 4 ]] || fail "$db in a read-only directory: exit status $status"
done
expect 'files in the read-only directory' "$(ls fixed)" good.db
cmp -s good.db fixed/good.db || fail 'a read-only database was changed'
