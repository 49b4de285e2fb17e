# SPDX-License-Identifier: GPL-2.0-only
# Kernel code, its data and modules get the names that vmlinux or kallsyms have, whatever offset the
# kernel was booted at; from no file of another build, and none where the offset is not told.
. "$CLI/lib.sh"
need gcc ld nm readelf xz zstd sqlite3

cat >kernel.c <<'END'
struct counters { long reads, writes; } counters = { 1, 1 };
__attribute__((noinline)) void bump(void) { counters.writes++; }
__attribute__((noinline)) long look(void) { return counters.reads; }
void _start(void) { for (;;) { bump(); look(); } }
END
gcc -g -O1 -nostdlib -static -fno-pie -no-pie -ffreestanding -Wl,--build-id,--defsym=_text=bump kernel.c -o vmlinux
build_id=$(readelf -n vmlinux | sed -n 's/.*Build ID: //p')
other=${build_id/${build_id:0:1}/$(printf %x $((0x${build_id:0:1} ^ 1)))}
slide=$((0xffffffff9a000000))

# at SYMBOL [OFFSET]: its run-time address
at()
{
	printf %x $((0x$(nm vmlinux | sed -n "s/ [A-Za-z] $1\$//p") + slide + ${2-0}))
}

code=$(at bump),$(at look),$(at _start 1),ffffffffc0123010,ffffffff9a000000
data=$(at counters),$(at counters 8),ffffffffc0124010,ffffffffc0124050,$(at counters)

# record BUILD_ID REFERENCE
record()
{
	rm -f case.db
	python3 -B "$CLI/ingest/kernel.py" perf.data "$1" "$2" "$(at _text)" "[ext-4]" ffffffffc0123000 "$code" "$data"
}

# show WHAT OPTION...: import with these options and print what has a name
show()
{
	rm -f case.db
	echo "-- $1"
	"$FSINGEST" --db case.db -q "${@:2}" perf.data
	sqlite3 -list -nullvalue - case.db "
		SELECT d.kind, d.symbols, d.symbols_reason FROM dso AS d WHERE samples;
		SELECT f.name, c.function_offset, c.line, c.field FROM code AS c JOIN function AS f ON f.id = c.function_id
			ORDER BY c.id;
		SELECT t.name, c.field FROM code AS c JOIN type AS t ON t.id = c.type_id ORDER BY c.id;
		SELECT v.name, v.field, v.addr - v.start FROM variable AS v ORDER BY v.addr;" |
		sed "s/$build_id/BUILD_ID/g; s/$other/OTHER/g; s|c$PWD||"
}

# kallsyms OFFSET: as this boot, or one that was OFFSET higher, would show them
kallsyms()
{
	nm -n vmlinux | while read -r address type name; do
		printf '%x %s %s\n' $((0x$address + slide + $1)) "$type" "$name"
	done
	printf '%x %s\t[ext_4]\n' $((0xffffffffc0123000)) 't ext4_read' $((0xffffffffc0123400)) 't ext4_end' \
		$((0xffffffffc0124000)) 'd ext4_state' $((0xffffffffc0124040)) 'b ext4_last'
	printf 'ffffffffc0128000 t other\t[other]\n'
}

record "$build_id" _text
show "the kernel by its file" --vmlinux vmlinux
mkdir -p "root/usr/lib/debug/boot" && cp vmlinux root/usr/lib/debug/boot/vmlinux-6.1.0-test
show "the kernel in a symbol root" --symbols root
kallsyms 0 >same
show "kallsyms of the same boot" --kallsyms same
kallsyms 0x1000000 >moved
show "kallsyms of another boot" --kallsyms moved
show "the file is better than kallsyms, which has the modules" --vmlinux vmlinux --kallsyms same
sed 's/^[0-9a-f]*/0000000000000000/' same >hidden
show "kallsyms as a user sees it" --kallsyms hidden
record "$other" _text
show "another kernel" --vmlinux vmlinux
show "another kernel, wanted" --vmlinux vmlinux --unverified-symbols
record "$build_id" -
show "nothing says where the kernel lay" --vmlinux vmlinux --kallsyms same

# after another boot the kernel lies elsewhere, and answers the same without being asked again
record "$build_id" _text
"$FSINGEST" --db case.db -q --name before --vmlinux vmlinux perf.data
slide=$((0xffffffff8c000000))
python3 -B "$CLI/ingest/kernel.py" perf.data "$build_id" _text "$(at _text)" "[ext-4]" ffffffffc0123000 \
	"$(at bump),$(at look),$(at _start 1)" "$(at counters),$(at counters 8)"
"$FSINGEST" --db case.db -q --name after --vmlinux vmlinux perf.data
for trace in 1 2; do
	sqlite3 case.db "
		SELECT f.name, c.function_offset, c.line, c.field FROM code AS c JOIN function AS f ON f.id = c.function_id
			WHERE c.trace_id = $trace ORDER BY c.ip;
		SELECT v.name, v.field, v.addr - v.start FROM variable AS v WHERE trace_id = $trace ORDER BY v.addr;" >boot.$trace
done
[[ -s boot.1 ]] || fail 'a kernel without names'
diff boot.1 boot.2 >&2 || fail 'another boot gives other names'
expect 'kept of two boots' "$(query case.db 'SELECT count(*) FROM symbol_cache')" 1
slide=$((0xffffffff9a000000))

# a module: its code lies one section behind the other, those of .init apart, each aligned
cat >module.c <<'END'
struct state { long hits, misses; };
__attribute__((section(".init.text"))) int begin(void) { return 0; }
__attribute__((noinline, aligned(64))) void hit(struct state *state) { state->hits++; }
__attribute__((noinline, section(".text.unlikely"), aligned(32))) void miss(struct state *state) { state->misses++; }
END
gcc -g -O1 -c -fno-pie -ffreestanding -fcf-protection=none -fno-asynchronous-unwind-tables module.c -o module.o
ld -r --build-id module.o -o ext-4.ko
section_size=$((0x$(readelf -SW ext-4.ko | sed -n 's/.* \.text  *PROGBITS  *[0-9a-f]*  *[0-9a-f]*  *\([0-9a-f]*\).*/\1/p')))
unlikely=$(((section_size + 31) / 32 * 32))
module_id=$(readelf -n ext-4.ko | sed -n 's/.*Build ID: //p')
mkdir -p modules/.build-id/"${module_id:0:2}" packed/lib
cp ext-4.ko modules/.build-id/"${module_id:0:2}/${module_id:2}"
xz -c ext-4.ko >packed/lib/ext-4.ko.xz
zstd -qc ext-4.ko >packed/ext-4.ko.zst
code=$(printf 'ffffffffc0123000,%x' $((0xffffffffc0123000 + unlikely)))
module()
{
	python3 -B "$CLI/ingest/kernel.py" perf.data "$build_id" _text "$(at _text)" "$1" ffffffffc0123000 "$code" "$data" \
		"$module_id"
}
module "[ext-4]"
show "a module by its build-id" --symbols modules
module /lib/ext-4.ko.xz
show "a compressed module by its path" --symbols packed
module /other/ext-4.ko.zst
show "the same with zstd, by its name" --symbols packed

status=0
"$FSINGEST" --db case.db --replace --vmlinux absent perf.data 2>error || status=$?
expect "exit status without the file" "$status" 1
grep -q 'vmlinux absent: No such file' error || fail "$(cat error)"
status=0
"$FSINGEST" --db case.db --replace --kallsyms perf.data perf.data 2>error || status=$?
expect "exit status with a file that is no kallsyms" "$status" 1
grep -q 'no line of it reads as' error || fail "$(cat error)"
