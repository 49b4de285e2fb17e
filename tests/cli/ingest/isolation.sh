# SPDX-License-Identifier: GPL-2.0-only
# No network, no file written but the database, no file opened because a trace names it.
. "$CLI/lib.sh"
need strace

export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # LeakSanitizer and strace exclude each other
export DEBUGINFOD_URLS=http://127.0.0.1:1/
mkdir tmp work
export TMPDIR=$PWD/tmp HOME=$PWD/work
strace -f -qq -o /dev/null true 2>/dev/null || skip 'strace is not allowed here'

# The helper process hides its memory from all but root: strace then shows its paths as addresses.
unreadable='^$'
((EUID == 0)) || unreadable='open(at)?\((AT_FDCWD, )?0x'

# watch PROGRAM ARGUMENT...: in work/, nothing may be touched but case.db and temporary files.
watch()
{
	local status=0

	(cd work && strace -f -qq -y -s 300 -o ../calls -e trace=network,open,openat,creat,mkdir,rename,renameat,renameat2,link,symlink,unlink "$@") \
		>out 2>err || status=$?
	expect "exit status of $1" "$status" 0
	if grep -E '\b(socket|connect|bind|sendto)\(' calls >&2; then
		fail "$1: network calls"
	fi
	grep -E '(O_WRONLY|O_RDWR|O_CREAT|creat\(|mkdir\(|rename|link\()' calls |
		grep -vE '= -1 E' |
		grep -vE "\"(\./|$PWD/work/)?\.?case\.db|\"($PWD/work/?\"|$PWD/tmp|/dev/null|/dev/shm/|/proc/self/)" |
		grep -vE '"/proc/[0-9]+/' | grep -vE "$unreadable" >written || true
	[[ ! -s written ]] || { cat written >&2; fail "$1 writes elsewhere"; }
	if grep -E 'open(at)?\([^"]*"/opt/fsight-samples|kallsyms|/proc/kcore|\.debug/' calls >&2; then
		fail "$1 opens what the trace names"
	fi
}

watch "$FSINGEST" --db case.db "$SAMPLES/neighbours.watch.data"
expect 'files in the directory' "$(ls work)" case.db
expect 'temporary files left' "$(ls -A tmp)" ''
watch "$FSINGEST" --db case.db --symbols "$SAMPLES/bin/x86_64" "$SAMPLES/barrier.before.x86.c2c.data"
expect 'files in the directory' "$(ls -A work)" case.db
expect 'temporary files left' "$(ls -A tmp)" ''
# The formats of tracepoints are parsed in the helper, too; it opens nothing, as its seal shows.
watch "$FSINGEST" --db case.db "$SAMPLES/neighbours.tracepoints.data"
expect 'files in the directory' "$(ls -A work)" case.db
expect 'temporary files left' "$(ls -A tmp)" ''
for command in health top-lines pairs mem-bound; do
	watch "$FSQUERY" --db case.db "$command"
	expect "files in the directory after $command" "$(ls -A work)" case.db
done
