# SPDX-License-Identifier: GPL-2.0-only
# Damaged ELF and DWARF never stop an import. COUNT=10000 tries more than the usual 200.
. "$CLI/lib.sh"
need gcc

printf '%s\n' 'static inline __attribute__((always_inline)) int inner(volatile int *p) { return *p; }' \
	'struct shared { long first; int second[4]; } shared;' \
	'int outer(volatile int *p) { return inner(p) + 1; }' \
	'int main(void) { return outer(&shared.second[1]); }' >program.c
gcc -g -O2 -Wl,--build-id program.c -o program
python3 -B "$CLI/ingest/damaged_elf.py" "${COUNT:-200}" program
