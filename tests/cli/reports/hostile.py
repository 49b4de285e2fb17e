# SPDX-License-Identifier: GPL-2.0-only
"""Section C: contents made or damaged to hurt. Memory, time and offsets stay within bounds."""
import struct
import sys

import perfdata
from perfdata import Event
from trial import access, expect, ingest, run, small

HUGE = (2 ** 31, 2 ** 32 - 1, 2 ** 63)


def trial_c1():
    """Counts of 2^31 and more at the head of every feature, alone and before 4 KiB of content."""
    for number in range(1, 36):
        for count, tail in ((2 ** 31, b"\x01\0\0\0" * 1024), (2 ** 32 - 1, b"")):
            recording = small(4)
            recording.feature(number, recording.pack("IIQ", count, count, count) + tail)
            outcome = ingest(recording.file(), (0, 3))
            expect(f"samples beside feature {number}", outcome.samples(), 4)


def trial_c1_records():
    """The same counts in records of perf that begin with one."""
    for kind in (perfdata.ID_INDEX, perfdata.AUXTRACE_INFO, perfdata.THREAD_MAP, perfdata.CPU_MAP,
                 perfdata.STAT_CONFIG, perfdata.EVENT_UPDATE, perfdata.TIME_CONV, perfdata.AUXTRACE_ERROR,
                 perfdata.NAMESPACES, perfdata.TEXT_POKE, perfdata.HEADER_BUILD_ID, 84):
        for count in HUGE:
            recording = small(4)
            recording.record(kind, recording.pack("QQ", count, count) + bytes(64))
            expect(f"samples beside type {kind}", ingest(recording.file(), (0, 3)).samples(), 4)


def damaged_size(size, kind=perfdata.MMAP2, payload=b"\0" * 72):
    """A record in mid-stream whose header lies about its size, samples around it."""
    recording = small(20)
    offset = recording.next_offset()
    recording.record(kind, payload, size=size)
    for number in range(20, 40):
        access(recording, number)
    outcome = ingest(recording.file(), 3)
    expect(f"samples around size {size}", outcome.samples(), 40)
    return outcome, offset


def trial_c2():
    """Sizes that no record has: what lies between is one gap with its offset, the rest is read."""
    for size in (0, 4, 7):
        outcome, offset = damaged_size(size)
        expect(f"gap of size {size}", outcome.loss("bad_record"), (1, 80, offset))


def trial_c2_short_mmap2():
    """An MMAP2 of 40 bytes has no room for its fields; it is stepped over where its size says."""
    outcome, offset = damaged_size(40, payload=b"\0" * 32)
    found = outcome.loss("bad_record") or outcome.loss("short_record")
    expect("the record", found, (1, 40, offset))


def trial_c2_last():
    """The last record claims more than there is."""
    recording = small(20)
    offset = recording.next_offset()
    recording.record(perfdata.SAMPLE, bytes(72), size=0xfff8)
    outcome = ingest(recording.file(), 3)
    expect("samples", outcome.samples(), 20)
    expect("bytes", outcome.loss("truncated_file"), (1, 80, offset))


def trial_c2_short():
    """Every kernel and perf record cut to its header and to 8 bytes more is stepped over."""
    for kind in range(1, 88):
        if kind in (perfdata.AUXTRACE, perfdata.HEADER_TRACING_DATA):
            continue
        for payload in (b"", bytes(8)):
            recording = small(4)
            recording.record(kind, payload)
            for number in range(4, 8):
                access(recording, number)
            samples = ingest(recording.file(), (0, 3)).samples()
            expect(f"samples beside type {kind} of {8 + len(payload)}", samples, 8)


def trial_c5():
    """An attr in a stream that claims more bytes than its record has."""
    good = small()
    recording = small(events=[Event(ids=[1])])
    bad = recording.pack("II", 4, 128) + bytes(64)
    stream = bytearray(good.stream())
    stream[16:16] = recording.pack("IHH", perfdata.HEADER_ATTR, 0, 8 + len(bad)) + bad
    outcome = ingest(bytes(stream), 3)
    expect("samples", outcome.samples(), 40)
    expect("bad_attr", outcome.loss("bad_attr"), (1, 80, 16))


def trial_c6():
    """EVENT_DESC with 2^32 - 1 events."""
    recording = small()
    for content in (recording.pack("II", 2 ** 32 - 1, 144), recording.pack("II", 2 ** 32 - 1, 0),
                    recording.pack("III", 2 ** 32 - 1, 0, 2 ** 32 - 1)):
        recording.feature(perfdata.EVENT_DESC, content)
        outcome = ingest(recording.file(), 3)
        expect("samples", outcome.samples(), 40)
        expect("bad_feature", outcome.loss("bad_feature", "feature EVENT_DESC")[:2], (1, len(content)))


def trial_c7():
    """Build-ids of up to 255 bytes in a field of 20: the map is kept, the id is not, and it is said."""
    for size in (21, 0x7f, 0xff):
        recording = small(0)
        recording.mmap2(100, 0x500000, 0x1000, "/opt/example/lib.so", build_id=b"\xab" * 20, id_size=size)
        access(recording, 0, ip=0x500010)
        outcome = ingest(recording.file(), 3)
        expect("map", outcome.query("SELECT build_id, samples FROM dso WHERE path LIKE '%lib.so'"), [(None, 1)])
        expect("errors", outcome.losses(), ["bad_build_id"])


def trial_c7_sizes():
    """Ids of every length are kept to the byte; one of zeros or none is no id."""
    for build_id, wanted in ((b"\xab" * 20, "ab" * 20), (b"\xcd" * 16, "cd" * 16), (b"\xef" * 8, "ef" * 8),
                             (b"\x12" * 16 + bytes(4), "12" * 16 + "00" * 4), (bytes(20), None), (b"", None)):
        recording = small(0)
        recording.mmap2(100, 0x500000, 0x1000, "/opt/example/lib.so", build_id=build_id)
        access(recording, 0, ip=0x500010)
        expect("id", ingest(recording.file()).query("SELECT build_id FROM dso WHERE path LIKE '%lib.so'"), [(wanted,)])


def trial_c7_feature():
    """The BUILD_ID feature: old recorders kept no length and padded with zeros, later ones keep it."""
    for build_id, length, wanted in ((b"\xab" * 20, None, "ab" * 20), (b"\xcd" * 16, None, "cd" * 16),
                                     (b"\x12" * 16 + bytes(4), 20, "12" * 16 + "00" * 4), (bytes(20), None, None)):
        recording = small(1)
        body = recording.pack("i", 100) + build_id.ljust(20, b"\0") + struct.pack("<B3x", length or 0) + \
            recording.padded("/opt/example/worker")
        recording.feature(perfdata.BUILD_ID, recording.pack("IHH", 0, 2 | (1 << 15 if length else 0), 8 + len(body)) + body)
        for content in (recording.file(), recording.stream()):
            expect("id", ingest(content).query("SELECT build_id FROM dso WHERE path LIKE '%worker'"), [(wanted,)])


CPU_LISTS = ("", ",", "-", "0-", "3-1", "0-99999999999", "0,,1", "a", "18446744073709551616", "0-0-0", " 0")


def trial_c9():
    """Malformed lists of CPUs, in HYBRID_TOPOLOGY and wherever else one stands."""
    for text in CPU_LISTS:
        recording = small(4)
        recording.feature(perfdata.HYBRID_TOPOLOGY, recording.pack("I", 1) + recording.string("cpu_core") +
                          recording.string(text))
        recording.feature(perfdata.NUMA_TOPOLOGY, recording.pack("IIQQ", 1, 0, 1024, 512) + recording.string(text))
        recording.feature(perfdata.CPU_TOPOLOGY, (recording.pack("I", 1) + recording.string(text)) * 2)
        recording.feature(perfdata.CACHE, recording.pack("IIIIII", 1, 1, 1, 64, 64, 8) + recording.string("Data") +
                          recording.string("32K") + recording.string(text))
        expect(f"samples beside '{text}'", ingest(recording.file(), (0, 3)).samples(), 4)


def trial_c11():
    """Strings longer than their section: that feature is named, all others are read."""
    recording = small()
    for length in (0xfffffff0, 2 ** 31, 65, 3013029764):
        recording.feature(perfdata.HOSTNAME, recording.pack("I", length) + bytes(64))
        outcome = ingest(recording.file(), 3)
        expect("samples", outcome.samples(), 40)
        expect("bad_feature", outcome.loss("bad_feature"), outcome.loss("bad_feature", "feature HOSTNAME"))
        assert "(feature HOSTNAME)" in outcome.out, outcome.out
        expect("host name and release", outcome.query("SELECT hostname, os_release FROM trace"), [(None, "6.1.0")])


def trial_c11_strings():
    """Strings without a NUL, with one in the middle, of no length."""
    for body, wanted in ((b"A" * 64, "A" * 64), (b"host\0rest" + bytes(55), "host"), (bytes(64), "")):
        recording = small(4)
        recording.feature(perfdata.HOSTNAME, recording.pack("I", len(body)) + body)
        expect("host name", ingest(recording.file()).value("SELECT hostname FROM trace"), wanted)
    recording.feature(perfdata.HOSTNAME, recording.pack("I", 0))
    expect("samples", ingest(recording.file(), (0, 3)).samples(), 4)


def trial_c13():
    """Records of every size that straddle the reader's buffers."""
    recording = small(0)
    count = 0
    while len(recording.records) < 3 << 20:
        recording.record(200, bytes(8 * (count % 8000)))
        access(recording, count)
        count += 1
    outcome = ingest(recording.file())
    expect("samples", outcome.samples(), count)
    expect("others", outcome.loss("unknown_record")[0], count)


def trial_c14():
    """The shapes of a fuzzer's corpus: no room, no sense, nothing behind."""
    header = struct.Struct("<8s8Q32s")
    bits = struct.pack("<4Q", 0xffffffff, 0, 0, 0)
    shapes = [
        struct.pack("<8sQIHH", b"PERFILE2", 16, 10, 0, 8),
        header.pack(b"PERFILE2", 104, 6, 104, 160, 264, 0, 0, 0, bits),
        header.pack(b"PERFILE2", 104, 2 ** 48, 104, 160, 264, 0, 0, 0, bits),
        header.pack(b"PERFILE2", 104, 160, 104, 0, 104, 0x18, 0, 0, bits),
        header.pack(b"PERFILE2", 104, 160, 104, 0, 104, 0, 0, 0, bits),
        struct.pack(">8sQ", b"2ELIFREP", 16), struct.pack("<8sQ", b"2ELIFREP", 16), struct.pack("<8sQ", b"PERFILE2", 16),
    ]
    for shape in shapes:
        for tail in (b"", bytes(160), b"\xff" * 160):
            ingest(shape + tail, (0, 2, 3))


def trial_c14_no_events():
    """Records without a single event: nothing can be decoded, but what is there is counted. Where EVENT_DESC has
    the events that the header lacks, they are taken from it."""
    for described in (False, True):
        recording = small()
        if not described:
            del recording.features[perfdata.EVENT_DESC]
        content = bytearray(recording.file({"attrs.size": 0}))
        begin, end = perfdata.HEADER_SIZE, struct.unpack_from("<Q", content, 40)[0]
        content[begin:end] = bytes(end - begin)  # else the events would be found despite the header
        outcome = ingest(bytes(content), 3)
        expect("records", outcome.value("SELECT sample_records FROM trace"), 40)
        if described:
            expect("rows", outcome.value("SELECT count(*) FROM sample WHERE time_ns IS NOT NULL"), 40)
            expect("loss", outcome.loss("unknown_id"), None)
        else:
            expect("loss", outcome.loss("unknown_id")[0], 40)


def trial_c15():
    """What an assertion would rest on: maps that wrap, are empty, turned around or laid over each other."""
    recording = small(0)
    for start, length in ((2 ** 64 - 4096, 8192), (0x600000, 0), (0x600000, 2 ** 64 - 1), (0, 2 ** 64 - 1), (0x400000, 1)):
        recording.mmap2(100, start, length, "/opt/example/odd.so", time=5)
        recording.mmap(2 ** 32 - 1, start, length, "[kernel.kallsyms]_text", misc=1, time=5)
    recording.fork(100, 100, 100, 7)  # its own parent
    recording.fork(103, 103, 104, 8)
    recording.fork(104, 104, 103, 9)  # each the other's
    recording.fork(100, 101, 100, 10, kind=perfdata.EXIT)
    for number in range(4):
        access(recording, number)
    expect("samples", ingest(recording.file()).samples(), 4)


def trial_c17():
    """Every beginning of a recording, from no byte to the first record: refused in one sentence or salvaged."""
    for content in (small(1).file(), small(1).stream()):
        for size in [*range(0, 130), *range(130, 700, 13)]:
            outcome = ingest(content[:size], (0, 2, 3))
            if outcome.status == 2:
                expect("lines", outcome.err.count("\n"), 1)
                assert outcome.err.startswith("fsingest: input.data: "), outcome.err


def trial_many():
    """Linear time: 60,000 maps, 100,000 names of one thread, 10,000 events."""
    recording = small(2)
    for number in range(60000):
        recording.mmap2(100, 0x10000000 + 0x2000 * number, 0x1000, f"/opt/example/lib{number % 500}.so", time=number + 1)
    for number in range(100000):
        recording.comm(100, 101, f"name{number % 7}", time=number + 1)
    expect("samples", ingest(recording.file()).samples(), 2)
    events = [Event(name=f"event{number}", ids=[number + 1]) for number in range(10000)]
    recording = small(0, events)
    for number in range(10000):
        recording.sample(ip=1, pid=100, tid=101, time=number + 1, id=number + 1)
    expect("events", ingest(recording.file()).value("SELECT sum(samples = 1) FROM event"), 10000)


if __name__ == "__main__":
    run(sys.modules[__name__])
