# SPDX-License-Identifier: GPL-2.0-only
# The same comparison with perf for the captures that stand beside the project.
. "$CLI/lib.sh"
need perf
[[ $(perf --version) == 'perf version 6.1.'* ]] || skip "$(perf --version) is not 6.1"
[[ -d $SHARED/traces ]] || skip "$SHARED/traces is absent"

compared=0
differing=()
compare()
{
	local status=0

	rm -f case.db
	"$FSINGEST" --db case.db "$1" >/dev/null 2>&1 || status=$?
	((status == 0 || status == 3)) || fail "$1: exit status $status"
	status=0
	python3 "$CLI/oracle/c2c_stats.py" "$1" case.db >&2 || status=$?
	((status == 0)) && compared=$((compared + 1))
	((status == 0 || status == 77)) || { echo "^ $1" >&2; differing+=("${1##*/}"); }
}

for file in "$SHARED"/traces/*/*.{spe,c2c}.data "$SHARED"/corpus/files/{044f539cd87f,ac4b4bd1369f}.data; do
	(($(stat -c %s "$file") > 4000000)) || compare "$file"
done
# Cores that perf 6.1 has no table for are read by their event bits.
for name in kunpeng920.meta1 n1.branches.datamaps.migrate; do
	python3 "$CLI/oracle/scramble.py" "$SHARED/traces/spe-variants/$name.spe.data" "$name.scrambled.data" 1
	compare "$name.scrambled.data"
done
((${#differing[@]} == 0)) || fail "counters differ from perf's: ${differing[*]}"
((compared >= 45)) || fail "only $compared captures could be compared"
