# SPDX-License-Identifier: GPL-2.0-only
# A CPU whose AUX data did not fit is blind from that AUX record to its next SPE record.
. "$CLI/lib.sh"
need sqlite3
file=$SHARED/traces/spe-variants/n1.truncated.spe.data
[[ -e $file ]] || skip "$file is absent"

"$FSINGEST" --db case.db "$file" >/dev/null 2>&1
# perf script -D: AUX flags 1 on CPU 4 at 1000.001541404, the next record there at .001541910.
expect 'blind time of CPU 4' "$(query case.db "SELECT count FROM loss WHERE kind = 'aux_blind' AND scope = 'cpu 4'")" 506
expect 'blind time in all' "$(query case.db "SELECT count FROM health WHERE name = 'blind_time'")" \
	"$(query case.db "SELECT sum(count) FROM loss WHERE kind = 'aux_blind'")"
