# SPDX-License-Identifier: GPL-2.0-only
"""Are samples, operations, transfers and threads those of the simulator?

  truth.py CAPTURE DB     CAPTURE is NAME.spe.data or NAME.c2c.data beside NAME.truth.json; exit status
                          1 and a list of differences if not

Compared are the samples of the file; of each line in truth, by top-lines (or line_total where that
does not list the line), the samples, loads, stores and atomics, those served by another core (peer)
and those of them that were modified there (HITM); and how many samples of those lines have another
thread than truth. What truth calls `sampled`
 * is counted before a latency filter: then nothing may be more than that;
 * includes what a cut in the AUX data destroys: one or two records of each cut may be missing.
An SPE record of a store mostly has no data source, so its transfers cannot be seen then. A core
without data sources must say nothing of transfers at all.
"""
import collections
import json
import os
import re
import sqlite3
import subprocess
import sys

RIGHT_THREADS = 0.999
OPERATIONS = {"load": "loads", "store": "stores", "rmw": "atomics"}


def our_lines(database):
    """Rows by line address. A few samples are no line of top-lines, but are in line_total."""
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    rows = {row["line"]: dict(row) for row in db.execute(
        "SELECT line, samples, loads, stores, atomics, transfers FROM line_total")}
    done = subprocess.run([os.environ["FSQUERY"], "--db", database, "--quiet", "top-lines", "--format", "json",
                           "--limit", "0"], capture_output=True, text=True, check=True)
    for row in json.loads(done.stdout)["rows"]:
        row["hitm"] = total(row, "hitm_local", "hitm_remote")
        row["transfers"] = total(row | {"hitm": row["hitm"] or 0}, "hitm", "peer_local", "peer_remote")
        rows[int(row["line"], 16)] = row
    return rows


def sampled_operations(line, kind):
    """How often truth sampled each operation."""
    counts = dict.fromkeys(OPERATIONS.values(), 0)
    for access in line["by"]:
        counts[OPERATIONS[access["op"]]] += samples_of(access["sampled"], kind)
    return counts


def samples_of(sampled, kind):
    return sampled["spe"] if kind == "spe" else sampled["pebs_load"] + sampled["pebs_store"]


def stores_tell(database):
    """Whether SPE records of stores have a data source (column raw of schema/tables.def)."""
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    return db.execute("SELECT EXISTS (SELECT 1 FROM sample WHERE access & 15 = 2 AND raw >> 32 & 0x1ffff)").fetchone()[0]


def expected(line, capture, kind, stores):
    """Per column of top-lines, what must be there; transfers last."""
    sampled = line["sampled"]
    want = {"samples": samples_of(sampled, kind)}
    if not line["by_omitted"]:
        want |= sampled_operations(line, kind)
    if kind == "c2c":
        return want | {"hitm": sampled["pebs_load_hitm"]}
    if capture["data_source"] == "none":
        return want | {"hitm": None, "transfers": None}
    if not line["by_omitted"]:
        told = [access["sampled"] for access in line["by"] if stores or access["op"] != "store"]
        want["transfers"] = sum(sampled["spe_peer"] for sampled in told)
        if capture["data_source"] == "hisi" or capture["cpu"] == "neoverse-n2" or "v1p4" in capture["file"]:
            want["hitm"] = sum(sampled["spe_hitm"] for sampled in told)
        else:
            want["hitm"] = None
    return want


def total(row, *columns):
    values = [row[column] for column in columns]
    return None if None in values else sum(values)


def compare_lines(truth, capture, kind, lines, missing, stores):
    """What differs, as a list of texts."""
    nothing = dict.fromkeys(("samples", "loads", "stores", "atomics", "transfers"), 0)
    for line in truth["lines"]:
        got = lines.get(int(line["addr"], 16), nothing)
        for column, number in expected(line, capture, kind, stores).items():
            if column not in got or column == "transfers" and "hitm" not in got and number is None:
                continue  # line_total does not tell
            if column in ("hitm", "transfers") and got.get("threads") == 1 and got[column] is None:
                continue  # transfers of a thread to itself, as it changed its CPU, are not told apart
            if number is None or got[column] is None:
                right = not number and got[column] is None
            elif capture.get("min_latency"):
                right = got[column] <= number
            else:
                right = number - missing <= got[column] <= number
            if not right:
                yield f"{line['addr']}: {column} {got[column]}, truth {number}"


def wrong_threads(truth, kind, database):
    """Samples of the lines in truth, and how many of them are attributed to another thread."""
    want = collections.Counter()
    for line in truth["lines"]:
        for access in line["by"] if not line["by_omitted"] else ():
            want[int(line["addr"], 16), access["tid"]] += samples_of(access["sampled"], kind)
    lines = {line for line, _ in want}
    got = collections.Counter()
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    for line, tid, count in db.execute("SELECT addr & ~63, tid, count(*) FROM sample LEFT JOIN thread t "
                                       "ON t.id = thread_id WHERE addr IS NOT NULL GROUP BY 1, 2"):
        if line in lines:
            got[line, tid] += count
    return sum(got.values()), sum((got - want).values())


def main():
    path, database = sys.argv[1:]
    name, kind = re.fullmatch(r"(.*)\.(spe|c2c)\.data", path).groups()
    with open(name + ".truth.json", encoding="utf-8") as file:
        truth = json.load(file)
    capture = truth["files"][kind]
    missing = 2 * capture.get("truncated", 0)
    complaints = []
    samples, = sqlite3.connect(f"file:{database}?mode=ro", uri=True).execute("SELECT count(*) FROM sample").fetchone()
    if not capture["records"] - missing <= samples <= capture["records"]:
        complaints.append(f"{samples} samples, truth {capture['records']}")
    complaints += compare_lines(truth, capture, kind, our_lines(database), missing, stores_tell(database))
    judged, wrong = wrong_threads(truth, kind, database)
    if wrong > (1 - RIGHT_THREADS) * judged:
        complaints.append(f"{wrong} of {judged} samples have the wrong thread")
    print(f"{samples} samples of {capture['records']}, {len(truth['lines'])} lines, {wrong} of {judged} threads wrong")
    print("\n".join(complaints))
    return 1 if complaints else 0


sys.exit(main())
