# SPDX-License-Identifier: GPL-2.0-only
"""Run a module of trials: functions `trial_NAME(ingest)` that make an input, import it and check.

`ingest(content, exits, *options)` writes the input, imports it into a new database and checks what
holds for every input: the exit status, a word on stderr with a refusal and nothing written, a sound
database otherwise, bounds on time and memory. It gives an Outcome to look into.
"""
import os
import re
import resource
import sqlite3
import subprocess
import sys
import traceback

import perfdata

FSINGEST, FSQUERY = os.environ["FSINGEST"], os.environ["FSQUERY"]
SECONDS, MEMORY_MIB = 30, 256  # without optimisation
with open(FSINGEST, "rb") as program:
    SANITIZED = b"__asan_init" in program.read()


def expect(what, got, wanted):
    if isinstance(got, list) and isinstance(wanted, list) and len(got) > 10:  # say what differs only
        got, wanted = [row for row in got if row not in wanted], [row for row in wanted if row not in got]
    assert got == wanted, f"{what}: got {got!r}, expected {wanted!r}"


class Outcome:
    def __init__(self, status, out, err, took=0, mib=0):
        self.status, self.out, self.err = status, out, err
        self.took, self.mib = took, mib  # seconds of CPU, and the most memory of it or its helper

    def query(self, sql):
        db = sqlite3.connect("file:case.db?mode=ro", uri=True)
        try:
            return db.execute(sql).fetchall()
        finally:
            db.close()

    def value(self, sql):
        return self.query(sql)[0][0]

    def samples(self):
        """Rows. Every sample record has become one, or a loss says why not."""
        rows = self.value("SELECT count(*) FROM sample")
        lost = self.value("SELECT coalesce(sum(count), 0) FROM loss WHERE kind = 'bad_sample' "
                          "OR (kind = 'unknown_id' AND bytes > 0)")
        expect("trace.samples", self.value("SELECT samples FROM trace"), rows + lost)
        return rows

    def loss(self, kind, scope=None):
        """(count, bytes, first offset) of a kind of loss; None if there was none."""
        where = f"kind = '{kind}'" + (f" AND scope = '{scope}'" if scope else "")
        row = self.query(f"SELECT sum(count), sum(bytes), min(first_offset) FROM loss WHERE {where}")[0]
        return None if row[0] is None else row

    def losses(self, severity="error"):
        """Kinds of loss of a severity, in alphabetical order."""
        return [row[0] for row in self.query(f"SELECT DISTINCT kind FROM loss WHERE severity = '{severity}' "
                                             "ORDER BY kind")]

    def health(self, name):
        return self.query(f"SELECT severity, count, bytes, first_offset, description FROM health WHERE name = '{name}'")

    def fsquery(self, *arguments):
        """(exit status, stdout, stderr)"""
        done = subprocess.run([FSQUERY, "--db", "case.db", *arguments], capture_output=True, text=True,
                              errors="surrogateescape", check=False)
        return done.returncode, done.stdout, done.stderr

    def content(self):
        """Digest of all tables but what differs by nature between two forms of one recording."""
        rows = self.fsquery("digest", "--format", "csv")[1].splitlines()
        return [row for row in rows if row.split(",")[0] not in ("trace", "fact", "loss", "extent", "total")]


def measured(arguments, **options):
    """Run a program: exit status, output, seconds of CPU, MiB."""
    with open("out", "wb") as out, open("err", "wb") as err:
        process = subprocess.Popen(arguments, stdout=out, stderr=err, **options)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        finally:
            process.returncode = 0
    took = usage.ru_utime + usage.ru_stime
    with open("out", "rb") as out, open("err", "rb") as err:
        texts = [stream.read().decode(errors="surrogateescape") for stream in (out, err)]
    return os.waitstatus_to_exitcode(status), *texts, took, usage.ru_maxrss >> 10


def ingest(content, exits=0, *options, path=None, stdin=None, most_mib=MEMORY_MIB):
    """Import bytes, or what is at `path`."""
    for name in os.listdir("."):
        if name.startswith("case.db"):
            os.remove(name)
    if content is not None:
        with open("input.data", "wb") as file:
            file.write(content)
    limit = {} if SANITIZED else {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_CPU, (2 * SECONDS,) * 2)}
    status, out, err, took, mib = measured([FSINGEST, "--db", "case.db", *options, path or "input.data"],
                                           stdin=stdin, **limit)
    wanted = (exits,) if isinstance(exits, int) else exits
    assert status in wanted, f"exit status {status}, expected {exits}: {err or out}"
    assert not re.search("Sanitizer|runtime error", err), err
    assert SANITIZED or took < SECONDS, f"took {took:.1f} s of CPU"
    assert SANITIZED or mib < most_mib, f"took {mib} MiB"
    outcome = Outcome(status, out, err, took, mib)
    left = sorted(name for name in os.listdir(".") if name.startswith("case.db"))
    if status in (0, 3):
        expect("files", left, ["case.db"])
        expect("integrity", outcome.value("PRAGMA integrity_check"), "ok")
        expect("foreign keys", outcome.query("PRAGMA foreign_key_check"), [])
        expect("trace.complete", outcome.value("SELECT complete FROM trace"), int(status == 0))
    else:
        expect("files", left, [])
        assert err, "refused without a word on stderr"
    return outcome


# Two threads of one process fight for the line 0x404080: one writes offset 0, one reads offset 4.
LINE, CODE, FIRST_NS, STEP_NS = 0x404080, 0x401000, 1_000_000_000, 1000
LOADS = {"name": "cpu/mem-loads,ldlat=30/P", "ids": [11, 12], "config": 0x1cd}
STORES = {"name": "cpu/mem-stores/P", "ids": [21, 22], "config": 0x2cd}
# PERF_MEM_OP, _LVL, _SNOOP as the kernel's perf_event.h has them: a load that hit a modified line, a store in L1
LOAD_HITM, STORE_L1 = 2 | (0x02 | 0x800) << 5 | 0x10 << 19, 4 | (0x02 | 0x08) << 5


def access(recording, number, **changes):
    """Sample a read (even numbers) or a write; all are one step apart."""
    writes = number % 2
    values = {"ip": CODE + 16 * writes, "pid": 100, "tid": 101 + writes, "time": FIRST_NS + STEP_NS * number,
              "addr": LINE + 4 * (1 - writes), "id": 21 + number // 2 % 2 if writes else 11 + number // 2 % 2,
              "cpu": writes, "period": 1000, "weight": 300 if not writes else 0,
              "data_src": STORE_L1 if writes else LOAD_HITM}
    values.update(changes)
    recording.sample(event=writes if len(recording.events) > 1 else 0, **values)


def small(count=40, events=None, **options):
    """A recording of `count` samples with what perf puts before them and the usual features."""
    recording = perfdata.Recording(events or [perfdata.Event(**LOADS), perfdata.Event(**STORES)], **options)
    recording.comm(100, 100, "worker")
    recording.mmap2(100, 0x400000, 0x3000, "/opt/example/worker")
    recording.fork(100, 101, 100, FIRST_NS - 3)
    recording.fork(100, 102, 100, FIRST_NS - 2)
    for number in range(count):
        access(recording, number)
    recording.record(perfdata.FINISHED_ROUND)
    for number, text in ((perfdata.HOSTNAME, "host"), (perfdata.OSRELEASE, "6.1.0"), (perfdata.VERSION, "6.1.76"),
                         (perfdata.ARCH, "x86_64"), (perfdata.CPUID, "GenuineIntel,6,143,8")):
        recording.feature(number, recording.string(text))
    recording.feature(perfdata.NRCPUS, recording.pack("II", 4, 4))
    recording.describe_events()
    return recording


def run(module):
    """Run every trial of a module, or those named on the command line; exit 1 if one failed."""
    failed = 0
    for name, function in list(vars(module).items()):
        if not name.startswith("trial_") or (sys.argv[1:] and name[6:] not in sys.argv[1:]):
            continue
        try:
            function()
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"FAILED {name[6:]}: {traceback.format_exc(limit=-2)}", file=sys.stderr)
    sys.exit(f"{failed} trials failed" if failed else 0)
