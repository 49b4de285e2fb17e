# SPDX-License-Identifier: GPL-2.0-only
# No network, no other program, no configuration, no file opened because a trace names it, nothing
# written but the database.
. "$CLI/lib.sh"
need strace zstd

export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # LeakSanitizer and strace exclude each other
mkdir tmp work home
export TMPDIR=$PWD/tmp HOME=$PWD/home XDG_CONFIG_HOME=$PWD/home/.config LC_ALL=C.UTF-8
export DEBUGINFOD_URLS=http://127.0.0.1:1/ PERF_CONFIG=$PWD/home/.perfconfig PERF_BUILDID_DIR=$PWD/home/.debug
strace -f -qq -o /dev/null true 2>/dev/null || skip 'strace is not allowed here'

# What other programs would read, where we stand and at home.
configuration=(.gdbinit .perfconfig .sqliterc .fsightrc fsight.conf .fsight .config/fsight/fsight.conf)
for folder in work home; do
	for name in "${configuration[@]}"; do
		mkdir -p "$(dirname "$folder/$name")"
		printf 'shell touch /tmp/executed\n.shell touch executed\n' >"$folder/$name"
	done
done
before=$(cd work && find . | sort)

# traced COMMAND...: run it in work/, with its calls in calls.PID
traced()
{
	rm -f calls.*
	(cd work && strace -ff -qq -y -s 4096 -o ../calls -e trace=%file,%network,execve,execveat "$@") >out 2>err
}

# judged READABLE...: were its calls as they should be?
judged()
{
	cat calls.* | python3 "$CLI/calls.py" work/case.db tmp "$(dirname "$FSINGEST")/fsingest" "$@" >faults
}

# watch READABLE -- PROGRAM ARGUMENT...
watch()
{
	local status=0 readable=$1

	shift 2
	traced "$@" || status=$?
	expect "exit status of $* ($(cat err))" "$status" 0
	judged ${readable:+"$readable"} || { cat faults >&2; fail "$*: see the calls above"; }
	expect 'files in the directory' "$(cd work && find . ! -name case.db | sort)" "$before"
	expect 'temporary files left' "$(ls -A tmp)" ''
}

# The judge sees what it is there to see, and no more.
for command in 'cat /dev/null' 'truncate -s 1 case.db' 'mktemp -u'; do
	# shellcheck disable=SC2086 # words are meant
	traced $command
	judged || { cat faults >&2; fail "wrongly blamed: $command"; }
done
for command in 'cat .perfconfig' 'cat missing' 'cat /etc/hostname' 'touch new' 'mkdir case.db.d' 'mktemp' \
	'chmod 600 .sqliterc' 'env true' 'getent hosts 127.0.0.1'; do
	# shellcheck disable=SC2086 # words are meant
	traced $command || true
	! judged /etc/nsswitch.conf || fail "not noticed: $command"
done
rm -rf work/new work/case.db* tmp/*

PYTHONPATH=$CLI:$CLI/reports python3 -B - <<'END_PYTHON'
import os
import compressed, perfdata, trial
open("compressed.data", "wb").write(compressed.compress(trial.small(2000), 4000).file())
recording = trial.small(20)
recording.feature(perfdata.DIR_FORMAT, recording.pack("Q", 1))
os.mkdir("perf.dir")
open("perf.dir/data", "wb").write(recording.file())
part = perfdata.Recording(recording.events)
part.comm(500, 500, "part")
open("perf.dir/data.0", "wb").write(part.records)
END_PYTHON
data=$SAMPLES/barrier.before.x86.c2c.data
for input in "$SAMPLES/neighbours.watch.data" "$SAMPLES/barrier.after.n1.spe.data" "$SAMPLES/neighbours.tracepoints.data" \
	"$PWD/compressed.data" "$PWD/perf.dir"; do
	watch "$input" -- "$FSINGEST" --db case.db "$input"
done
watch "$SAMPLES/bin" -- "$FSINGEST" --db case.db --symbols "$SAMPLES/bin/x86_64" - <"$data"
expect 'symbols' "$(query work/case.db "SELECT count(*) > 0 FROM dso WHERE symbols = 'verified'")" 1
rm work/case.db
watch "$SAMPLES" -- "$FSINGEST" --db case.db --symbols "$SAMPLES/bin/x86_64" "$data"

echo 'SELECT count(*) FROM sample' >statement.sql
for command in traces health top-lines pairs 'line --rank 1' mem-bound c2c-stats digest views schema analyze \
	'sql SELECT(1)' "sql -f $PWD/statement.sql"; do
	# shellcheck disable=SC2086 # words are meant
	watch "$PWD/statement.sql" -- "$FSQUERY" --db case.db $command
done
