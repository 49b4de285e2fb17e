# SPDX-License-Identifier: GPL-2.0-only
"""Are the counts those of perf? Compares `perf script` with the database of the same file.

  counts.py PERF_DATA DB      exit status 1 and a list of differences if not

Compared: samples per event, per thread, per 64-byte line of the data address; loads and stores.
For Arm SPE the `memory` events of `perf script --itrace=M` are the memory samples.
"""
import collections
import re
import sqlite3
import subprocess
import sys

LINE = re.compile(r"^\s*(-?\d+)/(-?\d+)\s+(\S.*?):\s+([0-9a-f]+)\s*(.*)$")


def perf_counts(path):
    """Counters by event, thread, line and operation; None if perf has no addresses to show."""
    command = ["perf", "script", "-i", path, "--itrace=M", "-F", "pid,tid,event,addr,data_src"]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    lines = done.stdout.splitlines()
    if not lines:
        return None
    counts = collections.defaultdict(collections.Counter)
    for text in lines:
        match = LINE.match(text)
        if not match:
            sys.exit(f"counts: cannot read perf script's line: {text}")
        _, tid, event, address, source = match.groups()
        counts["event"][event] += 1
        counts["thread"][int(tid)] += 1
        counts["line"][int(address, 16) & ~63] += 1
        for op in ("LOAD", "STORE"):
            if f"OP {op}" in source:
                counts["op"][op] += 1
    return counts


def database_counts(path):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    counts = collections.defaultdict(collections.Counter)
    memory = "WHERE s.addr IS NOT NULL AND s.access & 15 IN (0, 1, 2, 3)"
    for name, role, n in db.execute("SELECT e.name, e.role, count(*) FROM sample s JOIN event e ON e.id = s.event_id "
                                    f"{memory} GROUP BY e.id"):
        counts["event"]["memory" if role == "spe" else name] += n
    for tid, n in db.execute("SELECT t.tid, count(*) FROM sample s LEFT JOIN thread t ON t.id = s.thread_id "
                             f"{memory} GROUP BY 1"):
        counts["thread"][-1 if tid is None else tid] += n
    for line, n in db.execute(f"SELECT s.addr & ~63, count(*) FROM sample s {memory} GROUP BY 1"):
        counts["line"][line & (1 << 64) - 1] += n
    for op, n in db.execute(f"SELECT o.name, count(*) FROM sample s JOIN op o ON o.id = s.access & 15 {memory} GROUP BY 1"):
        counts["op"][op] += n
    return counts


def compare(name, perf, ours):
    differing = [key for key in perf.keys() | ours.keys() if perf[key] != ours[key]]
    for key in sorted(differing)[:5]:
        shown = hex(key) if name == "line" else key
        print(f"{name} {shown}: perf {perf[key]}, fsight {ours[key]}")
    if len(differing) > 5:
        print(f"... and {len(differing) - 5} more of {len(perf)}")
    return not differing


def compare_operations(perf, ours):
    """An atomic is a load or a store for perf."""
    loads, stores, atomics = ours["load"], ours["store"], ours["atomic"]
    good = loads <= perf["LOAD"] and stores <= perf["STORE"] and \
        loads + stores + atomics == perf["LOAD"] + perf["STORE"]
    if not good:
        print(f"operations: perf {perf['LOAD']} loads and {perf['STORE']} stores, "
              f"fsight {loads} loads, {stores} stores and {atomics} atomics")
    return good


def main():
    perf = perf_counts(sys.argv[1])
    if perf is None:
        print("perf shows no samples with an address", file=sys.stderr)
        return 77
    ours = database_counts(sys.argv[2])
    good = True
    for name in ("event", "line", "thread"):
        if name == "thread" and any(tid <= 0 for tid in perf["thread"]):
            continue  # perf does not know the threads of this file
        good &= compare(name, perf[name], ours[name])
    if perf["op"]:
        good &= compare_operations(perf["op"], ours["op"])
    return 0 if good else 1


sys.exit(main())
