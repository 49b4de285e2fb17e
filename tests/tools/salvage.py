# SPDX-License-Identifier: GPL-2.0-only
"""Measure how much of damaged perf.data files fsingest still reads.

  salvage.py FSINGEST [--count N] [--seed N] [--least PERCENT] FILE...

Each of N damages is drawn from a seed: a file, and a cut, a bit flip (1 to 8 of them) or an overwritten
range (of up to 8 KiB, with random bytes, zeros or ones). The damaged file is imported, and the records
read are compared by type with those that scan.py finds in the same bytes. Prints the share of the
findable records that were read, by kind of damage, and the worst cases; fails below PERCENT.

Files with compressed records are left out: the scan cannot see into them.
"""
import argparse
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter

import scan

KINDS = ("cut", "flip", "overwrite")
BUILD_ID, COMPRESSED = 67, (81, 83)


def damage(content, generator):
    """(kind, description, damaged content)"""
    kind = generator.choice(KINDS)
    content = bytearray(content)
    if kind == "cut":
        size = generator.randrange(104, len(content))
        return kind, f"cut to {size}", bytes(content[:size])
    if kind == "flip":
        bits = sorted(generator.randrange(8 * len(content)) for _ in range(generator.randint(1, 8)))
        for bit in bits:
            content[bit // 8] ^= 1 << bit % 8
        return kind, f"bits {bits}", bytes(content)
    begin = generator.randrange(len(content))
    end = min(len(content), begin + generator.randint(1, 8192))
    fill = generator.choice((b"\0", b"\xff", None))
    content[begin:end] = fill * (end - begin) if fill else generator.randbytes(end - begin)
    return kind, f"{begin} to {end} overwritten", bytes(content)


def read_by(fsingest, content):
    """(exit status, {type: records})"""
    with tempfile.TemporaryDirectory() as directory:
        path, db = os.path.join(directory, "damaged.data"), os.path.join(directory, "case.db")
        with open(path, "wb") as file:
            file.write(content)
        done = subprocess.run([fsingest, "-q", "--no-samples", "--db", db, path], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=60, check=False)
        status = done.returncode
        if status not in (0, 2, 3):
            sys.exit(f"exit status {status}: {done.stderr.decode(errors='replace')}")
        if status == 2:
            return status, Counter()
        case = sqlite3.connect(db)
        rows = case.execute("SELECT name, value FROM fact WHERE name GLOB 'records.*'").fetchall()
        case.close()
        return status, Counter({int(name[8:]): int(value) for name, value in rows})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("fsingest")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=float, default=0)
    options = parser.parse_args()
    generator = random.Random(options.seed)
    good = []
    for path in options.files:
        with open(path, "rb") as file:
            content = file.read()
        if not set(scan.scan(content)) & set(COMPRESSED):
            good.append((path, content))
    findable, read, cases = Counter(), Counter(), []
    for _ in range(options.count):
        path, content = generator.choice(good)
        kind, what, content = damage(content, generator)
        found = scan.scan(content)
        found.pop(BUILD_ID, None)  # those of the feature are no records of the data
        status, got = read_by(options.fsingest, content)
        both = (found & got).total()
        findable[kind] += found.total()
        read[kind] += both
        cases.append((both - found.total(), (got - found).total(), path, what, status, dict(found - got)))
    for kind in KINDS:
        if findable[kind]:
            print(f"{kind}: {read[kind]} of {findable[kind]} records, {100 * read[kind] / findable[kind]:.3f} %")
    share = 100 * read.total() / findable.total()
    print(f"all {options.count}: {read.total()} of {findable.total()} records, {share:.3f} %")
    print(f"records read that the scan does not find: {sum(case[1] for case in cases)}")
    for lacking, _, path, what, status, types in sorted(cases)[:5]:
        if lacking:
            print(f"  {os.path.basename(path)}: {what[:60]}: exit {status}, lacks {types}")
    sys.exit(share < options.least)


if __name__ == "__main__":
    main()
