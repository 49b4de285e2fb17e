# SPDX-License-Identifier: GPL-2.0-only
"""Is each sample that of perf? Compares `perf script --ns -F ...` with our rows, field by field.

  perf-script.py PERF_DATA DB     exit status 1 and a list of differences if not; 77, with the
                                  reason, if this perf shows no samples of the file

DB holds PERF_DATA alone, or is absent if fsingest refused it. perf refuses a field that one event
of a type lacks, so the fields that all events have are compared of all samples; a type whose events have more is shown once more by
itself. Rows are compared whole and as multisets, because perf sorts by time. Only SAMPLE records:
what is decoded from AUX data is compared elsewhere.

perf reads a sample with counters (PERF_SAMPLE_READ) as one for each counter that grew, with the
growth as its period: these are our rows of sample_read. Samples of virtual machines are not shown.
"""
import collections
import os
import re
import sqlite3
import subprocess
import sys

# In the order in which perf prints them: the bits of sample_type that give them, our column, and
# what perf shows where ours is NULL (the PMU gave no address or weight, the kernel no thread).
FIELDS = {
    "tid": (("TID",), "t.tid", 0xffffffff),
    "cpu": (("CPU",), "s.cpu", 0xffffffff),
    "time": (("TIME",), "s.time_ns", 0),
    "period": (("PERIOD",), "ifnull(r.delta, s.period)", 0),
    "addr": (("ADDR",), "s.addr", 0),
    "data_src": (("DATA_SRC",), "s.raw", 0),
    "weight": (("WEIGHT", "WEIGHT_STRUCT"), "s.latency", 0),
    "ip": (("IP",), "coalesce(s.ip, c.ip)", 0),
    "phys_addr": (("PHYS_ADDR",), "s.phys_addr", 0),
}
HEXADECIMAL = ("addr", "data_src", "ip", "phys_addr")
NARROW = ("tid", "cpu")  # 32 bits, the others have 64
# What -F calls the types of events; it can name no other.
TYPES = {0: "hw", 1: "sw", 2: "trace", 4: "raw", 5: "break"}
ATTR = re.compile(r"^.+?: (?:type: (\d+), )?size: \d+, (?:config: (0x[0-9a-f]+), )?.*?sample_type: ([A-Z_|]+)")
DUMMY = (1, "0x9")  # it never samples


class Unreadable(Exception):
    pass


def perf(*arguments):
    """Lines of output, and whether perf gave up on the way."""
    done = subprocess.run(["perf", *arguments], capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise Unreadable(done.stderr.strip() or f"exit status {done.returncode}")
    return done.stdout.splitlines(), "unexpected end of event stream" in done.stderr


def fields_by_type(path):
    """What all events of a type have. The types that -F cannot name are one, None."""
    common = {}
    for match in filter(None, map(ATTR.match, perf("evlist", "-f", "-v", "-i", path)[0])):
        kind = int(match[1] or 0)
        if (kind, match[2]) == DUMMY:
            continue
        fields = {field for field, (names, *_) in FIELDS.items() if set(names) & set(match[3].split("|"))}
        kind = kind if kind in TYPES else None
        common[kind] = common.get(kind, fields) & fields
    return common


def fields_by_trial(path):
    """The fields that perf script does not refuse: evlist knows no events of a stream."""
    fields = list(FIELDS)
    while fields:
        try:
            perf("script", "-f", "--no-itrace", "-G", "-F", ",".join(fields), "-i", path)
            break
        except Unreadable as reason:
            refused = re.search("Cannot print '(.*)' field", str(reason))
            if not refused:
                raise
            fields.remove(refused[1])
    return set(fields)


def comparisons(path):
    """Triples: types, the fields to compare, and the types that perf is to hide."""
    common = fields_by_type(path)
    everywhere = set.intersection(*common.values()) if common else fields_by_trial(path)
    if everywhere:
        yield {*TYPES, None}, everywhere, ()
    for kind, fields in common.items():
        # -F can hide only the types that it can name.
        if fields != everywhere and (kind is None or None not in common):
            yield {kind}, fields, set(common) - {kind, None}


def number(field, word):
    if field == "time":
        seconds, nanoseconds = word.rstrip(":").split(".")
        return int(seconds) * 10**9 + int(nanoseconds)
    return int(word.strip("[]"), 16 if field in HEXADECIMAL else 10) % (1 << (32 if field in NARROW else 64))


def columns(line, fields):
    """The words of a line, one per field: data_src is followed by its meaning, from a | on."""
    if "data_src" not in fields:
        return line.split()
    words = line.split("|")[0].split()
    after = len(fields) - len(words)
    return words + (line.split()[-after:] if after else [])


def perf_rows(path, fields, hidden):
    arguments = ["-F", ",".join(fields)]
    for kind in hidden:
        arguments += ["-F", TYPES[kind] + ":"]
    lines, gave_up = perf("script", "-f", "--no-itrace", "-G", "--ns", *arguments, "-i", path)
    return collections.Counter(
        tuple(map(number, fields, columns(line, fields))) for line in lines if line.strip()), gave_up


def our_rows(path, fields, kinds):
    if not os.path.exists(path):  # nothing was found to import
        return collections.Counter()
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    selected = ", ".join(f"ifnull({FIELDS[field][1]}, {FIELDS[field][2]})" for field in fields)
    rows = collections.Counter()
    for kind, *row in db.execute(f"""
            SELECT e.type, {selected}
            FROM sample s LEFT JOIN sample_read r ON r.sample_id = s.rowid
            JOIN event e ON e.id = ifnull(r.event_id, s.event_id)
            LEFT JOIN thread t ON t.id = s.thread_id LEFT JOIN code c ON c.id = s.code_id
            WHERE e.role IS NOT 'spe' AND ifnull(r.delta, 1) > 0 AND NOT s.access >> 30 & 1"""):
        if (kind if kind in TYPES else None) in kinds:
            rows[tuple(value % (1 << 64) for value in row)] += 1
    return rows


def compare(path, database, fields, kinds, hidden):
    theirs, gave_up = perf_rows(path, fields, hidden)
    ours = our_rows(database, fields, kinds)
    differing = [("perf", theirs - ours)]
    if not gave_up:  # else perf has shown a part
        differing.append(("fsight", ours - theirs))
    for who, rows in differing:
        for row in sorted(rows)[:3]:
            print(f"only {who}:", *(f"{field} {value:#x}" if field in HEXADECIMAL else f"{field} {value}"
                                    for field, value in zip(fields, row)))
    return sum(theirs.values()), max(sum(rows.values()) for _, rows in differing)


def main():
    path, database = sys.argv[1:]
    shown = wrong = 0
    try:
        for kinds, fields, hidden in comparisons(path):
            fields = [field for field in FIELDS if field in fields]
            count, differing = compare(path, database, fields, kinds, hidden)
            print(f"{count} samples by {', '.join(fields)}: {differing} differ")
            shown += count
            wrong += differing
        if not shown and not wrong:
            raise Unreadable("no samples")
    except Unreadable as reason:
        print(f"perf shows nothing: {str(reason).splitlines()[-1]}")
        return 77
    return 1 if wrong else 0


sys.exit(main())
