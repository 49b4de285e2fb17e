# SPDX-License-Identifier: GPL-2.0-only
"""Are the counters those of perf? Compares `perf c2c report --stats` with `fsquery c2c-stats`.

  c2c_stats.py PERF_DATA DB      exit status 1 and a list of differences if not; 77 if perf
                                 refuses the file or finds no samples in it
"""
import json
import os
import re
import signal
import subprocess
import sys

ROW = re.compile(r"^  (\S.*?)\s*:\s*(-?nan%|[\d.]+%?)$")


def perf_counters(path):
    """The rows of the first table, in order. perf may try to talk to an addr2line that has ended."""
    done = subprocess.run(["perf", "c2c", "report", "--stats", "-i", path], capture_output=True, text=True,
                          errors="replace", preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
    counters = {}
    for text in done.stdout.splitlines():
        match = ROW.match(text)
        if match:
            counters[match[1]] = match[2]
        elif counters:
            break
    return counters


def our_counters(database):
    done = subprocess.run([os.environ["FSQUERY"], "--db", database, "c2c-stats", "--perf-version", "6.1", "--format",
                           "json"], capture_output=True, text=True, check=True)
    rows = [row for row in json.loads(done.stdout)["rows"] if "LLC Misses to" in row["name"]
            or row["perf_value"] is not None]
    for row in rows:
        if (row["perf_value"] or 0) != (row["fsight_value"] or 0) and not row["explanation"] \
                and "LLC Misses to" not in row["name"]:
            sys.exit(f"{row['name']}: {row['perf_value']} and {row['fsight_value']} without an explanation")
    return {row["name"]: row["perf_value"] for row in rows}


def shown(name, value):
    """As perf prints it."""
    if "LLC Misses to" in name:
        return "nan%" if value is None else f"{value:.1f}%"
    return str(value)


def main():
    perf = perf_counters(sys.argv[1])
    if not perf or perf["Total records"] == "0":
        return 77
    ours = our_counters(sys.argv[2])
    if list(perf) != list(ours):
        sys.exit(f"the rows are {list(ours)}, perf's are {list(perf)}")
    good = True
    for name, value in perf.items():
        if value.lstrip("-") != shown(name, ours[name]):
            print(f"{name}: perf {value}, fsight {shown(name, ours[name])}")
            good = False
    return 0 if good else 1


sys.exit(main())
