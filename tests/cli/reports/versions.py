# SPDX-License-Identifier: GPL-2.0-only
"""Section B: recordings of newer, older and other recorders."""
import sys

import perfdata
from perfdata import Event, sample_type
from trial import CODE, FIRST_NS, LOADS, STORES, access, expect, ingest, run, small


def trial_b1():
    """Events described in 152 bytes, by file and stream: the known 144 are used, 8 noted each."""
    wanted = ingest(small().file()).query("SELECT name, config, sample_type, samples FROM event")
    for recording in (small(attr_size=152), small(attr_size=152, order=">")):
        for content in (recording.file(), recording.stream()):
            outcome = ingest(content)
            expect("samples", outcome.samples(), 40)
            expect("events", outcome.query("SELECT name, config, sample_type, samples FROM event"), wanted)
            expect("attr_tail", outcome.loss("attr_tail")[:2], (2, 16))


def trial_b1_old():
    """Every published size of the description, from 64 on."""
    for size in (64, 72, 80, 96, 104, 112, 120, 128, 136):
        for content in (small(attr_size=size).file(), small(attr_size=size).stream()):
            outcome = ingest(content)
            expect(f"samples with {size} bytes", outcome.samples(), 40)
            expect(f"losses with {size} bytes", outcome.losses("info"), [])


def trial_b1_size_0():
    """attr.size 0 stands for the first layout."""
    events = [Event(claimed_size=0, **LOADS), Event(claimed_size=0, **STORES)]
    expect("samples", ingest(small(events=events, attr_size=64).file()).samples(), 40)
    expect("samples of a stream", ingest(small(events=events, attr_size=64).stream()).samples(), 40)


def trial_b2():
    """perf inject kept attr.size 112 in entries of 160 bytes: the entry counts, and it is said."""
    events = [Event(claimed_size=112, **LOADS), Event(claimed_size=112, **STORES)]
    outcome = ingest(small(events=events, attr_size=144).file())
    expect("samples", outcome.samples(), 40)
    expect("ids", outcome.query("SELECT perf_id FROM event_instance ORDER BY 1"), [(11,), (12,), (21,), (22,)])
    expect("attr_size", outcome.loss("attr_size")[0], 2)


def trial_b2_header():
    """The reverse: the header lies about the entries, attr.size does not; the ids tell which is right."""
    for lie in (128 + 16, 112 + 16, 152 + 16):
        recording = small()
        outcome = ingest(recording.file({"attr_size": lie}), (0, 3))
        expect("samples", outcome.samples(), 40)
        expect("ids", outcome.query("SELECT perf_id FROM event_instance ORDER BY 1"), [(11,), (12,), (21,), (22,)])


def trial_b3():
    """A record type that nobody knows: one row with type, count and bytes, all samples."""
    recording = small()
    for payload in (b"", b"\x5a" * 8, b"\x5a" * 4088):
        recording.record(200, payload)
    for number in range(40, 60):
        access(recording, number)
    outcome = ingest(recording.file())
    expect("samples", outcome.samples(), 60)
    expect("unknown_record", outcome.query("SELECT scope, count, bytes, severity FROM loss"),
           [("record type 200", 3, 8 + 16 + 4096, "info")])
    expect("stored", outcome.query("SELECT count(*) FROM health WHERE name = 'unknown_record'"), [(1,)])


def trial_b3_known():
    """The records that confused other readers are no reason for a word."""
    recording = perfdata.Recording([Event(ids=[1])])
    recording.record(perfdata.TIME_CONV, recording.pack("QQQQQBB6x", 10, 1024, 0, 0, 0, 1, 0))
    recording.record(perfdata.ID_INDEX, recording.pack("QQQQQ", 1, 1, 0, 0, 2 ** 64 - 1))
    recording.record(perfdata.THREAD_MAP, recording.pack("QQ16s", 1, 100, b"worker"))
    recording.record(perfdata.CPU_MAP, recording.pack("HHH", 0, 1, 0) + bytes(2))
    recording.kernel(perfdata.KSYMBOL, recording.pack("QIHH", 2 ** 64 - 2 ** 30, 64, 1, 0) + b"bpf_prog\0\0\0\0\0\0\0\0")
    recording.record(perfdata.FINISHED_INIT)
    access(recording, 0, id=1)
    outcome = ingest(recording.file())
    expect("losses", outcome.query("SELECT kind, scope FROM loss WHERE kind <> 'unmapped_code'"), [])


def trial_b9():
    """A sample with an id that no event has: kept where all events lay samples out alike, and counted."""
    recording = small()
    access(recording, 40, id=999999)
    access(recording, 41, id=888888)
    access(recording, 42)
    outcome = ingest(recording.file(), 3)
    count, _, offset = outcome.loss("unknown_id")
    expect("unknown_id", (count, offset), (2, recording.data_offset() + len(recording.records) - 3 * 80))
    expect("samples", outcome.samples(), 43)
    expect("without an event", outcome.query("SELECT name, samples FROM event WHERE name = 'unknown'"),
           [("unknown", 2)])


def trial_b10():
    """Group reads: each counter's values, from a leader alone and as it grew."""
    kind = sample_type("ip", "tid", "time", "id", "period", "read")
    events = [Event(name=name, ids=[number], type=0, config=number, read_format=4 | 8, sample_type=kind,
                    sample_period=0 if number else 1000)
              for number, name in enumerate(("cycles", "instructions"), 0)]
    events[0].ids = [7]
    recording = small(0, events)
    for number in range(10):
        values = recording.pack("QQQQQ", 2, 1000 * (number + 1), 7, 500 * (number + 1), 1)
        recording.sample(ip=CODE, pid=100, tid=101, time=FIRST_NS + number * 10 ** 8, id=7, period=1000, read=values)
    outcome = ingest(recording.file())
    expect("values", outcome.query("SELECT event.name, sum(delta), max(value) FROM sample_read "
                                   "JOIN event ON event.id = event_id GROUP BY 1 ORDER BY 1"),
           [("cycles", 10000, 10000), ("instructions", 5000, 5000)])
    rate, = [row[4] for row in outcome.health("time_span")]
    assert "11 samples per second" in rate, rate


def trial_b11():
    """Names of threads are bytes: spaces, controls, invalid UTF-8, a newline, nothing at all."""
    names = [b"c1d2c0be       x", b"\x1b[31mX\x07\n", b"\xff\xfe\x80", b"a,b\"c'd", b"", b"=1+1", b"sixteen bytes of"]
    recording = small(0)
    for number, name in enumerate(names):
        recording.comm(200 + number, 200 + number, name)
        access(recording, number, pid=200 + number, tid=200 + number)
    outcome = ingest(recording.file())
    expect("samples", outcome.samples(), len(names))
    for kind in ("table", "csv", "json", "md"):
        status, out, err = outcome.fsquery("sql", "SELECT tid, comm FROM thread", "--format", kind)
        expect(f"{kind}: exit status", (status, err if status else ""), (0, ""))
        for character in "\x1b\x07":
            assert character not in out, f"{kind}: {out!r}"
    rows = outcome.fsquery("sql", "SELECT tid, comm FROM thread ORDER BY tid", "--format", "csv")[1].splitlines()
    expect("rows", len([row for row in rows if row.startswith("20")]), len(names))
    assert any("c1d2c0be       x" in row for row in rows), rows


def trial_b13():
    """Recordings of the other byte order are read in full, as file and as stream."""
    wanted = ingest(small().file()).content()
    expect("big-endian file", ingest(small(order=">").file()).content(), wanted)
    expect("big-endian stream", ingest(small(order=">").stream()).content(), wanted)


def trial_b13_bitmap():
    """A big-endian recorder with longs of 32 bits wrote the words of its bitmap the other way round."""
    content = bytearray(small(order=">").file())
    for at in range(perfdata.BITMAP, perfdata.HEADER_SIZE, 8):
        content[at:at + 8] = content[at + 4:at + 8] + content[at:at + 4]
    expect("host name", ingest(bytes(content)).value("SELECT hostname FROM trace"), "host")


def trial_b13_magic():
    """Only the magic number is of the other byte order: the rest is read as what it is, and it is said."""
    for content in (small().file(), small().stream(), small(order=">").file(), small(order=">").stream()):
        outcome = ingest(content[:8][::-1] + content[8:], 3)
        expect("samples", outcome.samples(), 40)
        expect("errors", outcome.losses(), ["byte_order"])


def trial_unknown_fields():
    """Samples with a field of a later kernel: what stands before it is read, and the event is named."""
    event = Event(ids=[1], sample_type=perfdata.MEMORY | 1 << 30)
    recording = small(0, [event])
    for number in range(10):
        recording.sample(ip=CODE, pid=100, tid=101, time=FIRST_NS + number, id=1, cpu=1, period=7, tail=bytes(24))
    outcome = ingest(recording.file(), 3)
    expect("samples", outcome.samples(), 10)
    expect("sums", outcome.query("SELECT sum(period), sum(cpu) FROM sample"), [(70, 10)])
    expect("errors", outcome.losses(), ["unknown_sample_fields"])


def trial_unknown_flags():
    """Flags that a later kernel adds change nothing that is known."""
    events = [Event(flags=2 ** 64 - 1 - perfdata.FREQ, **LOADS), Event(flags=2 ** 64 - 1 - perfdata.FREQ, **STORES)]
    expect("samples", ingest(small(events=events).file()).samples(), 40)


def trial_unknown_features():
    """Features of the future, of Android and beyond every list."""
    recording = small()
    for number in (40, 63, 64, 100, 127, 128, 132, 200, 255):
        recording.feature(number, b"\x5a" * 24)
    outcome = ingest(recording.file())
    expect("samples", outcome.samples(), 40)
    expect("host name", outcome.value("SELECT hostname FROM trace"), "host")
    expect("unknown_feature", outcome.loss("unknown_feature")[1] % 24, 0)


def trial_mixed_layouts():
    """Events whose samples differ: IDENTIFIER stands first in each and tells them apart."""
    common = sample_type("identifier", "ip", "tid", "time")
    events = [Event(name="cycles", type=0, config=0, ids=[1], sample_type=common | sample_type("period")),
              Event(ids=[2], sample_type=common | sample_type("addr", "cpu", "weight", "data_src")),
              Event(name="sw", type=1, config=9, ids=[3], sample_type=sample_type("identifier"))]
    recording = small(0, events)
    for number in range(30):
        recording.sample(event=number % 3, id=number % 3 + 1, ip=CODE, pid=100, tid=101, time=FIRST_NS + number,
                         addr=0x1234, cpu=1, weight=5, period=9)
    outcome = ingest(recording.file())
    expect("samples", outcome.query("SELECT name, samples FROM event ORDER BY idx"),
           [("cycles", 10), ("cpu/mem-loads/P", 10), ("sw", 10)])
    expect("addresses", outcome.query("SELECT addr, count(*) FROM sample GROUP BY 1 ORDER BY 1"),
           [(None, 20), (0x1234, 10)])


def trial_ids():
    """Ids that are doubled, 0, or missing: the first event of an id counts, id 0 is the first event."""
    events = [Event(ids=[1, 1, 0], name="first"), Event(ids=[1, 2], name="second")]
    recording = small(0, events)
    for number, id_ in enumerate((1, 2, 0, 1)):
        access(recording, number, id=id_)
    expect("samples", ingest(recording.file()).query("SELECT name, samples FROM event ORDER BY idx"),
           [("first", 3), ("second", 1)])
    kind = perfdata.MEMORY & ~sample_type("id")
    events = [Event(name="first", sample_type=kind), Event(name="second", sample_type=kind)]
    recording = small(0, events)
    for number in range(4):
        recording.sample(ip=CODE, pid=100, tid=101, time=FIRST_NS + number)
    expect("without ids", ingest(recording.file()).query("SELECT sum(samples) FROM event"), [(4,)])


def trial_stream_of_plain_records():
    """A stream without any feature record still has its events."""
    recording = small()
    recording.features = {}
    outcome = ingest(recording.stream())
    expect("samples", outcome.samples(), 40)
    expect("loss", outcome.losses(), [])


if __name__ == "__main__":
    run(sys.modules[__name__])
