# SPDX-License-Identifier: GPL-2.0-only
"""Import every file of a corpus of real perf.data files and check what came out.

  corpus.py CORPUS FSINGEST       in an empty directory; prints what is wrong

CORPUS/INDEX.tsv says what a recent perf counted, CORPUS/stats/ its counts by record type.

A file that perf counted must give the same number of samples and of each record type. Perf's counts
mean something else in these cases, each a rule of its code:

* perf drops HEADER_EVENT_TYPE before it counts (obsolete since 2013); the file contains them.
* perf counts no type that it does not know (simpleperf's, from 32768 on).
* perf stops at TRACING_DATA whose text it cannot read to the end, and reports what it met so far: where
  that is the last record it counted, the file contains at least as much.

A file that perf did not count is damaged, or of a dialect that perf refuses. It must be salvaged with
exit status 3; 0 is right only where the file is sound, which the bytes say: header, data and feature
sections lie in it, and records fill its data. 2 is right only where the scan for plausible records
(tests/tools/scan.py) finds none.

None may take 10 s or, built without sanitizers, 256 MiB.
"""
import csv
import os
import re
import sqlite3
import struct
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tools"))
import scan  # noqa: E402

SECONDS, KIB = 10, 256 * 1024
NUMBERS = {name: number for number, name in enumerate(
    "MMAP LOST COMM EXIT THROTTLE UNTHROTTLE FORK READ SAMPLE MMAP2 AUX ITRACE_START LOST_SAMPLES SWITCH "
    "SWITCH_CPU_WIDE NAMESPACES KSYMBOL BPF_EVENT CGROUP TEXT_POKE AUX_OUTPUT_HW_ID CALLCHAIN_DEFERRED".split(), 1)}
NUMBERS |= {name: number for number, name in enumerate(
    "ATTR EVENT_TYPE TRACING_DATA BUILD_ID FINISHED_ROUND ID_INDEX AUXTRACE_INFO AUXTRACE AUXTRACE_ERROR THREAD_MAP "
    "CPU_MAP STAT_CONFIG STAT STAT_ROUND EVENT_UPDATE TIME_CONV FEATURE COMPRESSED FINISHED_INIT COMPRESSED2".split(),
    64)}
SAMPLE, EVENT_TYPE, TRACING_DATA, AUXTRACE, COMPRESSED = 9, 65, 66, 71, (81, 83)
OTHERS = 127  # where types are counted that have no number of their own


def perf_counts(path):
    """{type: count} of perf's statistics; lines by event follow the sum and are left out."""
    counts = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            match = re.match(r"\s+(\w+) events:\s+(\d+)", line)
            if match and match[1] != "TOTAL":
                counts[NUMBERS[match[1]]] = int(match[2])
            elif counts and not match:
                break
    return counts


def run(fsingest, path, db):
    """(exit status, KiB, stderr); the status is "time" where it takes too long."""
    with open("err", "w+b") as err:
        process = subprocess.Popen([fsingest, "-q", "--db", db, path], stdout=subprocess.DEVNULL, stderr=err)
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        late = not timer.is_alive()
        timer.cancel()
        timer.join()
        err.seek(0)
        return "time" if late else os.waitstatus_to_exitcode(status), usage.ru_maxrss, err.read().decode(errors="replace")


def imported(db):
    """(samples, {type: count}) of a database."""
    case = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    samples, = case.execute("SELECT sample_records FROM trace").fetchone()
    facts = case.execute("SELECT name, value FROM fact WHERE name GLOB 'records.*'").fetchall()
    case.close()
    return samples, {int(name[8:]): int(value) for name, value in facts}


def is_sound(content):
    """Whether header and sections fit the file, and records fill the data."""
    order = "<" if content[:8] in (b"PERFILE2", b"PERFFILE") else ">"

    def words(at, count):
        return struct.unpack_from(f"{order}{count}Q", content, at)

    size, = words(8, 1)
    at, end = 16, len(content)
    if size != 16:
        entry, attrs, length, at, filled = words(16, 5)
        end = at + filled
        bits = int.from_bytes(content[72:104], "little") if size == 104 else 0
        table = end + 16 * bits.bit_count()
        if entry % 8 or attrs + length > len(content) or not filled or table > len(content):
            return False
        if any(sum(words(place, 2)) > len(content) for place in range(end, table, 16)):
            return False
    while at + 8 <= end:
        kind, _, size = struct.unpack_from(order + "IHH", content, at)
        raw = 0
        if kind == AUXTRACE:
            raw, = words(at + 8, 1)
        elif kind == TRACING_DATA:
            length, = struct.unpack_from(order + "I", content, at + 8)
            raw = 0 if 12 + length <= size else length + 7 & ~7
        if size < 8 or not kind:
            return False
        at += size + raw
    return at == end


def check_counted(wanted_samples, wanted, samples, got):
    got = {kind: count for kind, count in got.items() if kind not in (EVENT_TYPE, OTHERS)}
    if list(wanted)[-1:] == [TRACING_DATA] and not wanted_samples:
        missing = {kind for kind in wanted if got.get(kind, 0) < wanted[kind]}
        return [f"types {missing}: fewer records than perf counts"] if missing else []
    complaints = []
    if samples != wanted_samples:
        complaints.append(f"{samples} samples, perf counts {wanted_samples}")
    for kind in sorted(wanted | got):
        if wanted.get(kind, 0) != got.get(kind, 0):
            complaints.append(f"type {kind}: {got.get(kind, 0)} records, perf counts {wanted.get(kind, 0)}")
    return complaints


def check_uncounted(content, status, got):
    found = scan.scan(content)
    if status == 2:
        return [f"refused, but {found.total()} records are there"] if found else []
    if status == 0 and not is_sound(content):
        return ["exit status 0 for a damaged file"]
    # what is compressed the scan cannot see, but less than it sees is wrong; build-ids are also in a feature
    return [f"type {kind}: {got.get(kind, 0)} records, {count} are there" for kind, count in sorted(found.items())
            if got.get(kind, 0) < count and kind != 67]


def check(corpus, row, fsingest, check_memory):
    path = os.path.join(corpus, "files", row["file"])
    with open(path, "rb") as file:
        content = file.read()
    status, memory, err = run(fsingest, path, "case.db")
    complaints = [] if status in (0, 2, 3) else [f"exit status {status}: {err[-200:]}"]
    if check_memory and memory > KIB:
        complaints.append(f"{memory} KiB of memory")
    samples, got = imported("case.db") if status in (0, 3) else (None, {})
    if os.path.exists("case.db"):
        os.remove("case.db")
    if row["samples"].isdigit():
        wanted = perf_counts(os.path.join(corpus, "stats", row["file"].replace(".data", ".txt")))
        if status == 2 and wanted:
            complaints.append(f"refused: {err}")
        elif status in (0, 3):
            complaints += check_counted(int(row["samples"]), wanted, samples, got)
    elif status in (0, 2, 3):
        complaints += check_uncounted(content, status, got)
    return complaints


def main():
    corpus, fsingest = sys.argv[1:]
    with open(fsingest, "rb") as program:
        check_memory = b"__asan_init" not in program.read()
    with open(os.path.join(corpus, "INDEX.tsv"), encoding="utf-8") as index:
        rows = list(csv.DictReader(index, delimiter="\t"))
    differing = 0
    for row in rows:
        complaints = check(corpus, row, fsingest, check_memory)
        differing += bool(complaints)
        for complaint in complaints:
            print(f"{row['file']}: {complaint}")
    print(f"{len(rows)} files, {differing} differ" + ("" if check_memory else "; memory not checked: sanitizers"))
    sys.exit(differing > 0)


if __name__ == "__main__":
    main()
