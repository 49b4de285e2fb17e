# SPDX-License-Identifier: GPL-2.0-only
"""Is each field of each tracepoint what perf reads? Compares perf's scripting interface, which hands
out fields by name, with our rows of the view `tracepoints`.

  tracepoints.py PERF_DATA DB     exit status 1 and a list of differences if not; 77, with the
                                  reason, if this perf reads no tracepoints of the file

perf gives an array of bytes as a string and data of varying place that is no string as its place:
there only our own reading counts. Samples are compared as multisets, because perf sorts by time.
"""
import collections
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

SCRIPT = """
import json
def trace_unhandled(name, context, fields, sample=None):
    shown = {key: repr(value) if isinstance(value, (bytes, bytearray)) else value for key, value in fields.items()}
    shown.pop("common_callchain", None)
    print(json.dumps([name, shown]))
"""


def theirs(path):
    """[(time, cpu, tid, event, fields)] by perf."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(SCRIPT)
        script.flush()
        done = subprocess.run(["perf", "script", "-f", "-i", path, "-s", script.name], capture_output=True, text=True,
                              errors="replace", check=False, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    rows = []
    for line in done.stdout.splitlines():
        if not line.startswith('["'):
            continue
        name, fields = json.loads(line)
        time = fields["common_s"] * 10**9 + fields["common_ns"]
        rows.append((time, fields["common_cpu"], fields["common_pid"], name.replace("__", ":", 1), fields))
    return rows, done.stderr.strip().splitlines()[-1:]


def ours(path):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    return [(*row[:4], json.loads(row[4])) for row in db.execute("""
        SELECT t.time_ns, t.cpu, t.tid, t.event, t.fields FROM tracepoints AS t JOIN sample AS s ON s.rowid = t.id
        JOIN event AS e ON e.id = s.event_id WHERE e.type = 2""")]


def alike(field, other):
    if isinstance(field, int) and isinstance(other, int):
        return (field - other) % (1 << 64) == 0
    if isinstance(field, list) and isinstance(other, list):
        return len(field) == len(other) and all(map(alike, field, other))
    return field == other if isinstance(field, str) and isinstance(other, str) else None


def main():
    path, database = sys.argv[1:]
    perf_rows, reason = theirs(path)
    if not perf_rows:
        print("perf shows nothing:", *reason)
        return 77
    waiting = collections.defaultdict(list)
    for *key, fields in ours(database):
        waiting[tuple(key)].append(fields)
    wrong = fields_compared = 0
    for *key, fields in perf_rows:
        candidates = waiting[tuple(key)]
        for candidate in candidates:
            verdicts = [alike(value, fields.get(name)) for name, value in candidate.items() if name in fields]
            if False not in verdicts:
                break
        else:
            wrong += 1
            if wrong <= 3:
                print("only perf:", key, fields, "- ours at that time:", candidates[:2])
            continue
        candidates.remove(candidate)
        fields_compared += verdicts.count(True)
    left = sum(map(len, waiting.values()))
    print(f"{len(perf_rows)} samples, {fields_compared} fields equal; {wrong} samples differ, {left} only ours")
    return 1 if wrong or left or not fields_compared else 0


sys.exit(main())
