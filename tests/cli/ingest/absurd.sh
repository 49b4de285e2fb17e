# SPDX-License-Identifier: GPL-2.0-only
# Absurd sizes and offsets in the header, the records and the feature sections. With ALL=1 in the
# environment more values, in every feature: twice as many attempts.
. "$CLI/lib.sh"

file=$SAMPLES/barrier.before.x86.c2c.data
spe=$SAMPLES/barrier.before.n1.spe.data

# try CODES FILE OPERATION...
try()
{
	mutate "$2" bad.data "${@:3}"
	attempt ingest_exits "$1" "${2##*/}: ${*:3}" bad.data
}

huge=(0xffffffffffffffff 0x10000000000)
features=(3 9 12 13 14 21) # a string, numbers, events, topologies, groups
if [[ ${ALL-} ]]; then
	huge+=(0x8000000000000000 0x1000000000000000)
	features=({2..14} 16 20 21 22)
fi
for value in "${huge[@]}"; do
	for field in attr_size attrs.offset attrs.size data.offset data.size; do
		try '2|3' "$file" header "$field" "$value"
		try '2|3' "$spe" header "$field" "$value"
	done
done
for value in 0 1 15 17 71 103 105 0xffffffff; do
	try '2|3' "$file" header size "$value"
done
for value in 0 1 16 0x10000; do
	try '2|3' "$file" header attr_size "$value"
done
for value in 79 145 160; do # what attr.size says can still be right
	try '0|2|3' "$file" header attr_size "$value"
done
try '2|3' "$file" header attrs.size 0
try '2|3' "$file" header data.size 0
try '2|3' "$file" header data.offset 0
try '2|3' "$file" header data.offset 104 header data.size 0x20000
for value in 1 7 0xfffffff0; do
	try '0|2|3' "$file" attr 0 size "$value"
done
try '0|2|3' "$file" attr 0 sample_type 0xffffffffffffffff
try '0|2|3' "$file" attr 0 sample_type 0
try '0|2|3' "$file" attr 0 flags 0xffffffffffffffff
try '0|2|3' "$file" attr 0 read_format 0xffffffffffffffff

for record in 0 1 2 5 type9 type10 type3 500; do
	for value in 0 4 7 0xfff8 0xffff; do
		try '2|3' "$file" record "$record" size "$value"
	done
done
for kind in 70 71 type11 type12; do
	for value in 0 4 9 0xfff8; do
		try '2|3' "$spe" record "${kind/#7/type7}" size "$value"
	done
done
# AUXTRACE: size, offset, reference of the data that follows; AUX: offset, size.
for value in "${huge[@]}" 1; do
	try '2|3' "$spe" word type71 8 "$value"
	try '0|2|3' "$spe" word type71 16 "$value"
	try '0|2|3' "$spe" word type11 8 "$value"
	try '0|2|3' "$spe" word type11 16 "$value"
done
# AUXTRACE_INFO, ID_INDEX, CPU_MAP and THREAD_MAP: type and counts.
for kind in 69 70 73 74 79; do
	for offset in 8 16 24; do
		for value in 0 "${huge[@]}"; do
			try '0|2|3' "$spe" word "type$kind" "$offset" "$value"
		done
	done
done

# Each feature section: beyond the file, over its end, empty, and with an absurd first count.
for number in "${features[@]}"; do
	try 3 "$file" feature "$number" offset 0x4000000000000
	try 3 "$file" feature "$number" offset 0xfffffffffffffff8
	try 3 "$file" feature "$number" size 0x4000000000000
	try '0|3' "$file" feature "$number" size 0
	try '0|3' "$file" feature-u32 "$number" 0 0xfffffff0
	try '0|3' "$file" feature-u32 "$number" 0 0
	try '0|3' "$file" feature-u32 "$number" 4 0xfffffff0
done
try 3 "$file" feature-u32 3 0 0xfffffff0 # HOSTNAME
for offset in 0 8 16; do
	try '0|3' "$spe" feature-u32 18 "$offset" 0xfffffff0 # AUXTRACE index
done
finish_attempts
