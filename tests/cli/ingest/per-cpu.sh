# SPDX-License-Identifier: GPL-2.0-only
# A kernel's per-CPU variables are named with their CPU: where a CPU has its copies is told by code
# that addresses its own by gs. Where that is contradicted, or too far, there is no name.
. "$CLI/lib.sh"
need gcc ld nm readelf sqlite3

cat >kernel.c <<'END_OF_SOURCE'
struct counters { long reads, writes; };
#define PER_CPU __attribute__((section("percpu")))
PER_CPU char first[8192] = { 1 };
PER_CPU struct counters local = { 1, 1 };
PER_CPU long other[4] = { 1 };
#define THIS_CPU(variable) (*(__seg_gs __typeof__(variable) *)(unsigned long)&(variable))
__attribute__((noinline)) void bump(void) { THIS_CPU(local).writes++; }
__attribute__((noinline)) long look(struct counters *counters) { return counters->reads; }
void _start(void) { for (;;) { bump(); look(&local); } }
END_OF_SOURCE
gcc -g -O1 -fno-toplevel-reorder -nostdlib -static -fno-pie -no-pie -ffreestanding -fcf-protection=none kernel.c -o vmlinux \
	-Wl,--build-id,--defsym=_text=bump,--section-start=percpu=0
build_id=$(readelf -n vmlinux | sed -n 's/.*Build ID: //p')
at()
{
	printf %x $(($2 + $3 + 0x$(nm vmlinux | sed -n "s/ [A-Za-z] $1\$//p")))
}

# record SLIDE CPU7 CPU8: where the kernel lies, and the copies of two CPUs; CPU 9 has two of them
record()
{
	local bump look

	bump=$(at bump "$1" 0)
	look=$(at look "$1" 0)
	python3 -B "$CLI/ingest/kernel.py" "$4" "$build_id" _text "$(at _text "$1" 0)" "[ext-4]" ffffffffc0123000 \
		"$bump:7:7,$bump:8:8,$look:8:8,$look:7:7,$look:7:7,$look:8:8,$look:7:7,$look:8:8,$bump:7:9,$look:8:8,$bump:8:9,$look:7:7" \
		"$(at local "$2" 8),$(at local "$3" 8),$(at local "$2" 0),$(at local "$3" 0),$(at other "$2" 8),$(at other "$2" 8),$(
			)$(at local "$2" 0x100000),$(at local "$2" 0x100000),$(
			)$(at local "$2" 0x200008),$(at local "$2" 0x200008),$(at local "$2" 0x300008),$(at local "$2" 0x300008)"
}

names()
{
	sqlite3 -list -nullvalue - case.db "
		SELECT v.name, v.field, v.addr - v.start, v.size, t.name FROM variable AS v LEFT JOIN type AS t ON t.id = v.type_id
			WHERE v.trace_id = $1 ORDER BY v.addr;
		SELECT f.name, c.base_register, c.displacement, c.type_method, c.type_variable, c.field FROM code AS c
			JOIN function AS f ON f.id = c.function_id WHERE c.trace_id = $1 ORDER BY c.ip"
}

record $((0x19000000)) $((0xffff88807dc00000)) $((0xffff88807dd40000)) perf.data
"$FSINGEST" --db case.db -q --name once --vmlinux vmlinux perf.data
names 1 | sed "s/$((0x$(at local 0 8)))/LOCAL+8/"
wanted=$("$FSQUERY" --db case.db digest)

# the same names whenever they are asked for, and after another boot
record $((0x23000000)) $((0xffff91007fa40000)) $((0xffff91007fa80000)) boot.data
"$FSINGEST" --db case.db -q --name boot --vmlinux vmlinux boot.data
diff <(names 1) <(names 2) >&2 || fail 'another boot gives other names'
rm case.db
"$FSINGEST" --db case.db -q --name once perf.data
expect 'names without the kernel' "$(query case.db 'SELECT count(*) FROM variable')" 0
for run in first second; do
	"$FSQUERY" -q --db case.db symbols --vmlinux vmlinux
	[[ $("$FSQUERY" --db case.db digest) == "$wanted" ]] || fail "$run names that are added later are others"
done
"$FSQUERY" --db case.db objects --columns object,kind,size,threads,samples
