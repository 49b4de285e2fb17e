#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the functions, inlined calls and lines of random code addresses with addr2line.

    addr2line.py --fsingest PATH [--count N] [--seed N] [--minimum PERCENT] [--symbols DIR]... BINARY...

For each BINARY a perf.data is written that has a sample at each of N random addresses of its
executable sections. fsingest imports it with the binary's folder and each DIR as symbol roots. What
`addr2line -f -i` says of the same addresses, its names made readable by `c++filt -p`, must be what
the database holds: each inlined function with the place that it is called from, and the function
that the symbol table has.

Prints a line for each binary and for each class of difference with an example. Exit status: 1 when
the share of equal addresses is below --minimum, 2 when a command failed.

Classes of difference that count as equal, for in them addr2line knows less or is wrong:
  alias        another symbol of the same address
  part         GCC moved a part of a function elsewhere (NAME.cold, NAME.part.0): fsight names it as the
               symbol table does, addr2line says NAME
  entry        a function was inlined where its caller begins: addr2line gives it the caller's symbol
  bare         a function without linkage name: addr2line gives the name without what it stands in
  plt          a stub of the procedure linkage table, which addr2line does not name
  addr2line only  llvm-addr2line says of the lines what fsight says. binutils 2.40 takes the file of
               a line from the wrong place of a DWARF 5 table (its own readelf -wL does not)
"""
import argparse
import bisect
import collections
import os
import pathlib
import random
import re
import sqlite3
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
import perfdata  # noqa: E402

EXACT_IP = 1 << 14
KINDS = ("same", "alias", "part", "bare", "only ours", "name")
EQUAL = ("same", "alias", "part", "bare", "entry", "plt", "addr2line only")


class Elf:
    """What is needed of a 64-bit little-endian ELF file that is trusted."""

    def __init__(self, path):
        self.bytes = pathlib.Path(path).read_bytes()
        phoff, shoff = struct.unpack_from("<QQ", self.bytes, 32)
        phsize, phcount, shsize, shcount, names = struct.unpack_from("<HHHHH", self.bytes, 54)
        programs = [struct.unpack_from("<IIQQQQ", self.bytes, phoff + i * phsize) for i in range(phcount)]
        self.segments = [(offset, address, size) for kind, flags, offset, address, _, size in programs
                         if kind == 1 and flags & 1]
        sections = [struct.unpack_from("<IIQQQQ", self.bytes, shoff + i * shsize) for i in range(shcount)]
        strings = sections[names][4]
        self.sections = [(self.text(strings + name), kind, flags, address, offset, size)
                         for name, kind, flags, address, offset, size in sections]

    def text(self, at):
        return self.bytes[at:self.bytes.index(b"\0", at)].decode()

    def code(self):
        """(address, size, name) of the sections with instructions."""
        return [(address, size, name) for name, kind, flags, address, _, size in self.sections
                if kind == 1 and flags & 4 and size]

    def build_id(self):
        for _, kind, _, _, offset, size in self.sections:
            at = offset
            while kind == 7 and at + 12 <= offset + size:
                name, length, note = struct.unpack_from("<III", self.bytes, at)
                start = at + 12 + (name + 3 & ~3)
                if note == 3 and self.bytes[at + 12:at + 16] == b"GNU\0":
                    return self.bytes[start:start + length]
                at = start + (length + 3 & ~3)
        raise SystemExit("no build-id")


def run(arguments, text=None):
    done = subprocess.run(arguments, input=text, capture_output=True, text=True)
    if done.returncode:
        print("failed:", " ".join(map(str, arguments)), done.stderr, sep="\n", file=sys.stderr)
        sys.exit(2)
    return done.stdout


def choose(elf, count, seed):
    """Random addresses, each byte of code as likely as any other."""
    code = elf.code()
    ends, total = [], 0
    for _, size, _ in code:
        total += size
        ends.append(total)
    chosen = set()
    generator = random.Random(seed)
    while len(chosen) < min(count, total):
        at = generator.randrange(total)
        section = bisect.bisect_right(ends, at)
        chosen.add(code[section][0] + at - (ends[section] - code[section][1]))
    return sorted(chosen)


def recording(elf, path, addresses):
    """A perf.data with a sample at each address; the binary is mapped where it is linked to be."""
    made = perfdata.Recording([perfdata.Event(ids=[1])])
    made.comm(1, 1, "random")
    for offset, address, size in elf.segments:
        made.mmap2(1, address & ~4095, (size + (address & 4095) + 4095) & ~4095, path, offset & ~4095,
                   build_id=elf.build_id())
    for time, address in enumerate(addresses):
        made.sample(misc=2 | EXACT_IP, ip=address, pid=1, tid=1, time=time + 1, id=1)
    return made.file()


def ours(arguments, elf, path, addresses, scratch):
    """address -> [(name, place)], innermost first."""
    trace, database = scratch / "perf.data", scratch / "case.db"
    database.unlink(missing_ok=True)
    trace.write_bytes(recording(elf, "/" + path.name, addresses))
    roots = [word for root in [path.parent, *arguments.symbols] for word in ("--symbols", str(root))]
    run([arguments.fsingest, "--db", str(database), *roots, str(trace)])
    db = sqlite3.connect(database)
    for status, reason in db.execute("SELECT symbols, symbols_reason FROM dso WHERE path = ?", ("/" + path.name,)):
        print(f"  symbols: {status}{', ' + reason if reason else ''}")
    frames = collections.defaultdict(list)
    for code, *frame in db.execute("SELECT code_id, function, call_file, call_line FROM inline_frame "
                                   "ORDER BY code_id, depth"):
        frames[code].append(frame)
    answers = {}
    for code, address, name, file, line in db.execute(
            "SELECT c.id, c.ip, coalesce(f.linkage_name, f.name), c.file, c.line FROM code AS c LEFT JOIN "
            "function AS f ON f.id = c.function_id"):
        stack = []
        for function, call_file, call_line in frames[code]:
            stack.append((function, file, line))
            file, line = call_file, call_line
        answers[address] = stack + [(name, file, line)]
    return answers


def theirs(program, path, addresses):
    text = run([program, "-a", "-f", "-i", "-e", str(path)], "".join(f"{a:#x}\n" for a in addresses))
    answers, lines = {}, text.splitlines()
    at = 0
    while at < len(lines):
        stack = answers[int(lines[at], 16)] = []
        at += 1
        while at < len(lines) and not re.match(r"0x[0-9a-f]+$", lines[at]):
            file, _, line = lines[at + 1].partition(" (disc")[0].rpartition(":")
            stack.append((lines[at], file, int(line) if line.isdigit() else None))
            at += 2
    return answers


def readable(names):
    """C++ and Rust names as c++filt -p has them, without a symbol's version and the hashes of Rust."""
    names = sorted({name for name in names if name})
    shown = run(["c++filt", "-p"], "".join(name.partition("@")[0] + "\n" for name in names)).splitlines()
    shown = [re.sub(r"::h[0-9a-f]{16}$", "", text) for text in shown]
    shown = [re.sub(r"\[[0-9a-f]{8,16}\]|: [ui](size|\d+)\b", "", text) if name.startswith("_R") else text
             for name, text in zip(names, shown)]
    return {**dict(zip(names, shown)), None: None, "??": None}


def place(file, line):
    return (os.path.normpath(file), line) if file and file != "??" and line else None


def symbols(path, debug):
    """name -> addresses"""
    found = collections.defaultdict(set)
    for file in [path, *debug]:
        for arguments in (["nm", file], ["nm", "-D", file]):
            for line in subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       text=True).stdout.splitlines():
                words = line.split()
                if len(words) == 3:
                    found[words[2].partition("@")[0]].add(int(words[0], 16))
    return found


def same_name(our, their, shown, addresses_of):
    """The class of two names that may be written differently for one function."""
    if our == their:
        return "same"
    if our and their and addresses_of[our.partition("@")[0]] & addresses_of[their.partition("@")[0]]:
        return "alias"
    if our and their and our.startswith(their + "."):
        return "part"
    if our and their and shown.get(our, our).endswith("::" + their):
        return "bare"
    return "name" if their != "??" else "only ours"


def classify(our, their, shown, addresses_of):
    if len(our) != len(their):
        return "depth"
    if [place(*frame[1:]) for frame in our] != [place(*frame[1:]) for frame in their]:
        return "line"
    if len(our) > 1 and any(mine != other and other == our[-1][0] for (mine, *_), (other, *_) in
                            zip(our[:-1], their[:-1])):
        return "entry"
    kinds = ["same" if shown.get(mine, mine) == shown.get(other, other) else same_name(mine, other, shown, addresses_of)
             for (mine, *_), (other, *_) in zip(our, their)]
    return next((kind for kind in reversed(KINDS) if kind in kinds), "same")


def compare(arguments, path, scratch):
    elf = Elf(path)
    addresses = choose(elf, arguments.count, arguments.seed)
    stubs = [(a, a + size) for a, size, name in elf.code() if name.startswith(".plt")]
    print(f"{path}: {len(addresses)} addresses")
    our, their = ours(arguments, elf, path, addresses, scratch), theirs("addr2line", path, addresses)
    shown = readable(name for answers in (our, their) for stack in answers.values() for name, _, _ in stack)
    identity = elf.build_id().hex()
    debug = [file for root in arguments.symbols
             for file in [root / ".build-id" / identity[:2] / (identity[2:] + ".debug")] if file.exists()]
    addresses_of = symbols(path, debug)
    classes, examples, doubtful = collections.Counter(), {}, []
    for address in addresses:
        mine = our.get(address, [(None, None, None)])
        kind = classify(mine, their[address], shown, addresses_of)
        if any(low <= address < high for low, high in stubs) and kind != "same":
            kind = "plt"
        if kind in ("line", "depth"):
            doubtful.append(address)
            continue
        classes[kind] += 1
        examples.setdefault(kind, []).append((address, mine, their[address]))
    third = theirs("llvm-addr2line", debug[0] if debug else path, doubtful) if doubtful else {}
    for address in doubtful:
        mine, other = ([place(*frame[1:]) for frame in stack] for stack in (our[address], third[address]))
        kind = "addr2line only" if mine == other else "line"
        classes[kind] += 1
        examples.setdefault(kind, []).append((address, our[address], their[address], third[address]))
    for kind, number in classes.most_common():
        print(f"  {kind:14} {number:6}")
        for address, mine, other, *third in examples[kind][:arguments.examples] if kind != "same" else ():
            print(f"    {address:#x}\n      fsight    {mine}\n      addr2line {other}", *third)
    share = 100 * sum(classes[kind] for kind in EQUAL) / max(len(addresses), 1)
    print(f"  equal          {share:.2f} %")
    return share


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fsingest", required=True)
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minimum", type=float, default=99.5)
    parser.add_argument("--examples", type=int, default=1, help="of each class of difference")
    parser.add_argument("--symbols", type=pathlib.Path, action="append", default=[])
    parser.add_argument("binary", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        shares = [compare(arguments, path.resolve(), pathlib.Path(scratch)) for path in arguments.binary]
    sys.exit(min(shares) < arguments.minimum)


if __name__ == "__main__":
    main()
