#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Score the fields that fsight names against pahole's layouts and the simulator's truth.

    fields.py --fsingest PATH [--minimum PERCENT] TRACES_DIR...

TRACES_DIR is as for accuracy.py. The simulator tells at which address which region of the workload
lies; REGIONS says what the workload keeps there (a structure, or a variable), and pahole prints the
structure from the program. A region named =A|B is a field that may be called A or B, whatever holds
it; so programs in other languages tell. Of every sample on a line that truth calls false, true or
mixed, and in a region, the field that the database names must be the one that is at that offset.

Prints the share for each capture. Exit status: 1 when one is below --minimum, 2 when a command
failed.
"""
import argparse
import collections
import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

# What a region holds: the structure (by the variant of the capture), or the name of the variable.
REGIONS = {
    "pool": {"before": "pool_before", "after": "pool_after"},
    "chunk": {"before": "chunk_before", "after": "chunk_after"},
    "args": {"before": "lreg", "after": "lreg"},
    "st": {"before": "stats", "after": "stats"},
    "cf": {"before": "conf", "after": "conf"},
    "ring": {"before": "ring_before", "after": "ring_after"},
}
LEAF = re.compile(r"(\w+)((?:\[\d+\])*);\s*/\*\s*(\d+)(?::\s*\d+)?\s+(\d+)\s*\*/")
CLOSE = re.compile(r"\}\s*(\w*)(?:\[\d+\])*;\s*/\*")


def layout(program, structure):
    """(offset, size, path) of each leaf, as pahole prints it; the size of all."""
    text = subprocess.run(["pahole", "-E", "-C", structure, program], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout
    fields, open_at = [], []
    for line in text.splitlines():
        leaf, close = LEAF.search(line), CLOSE.search(line)
        if line.rstrip().endswith("{"):
            open_at.append(len(fields))
        elif close and len(open_at) > 1:
            start = open_at.pop()
            if close.group(1):
                fields[start:] = [(o, s, close.group(1) + "." + p) for o, s, p in fields[start:]]
        elif leaf:
            fields.append((int(leaf.group(3)), int(leaf.group(4)), leaf.group(1)))
    size = re.search(r"/\* size: (\d+)", text)
    size = int(size.group(1)) if size else 0
    # pahole 1.24 does not know DW_TAG_atomic_type: such a field has size 0 and ends at the next
    ends = [offset for offset, _, _ in fields[1:]] + [size]
    return [(o, s or end - o, p) for (o, s, p), end in zip(fields, ends)], size


def expected(program, region, variant, distance):
    """The name that belongs at a distance in a region; None: nothing is declared there."""
    if region["name"].startswith("="):
        return region["name"][1:]
    name, _, field = region["name"].partition(".")
    if field:  # the region is one field, padded to a line
        return field if distance < 4 or field in ("slot", "per") else None
    if name not in REGIONS:
        return name
    fields, size = layout(program, REGIONS[name][variant])
    for offset, length, path in fields:
        if size and offset <= distance % size < offset + length:
            return path
    return None


def names(field):
    """Each part of a field's path, without the numbers of elements."""
    parts = re.sub(r"\[\d*\]", "", field or "").replace("::", ".").strip(".").split(".")
    return {".".join(parts[i:k]) for i in range(len(parts)) for k in range(i + 1, len(parts) + 1)}


def samples(arguments, capture, symbols):
    """(address, field, object, samples) of every sampled shared address."""
    with tempfile.TemporaryDirectory() as scratch:
        database = pathlib.Path(scratch, "case.db")
        result = subprocess.run([arguments.fsingest, "-q", "--db", database, "--symbols", symbols,
                                 capture], stderr=subprocess.PIPE, text=True)
        if result.returncode not in (0, 3):
            sys.exit("%s: %s" % (capture, result.stderr.strip()))
        connection = sqlite3.connect(database)
        return connection.execute("""
            SELECT s.addr, x.field, x.object, s.samples FROM
                (SELECT space_id, addr, sum(samples) AS samples FROM access GROUP BY 1, 2) AS s
            LEFT JOIN data_fields AS x ON x.space_id IS s.space_id AND x.addr = s.addr
            """).fetchall()


def judge(arguments, capture, truth, program, variant):
    lines = {int(line["addr"], 16) for line in truth["lines"]
             if line["label"] in ("false", "true", "mixed")}
    right, wrong = 0, collections.Counter()
    known = {}
    for address, field, variable, count in samples(arguments, capture, program.parent):
        region = next((r for r in truth["regions"]
                       if 0 <= address - int(r["addr"], 16) < r["size"]), None)
        if address & ~63 not in lines or not region:
            continue
        place = (region["name"], address - int(region["addr"], 16))
        if place not in known:
            known[place] = expected(program, region, variant, place[1])
        if known[place] is None:
            continue
        if {*known[place].split("|")} & (names(field) | names(variable)):
            right += count
        else:
            wrong[(known[place], field)] += count
    return right, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fsingest", required=True)
    parser.add_argument("--minimum", type=float, default=95)
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    below = 0
    for truth_path in sorted(p for t in arguments.traces for p in t.rglob("*.truth.json")):
        name = truth_path.name[:-len(".truth.json")]
        truth = json.loads(truth_path.read_text())
        program = truth_path.parent / "bin" / pathlib.Path(truth["program"]).name
        if not program.exists() or "lines" not in truth:
            continue
        variant = "after" if ".after" in name else "before"
        for kind in ("spe", "c2c"):
            capture = truth_path.parent / ("%s.%s.data" % (name, kind))
            if not capture.exists():
                continue
            right, wrong = judge(arguments, capture, truth, program, variant)
            total = right + sum(wrong.values())
            if not total:
                continue
            share = 100 * right / total
            below += share < arguments.minimum
            print("%6.2f %% of %7d  %s/%s" % (share, total, truth_path.parent.name, capture.name))
            for (want, got), count in wrong.most_common(3):
                print("          %d of %s named %s" % (count, want, got))
    sys.exit(below > 0)


if __name__ == "__main__":
    main()
