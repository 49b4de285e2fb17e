#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""damaged_elf.py COUNT PROGRAM: damage PROGRAM in COUNT ways; importing its names always works.

Each copy has one to eight bytes changed, a run zeroed or overwritten, or is cut off; half of the
damage goes into ELF headers, symbol tables and debug information. With it a trace of samples all
over its code is imported. Whatever the copy holds, fsingest ends with status 0 within a minute, and
the trace has as many samples as ever.
"""
import os
import pathlib
import random
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["TOP_SOURCE"], "tests", "accuracy"))
import addr2line  # noqa: E402

COUNT, PROGRAM = int(sys.argv[1]), pathlib.Path(sys.argv[2])
FSINGEST = os.environ["FSINGEST"]
SAMPLES = 40


def damage(content, elf, generator):
    content = bytearray(content)
    places = [(0, 64)] + [(offset, size) for name, kind, _, _, offset, size in elf.sections if size and kind != 8 and
                          (name.startswith(".debug") or kind in (2, 3, 4, 6, 7, 11))]
    for _ in range(generator.randrange(1, 9)):
        start, size = generator.choice(places) if generator.random() < .5 else (0, len(content))
        at = start + generator.randrange(size)
        kind = generator.random()
        if kind < .7:
            content[at:at + 1] = bytes([generator.choice((0, 1, 0x7f, 0x80, 0xff, generator.randrange(256)))])
        elif kind < .95:
            length = min(generator.randrange(1, 64), len(content) - at)
            content[at:at + length] = generator.choice((bytes(length), generator.randbytes(length), b"\xff" * length))
        else:
            content = content[:max(at, 1)]
            break
    return content


def main():
    elf = addr2line.Elf(PROGRAM)
    original = PROGRAM.read_bytes()
    trace, copy, database = pathlib.Path("perf.data"), pathlib.Path("root/program"), pathlib.Path("case.db")
    copy.parent.mkdir()
    trace.write_bytes(addr2line.recording(elf, "/program", addr2line.choose(elf, SAMPLES, 1)))
    failures, named = 0, 0
    for seed in range(COUNT):
        copy.write_bytes(damage(original, elf, random.Random(seed)))
        database.unlink(missing_ok=True)
        done = subprocess.run([FSINGEST, "--db", database, "--unverified-symbols", "--symbols", "root", trace],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=180)
        if done.returncode:
            print(f"seed {seed}: exit status {done.returncode}: {done.stderr[-300:]}", file=sys.stderr)
            failures += 1
            continue
        db = sqlite3.connect(database)
        samples, = db.execute("SELECT count(*) FROM sample").fetchone()
        named += db.execute("SELECT count(function_id) > 0 FROM code").fetchone()[0]
        db.close()
        if samples != SAMPLES:
            print(f"seed {seed}: {samples} samples", file=sys.stderr)
            failures += 1
    print(f"{COUNT} damaged programs: {failures} imports failed, {named} gave names", file=sys.stderr)
    sys.exit(failures > 0 or named < COUNT // 4)


main()
