# SPDX-License-Identifier: GPL-2.0-only
# Exit statuses of every command for good, bad and unusable arguments, and when colour is used.
. "$CLI/lib.sh"

"$FSINGEST" -q --db case.db --symbols "$SAMPLES/bin/x86_64" "$SAMPLES/barrier.before.x86.c2c.data"
printf 'my notes\n%.0s' {1..100} >notes.txt

# exits CODE ARGUMENT...: with a word on standard error where it is not 0
exits()
{
	local status=0

	"$FSQUERY" "${@:2}" >out 2>err </dev/null || status=$?
	[[ $status == "$1" ]] || fail "fsquery ${*:2}: exit status $status, expected $1: $(cat err)"
	((status == 0)) || [[ -s err ]] || fail "fsquery ${*:2}: exit status $status without a word"
}

exits 1
exits 1 --db
exits 1 --no-such-option
exits 1 no-such-command
exits 1 --color sometimes traces
exits 0 --help
exits 0 --version
mapfile -t commands < <("$FSQUERY" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z0-9-]*\) .*/\1/p')
((${#commands[@]} >= 12)) || fail "only these commands: ${commands[*]}"
for command in "${commands[@]}"; do
	exits 0 "$command" --help
	grep -q "^Usage: fsquery $command" out || fail "$command --help: $(head -1 out)"
	exits 1 --db case.db "$command" --no-such-option
	attempt exits 1 --db case.db "$command" --format no-such-format
	case $command in views | schema) continue ;; esac # they need no database
	good=()
	case $command in
	line) good=(--rank 1) ;;
	sql) good=('SELECT 1') ;;
	symbols) good=(--symbols .) ;;
	callers | type | layout) good=(main) ;;
	esac
	attempt exits 2 --db missing.db "$command" "${good[@]}"
	attempt exits 2 --db notes.txt "$command" "${good[@]}"
	attempt exits 2 --db . "$command" "${good[@]}"
done
for command in traces health top-lines pairs mem-bound types c2c-stats callers objects pages; do
	exits 0 --db case.db "$command"
	exits 1 --db case.db --trace nobody pairs
	exits 1 --db case.db "$command" --columns no_such_column
	exits 1 --db case.db "$command" --sort no_such_column
	exits 1 --db case.db "$command" --columns ,
	for limit in -1 x '' 99999999999999999999; do
		exits 1 --db case.db "$command" --limit "$limit"
	done
	exits 1 --db case.db "$command" one too many
	status=0
	"$FSQUERY" --db case.db "$command" >/dev/full 2>err || status=$?
	expect "$command to a full disk" "$status" 4
done
for list in x 1- 1,,2 '' , 1-2-3; do
	exits 1 --db case.db line --rank 1 --cpu "$list"
done
exits 1 --db case.db line
exits 1 --db case.db line xyz
exits 1 --db case.db line --rank 0
exits 1 --db case.db line --rank 1 0x10
exits 1 --db case.db line --rank 999999
exits 1 --db case.db sql
exits 1 --db case.db sql 'SELEC 1'
exits 1 --db case.db sql 'DELETE FROM trace'
exits 1 --db case.db sql 'SELECT 1; SELECT 2'
exits 1 --db case.db sql "ATTACH 'other.db' AS other"
exits 1 --db case.db sql "SELECT load_extension('x')"
exits 1 --db case.db sql -f missing.sql
exits 1 --db case.db sql 'SELECT ?1'
exits 1 --db case.db sql --time-limit 1 \
	'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT count(*) FROM c'
grep -q 'time limit' err || fail "a statement that never ends: $(cat err)"
[[ ! -e other.db ]] || fail 'sql attached a database'

# Colour: by default on a terminal only, and not where NO_COLOR says so.
coloured()
{
	if grep -q $'\e\\[' "$1"; then echo yes; else echo no; fi
}
"$FSQUERY" --db case.db --color always top-lines --all >out 2>/dev/null
expect 'colour that is asked for' "$(coloured out)" yes
"$FSQUERY" --db case.db top-lines --all >out 2>/dev/null
expect 'colour in a pipe' "$(coloured out)" no
need script
for setting in ':yes' '1:no'; do
	NO_COLOR=${setting%:*} script -qec "'$FSQUERY' --db case.db top-lines --all" /dev/null >out </dev/null
	expect "colour on a terminal, NO_COLOR=${setting%:*}" "$(coloured out)" "${setting#*:}"
done
NO_COLOR='' script -qec "'$FSQUERY' --db case.db --color never top-lines --all" /dev/null >out </dev/null
expect 'colour that is forbidden' "$(coloured out)" no
finish_attempts
