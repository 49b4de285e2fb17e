# SPDX-License-Identifier: GPL-2.0-only
"""Section D: time, order and loss."""
import sys

import perfdata
from perfdata import Event
from spe import recording_of, spe_record
from trial import CODE, FIRST_NS, access, expect, ingest, run, small


def rounds(*times):
    """One sample at each time, one round for each list."""
    recording = small(0)
    recording.comm(100, 101, "early", time=FIRST_NS)
    for number, group in enumerate(times):
        for time in group:
            access(recording, 0, time=FIRST_NS + time)
        if number == 1:  # a name that holds from the middle on, written among later records
            recording.comm(100, 101, "late", time=FIRST_NS + 500)
        recording.record(perfdata.FINISHED_ROUND)
    return recording


def trial_d1():
    """A record of round 3 may be older than the newest of round 2: no violation, and time decides."""
    outcome = ingest(rounds([100, 300], [200, 700], [400, 800], [900]).file())
    expect("samples", outcome.samples(), 7)
    expect("names", outcome.query("SELECT name, time_ns FROM comm WHERE name IN ('early', 'late') ORDER BY 2"),
           [("early", FIRST_NS), ("late", FIRST_NS + 500)])
    expect("out_of_order", outcome.loss("out_of_order"), None)


def trial_d1_violation():
    """A record of round 3 that is older than the newest of round 1 breaks the promise: counted, not lost."""
    recording = rounds([100, 300], [200, 700])
    offset = recording.next_offset()
    access(recording, 0, time=FIRST_NS + 150)
    access(recording, 0, time=FIRST_NS + 299)
    access(recording, 0, time=FIRST_NS + 300)
    outcome = ingest(recording.file())
    expect("samples", outcome.samples(), 7)
    expect("out_of_order", outcome.loss("out_of_order"), (2, 0, offset))
    expect("first and last", outcome.query("SELECT first_ns, last_ns FROM trace"), [(FIRST_NS + 100, FIRST_NS + 700)])


def trial_d1_shuffled():
    """The order of the records in the file changes nothing that is found."""
    def content(numbers):
        recording = small(0)
        for number in numbers:
            access(recording, number)
        return ingest(recording.file())
    wanted = content(range(200)).query("SELECT line, samples, verdict FROM line_finding ORDER BY 1")
    assert wanted, "no finding"
    got = content(sorted(range(200), key=lambda number: number * 77 % 200))
    expect("findings", got.query("SELECT line, samples, verdict FROM line_finding ORDER BY 1"), wanted)


def trial_d2():
    """A map that comes later in the file but earlier in time is used; one that comes later in time is not."""
    recording = small(0)
    for time in (FIRST_NS, FIRST_NS + 20):
        access(recording, 0, ip=0x700010, time=time)
    recording.mmap2(100, 0x700000, 0x1000, "/opt/example/late.so", time=FIRST_NS + 10)
    outcome = ingest(recording.file())
    expect("samples", outcome.samples(), 2)
    expect("mapped", outcome.query("SELECT path, samples FROM dso WHERE path LIKE '%late.so'"),
           [("/opt/example/late.so", 1)])
    expect("unmapped_code", outcome.loss("unmapped_code")[0], 1)


def trial_d2_replaced():
    """A map over another holds from its time on, also where both were written after the samples."""
    recording = small(0)
    for step in range(4):
        access(recording, 0, ip=0x700010, time=FIRST_NS + 10 * step)
    recording.mmap2(100, 0x700000, 0x2000, "/opt/example/new.so", time=FIRST_NS + 15)
    recording.mmap2(100, 0x700000, 0x1000, "/opt/example/old.so", time=FIRST_NS - 5)
    expect("mapped", ingest(recording.file()).query("SELECT path, samples FROM dso WHERE path LIKE '%.so' ORDER BY 1"),
           [("/opt/example/new.so", 2), ("/opt/example/old.so", 2)])


def trial_d2_clock_jump():
    """Times of 1, of 0 and of the far future, and a pid and tid of -1: kept, counted, harmless to the others."""
    wanted = ingest(small(200).file()).query("SELECT line, verdict FROM line_finding")
    recording = small(200)
    for number in range(3):
        recording.record(perfdata.FINISHED_ROUND)
    for changes in ({"time": 1}, {"time": 0}, {"time": 2 ** 63 - 1}, {"pid": 2 ** 32 - 1, "tid": 2 ** 32 - 1}):
        access(recording, 0, **changes)
    outcome = ingest(recording.file())
    expect("samples", outcome.samples(), 204)
    expect("times", outcome.query("SELECT min(time_ns), max(time_ns), sum(time_ns IS NULL) FROM sample"),
           [(1, 2 ** 63 - 1, 1)])
    expect("out_of_order", outcome.loss("out_of_order")[0], 2)
    expect("unattributed", outcome.loss("unattributed")[0], 1)
    expect("findings", outcome.query("SELECT line, verdict FROM line_finding"), wanted)


def trial_d3():
    """However much was lost, what is there is read; absurd numbers do not overflow."""
    for lost in (52, 2 ** 32, 2 ** 63, 2 ** 64 - 1):
        recording = small()
        for _ in range(3):
            recording.kernel(perfdata.LOST, recording.pack("QQ", 11, lost), cpu=1, time=FIRST_NS + 5)
            recording.kernel(perfdata.LOST_SAMPLES, recording.pack("Q", lost), cpu=1, time=FIRST_NS + 5)
        outcome = ingest(recording.file())
        expect("samples", outcome.samples(), 40)
        for kind in ("lost_records", "lost_samples"):
            expect(kind, outcome.loss(kind)[0], min(3 * lost, 2 ** 63 - 1))
        expect("top-lines", outcome.fsquery("top-lines")[0], 0)


def lossy():
    """LOST on two CPUs, truncated and partial AUX data, collisions, throttling."""
    recording = recording_of(b"".join(spe_record(tick=1000 + 10 * number) for number in range(40)))
    recording.kernel(perfdata.LOST, recording.pack("QQ", 1, 12345), cpu=0, time=FIRST_NS)
    recording.kernel(perfdata.LOST, recording.pack("QQ", 1, 5), cpu=3, time=FIRST_NS)
    recording.kernel(perfdata.LOST_SAMPLES, recording.pack("Q", 77), cpu=3, time=FIRST_NS)
    for flags in (1, 1, 4, 8):
        recording.kernel(perfdata.AUX, recording.pack("QQQ", 0, 64, flags), cpu=0, time=FIRST_NS + 2000)
    recording.kernel(perfdata.THROTTLE, recording.pack("QQQ", FIRST_NS, 1, 1), cpu=2, time=FIRST_NS)
    return recording


def trial_d6():
    """Loss is counted by kind and CPU."""
    outcome = ingest(lossy().file())
    for kind, scope, count in (("lost_records", "cpu 0", 12345), ("lost_records", "cpu 3", 5), ("lost_samples", "cpu 3", 77),
                               ("aux_truncated", "cpu 0", 2), ("aux_partial", "cpu 0", 1), ("aux_collision", "cpu 0", 1),
                               ("throttled", "cpu 2", 1)):
        expect(f"{kind} of {scope}", outcome.loss(kind, scope)[0], count)
        expect(f"{kind} in health", {row[0] for row in outcome.health(kind)}, {"loss"})


def trial_d5():
    """Loss is said with every answer, and before anything is asked."""
    outcome = ingest(lossy().file())
    assert "12350" in outcome.out and "lost_records" in outcome.out, outcome.out
    for command in ("top-lines", "pairs", "mem-bound"):
        _, _, err = outcome.fsquery(command)
        assert "lost" in err, f"{command}: {err}"


def trial_d11():
    """The two losses of AUX data have two names: the hardware's buffer was full, or perf dropped a buffer."""
    outcome = ingest(lossy().file())
    expect("names", outcome.query("SELECT kind, sum(count) FROM loss WHERE kind IN ('aux_truncated', 'lost_records') "
                                  "GROUP BY 1 ORDER BY 1"), [("aux_truncated", 2), ("lost_records", 12350)])
    texts = {row[4].split(".")[0] for kind in ("aux_truncated", "lost_records") for row in outcome.health(kind)}
    expect("sentences", len(texts), 2)


def trial_d10():
    """A snapshot buffer that begins in the middle of a packet: found again, the skipped bytes counted."""
    data = b"".join(spe_record(tick=1000 + 10 * number) for number in range(40))
    for turn in (5, 17, 33, 63):
        outcome = ingest(recording_of(data[turn:] + data[:turn]).file(), (0, 3))
        rows = outcome.query("SELECT count(*) FROM samples WHERE ip IS NOT NULL AND latency = 300")[0][0]
        assert 38 <= rows <= 39, f"{rows} whole records after a turn by {turn} bytes"
        lost = [outcome.loss(kind) for kind in ("spe_resync", "spe_truncated")]
        assert 0 < sum(row[1] for row in lost if row) <= 64, lost


def trial_unordered_switches():
    """Switches written out of order attribute by time."""
    data = b"".join(spe_record(tick=number * 10, context=None) for number in range(10, 50))
    recording = recording_of(data, context=False)
    for time, tid in ((300, 102), (100, 101), (400, 101), (200, 102)):
        recording.kernel(perfdata.SWITCH, b"", cpu=0, pid=100, tid=tid, time=time)
    outcome = ingest(recording.file())
    expect("samples", outcome.samples(), 40)
    expect("threads", outcome.query("SELECT tid, samples FROM thread WHERE samples > 0 ORDER BY 1"),
           [(101, 20), (102, 20)])


def trial_no_times():
    """Events without time stamps, and samples with time 0: NULL, no overlap is claimed."""
    kind = perfdata.MEMORY & ~perfdata.sample_type("time")
    recording = small(0, [Event(ids=[1], sample_type=kind)])
    for number in range(40):
        access(recording, number, id=1)
    outcome = ingest(recording.file())
    expect("times", outcome.query("SELECT count(time_ns), count(*) FROM sample"), [(0, 40)])
    expect("span", outcome.query("SELECT first_ns, last_ns FROM trace"), [(None, None)])
    expect("code", outcome.query("SELECT sum(samples) FROM code WHERE dso_id IS NOT NULL AND ip >= %d" % CODE), [(40,)])


if __name__ == "__main__":
    run(sys.modules[__name__])
