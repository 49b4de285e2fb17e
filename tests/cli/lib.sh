# SPDX-License-Identifier: GPL-2.0-only
# Functions for the tests. A test sources it with: . "$CLI/lib.sh"

fail()
{
	printf 'FAILED: %s\n' "$*" >&2
	exit 1
}

skip()
{
	printf '%s\n' "$*" >&2
	exit 77
}

need()
{
	local program

	for program in "$@"; do
		command -v "$program" >/dev/null || skip "$program is not installed"
	done
}

# attempt COMMAND...: go on after a failure; finish_attempts reports them all.
attempt()
{
	("$@") || failures=$((${failures-0} + 1))
}

finish_attempts()
{
	((${failures-0} == 0)) || fail "$failures failures, see above"
}

# compare_by SCRIPT FILE: import FILE and let oracle/SCRIPT compare, which exits with 77 if it cannot.
# finish_comparisons MINIMUM: fail if one differed, or if fewer files could be compared.
differing=()
compare_by()
{
	local status=0

	rm -f case.db
	"$FSINGEST" --db case.db "$2" >/dev/null 2>&1 || status=$?
	((status == 0 || status == 2 || status == 3)) || fail "$2: exit status $status"
	status=0
	python3 -B "$CLI/oracle/$1" "$2" case.db >&2 || status=$?
	((status == 77)) || compared=$((${compared-0} + 1))
	((status == 0 || status == 77)) || differing+=("${2##*/}")
	((status == 0)) || echo "^ $2" >&2
}

finish_comparisons()
{
	((${#differing[@]} == 0)) || fail "different: ${differing[*]}"
	((${compared-0} >= $1)) || fail "only ${compared-0} files could be compared, not $1"
}

# mutate INPUT OUTPUT OPERATION...: write a damaged copy of a perf.data file.
mutate()
{
	python3 "$CLI/mutate.py" "$@"
}

# trials MODULE: the trials in reports/MODULE.py, which build their inputs with perfdata.py.
trials()
{
	PYTHONPATH=$CLI PYTHONDONTWRITEBYTECODE=1 python3 "$CLI/reports/$1.py"
}

# query DB SQL
query()
{
	sqlite3 -readonly -bail "$1" "$2"
}

# expect WHAT GOT WANTED
expect()
{
	[[ $2 == "$3" ]] || fail "$1: got '$2', expected '$3'"
}

# A database that exists must be sound, hold only complete traces and account for each byte of theirs.
expect_sound()
{
	expect "integrity of $1" "$(query "$1" 'PRAGMA integrity_check')" ok
	expect "foreign keys of $1" "$(query "$1" 'PRAGMA foreign_key_check')" ''
	expect "bytes of $1" "$(query "$1" 'SELECT bytes - (SELECT total(bytes) FROM extent WHERE trace_id = trace.id)
		FROM trace WHERE bytes <> (SELECT total(bytes) FROM extent WHERE trace_id = trace.id)')" ''
}

# ingest_exits CODE|CODE WHAT FILE [OPTION...]: import FILE into case.db, which must not exist
# before; check the exit status, that a refusal writes nothing, that success leaves a sound
# database and nothing else, and that a complaint is made when there is cause for one.
ingest_exits()
{
	local allowed=$1 what=$2 file=$3 status=0

	rm -f case.db*
	timeout 120 "$FSINGEST" --db case.db "${@:4}" "$file" >ingest.out 2>ingest.err || status=$?
	if [[ "|$allowed|" != *"|$status|"* ]]; then
		cat ingest.err >&2
		fail "$what: exit status $status, expected $allowed"
	fi
	if grep -E 'Sanitizer|runtime error' ingest.err >&2; then
		fail "$what: a sanitizer complained"
	fi
	if ((status == 0 || status == 3)); then
		expect_sound case.db
		rm -f case.db
	elif [[ ! -s ingest.err ]]; then
		fail "$what: exit status $status without a word on stderr"
	fi
	# a new database conflicts with nothing but a fault of ours
	grep -q 'constraint failed' ingest.err && fail "$what: $(cat ingest.err)"
	expect "$what: files left behind" "$(compgen -G 'case.db*' || true)" ''
}
