# SPDX-License-Identifier: GPL-2.0-only
"""Section E: Arm SPE, from AUX data to rows. The packets themselves are unit tests in ingest/spe."""
import os
import struct
import sys

import perfdata
from perfdata import Event
from trial import FIRST_NS, LINE, expect, ingest, run

SPE_TYPE, N1 = 8, "0x00000000410fd0c0"
PC, PHYSICAL = 0x400010, 0x80404080


def spe_record(tick=1000, operation=0, address=LINE, pc=PC, events=0x1e, source=0, context=101, latency=300):
    """64 bytes as hardware writes them; without what is None."""
    out = struct.pack("<BQ", 0xb0, pc) + bytes((0x49, operation))
    out += struct.pack("<BI", 0x62, events) if events >> 16 else struct.pack("<BH", 0x52, events)
    out += struct.pack("<BHBH", 0x99, 20, 0x98, latency)
    out += struct.pack("<BQBQ", 0xb2, address, 0xb3, PHYSICAL)
    if source is not None:
        out += bytes((0x43, source))
    if context is not None:
        out += struct.pack("<BI", 0x64, context)
    end = b"\x01" if tick is None else struct.pack("<BQ", 0x71, tick)
    return out + bytes(64 - len(out) - len(end)) + end


def recording_of(data, info=None, context=True, cpuid=N1, events=None, cpu=0, clock=(0, 1, 0)):
    """AUX data of one CPU with what perf puts around it. A tick of the timer is a ns unless said otherwise."""
    kind = perfdata.sample_type("tid", "time", "id", "cpu")
    recording = perfdata.Recording(events or [
        Event(name="arm_spe_0/ts_enable=1,pa_enable=1,load_filter=1,store_filter=1/", type=SPE_TYPE,
              config=1 | 2 | 3 << 33, ids=[1], sample_type=kind, sample_period=1024),
        Event(name="dummy:u", type=1, config=9, ids=[2], sample_type=kind)])
    if clock:
        recording.record(perfdata.TIME_CONV, recording.pack("QQQ", *clock))
    recording.record(perfdata.AUXTRACE_INFO, recording.pack("II", 4, 0) +
                     (recording.pack("QQ", SPE_TYPE, 1) if info is None else info))
    recording.mmap2(100, 0x400000, 0x3000, "/opt/example/worker")
    for tid in (100, 101, 102):
        recording.comm(100, tid, "worker")
    if context is not True and context:
        recording.kernel(perfdata.ITRACE_START, recording.pack("II", 100, context), cpu=cpu, pid=100, tid=context)
    if data is not None:
        recording.kernel(perfdata.AUX, recording.pack("QQQ", 0, len(data), 0), cpu=cpu, time=FIRST_NS)
        recording.aux_data(data, cpu=cpu)
    for number, text in ((perfdata.ARCH, "aarch64"), (perfdata.CPUID, cpuid), (perfdata.HOSTNAME, "arm")):
        recording.feature(number, recording.string(text))
    recording.feature(perfdata.PMU_MAPPINGS, recording.pack("II", 1, SPE_TYPE) + recording.string("arm_spe_0"))
    recording.describe_events()
    return recording


def two_threads(**changes):
    """Thread 101 stores to offset 0, thread 102 loads offset 8 of one line."""
    return b"".join(spe_record(tick=1000 + 10 * number, operation=number % 2, address=LINE + 8 * (1 - number % 2),
                               context=102 - number % 2, **changes) for number in range(200))


def trial_e1():
    """No data source: no HITM is claimed, the line is found by its two threads and its writer, and the rule is said."""
    outcome = ingest(recording_of(two_threads(source=None)).file())
    expect("samples", outcome.samples(), 200)
    row, = outcome.query("SELECT threads, stores, hitm_local, hitm_remote FROM top_lines")
    expect("threads, stores, HITM", row, (2, 100, None, None))
    status, out, err = outcome.fsquery("top-lines", "--all", "--columns", "line,verdict,evidence,reason")
    assert status == 0 and f"0x{LINE:x}" in out, out + err


ALTRA = bytes.fromhex("4900 521e03 995101 98f501 b2509ed7f13e40ff00 9a0100 b38050001080000000 430c 0000"
                      "71e803000000000000 b088b6cb8f22d4ffc0")


def trial_e2():
    """The record of the report, byte by byte: peer cluster, addresses, latencies; in one row."""
    data = ALTRA[45:] + ALTRA[:45]  # as hardware writes it: PC first, time stamp last
    expect("size", len(data), 54)
    outcome = ingest(recording_of(data + bytes(10), cpu=1, context=101).file())
    row, = outcome.query("SELECT addr, latency, raw & 0xffffffff, ((raw >> 32) & 0x1ffff) - 1, (extra & 0x1ffff) - 1, cpu FROM sample")
    expect("row", row, (0xffff403ef1d79e50 - 2 ** 64, 0x1f5, 0x31e, 0x0c, 0x151, 1))
    expect("code", outcome.query("SELECT ip FROM code"), [(0xffffd4228fcbb688 - 2 ** 64,)])
    expect("source", outcome.value("SELECT source FROM samples"), "peer_local")


def trial_e3():
    """The top byte is tag or exception level, not address: tagged pointers meet on one line."""
    data = b"".join(spe_record(tick=1000 + number, address=LINE | tag << 56, operation=number % 2, context=101 + number % 2)
                    for number, tag in enumerate((0x00, 0xff, 0xb4, 0x00, 0x40, 0x01) * 10))
    outcome = ingest(recording_of(data).file())
    expect("lines", outcome.query("SELECT addr, count(*) FROM sample GROUP BY 1"), [(LINE, 60)])
    kernel = spe_record(address=0x00ff403ef1d79e50, pc=0xc0ffd4228fcbb688)
    outcome = ingest(recording_of(kernel).file())
    expect("kernel", outcome.query("SELECT printf('%x', addr), printf('%x', code.ip) FROM sample JOIN code ON code.id = code_id"),
           [("ffff403ef1d79e50", "ffffd4228fcbb688")])


def version_2(*cpus, count=None, header=4, events=0, parameters=4):
    """Of each CPU its number, its MIDR, and its PMU's type where that is another than the header's."""
    out = struct.pack("<QQQQ", 2, header, SPE_TYPE, len(cpus) if count is None else count) + bytes(8 * (header - 4)
                                                                                                  if header < 16 else 0)
    for cpu, midr, *pmu in cpus:
        words = (midr, *(pmu or (SPE_TYPE,)), 256, events, 0x1111, 0x2222)[:parameters]
        out += struct.pack(f"<QQQ{len(words)}Q", 0x1010101010101010, cpu, len(words), *words)
    return out


def trial_e5():
    """Metadata of version 1 and 2: the second knows each CPU; absurd counts are refused alone."""
    data = two_threads(source=0x0c)
    for info in (None, version_2((0, 0x410fd0c0), (1, 0x410fd0c0))):
        outcome = ingest(recording_of(data, info).file())
        expect("samples", outcome.samples(), 200)
        expect("source", outcome.query("SELECT DISTINCT source FROM samples WHERE op = 'load'"), [("peer_local",)])
    hip12 = ingest(recording_of(two_threads(source=5), version_2((0, 0x480fd060), (1, 0x410fd0c0))).file())
    expect("HIP12 on CPU 0", hip12.query("SELECT DISTINCT source FROM samples WHERE op = 'load'"), [("hitm_local",)])
    for info in (version_2(count=2 ** 60), version_2((0, 0x410fd0c0), count=2 ** 61), version_2(header=2 ** 60),
                 version_2()[:24], b"", struct.pack("<Q", SPE_TYPE), version_2((0, 0x410fd0c0))[:-8]):
        outcome = ingest(recording_of(data, info).file(), (0, 3))
        expect("samples", outcome.samples(), 200)
    outcome = ingest(recording_of(data, version_2((1, 0x410fd0c0))).file(), (0, 3))
    expect("samples of a CPU without an entry", outcome.samples(), 200)


def trial_metadata_version_1():
    """One MIDR for all CPUs, that of the header; without it the code stays a code."""
    for cpuid, codes, midr in (("0x00000000480fd060", {5: "hitm_local", 7: "hitm_remote", 13: "io"}, 0x480fd060),
                               (N1, {5: "unknown", 0xc: "peer_local"}, 0x410fd0c0),
                               ("0x00000000510f0010", {5: "l1_miss"}, 0x510f0010),  # a core without a table: by events
                               ("", {5: "l1_miss"}, None), ("GenuineIntel,6,143,8", {5: "l1_miss"}, None)):
        for code, source in codes.items():
            recording = recording_of(two_threads(source=code), cpuid=cpuid)
            recording.feature(perfdata.NRCPUS, recording.pack("II", 2, 2))
            recording.feature(perfdata.CPU_TOPOLOGY, recording.pack("I", 1) + recording.string("0-1") +
                              recording.pack("I", 2) + recording.string("0") + recording.string("1"))
            outcome = ingest(recording.file())
            expect(f"{cpuid or 'no MIDR'}, code {code}", outcome.query(
                "SELECT DISTINCT source, data_source_code FROM samples WHERE op = 'load'"), [(source, code)])
            expect("cpu.midr", outcome.query("SELECT cpu, midr FROM cpu"), [(0, midr), (1, midr)])
    outcome = ingest(recording_of(two_threads(source=5, events=2), cpuid="").file())  # events that do not tell
    expect("neither table nor events", outcome.query(
        "SELECT source, certainty, data_source_code FROM samples WHERE op = 'load' LIMIT 1"), [("unknown", "none", 5)])


def trial_metadata_version_2():
    """Entries of other sizes, twice for a CPU, or not for every CPU."""
    data, hip12, n1 = two_threads(source=5), 0x480fd060, 0x410fd0c0
    kind = perfdata.sample_type("tid", "time", "id", "cpu")
    events = [Event(name="cycles", type=0, config=0, ids=[3], sample_type=kind),
              Event(name="arm_spe_0//", type=SPE_TYPE, config=1, ids=[1], sample_type=kind),
              Event(name="arm_spe_1//", type=SPE_TYPE + 1, config=1, ids=[2], sample_type=kind)]
    for what, info, source, number in (
            ("larger entries and header", version_2((0, hip12), (1, n1), parameters=6, header=6), "hitm_local", 0),
            ("entries of a MIDR alone", version_2((1, n1), (0, hip12), parameters=1), "hitm_local", 0),
            ("entries of nothing", version_2((0, hip12), parameters=0), "l1_miss", 0),
            ("the first of two for a CPU", version_2((0, hip12, SPE_TYPE + 1), (0, n1, SPE_TYPE)), "hitm_local", 1),
            ("a CPU without an entry", version_2((1, hip12), (2, hip12)), "hitm_local", 0),
            ("the same, of two kinds", version_2((1, hip12), (2, n1)), "l1_miss", 0),
            ("the same, one without SPE", version_2((1, hip12), (2, n1, 2 ** 64 - 1)), "hitm_local", 0)):
        outcome = ingest(recording_of(data, info, events=events).file())  # its CPUID is that of N1
        expect(what, outcome.query("SELECT DISTINCT event, source FROM samples WHERE op = 'load'"),
               [(f"arm_spe_{number}//", source)])
        expect("roles", outcome.query("SELECT role = 'spe' FROM event ORDER BY idx"), [(0,), (1,), (1,)])


def trial_e6():
    """One record is one row, whatever events it has."""
    outcome = ingest(recording_of(spe_record(events=0x031e)).file())
    expect("rows", outcome.samples(), 1)
    expect("events", outcome.value("SELECT raw & 0xffffffff FROM sample"), 0x31e)
    expect("sum over lines", outcome.value("SELECT sum(samples) FROM line_total"), 1)


def trial_e7():
    """Each sample says where its thread comes from: packet, switch, AUX queue, or nowhere."""
    data = b"".join(spe_record(tick=1000 + number, context=None if number < 10 else 102) for number in range(20))
    outcome = ingest(recording_of(data, context=101).file())
    expect("attribution", outcome.query("SELECT attribution, tid, count(*) FROM samples GROUP BY 1, 2 ORDER BY 2"),
           [("itrace", 101, 10), ("context", 102, 10)])
    outcome = ingest(recording_of(data, context=False).file())
    expect("without a switch", outcome.query("SELECT attribution, tid, count(*) FROM samples GROUP BY 1, 2 ORDER BY 2"),
           [("none", None, 10), ("context", 102, 10)])


def trial_e9():
    """Garbage of 1 MiB: of 0xff it is bounded, counted and an alarm; of 0x00 it is padding."""
    outcome = ingest(recording_of(b"\xff" * (1 << 20)).file(), 3)
    expect("samples", outcome.samples(), 0)
    expect("spe_resync", outcome.loss("spe_resync")[1], 1 << 20)
    expect("severity", {row[0] for row in outcome.health("spe_resync")}, {"error"})
    outcome = ingest(recording_of(bytes(1 << 20)).file())
    expect("samples of zeros", outcome.samples(), 0)
    expect("errors of zeros", outcome.losses(), [])


def trial_e10():
    """Records without time stamps: times are NULL, and it is said."""
    data = b"".join(spe_record(tick=None, operation=number % 2, context=101 + number % 2) for number in range(40))
    outcome = ingest(recording_of(data).file())
    expect("times", outcome.query("SELECT count(*), count(time_ns) FROM sample"), [(40, 0)])
    expect("spe_no_time", outcome.loss("spe_no_time")[0], 40)
    status, _, err = outcome.fsquery("top-lines", "--time", "0,1")
    assert status in (0, 1) and err, (status, err)


def trial_e11():
    """Without TIME_CONV, or with a multiplier of 0, timer values do not become times."""
    for clock in (None, (10, 0, 0), (64, 1, 0), (2 ** 64 - 1, 1, 0)):
        outcome = ingest(recording_of(two_threads(), clock=clock).file())
        expect("times", outcome.query("SELECT count(*), count(time_ns) FROM sample"), [(200, 0)])
        expect("spe_no_time", outcome.loss("spe_no_time")[0], 200)


def trial_e14():
    """An SPE capture without a record lists what prevents SPE."""
    for data in (None, bytes(64)):
        outcome = ingest(recording_of(data).file())
        expect("samples", outcome.samples(), 0)
        text = " ".join(row[4] for row in outcome.health("not_measurable"))
        for word in ("virtual", "kpti", "ACPI", "arm_spe_pmu"):
            assert word in text, text


def trial_e17():
    """Two SPE PMUs (big.LITTLE): the event of each is an SPE event, the records of both are kept, each CPU's codes
    mean what its kind of core says. Metadata of version 1 knows one PMU: its name tells the other, and
    ID_INDEX where it counts."""
    kind = perfdata.sample_type("tid", "time", "id", "cpu")
    events = [Event(name="arm_spe_0//", type=SPE_TYPE, config=1, ids=[1], sample_type=kind),
              Event(name="arm_spe_1//", type=SPE_TYPE + 1, config=1, ids=[2], sample_type=kind),
              Event(name="dummy:u", type=1, config=9, ids=[3], sample_type=kind)]
    for info in (version_2((0, 0x410fd0c0), (1, 0x480fd060, SPE_TYPE + 1)), None):
        recording = recording_of(None, info, events=events)
        recording.feature(perfdata.PMU_MAPPINGS, recording.pack("II", 2, SPE_TYPE) + recording.string("arm_spe_0") +
                          recording.pack("I", SPE_TYPE + 1) + recording.string("arm_spe_1"))
        if not info:
            recording.record(perfdata.ID_INDEX, recording.pack("Q8q", 2, 1, 0, 0, -1, 2, 1, 1, -1))
        for cpu in (0, 1):
            recording.aux_data(two_threads(source=5), cpu=cpu, index=cpu)
        for content in (recording.file(), recording.stream()):
            outcome = ingest(content)
            expect("samples", outcome.samples(), 400)
            expect("events", outcome.query("SELECT name, role, samples FROM event ORDER BY idx"),
                   [("arm_spe_0//", "spe", 200), ("arm_spe_1//", "spe", 200), ("dummy:u", "tracking", 0)])
            expect("sources", outcome.query("SELECT DISTINCT cpu, source FROM samples WHERE op = 'load' ORDER BY cpu"),
                   [(0, "unknown"), (1, "hitm_local" if info else "unknown")])


def trial_e17_types():
    """The type of an SPE PMU is what the file says, not a number."""
    for number in (6, 9, 255, 2 ** 31):
        kind = perfdata.sample_type("tid", "time", "id", "cpu")
        events = [Event(name="dummy:u", type=1, config=9, ids=[2], sample_type=kind),
                  Event(name="arm_spe_0//", type=number, config=1, ids=[1], sample_type=kind)]
        outcome = ingest(recording_of(two_threads(), struct.pack("<QQ", number, 1), events=events).file())
        expect("event", outcome.query("SELECT name, samples FROM event WHERE role = 'spe'"), [("arm_spe_0//", 200)])


def trial_hitm_by_capability():
    """0 HITM only where the CPU would have said so: SPEv1.4 has an event for modified lines, older units have none."""
    data = two_threads(source=0x0c)  # from another core, whether modified it does not say
    for events, hitm, sentences in ((1 << 21, 0, 0), (1 << 23, None, 1), (0, None, 1)):
        info = version_2((0, 0x410fd8e0), events=events)
        for features in (True, False):
            recording = recording_of(data, info)
            if not features:
                recording.features.clear()
            outcome = ingest(recording.file())
            expect("what the CPU has", outcome.query("SELECT cpu, midr, spe_events FROM cpu"), [(0, 0x410fd8e0, events or None)])
            expect(f"hitm, events {events:#x}", outcome.query("SELECT hitm_local, peer_local FROM top_lines"), [(hitm, 200)])
            expect("that it is said", outcome.value(
                "SELECT count(*) FROM health WHERE name = 'not_measurable' AND scope = 'HITM'"), sentences)
    modified = two_threads(source=0x0c, events=0x1e | 1 << 21 | 1 << 23)
    outcome = ingest(recording_of(modified, version_2((0, 0x410fd8e0), events=1 << 21)).file())
    assert outcome.value("SELECT hitm_local FROM top_lines") > 0


def trial_snapshot():
    """A snapshot begins in the middle of a record, whose rest is no damage, and may look like packets."""
    whole = b"".join(spe_record(tick=1000 + number) for number in range(20))
    for cut in range(1, 64, 1 if os.environ.get("ALL") else 7):
        recording = recording_of(None, context=False)
        recording.aux_data(whole[cut:], offset=0x10000 + cut)
        outcome = ingest(recording.file())
        expect(f"whole records, cut at {cut}", outcome.value(
            f"SELECT count(*) FROM sample WHERE addr = {LINE} AND latency = 300 AND raw IS NOT NULL"
            " AND code_id IS NOT NULL AND time_ns > 1000"), 19)
        assert outcome.samples() in (19, 20)
        begins = outcome.loss("spe_begins")
        assert begins is None or begins[0] == 1 and begins[1] <= 64 - cut, f"cut at {cut}: {begins}"
        expect("not damage", outcome.loss("spe_resync"), None)
    recording = recording_of(None, context=False)
    recording.aux_data(whole)
    recording.aux_data(whole[1:], offset=len(whole))  # goes on where the first ended: then it is damage
    expect("damage", ingest(recording.file(), 3).loss("spe_resync")[:2], (1, 63))


def trial_snapshots():
    """Once a buffer was overwritten, each snapshot has all of it: what the one before had already counts once. Without
    the flag the same bytes are new data."""
    records = [spe_record(tick=1000 + number) for number in range(30)]
    snapshots = ((0, 0, 20), (0, 12, 28), (1, 0, 20), (0, 12, 28), (1, 10, 30))
    # a snapshot that begins inside a record has one whole record less
    for flags, rows, repeated in ((2, 28 + 30, 7 + 15 + 9), (0, 20 + 15 + 20 + 15 + 19, None)):
        recording = recording_of(None)
        for cpu, first, last in snapshots:
            recording.kernel(perfdata.AUX, recording.pack("QQQ", 0, 1 << 12, flags), cpu=cpu, time=1000)
            data = b"".join(records[first:last])[30 if first else 0:]
            recording.aux_data(data, offset=64 * first % 1280, cpu=cpu, index=cpu)
        outcome = ingest(recording.file(), (0, 3))
        whole = outcome.value(f"SELECT count(*) FROM sample WHERE addr = {LINE} AND code_id IS NOT NULL")
        losses = outcome.loss("spe_repeated")
        expect(f"rows, flags {flags}", (whole, losses and losses[0]), (rows, repeated))
        if flags:
            expect("each once", outcome.query("SELECT cpu, count(*), count(DISTINCT time_ns), max(time_ns) FROM sample "
                                              f"WHERE addr = {LINE} GROUP BY 1"), [(0, 28, 28, 1027), (1, 30, 30, 1029)])


def trial_per_thread():
    """A buffer of a thread: the thread is that of the buffer, where no packet tells; the CPU is not known."""
    data = b"".join(spe_record(tick=1000 + number, context=None, source=0x0c) for number in range(10))
    for info in (None, version_2((0, 0x410fd0c0), (1, 0x410fd0c0))):
        recording = recording_of(None, info)
        for tid in (101, 102):
            recording.aux_data(data, cpu=2 ** 32 - 1, tid=tid, index=tid - 101)
        outcome = ingest(recording.file())
        expect("threads", outcome.query("SELECT tid, pid, cpu, attribution, source, count(*) FROM samples GROUP BY 1, 2, 3, 4, 5"),
               [(tid, 100, None, "auxtrace", "peer_local", 10) for tid in (101, 102)])
    recording = recording_of(None, version_2((0, 0x410fd0c0), (1, 0x480fd060)))
    recording.aux_data(data, cpu=2 ** 32 - 1, tid=101)
    outcome = ingest(recording.file())
    # what the code means is not known then: the events tell that it missed L1, no more
    expect("CPUs that differ", outcome.query("SELECT DISTINCT (SELECT source FROM samples LIMIT 1), raw >> 32 & 0x1ffff FROM sample"),
           [("l1_miss", 0x0c + 1)])


def trial_switches():
    """Without packets the switches tell, of whichever kind: at each moment the thread that was switched in."""
    data = b"".join(spe_record(tick=1000 + 10 * number, context=None) for number in range(20))
    switched = perfdata.sample_type("tid", "time", "id", "cpu")
    for wide in (False, True):
        recording = recording_of(None)
        for time, tid, misc in ((1000, 101, 0), (1055, 101, 1 << 13), (1056, 102, 0), (1155, 102, 1 << 13)):
            payload = recording.pack("II", 100, 203 - tid) if wide else b""
            recording.kernel(perfdata.SWITCH_CPU_WIDE if wide else perfdata.SWITCH, payload, misc, pid=100, tid=tid,
                             time=time, cpu=0)
        recording.aux_data(data)
        outcome = ingest(recording.file())
        expected = [(101, "switch_cpu_wide", 10), (102, "switch_cpu_wide", 10)] if wide else \
            [(101, "switch", 6), (102, "switch", 10), (None, "none", 4)]  # only the wide ones tell who comes next
        expect(f"threads, wide {wide}", outcome.query(
            "SELECT tid, attribution, count(*) FROM samples GROUP BY 1, 2 ORDER BY min(time_ns)"), expected)


def trial_switch_within_a_tick():
    """A time stamp is rounded down to a tick: user code that seems to run before the switch to its thread is that
    thread's; the kernel's may be idle's."""
    kernel = 0xc0ffd4228fcbb688  # a PC of EL2
    for wide in (True, False):
        recording = recording_of(None, clock=(0, 10, 0))  # ticks of 10 ns
        if wide:  # idle before
            recording.kernel(perfdata.SWITCH_CPU_WIDE, recording.pack("II", 102, 102), 0, time=900, cpu=0)
        recording.kernel(perfdata.SWITCH, b"", 0, pid=100, tid=101, time=1006, cpu=0)
        recording.kernel(perfdata.SWITCH, b"", 1 << 13, pid=100, tid=101, time=1043, cpu=0)
        recording.aux_data(b"".join(spe_record(tick=tick, pc=pc, context=None) for tick in (99, 100, 101, 104)
                                    for pc in (PC, kernel)))
        idle = 0 if wide else None
        expect(f"threads, wide {wide}", ingest(recording.file()).query("SELECT time_ns, kernel, tid FROM samples"), [
            (990, 0, idle), (990, 1, idle), (1000, 0, 101), (1000, 1, idle), (1010, 0, 101), (1010, 1, 101),
            (1040, 0, 101), (1040, 1, 101)])


def trial_trust():
    """Without packets the most trusted source that knows counts, at each moment and CPU: a thread is followed when
    it migrates, and where its switches end ITRACE_START is not believed again."""
    data = b"".join(spe_record(tick=1000 + 10 * number, context=None) for number in range(10))
    last = b"".join(spe_record(tick=2000 + 10 * number, context=102 if number == 1 else 0 if number == 2 else None)
                    for number in range(4))
    recording = recording_of(None)
    for cpu in (0, 1, 2):  # 101 seemed to run everywhere when recording began
        recording.kernel(perfdata.ITRACE_START, recording.pack("II", 100, 101), cpu=cpu, time=900, pid=100, tid=101)
    for cpu, time, tid, misc in ((0, 1025, 102, 0), (0, 1055, 102, 1 << 13), (1, 1055, 102, 0), (1, 1995, 101, 0)):
        recording.kernel(perfdata.SWITCH, b"", misc, cpu=cpu, time=time, pid=100, tid=tid)
    for cpu in (0, 1, 2):
        recording.aux_data(data, cpu=cpu, index=cpu)
    recording.aux_data(last, offset=len(data), cpu=1, index=1)
    outcome = ingest(recording.file())
    expect("threads", outcome.query("SELECT cpu, tid, attribution, min(time_ns), max(time_ns), count(*) FROM samples "
                                    "GROUP BY 1, 2, 3 ORDER BY 1, 4"),
           [(0, 101, "itrace", 1000, 1020, 3), (0, 102, "switch", 1030, 1050, 3), (0, None, "none", 1060, 1090, 4),
            (1, 101, "itrace", 1000, 1050, 6), (1, 102, "switch", 1060, 1090, 4), (1, 101, "switch", 2000, 2030, 3),
            (1, 102, "context", 2010, 2010, 1), (2, 101, "itrace", 1000, 1090, 10)])


def trial_timeless():
    """No event has times, so switches help nobody, but the records have their own."""
    kind = perfdata.sample_type("tid", "id", "cpu")
    events = [Event(name="arm_spe_0//", type=SPE_TYPE, config=1, ids=[1], sample_type=kind)]
    data = b"".join(spe_record(tick=1000 + number, context=102 if number % 2 else None) for number in range(10))
    recording = recording_of(None, context=101, events=events)
    recording.kernel(perfdata.SWITCH, b"", pid=100, tid=101, cpu=0)
    recording.kernel(perfdata.AUX, recording.pack("QQQ", 0, len(data), 1), cpu=0)  # truncated, nobody knows when
    recording.aux_data(data)
    outcome = ingest(recording.file())
    expect("threads", outcome.query("SELECT tid, attribution, min(time_ns), count(*) FROM samples GROUP BY 1, 2 ORDER BY 1"),
           [(None, "none", 1000, 5), (102, "context", 1001, 5)])
    expect("truncated", outcome.loss("aux_truncated")[0], 1)
    expect("blind time", (outcome.loss("aux_blind"), outcome.query("SELECT * FROM loss_window")), (None, []))


def trial_aux_flags():
    """A buffer that was full or has gaps makes its CPU blind until its next record; collisions and snapshots do not.
    Each is counted by CPU and has its time."""
    recording = recording_of(None)
    for cpu, time, flags in ((0, 1100, 1), (0, 1150, 8), (0, 1200, 2), (1, 1300, 4), (1, 1400, 5 | 8 | 0x100), (2, 1500, 0)):
        recording.kernel(perfdata.AUX, recording.pack("QQQ", 0, 64, flags), cpu=cpu, time=time, pid=100, tid=101)
    for cpu, ticks in ((0, (1000, 1600)), (1, (1000,)), (2, (1000, 1900))):
        recording.aux_data(b"".join(spe_record(tick=tick) for tick in ticks), cpu=cpu, index=cpu)
    outcome = ingest(recording.file())
    expect("losses", outcome.query("SELECT kind, scope, count FROM loss WHERE kind LIKE 'aux%' ORDER BY 1, 2"),
           [("aux_blind", "cpu 0", 500), ("aux_blind", "cpu 1", 600), ("aux_collision", "cpu 0", 1),
            ("aux_collision", "cpu 1", 1), ("aux_partial", "cpu 1", 2), ("aux_truncated", "cpu 0", 1),
            ("aux_truncated", "cpu 1", 1)])
    expect("windows", outcome.query("SELECT kind, cpu, first_ns, last_ns, count FROM loss_window ORDER BY 1, 2, 3"),
           [("aux_blind", 0, 1100, 1600, 500), ("aux_blind", 1, 1300, 1900, 600), ("aux_collision", 0, 1150, 1150, 1),
            ("aux_collision", 1, 1400, 1400, 1), ("aux_partial", 1, 1300, 1400, 2), ("aux_truncated", 0, 1100, 1100, 1),
            ("aux_truncated", 1, 1400, 1400, 1)])


def trial_short_counter():
    """TIME_CONV of a counter narrower than 64 bits: what is below the start of the recording has wrapped."""
    data = b"".join(spe_record(tick=tick) for tick in (0xfffff0, 0xffffff, 0, 0x10))
    start, mask = 0x5fffff0, 0xffffff
    for short in (True, False):
        recording = recording_of(None, clock=None)
        recording.record(perfdata.TIME_CONV, recording.pack("QQQQQBB6x", 1, 4, 1000, start, mask, 1, short))
        recording.aux_data(data)
        outcome = ingest(recording.file())
        ticks = (0x5fffff0, 0x5ffffff, 0x6000000, 0x6000010) if short else (0xfffff0, 0xffffff, 0, 0x10)
        expect(f"times, short {short}", outcome.query("SELECT time_ns FROM sample ORDER BY rowid"),
               [(1000 + 2 * tick,) for tick in ticks])
    recording = recording_of(None, clock=None)
    recording.record(perfdata.TIME_CONV, recording.pack("QQQQQBB6x", 1, 4, 1000, start, mask, 0, 0))
    recording.aux_data(data)
    outcome = ingest(recording.file())
    expect("times without cap_user_time_zero", outcome.value("SELECT count(time_ns) FROM sample"), 0)


def trial_aux_in_samples():
    """AUX data inside samples, which no SPE driver writes, is counted as not decoded; the sample itself is read."""
    kind = perfdata.sample_type("ip", "tid", "time", "cpu", "id", "aux")
    recording = recording_of(None, events=[Event(name="cycles", type=0, config=0, ids=[1], sample_type=kind)])
    for number in range(3):
        recording.sample(ip=PC, pid=100, tid=101, time=1000, id=1, aux=recording.pack("Q", 64) + spe_record())
    recording.sample(ip=PC, pid=100, tid=101, time=1000, id=1, aux=recording.pack("Q", 0))
    outcome = ingest(recording.file())
    expect("samples", outcome.samples(), 4)
    expect("not decoded", outcome.loss("auxtrace_unsupported")[:2], (3, 3 * 64))


def trial_size_lies():
    """AUXTRACE sizes that lie, in a file and a stream; the data between two records is never read twice."""
    for size in (0, 8, 1 << 16, 1 << 40, 2 ** 64 - 8, 2 ** 64 - 1):
        recording = recording_of(None)
        offset = recording.next_offset()
        recording.record(perfdata.AUXTRACE, recording.pack("QQQIIII", size, 0, 0, 0, 2 ** 32 - 1, 0, 0), raw=two_threads())
        outcome = ingest(recording.file(), (0, 3))
        assert outcome.samples() <= 200, outcome.samples()
        assert outcome.losses() or size == 0, f"no word of size {size}"
        first = outcome.health("damaged")
        assert not first or first[0][3] >= offset, first


if __name__ == "__main__":
    run(sys.modules[__name__])
