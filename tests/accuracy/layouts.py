#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the layouts of a program's structures with those that pahole prints.

    layouts.py --layouts PATH PROGRAM...

PATH is the test program `layouts`. Of every structure and union with a name that pahole prints, its
size and the first bit, the width and the name of each direct field must be the same. Fields that
pahole cannot tell (size 0 of a type it does not know) count as equal in width, and are counted.
Exit status: 0 all equal, 1 not, 77 where pahole is absent.
"""
import argparse
import re
import shutil
import subprocess
import sys

HEAD = re.compile(r"^(struct|union|class) ([^{;]+?) \{")
PLACE = r"\s*/\*\s*(\d+)(?::\s*(\d+))?\s+(\d+)\s*\*/"
POINTER = re.compile(r"\(\*+\s*(\w+)[^()]*\)\s*\(")  # to a function
NAMED = re.compile(r"\b([\w.$]+)\s*(?:\[[^;]*\]\s*)*(?::\s*(\d+)\s*)?$")
CLOSE = re.compile(r"^\t\}\s*(?:__attribute__\(\(.*?\)\)+\s*)?\**\s*(\w*)"
                   r"(?:\s*:\s*(\d+))?[^;]*;" + PLACE)
SIZE = re.compile(r"/\* size: (\d+)")


def pahole(program):
    """{(kind, name): (size, [(bit, bits or None, name)])}; the first of a name counts."""
    text = subprocess.run(["pahole", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, errors="replace", check=True).stdout
    found, key, fields, unknown = {}, None, [], 0
    for line in text.splitlines():
        head = HEAD.match(line)
        if head:
            key, fields = ("union" if head.group(1) == "union" else "struct", head.group(2)), []
            # what a class inherits stands behind its name
            key = (key[0], key[1].split(" : ")[0])
            continue
        size = SIZE.search(line)
        if key and size and line.startswith("\t/*"):
            found.setdefault(key, (int(size.group(1)), fields))
        if line.startswith("}"):
            key = None
        depth = len(line) - len(line.lstrip("\t"))
        place = CLOSE.match(line) if depth == 1 else None
        if key and place:
            name, bits, offset, bit, size = place.groups()
            fields.append((int(offset) * 8 + int(bit or 0), int(bits) if bits else int(size) * 8, name or "-"))
        elif key and depth == 1 and "/*" in line:
            text, _, comment = line.rpartition("/*")
            text = re.sub(r"__attribute__\(\(.*?\)\)+", "", text).rstrip(" ;\t")
            place, member = re.match(PLACE, "/*" + comment), POINTER.search(text) or NAMED.search(text)
            if not member or not place or "static" in text.split():
                continue
            name, bits = member.group(1), member.group(2) if member.re is NAMED else None
            bit = int(place.group(1)) * 8 + int(place.group(2) or 0)
            width = int(bits) if bits else int(place.group(3)) * 8 or None
            unknown += width is None
            fields.append((bit, width, name))
    return found, unknown


def ours(layouts, program):
    text = subprocess.run([layouts, program], stdout=subprocess.PIPE, text=True, check=True,
                          errors="replace").stdout
    found, fields = {}, None
    for line in text.splitlines():
        kind, rest = line.split(" ", 1)
        if kind in ("struct", "union"):
            name, size = rest.rsplit(" ", 1)
            fields = []
            found.setdefault((kind, name), []).append((int(size), fields))
        else:
            width, name = rest.split(" ", 1)
            if name != "<base>":  # pahole has what a class inherits in a comment only
                fields.append((int(kind), int(width), name))
    return found


def same(theirs, mine):
    if theirs[0] != mine[0] or len(theirs[1]) != len(mine[1]):
        return False
    return all(a[0] == b[0] and a[1] in (None, b[1]) and (a[2] == b[2] or b[2] == "-")
               for a, b in zip(theirs[1], mine[1]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--layouts", required=True)
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    if not shutil.which("pahole"):
        print("pahole (package dwarves) is absent")
        sys.exit(77)
    wrong = 0
    for program in arguments.programs:
        theirs, unknown = pahole(program)
        mine = ours(arguments.layouts, program)
        differ = [k for k, v in theirs.items() if not any(same(v, m) for m in mine.get(k, []))]
        for key in differ[:10]:
            print("%s %s\n  pahole: %s\n  ours:   %s" % (*key, theirs[key], mine.get(key)))
        print("%s: %d structures, %d differ, %d fields of a type that pahole does not know"
              % (program, len(theirs), len(differ), unknown))
        wrong += bool(differ) or not theirs
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
