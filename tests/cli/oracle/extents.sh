# SPDX-License-Identifier: GPL-2.0-only
# Each byte of a file is accounted for once, as an independent walk over the file has it: of good files in
# every form, and of damaged ones.
. "$CLI/lib.sh"

export PYTHONPATH=$CLI
pairs=()

# account NAME FILE [COMMAND...]: import FILE, to be compared below; what is refused has no account.
account()
{
	local status=0

	timeout 120 "$FSINGEST" -q --db "$1.db" "$2" >out 2>err || status=$?
	((status == 0 || status == 3)) && pairs+=("$2" "$1.db")
	((status == 0 || status == 2 || status == 3)) || fail "$1: exit status $status"
}

for file in "$SAMPLES"/*.data; do
	account "${file##*/}" "$file"
done
traces=("$SAMPLES"/*.data)
((${#pairs[@]} == 2 * ${#traces[@]})) || fail "only ${#pairs[@]} files and databases of the samples"

for name in neighbours.watch barrier.before.x86.c2c barrier.before.n1.cyc chunk.before.n1.spe; do
	mutate "$SAMPLES/$name.data" "$name.stream" stream
	account "$name.stream" "$name.stream"
	for ((seed = 1; seed <= 12; seed++)); do
		mutate "$SAMPLES/$name.data" "$name.$seed" noise "$seed" $((1 + seed % 20))
		account "$name.$seed" "$name.$seed"
		size=$(stat -c %s "$SAMPLES/$name.data")
		head -c $((size * seed / 13)) "$SAMPLES/$name.data" >"$name.cut.$seed"
		account "$name.cut.$seed" "$name.cut.$seed"
	done
done
file=$SAMPLES/barrier.before.x86.c2c.data
mutate "$file" turned keep-features 2,3,4,5,6,7,8,9,10,12,20,21 big-endian
account turned turned
mutate "$file" inserted insert 7 200 24 insert 7 65 80 insert 7 85 16 insert 7 2 24 insert 7 3 16 insert 7 78 16
account inserted inserted
mutate "$file" overlapping feature 3 offset 100 feature 4 size 0x10000 feature 5 offset 0x800
account overlapping overlapping
mutate "$file" unknown-bits feature-bit 200 attr-tail 16
account unknown-bits unknown-bits
mkdir directory
cp "$file" directory/data
account directory directory

python3 "$CLI/oracle/extents.py" "${pairs[@]}" >&2 || fail "the accounts differ"

# A wrong account is found.
sqlite3 inserted.db "UPDATE extent SET bytes = bytes + 8 WHERE name = 'SAMPLE' AND kind = 'record_read'"
python3 "$CLI/oracle/extents.py" inserted inserted.db >wrong && fail "a wrong account passes"
(($(wc -l <wrong) == 2)) || fail "a wrong account: $(cat wrong)"

[[ -d $SHARED/corpus/files ]] || skip "$SHARED/corpus is absent: its files were not compared"
pairs=()
for file in "$SHARED"/corpus/files/*.data; do
	account "${file##*/}" "$file"
done
python3 "$CLI/oracle/extents.py" "${pairs[@]}" >&2 || fail "the accounts of the corpus differ"
