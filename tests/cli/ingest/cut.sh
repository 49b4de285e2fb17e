# SPDX-License-Identifier: GPL-2.0-only
# A file that was cut off anywhere is refused or salvaged; it never crashes the program.
. "$CLI/lib.sh"

# 200 places: each of the first bytes matters most, then evenly through the file.
cut_points()
{
	local size

	size=$(stat -c %s "$1")
	seq 0 8 400
	seq 401 $(((size - 401) / ($2 - 52))) $((size - 1))
	echo $((size - 1))
}

check()
{
	local file=$1 count=0 size

	for size in $(cut_points "$file" "$2"); do
		head -c "$size" "$file" >cut.data
		attempt ingest_exits '2|3' "${file##*/} cut to $size bytes" cut.data
		count=$((count + 1))
	done
	((count >= $2 - 2)) || fail "only $count cuts"
}

check "$SAMPLES/neighbours.watch.data" 200
check "$SAMPLES/barrier.before.n1.spe.data" 80

# --strict refuses what would be salvaged.
size=$(stat -c %s "$SAMPLES/neighbours.watch.data")
head -c $((size / 2)) "$SAMPLES/neighbours.watch.data" >cut.data
ingest_exits 3 'cut in the middle' cut.data
ingest_exits 2 'cut in the middle, --strict' cut.data --strict
finish_attempts
