# SPDX-License-Identifier: GPL-2.0-only
"""Bounds: time grows with the file and no faster, and memory stays below 256 MiB, whatever fills the file.

Each trial imports a recording at half its size and at its whole size and compares the CPU time of the
two. FULL=1 makes the sizes ten times those of every day; that takes ten minutes. What was measured
is printed. What a file tells is all kept: a million different threads, forks, code addresses or
symbols take up to half a KiB each, which is the one thing that passes 256 MiB.
"""
import os
import random
import struct
import sys

import compressed
import perfdata
from perfdata import Event, sample_type
from spe import recording_of
from trial import CODE, LINE, LOAD_HITM, SANITIZED, STORE_L1, expect, ingest, run, small

FULL = bool(os.environ.get("FULL"))
MARKS = (0x11223301, 0x11223302, 0x11223303)  # stand for what differs between records
MILLION, MIB = 1_000_000, 1 << 20
NOISE = 0.5  # seconds that are too few to compare


def write(make, count):
    """In a process of its own, whose memory would else pass for that of the next import."""
    process = os.fork()
    if not process:
        with open("input.data", "wb") as file:
            file.write(make(count))
        os._exit(0)
    expect("making the input", os.waitpid(process, 0)[1], 0)


def bounded(make, full, exits=0, check=None, most_mib=512 if FULL else 256):
    """make(count) gives the content; twice of it may take at most three times as long."""
    count, times = full if FULL else full // 10, []
    for some in (count // 2, count):
        write(make, some)
        outcome = ingest(None, exits, most_mib=most_mib)
        print(f"{make.__qualname__.replace('.<locals>.', ' ')} {some}: {outcome.took:.2f} s, {outcome.mib} MiB")
        if check:
            check(outcome, some)
        times.append(outcome.took)
    assert SANITIZED or times[1] < NOISE or times[1] < 3 * times[0], f"not linear: {times}"


def repeat(recording, count, add, *values):
    """`count` records as add(recording, *MARKS) makes one, with values[i](number) in place of MARKS[i]."""
    start = len(recording.records)
    add(recording, *MARKS[:len(values)])
    record = recording.records[start:]
    del recording.records[start:]
    places = [(place, value) for mark, value in zip(MARKS, values)
              for place in range(len(record)) if record[place:place + 4] == struct.pack("<I", mark)]
    assert len(places) >= len(values)
    out = []
    for number in range(count):
        for place, value in places:
            struct.pack_into("<I", record, place, value(number))
        out.append(bytes(record))
    recording.records += b"".join(out)
    return recording


def up(number):
    return number + 1


def down(number):
    return 2 ** 31 - number


def mixed(number):
    return number * 2654435761 % 2 ** 31


def word(number):
    """Four letters or so, others for each number."""
    return int.from_bytes(bytes(48 + (number >> 6 * digit & 63) for digit in range(4)), "little")


NAME = struct.pack("<I", MARKS[0]).decode("latin-1").encode("latin-1")


def trial_maps():
    def in_order(count):
        return repeat(small(2), count, lambda to, start, time: to.mmap2(100, start, 0x1000, "/opt/example/lib.so", time=time),
                      lambda number: 0x10000000 + 0x2000 * number, up).file()

    def backwards(count):
        return repeat(small(2), count, lambda to, start, time: to.mmap2(100, start, 0x1000, "/opt/example/lib.so", time=time),
                      lambda number: 0x10000000 + 0x2000 * number, down).file()

    def one_over_another(count):
        return repeat(small(2), count, lambda to, start, time: to.mmap2(100, start, 1 << 30, "/opt/example/lib.so", time=time),
                      lambda number: 0x10000000 + 0x1000 * number, up).file()

    def in_place(count):
        return repeat(small(2), count, lambda to, time: to.mmap2(100, 0x10000000, 0x1000, "/opt/example/lib.so", time=time),
                      mixed).file()

    def of_files(count):
        return repeat(small(2), count, lambda to, name, start: to.mmap2(100, start, 0x1000, b"/opt/" + NAME),
                      word, lambda number: 0x10000000 + 0x2000 * number).file()

    def of_processes(count):
        return repeat(small(2), count, lambda to, pid: to.mmap2(pid, 0x10000000, 0x1000, "/opt/example/lib.so"), up).file()
    for make in (in_order, backwards, one_over_another, in_place, of_files, of_processes):
        bounded(make, 60000, (0, 3))


def trial_names():
    """Names of one thread, in any order of time, and as many names."""
    def in_order(count):
        return repeat(small(2), count, lambda to, time: to.comm(100, 101, "name", time=time), up).file()

    def backwards(count):
        return repeat(small(2), count, lambda to, time: to.comm(100, 101, "name", time=time), down).file()

    def mixed_up(count):
        return repeat(small(2), count, lambda to, name, time: to.comm(100, 101, NAME, time=time), word, mixed).file()
    for make in (in_order, backwards, mixed_up):
        bounded(make, MILLION)


def trial_events():
    def attrs(count):
        recording = small(0, [Event(name=f"event{number}", ids=[number + 1]) for number in range(count)])
        return repeat(recording, count, lambda to, id: to.sample(ip=1, pid=100, tid=101, time=1, id=id), up).file()

    def ids(count):
        recording = small(0, [Event(ids=list(range(1, 10 * count + 1)))])
        return repeat(recording, 10 * count, lambda to, id: to.sample(ip=1, pid=100, tid=101, time=1, id=id), up).file()

    def as_stream(count):
        recording = small(0, [Event(ids=[number + 1]) for number in range(count)])
        recording.features = {}
        return repeat(recording, count, lambda to, id: to.sample(ip=1, pid=100, tid=101, time=1, id=id), up).stream()
    for make in (attrs, ids, as_stream):
        bounded(make, 10000, 0, lambda outcome, count: expect("samples", outcome.samples() in (count, 10 * count), True))


def sampled(count, *values, **fixed):
    """Samples with fields given by name = mark."""
    usual = {"ip": CODE, "pid": 100, "tid": 101, "time": 1000, "addr": LINE, "id": 11, "data_src": LOAD_HITM}

    def add(to, *marks):
        to.sample(**{**usual, **dict(zip(fixed["fields"], marks))})
    return repeat(small(0), count, add, *values)


def all_sampled(outcome, count):
    expect("samples", outcome.samples(), count)


def trial_samples():
    def threads(count):
        return sampled(count, up, lambda number: 0x10000000 + 64 * number, fields=["tid", "addr"]).file()

    def threads_on_a_line(count):
        return sampled(count, up, fields=["tid"]).file()

    def processes(count):
        return sampled(count, up, up, fields=["tid", "pid"]).file()

    def codes(count):
        return sampled(count, lambda number: 0x400000 + 4 * number, fields=["ip"]).file()

    def lines(count):
        return sampled(count, lambda number: 0x10000000 + 64 * number, fields=["addr"]).file()

    def times(count):
        return sampled(count, down, fields=["time"]).file()

    def everything(count):
        return sampled(count, mixed, lambda number: mixed(number) & ~63, up, fields=["ip", "addr", "tid"]).file()
    for make in (threads, threads_on_a_line, processes, codes, lines, times, everything):
        bounded(make, MILLION, 0, all_sampled)


def trial_shared_lines():
    """As many contended lines: two threads each, one of them writes."""
    def shared(count):
        recording = sampled(count // 2, lambda number: 0x10000000 + 64 * number, up, fields=["addr", "time"])
        usual = {"ip": CODE + 16, "pid": 100, "tid": 102, "id": 21, "data_src": STORE_L1}
        return repeat(recording, count // 2, lambda to, addr, time: to.sample(event=1, addr=addr, time=time, **usual),
                      lambda number: 0x10000008 + 64 * number, up).file()
    bounded(shared, MILLION, 0, all_sampled)


def trial_chains():
    """Callers, each other ones: 8,000 in a sample."""
    depth = 8000
    kind = sample_type("ip", "tid", "time", "id", "chain")

    def chains_of(count, step):
        recording = small(0, [Event(ids=[1], sample_type=kind)])
        for number in range(count // depth):
            first = 0x10000000 + number * step
            chain = recording.chain(*range(first, first + 16 * depth, 16))
            recording.sample(ip=CODE, pid=100, tid=101, time=number + 1, id=1, chain=chain)
        return recording.file()

    def distinct(count):
        return chains_of(count, 16 * depth)

    def shifted(count):
        return chains_of(count, 16)
    for make in (distinct, shifted):
        bounded(make, MILLION, 0, lambda outcome, count: expect("samples", outcome.samples(), count // depth))


def trial_tasks():
    def forks(count):
        return repeat(small(2), count, lambda to, tid, time: to.fork(100, tid, 100, time), up, up).file()

    def families(count):
        return repeat(small(2), count, lambda to, child, parent: to.fork(child, child, parent, 5), up, lambda number: number).file()

    def lives(count):
        recording = small(2)
        for kind in (perfdata.FORK, perfdata.EXIT):
            repeat(recording, count // 2, lambda to, time, kind=kind: to.fork(100, 101, 100, time, kind=kind), mixed)
        return recording.file()
    for make in (forks, families, lives):
        bounded(make, MILLION)


def trial_records():
    """A million of each further kind, with what a table may be made of."""
    kinds = {
        perfdata.LOST: lambda to, mark: to.pack("QQ", mark, 1),
        perfdata.THROTTLE: lambda to, mark: to.pack("QQQ", mark, mark, mark),
        perfdata.AUX: lambda to, mark: to.pack("QQQ", mark, 64, 1),
        perfdata.ITRACE_START: lambda to, mark: to.pack("II", 100, mark),
        perfdata.LOST_SAMPLES: lambda to, mark: to.pack("Q", mark),
        perfdata.SWITCH_CPU_WIDE: lambda to, mark: to.pack("II", 100, mark),
        perfdata.NAMESPACES: lambda to, mark: to.pack("IIQQQ", 100, mark, 1, mark, mark),
        perfdata.KSYMBOL: lambda to, mark: to.pack("QIHH", mark, 64, 1, 0) + NAME + bytes(4),
        perfdata.BPF_EVENT: lambda to, mark: to.pack("HHIQ", 1, 0, mark, mark),
        perfdata.CGROUP: lambda to, mark: to.pack("Q", mark) + NAME + bytes(4),
        perfdata.TEXT_POKE: lambda to, mark: to.pack("QHH", mark, 2, 2) + bytes(12),
    }
    for kind, payload in kinds.items():
        def of_kind(count, kind=kind, payload=payload):
            return repeat(small(2), count, lambda to, mark, time: to.kernel(kind, payload(to, mark), time=time), word, up).file()
        of_kind.__qualname__ = f"record type {kind}"
        bounded(of_kind, MILLION, (0, 3))


def trial_user_records():
    """The same of perf's own."""
    kinds = {
        perfdata.HEADER_BUILD_ID: lambda to, mark: to.pack("i", 100) + bytes(24) + b"/" + NAME + bytes(3),
        perfdata.ID_INDEX: lambda to, mark: to.pack("QQQQQ", 1, mark, 0, 1, mark),
        perfdata.THREAD_MAP: lambda to, mark: to.pack("QQ", 1, mark) + NAME + bytes(12),
        perfdata.STAT: lambda to, mark: to.pack("QIIQQQ", mark, 1, mark, mark, mark, mark),
        perfdata.EVENT_UPDATE: lambda to, mark: to.pack("QQ", 1, mark) + NAME + bytes(4),
        perfdata.AUXTRACE_ERROR: lambda to, mark: to.pack("IIIIIIQQ", 1, mark, 0, 100, mark, 0, mark, 1) + bytes(64),
        200: lambda to, mark: to.pack("Q", mark),
    }
    for kind, payload in kinds.items():
        def of_kind(count, kind=kind, payload=payload):
            return repeat(small(2), count, lambda to, mark: to.record(kind, payload(to, mark)), word).file()
        of_kind.__qualname__ = f"record type {kind}"
        bounded(of_kind, MILLION, (0, 3))

    def types(count):
        return repeat(small(2), count, lambda to, kind: to.record(kind), lambda number: 1000 + number).file()
    bounded(types, MILLION, (0, 3))


def trial_counters():
    """Values of as many counters, read in groups."""
    kind, group = sample_type("ip", "tid", "time", "id", "read"), 4 | 8  # PERF_FORMAT_ID, _GROUP
    size = 4000

    def counters(count):
        events = [Event(ids=list(range(1, count + 1)), sample_type=kind, read_format=group)]
        recording = small(0, events)
        for first in range(0, count, size):
            read = recording.pack("Q", size) + b"".join(recording.pack("QQ", 7, first + number) for number in range(size))
            recording.sample(ip=CODE, pid=100, tid=101, time=first + 1, id=1, read=read)
        return recording.file()
    bounded(counters, 100000)


def trial_aux():
    """AUX data that is none: the byte that begins no packet, padding, and anything."""
    def ones(count):
        return recording_of(b"\xff" * count).file()

    def padding(count):
        return recording_of(bytes(count)).file()

    def anything(count):
        return recording_of(random.Random(7).randbytes(count)).file()
    for make in (ones, padding, anything):
        bounded(make, 64 * MIB, (0, 3))


def trial_noise():
    """Garbage where the records are, behind them, and instead of everything."""
    def in_data(count):
        recording = small(20)
        recording.records += random.Random(8).randbytes(count & ~7)
        return recording.file()

    def ones_in_data(count):
        recording = small(20)
        recording.records += b"\xff" * (count & ~7)
        return recording.file()

    def behind(count):
        return small(20).file() + random.Random(9).randbytes(count)

    def alone(count):
        return b"PERFILE2" + random.Random(10).randbytes(count)

    def headers(count):
        """Every eighth byte begins what could be a sample, and none is one."""
        recording = small(20)
        recording.records += struct.pack("<IHH", perfdata.SAMPLE, 2, 0xfff8) * (count // 8)
        return recording.file()
    for make in (in_data, ones_in_data, behind, headers):
        bounded(make, 64 * MIB, (0, 3))
    bounded(alone, 64 * MIB, (2, 3))


def trial_bomb():
    """What a few KiB grow to, when unpacked."""
    def bomb(count):
        return compressed.bomb(bytes(8), count // 8)
    bounded(bomb, 512 * MIB, 3)


if __name__ == "__main__":
    run(sys.modules[__name__])
