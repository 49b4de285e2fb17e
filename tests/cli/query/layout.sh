# SPDX-License-Identifier: GPL-2.0-only
# layout moves the pointer of the chunk without growing it, and gives the barrier's counters lines
# of their own; what needs no other layout gets none.
. "$CLI/lib.sh"

# show ARCH TRACE STRUCTURE
show()
{
	rm -f case.db
	"$FSINGEST" -q --db case.db --symbols "$SAMPLES/bin/$1" "$SAMPLES/$2.data"
	echo "# $2"
	"$FSQUERY" --db case.db layout "$3" --format csv \
		--columns field,size,old_offset,new_offset,old_line,new_line,why 2>notes
	# trace, and the counts of the replay, which depend on the sampling
	sed -n '2,${/^replayed/!p}' notes
}

show x86_64 chunk.before.x86.c2c chunk_before
show aarch64 chunk.before.n1.spe 'struct chunk_before'
show aarch64 barrier.before.n1.spe pool_before
show aarch64 barrier.after.n1.spe pool_after

# As C it compiles, and the fields stand where the table says.
need gcc
as_c()
{
	rm -f case.db
	"$FSINGEST" -q --db case.db --symbols "$SAMPLES/bin/$1" "$SAMPLES/$2.data"
	"$FSQUERY" -q --db case.db layout "$3" --format c | tee layout.h
	{
		printf '#include <%s.h>\n' stdatomic stddef
		echo 'struct link { struct link *next, *previous; }; struct block_md { int words[8]; };'
		cat layout.h
		"$FSQUERY" -q --db case.db layout "$3" --format csv --columns field,new_offset | tail -n +2 |
			sed "s/\(.*\),\(.*\)/_Static_assert(offsetof(struct $3, \1) == \2, \"\1\");/"
	} >layout.c
	gcc -Wall -Werror -c layout.c
}
as_c x86_64 chunk.before.x86.c2c chunk_before
as_c aarch64 barrier.before.n1.spe pool_before
status=0
"$FSQUERY" --db case.db layout no_such_type >/dev/null 2>err || status=$?
expect "a type that is not there" "$status" 1
grep -q 'no sampled type' err || fail "$(cat err)"

# Lines of the kernel's addresses, which are negative numbers, end where others do.
need sqlite3
sqlite3 case.db "INSERT INTO variable (trace_id, space_id, addr, dso_id, name, start) SELECT 1, 1, -65, min(id), 'below', -65
	FROM dso UNION ALL SELECT 1, 1, -64, min(id), 'above', -64 FROM dso"
! "$FSQUERY" -q --db case.db layout below 2>said || fail 'layout of a variable: exit status 0'
grep -q 'shares its line with no other' said || fail "$(cat said)"

if [[ -d $SHARED/traces ]]; then
	# as_proposed ARCH PROGRAM STRUCTURE: the last lines of its C
	as_proposed()
	{
		rm -f case.db
		"$FSINGEST" -q --db case.db --symbols "$SHARED/traces/$1/bin" "$SHARED"/traces/"$1"/"$2".before.[sc][p2][ec].data
		"$FSQUERY" -q --db case.db layout "$3" --format c | tail -n 4 | tr -s '\n\t' '  '
	}

	# An allocated array: padded. Slots of threads: apart. Lines that move as one: twice as far. A ring: as it is.
	for arch in aarch64 x86_64; do
		expect "$arch: an allocated array" "$(as_proposed $arch 03_linear_regression lreg)" \
			' long long int SYY; /* 0x28 */ long long int SXY; /* 0x30 */ char padding[56]; /* 0x38 */ }; '
		expect "$arch: slots of threads" "$(as_proposed $arch 14_mixed stats)" \
			' struct { long int value __attribute__((aligned(64))); } per[7]; /* 0x40, now per[].value */ } __attribute__((aligned(64))); '
		expect "$arch: lines that move as one" "$(as_proposed $arch 13_adjacent_line slot)" \
			'struct slot { volatile long int v; /* 0x0 */ char pad[56]; /* 0x8 */ } __attribute__((aligned(128))); '
		expect "$arch: a ring" "$(as_proposed $arch 08_spsc_ring ring_before)" \
			' unsigned int cap; /* 0x8 */ char pad[52]; /* 0xc */ long int slot[64]; /* 0x40 */ } __attribute__((aligned(64))); '
	done

	# A variable beside others: how to declare it.
	"$FSINGEST" -q --db bss.db --symbols "$SHARED/traces/aarch64/bin" \
		"$SHARED/traces/aarch64/11_bss_neighbours.before.spe.data"
	! "$FSQUERY" -q --db bss.db layout rx_packets 2>said || fail 'layout of a variable: exit status 0'
	expect 'layout of a variable' "$(cat said)" 'fsquery: rx_packets is a variable, not a structure; it shares its line with fixed, tx_packets: declare each as in `long int rx_packets __attribute__((aligned(64)))`'
fi
