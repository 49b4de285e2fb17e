# SPDX-License-Identifier: GPL-2.0-only
# The same comparison with perf for the larger captures that stand beside the project.
. "$CLI/lib.sh"
need perf sqlite3
[[ -d $SHARED/traces ]] || skip "$SHARED/traces is absent"

compared=0
differing=()
for file in "$SHARED"/traces/*/*.{spe,c2c}.data; do
	(($(stat -c %s "$file") < 2500000)) || continue
	rm -f case.db
	status=0
	"$FSINGEST" --db case.db "$file" >/dev/null 2>&1 || status=$?
	((status == 0 || status == 3)) || fail "$file: exit status $status"
	status=0
	python3 "$CLI/oracle/counts.py" "$file" case.db >&2 || status=$?
	((status == 0)) && compared=$((compared + 1))
	((status == 0 || status == 77)) || { echo "^ $file" >&2; differing+=("${file##*/}"); }
done
((${#differing[@]} == 0)) || fail "counts differ from perf's: ${differing[*]}"
((compared >= 30)) || fail "only $compared captures could be compared"
