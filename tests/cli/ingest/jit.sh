# SPDX-License-Identifier: GPL-2.0-only
# Code of a JIT compiler has the names that its files give, at the time of the sample, in its process alone.
. "$CLI/lib.sh"
need sqlite3

# show WHAT OPTION...: import with these options; each sample's place and name
show()
{
	rm -f case.db
	echo "-- $1"
	"$FSINGEST" --db case.db -q "${@:2}" jit.data
	sqlite3 -list -nullvalue - case.db "
		SELECT s.time_ns, t.tid, printf('%x', coalesce(s.ip, c.ip)), d.path, f.name, c.function_offset, c.file, c.line
		FROM sample AS s JOIN code AS c ON c.id = s.code_id JOIN dso AS d ON d.id = c.dso_id
		JOIN thread AS t ON t.id = s.thread_id LEFT JOIN function AS f ON f.id = c.function_id ORDER BY s.rowid;
		SELECT name, count FROM health WHERE name GLOB '*jit*';
		SELECT d.kind, symbols, symbols_reason, samples FROM dso AS d WHERE kind = 'jit';"
	expect_sound case.db
}

python3 -B "$CLI/ingest/jit.py" 1
show "no file"
show "by time" --jitdump jit-77.dump
mv swapped.dump other-order.dump
show "a compiler of the other byte order" --jitdump other-order.dump
show "without times" --perf-map perf-77.map
python3 -B "$CLI/ingest/jit.py" -1
show "times of another clock" --jitdump jit-77.dump

# refused WORDS OPTION FILE
refused()
{
	local status=0

	"$FSINGEST" --db new.db "$2" "$3" jit.data 2>error || status=$?
	expect "exit status with $3" "$status" 1
	grep -qF -- "$2 $3: $1" error || fail "$(cat error)"
}

cp perf-77.map some.map
refused "the name does not tell the process" --perf-map some.map
refused "it does not begin as a jitdump file" --jitdump some.map
refused "No such file" --perf-map perf-78.map
