# SPDX-License-Identifier: GPL-2.0-only
# Heap blocks from real probes on malloc and free, recorded here: page faults hit blocks of two sites.
. "$CLI/lib.sh"
need perf gcc nm sqlite3
probes=/sys/kernel/tracing/uprobe_events
[[ -w $probes ]] || skip "$probes cannot be written"

cat >blocks.c <<'C'
#include <stdlib.h>
#include <string.h>

/* Too small for mmap, too large for one page. */
static __attribute__((noinline)) char *make_first(void)
{
	char *block = malloc(100000);

	memset(block, 1, 100000);
	return block;
}

static __attribute__((noinline)) char *make_second(void)
{
	char *block = malloc(60000);

	memset(block, 2, 60000);
	return block;
}

int main(void)
{
	char *blocks[20];
	int sum = 0;

	for (int i = 0; i < 20; i++)
		blocks[i] = i % 2 ? make_second() : make_first();
	for (int i = 0; i < 20; i++) {
		sum += blocks[i][5];
		free(blocks[i]);
	}
	return sum == 30 ? 0 : 1;
}
C
gcc -g -O2 -o blocks blocks.c
library=$(ldd ./blocks | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')
offset_of()
{
	nm -D --defined-only "$library" | sed -n "s/^0*\([0-9a-f]*\) . $1@@.*/0x\1/p"
}
group=fsight_test_$$
{
	echo "p:$group/malloc $library:$(offset_of malloc) bytes=%di:u64"
	echo "r:$group/malloc_return $library:$(offset_of malloc) block=\$retval:u64"
	echo "p:$group/free $library:$(offset_of free) block=%di:u64"
} >>"$probes" 2>/dev/null || skip 'the kernel makes no such probes'
trap 'for name in malloc malloc_return free; do echo "-:$group/$name" >>"$probes"; done' EXIT
perf record -q --no-buildid-cache -o perf.data -d -c 1 -e page-faults:u \
	-e "$group:malloc" -e "$group:malloc_return" -e "$group:free" ./blocks 2>/dev/null ||
	skip 'perf cannot record probes here'

"$FSINGEST" -q --db case.db --symbols . perf.data
query case.db "SELECT f.name, b.size, count(*), count(b.free_ns) FROM heap_block b JOIN code c ON c.id = b.code_id
	JOIN function f ON f.id = c.function_id WHERE f.name LIKE 'make_%' GROUP BY 1, 2"
"$FSQUERY" -q --db case.db objects --format csv --columns object,kind,size --sort object | grep make_
faults=$("$FSQUERY" -q --db case.db objects --format csv --columns samples,object | sed -n 's/,.*make_.*//p' | paste -sd+)
((faults >= 250 && faults <= 420)) || fail "$faults page faults in blocks of 1.6 MB"
