# SPDX-License-Identifier: GPL-2.0-only
"""Binaries and tracing data made to hurt: whatever the helper dies of, or is refused, costs names only."""
import os
import struct
import subprocess
import sys
import zlib

from trial import FSINGEST, SANITIZED, expect, ingest, run

SAMPLES = os.environ["SAMPLES"]
RECORDING, PATH = f"{SAMPLES}/barrier.before.x86.c2c.data", "/opt/fsight-samples/x86_64/barrier"
with open(f"{SAMPLES}/bin/x86_64/barrier", "rb") as binary:
    BARRIER = binary.read()
# struct Elf64_Shdr: name, type, flags, address, offset, size, link, info, alignment, entry size
SECTION, FLAGS, OFFSET, SIZE, ENTRY = struct.Struct("<IIQQQQIIQQ"), 2, 4, 5, 9
COMPRESSED_FLAG, ELFCOMPRESS_ZLIB = 0x800, 1


def change(name, edit, tail=b""):
    """The binary with the header of one section edited, and more bytes at its end."""
    elf = bytearray(BARRIER)
    table, = struct.unpack_from("<Q", elf, 40)
    count, strings = struct.unpack_from("<HH", elf, 60)
    names = SECTION.unpack_from(elf, table + SECTION.size * strings)[OFFSET]
    for at in range(table, table + SECTION.size * count, SECTION.size):
        header = list(SECTION.unpack_from(elf, at))
        if elf[names + header[0]:].startswith(name.encode() + b"\0"):
            edit(header)
            SECTION.pack_into(elf, at, *header)
            return bytes(elf) + tail
    raise KeyError(name)


def compressed(name, claim, packed):
    """With a section that claims to unpack to `claim` bytes."""
    body = struct.pack("<IIQQ", ELFCOMPRESS_ZLIB, 0, claim, 1) + packed

    def edit(header):
        header[FLAGS] |= COMPRESSED_FLAG
        header[OFFSET], header[SIZE] = len(BARRIER), len(body)
    return change(name, edit, body)


def zeros(mib):
    """zlib's form of so many MiB of zeros, a multiple of 16; its checksum is wrong."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(16 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)  # needs nothing before it
    return b"\x78\x9c" + block * (mib // 16) + b"\x03\0" + bytes(4)


def symbolised(elf):
    """Import with this as the binary: nothing but its names and lines may differ."""
    os.makedirs("root", exist_ok=True)
    with open("root/barrier", "wb") as file:
        file.write(elf)
    outcome = ingest(None, 0, "--symbols", "root", path=RECORDING)
    expect("samples", outcome.samples(), 2223)
    return outcome


def status_of(outcome):
    """(dso.symbols, functions with a name, instructions with a line, reason)"""
    return outcome.query("SELECT symbols, count(DISTINCT function_id), count(line), coalesce(symbols_reason, '') "
                         f"FROM dso JOIN code ON code.dso_id = dso.id WHERE path = '{PATH}'")[0]


def trial_sound():
    """What the others are measured against."""
    expect("status", status_of(symbolised(BARRIER)), ("verified", 3, 9, ""))


def trial_claims():
    """A section that claims to unpack to more than there is memory: its lines are lost, and it is said."""
    if SANITIZED:  # the helper has no limit on memory then
        return
    for claim in (1 << 40, 2 ** 64 - 1):
        outcome = symbolised(compressed(".debug_info", claim, zlib.compress(b"x" * 1000)))
        expect("status", status_of(outcome)[:3], ("verified", 3, 0))
        assert "debug information cannot be read" in status_of(outcome)[3], status_of(outcome)
        expect("health", outcome.query("SELECT severity FROM health WHERE name = 'symbols_verified'"), [("loss",)])


def trial_bombs():
    """1 GiB in 1 MB: the helper may take memory by what a file has, not by what it grows to."""
    if SANITIZED:
        return
    for name in (".debug_info", ".debug_str", ".debug_line", ".debug_abbrev", ".symtab", ".strtab"):
        outcome = symbolised(compressed(name, 1 << 30, zeros(1024)))
        symbols, functions, _, reason = status_of(outcome)
        assert (symbols, functions) == ("verified", 3) or reason, (name, status_of(outcome))


def trial_headers():
    """Sections of absurd sizes, places and entries."""
    for name in (".symtab", ".strtab", ".dynsym", ".debug_info", ".debug_abbrev", ".debug_line", ".note.gnu.build-id"):
        for field in (OFFSET, SIZE, ENTRY):
            for value in (0, 1, 1 << 40, 2 ** 64 - 1):
                def edit(header, field=field, value=value):
                    header[field] = value
                symbols, *_, reason = status_of(symbolised(change(name, edit)))
                assert symbols == "verified" or reason, (name, field, value, symbols)


def killed(signal, *arguments):
    """Import while strace sends a signal to the helper when it seals itself."""
    for name in os.listdir("."):
        if name.startswith("case.db"):
            os.remove(name)
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
    return subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=seccomp",
                           "-e", f"inject=seccomp:signal={signal}", FSINGEST, "--db", "case.db", *arguments],
                          env=environment, capture_output=True, text=True, check=False)


def trial_killed():
    """A helper that dies of a signal: the import goes on, and names what it died of."""
    sound = symbolised(BARRIER)
    tables = [row for row in sound.content() if row.split(",")[0] in ("sample", "map", "thread", "line_total")]
    assert len(tables) == 4, tables
    for signal, name in (("SEGV", "Segmentation fault"), ("KILL", "Killed"), ("SYS", "Bad system call")):
        done = killed(signal, "--symbols", "root", RECORDING)
        expect("exit status", done.returncode, 0)
        assert "1 could not be read" in done.stdout, done.stdout
        symbols, functions, _, reason = status_of(sound)
        expect("status", (symbols, functions), ("failed", 0))
        assert name in reason, reason
        expect("health", sound.query("SELECT severity FROM health WHERE name = 'symbols_failed' "
                                     f"AND instr(description, '{name}')"), [("loss",)])
        expect("tables", [row for row in sound.content() if row in tables], tables)
        done = killed(signal, f"{SAMPLES}/neighbours.tracepoints.data")
        expect("exit status without tracing data", done.returncode, 3)
        assert "bad_tracing_data (tracing data: the helper died of signal" in done.stdout, done.stdout
        expect("samples", sound.value("SELECT count(*) FROM sample"), 76)


if __name__ == "__main__":
    run(sys.modules[__name__])
