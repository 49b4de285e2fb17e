# SPDX-License-Identifier: GPL-2.0-only
# Code of the vdso has names where a copy of it lies under a symbol root, as perf caches it or flat.
. "$CLI/lib.sh"
need gcc

id=0123456789abcdef0123456789abcdef01234567
printf 'int __vdso_test(void) { return 1; }\n' >vdso.c
gcc -O1 -shared -nostdlib -Wl,--build-id=0x$id vdso.c -o copy
python3 -B - "$TOP_SOURCE" <<'END'
import pathlib
import subprocess
import sys
sys.path.insert(0, sys.argv[1] + "/tests/accuracy")
import addr2line
symbol, = [line for line in subprocess.check_output(["nm", "copy"], text=True).splitlines() if "__vdso_test" in line]
pathlib.Path("perf.data").write_bytes(addr2line.recording(addr2line.Elf("copy"), "[vdso]", [int(symbol.split()[0], 16)]))
END
mkdir -p flat "cache/[vdso]/$id"
cp copy flat/vdso
mv copy "cache/[vdso]/$id/vdso"
for root in flat cache; do
	"$FSINGEST" --db $root.db --symbols $root perf.data >/dev/null 2>&1
	"$FSQUERY" --db $root.db sql --format csv "SELECT d.kind, d.symbols, f.name FROM code AS c JOIN dso AS d ON d.id = c.dso_id LEFT JOIN function AS f ON f.id = c.function_id"
done
