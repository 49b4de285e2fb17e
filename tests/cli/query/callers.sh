# SPDX-License-Identifier: GPL-2.0-only
# Call paths to a function, as a table and folded, and what its callers touch.
. "$CLI/lib.sh"
need sqlite3

"$FSINGEST" -q --db case.db --symbols "$SAMPLES/bin/x86_64" "$SAMPLES/barrier.before.x86.c2c.data"
offset()
{
	query case.db "SELECT min(c.offset) FROM code c JOIN function f ON f.id = c.function_id WHERE f.name = '$1'"
}
PYTHONPATH=$CLI python3 -B "$CLI/query/callers.py" chains.data \
	"$(query case.db "SELECT build_id FROM dso WHERE path LIKE '%/barrier'")" "$(offset pool_barrier)" "$(offset worker)"
"$FSINGEST" -q --db case.db --symbols "$SAMPLES/bin/x86_64" chains.data

say()
{
	echo "\$ fsquery $*"
	"$FSQUERY" -q --db case.db "$@"
}
say callers osq_lock
say callers 'osq_*' --columns function,depth,samples,share,value,value_share,self,stack --format csv --sort samples
say callers --folded
say callers osq_lock --folded --tid 101 --min-samples 2
say callers --folded --limit 1
say callers --event instructions --folded
say callers worker --user --columns function,samples,self,callers
say callers osq_lock --folded --comm 'po*' --cpu 1
say callers osq_lock --kernel --dso '*osq*' --cpu 0
"$FSQUERY" --db case.db callers nobody
status=0
"$FSQUERY" --db case.db callers --event nothing || status=$?
expect 'an event that is not there' "$status" 1
status=0
"$FSQUERY" --db case.db callers --folded >/dev/full || status=$?
expect 'a full disk' "$status" 4
status=0
"$FSQUERY" --db case.db callers --folded --format json || status=$?
expect '--folded with another format' "$status" 1
