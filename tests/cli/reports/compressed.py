# SPDX-License-Identifier: GPL-2.0-only
"""Section B, compression: records in zstd streams, cut anywhere, damaged, or grown to hurt."""
import os
import struct
import subprocess
import sys

import perfdata
from trial import access, expect, ingest, run, small


def zstd(data, *options):
    return subprocess.run(["zstd", "-q", "-c", *options], input=data, capture_output=True, check=True).stdout


def compress(recording, piece, kind=perfdata.COMPRESSED, feature=True, first=0):
    """The records from offset `first` on, as one zstd stream in pieces of `piece` bytes."""
    packed = zstd(bytes(recording.records[first:]), "--no-check")
    del recording.records[first:]
    for at in range(0, len(packed), piece):
        part = packed[at:at + piece]
        if kind == perfdata.COMPRESSED2:
            part = recording.pack("Q", len(part)) + part + bytes(-len(part) % 8)
        recording.record(kind, part)
    if feature:
        recording.feature(perfdata.COMPRESSED_FEATURE, recording.pack("IIIII", 1, 1, 1, 5, 1 << 19))
    return recording


def trial_b5():
    """Two events in COMPRESSED and COMPRESSED2, file and stream, in both byte orders."""
    wanted = ingest(small(2000).file()).content()
    for kind in (perfdata.COMPRESSED, perfdata.COMPRESSED2):
        for order in "<>":
            recording = compress(small(2000, order=order), 4000, kind)
            for content in (recording.file(), recording.stream()):
                outcome = ingest(content)
                expect("samples", outcome.samples(), 2000)
                got = [row for row in outcome.content() if not row.startswith("map")]
                expect("content", got, [row for row in wanted if not row.startswith("map")])


def trial_b5_mixed():
    """Plain records stand between the pieces of a record that straddles them."""
    recording = small(100)
    plain = bytes(recording.records)
    packed = zstd(plain, "--no-check")
    recording.records = bytearray()
    for at in range(0, len(packed), 7):
        recording.record(perfdata.COMPRESSED, packed[at:at + 7])
        recording.record(perfdata.FINISHED_ROUND)
    recording.feature(perfdata.COMPRESSED_FEATURE, recording.pack("IIIII", 1, 1, 1, 5, 1 << 19))
    expect("samples", ingest(recording.file()).samples(), 100)


def trial_b6():
    """Pieces of one byte and of a few: the boundary falls into every place of a header."""
    for piece in (1, 2, 3, 5, 8, 13):
        expect(f"samples in pieces of {piece}", ingest(compress(small(60), piece).file()).samples(), 60)


def trial_b6_unfinished():
    """The stream ends in the middle of a record: all before it is there, the rest is counted."""
    recording = small(100)
    del recording.records[-48:]  # FINISHED_ROUND and half of the last sample
    outcome = ingest(compress(recording, 500).file(), 3)
    expect("samples", outcome.samples(), 99)
    expect("cut", outcome.loss("truncated_file")[:2], (1, 40))


def trial_b6_damaged():
    """Damage in the middle costs what follows it up to the next good place; it is told where."""
    recording = small(40000)
    first = recording.next_offset() - len(recording.records)
    content = bytearray(compress(recording, 1000).file())
    middle = (first + len(content)) // 2
    content[middle:middle + 2000] = b"\xff" * 2000
    outcome = ingest(bytes(content), 3)
    assert 10000 < outcome.samples() < 40000, outcome.samples()
    assert set(outcome.losses()) & {"bad_compression", "bad_record", "truncated_file"}, outcome.losses()
    offset = outcome.health("damaged")[0][3]
    assert offset is not None, "no offset"


def trial_b6_unannounced():
    """COMPRESSED records where no feature announces them are read all the same."""
    outcome = ingest(compress(small(100), 300, feature=False).file(), (0, 3))
    expect("samples", outcome.samples(), 100)


def bomb(pattern, count):
    """A small recording that grows to `count` copies of a pattern."""
    process = subprocess.Popen(["zstd", "-q", "-c", "--no-check"], stdin=subprocess.PIPE, stdout=open("packed", "wb"))
    block = pattern * (1 << 20)
    for _ in range(count * len(pattern) // len(block)):
        process.stdin.write(block)
    process.stdin.close()
    expect("zstd", process.wait(), 0)
    recording = small(4)
    with open("packed", "rb") as packed:
        while piece := packed.read(60000):
            recording.record(perfdata.COMPRESSED, piece)
    recording.feature(perfdata.COMPRESSED_FEATURE, recording.pack("IIIII", 1, 1, 1, 5, 1 << 19))
    return recording.file()


def trial_b6_bomb():
    """512 MiB of zeros, of empty records and of FINISHED_ROUND in a few KiB: a limit holds, in time."""
    for pattern in (bytes(8), struct.pack("<IHH", 200, 0, 8), struct.pack("<IHH", perfdata.FINISHED_ROUND, 0, 8)):
        content = bomb(pattern, 1 << 26)
        assert len(content) < 1 << 20, len(content)
        outcome = ingest(content, (0, 3))
        expect("samples", outcome.samples(), 4)
        assert outcome.loss("limit"), "no word of the limit"
        assert not [name for name in os.listdir(os.environ.get("TMPDIR", ".")) if "fsight" in name], "temporary files left"


def trial_b6_claims():
    """COMPRESSED2 that claims more or less than it holds, and payloads that are no zstd."""
    for claim in (0, 1, 2 ** 31, 2 ** 64 - 1):
        recording = small(20)
        recording.record(perfdata.COMPRESSED2, recording.pack("Q", claim) + b"\x5a" * 64)
        for number in range(20, 40):
            access(recording, number)
        recording.feature(perfdata.COMPRESSED_FEATURE, recording.pack("IIIII", 1, 1, 1, 5, 1 << 19))
        expect(f"samples around {claim}", ingest(recording.file(), (0, 3)).samples(), 40)


if __name__ == "__main__":
    run(sys.modules[__name__])
