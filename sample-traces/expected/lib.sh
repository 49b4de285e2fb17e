# SPDX-License-Identifier: GPL-2.0-only
# findings ARCH CAPTURE...: import captures of one program and print what is found, as CSV.
findings()
{
	local capture

	export FSIGHT_DB=case.db
	for capture in "${@:2}"; do
		"$FSINGEST" --symbols "$SAMPLES/bin/$1" "$SAMPLES/$capture.data" >/dev/null
	done
	echo '# top-lines'
	"$FSQUERY" top-lines --format csv --limit 5 --columns rank,line,verdict,object,type,samples,loads,stores,atomics,hitm_local,hitm_remote,peer_local,peer_remote,threads,cpus,offsets,fields,reason_code
	echo '# pairs'
	"$FSQUERY" pairs --format csv --limit 8 --columns rank,line,class,kind,a_offset,a_width,a_op,a_field,a_function,a_line,b_offset,b_width,b_op,b_field,b_function,b_line,verdict,reason_code
	echo '# mem-bound'
	"$FSQUERY" mem-bound --format csv --limit 5 --columns rank,function,samples,share,mem_bound,n,method
}
