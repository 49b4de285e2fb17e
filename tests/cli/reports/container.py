# SPDX-License-Identifier: GPL-2.0-only
"""Section A: the file as a whole. Unclean ends, truncation, emptiness, streams."""
import os
import struct
import subprocess
import sys

import perfdata
from trial import CODE, FSINGEST, LINE, access, expect, ingest, run, small


def check_unclean(content, samples):
    """All samples are there, the end is called unclean at the size field, and --strict refuses."""
    ingest(content, 2, "--strict")
    outcome = ingest(content, 3)
    expect("samples", outcome.samples(), samples)
    expect("unclean_end", outcome.loss("unclean_end"), (1, 0, 48))
    severity, _, _, _, text = outcome.health("unclean_end")[0]
    expect("severity", severity, "error")
    assert "did not finish" in text, text
    assert "unclean_end" in outcome.out, outcome.out
    return outcome


def trial_a1_killed():
    """The recorder was killed: data.size is 0, nothing behind the records."""
    outcome = check_unclean(small().file({"data.size": 0}, sections=False), 40)
    expect("errors", outcome.losses(), ["unclean_end"])


def trial_a1_race():
    """The reader came before the size was written: the features stand behind the records, and are read."""
    for order in "<>":
        outcome = check_unclean(small(order=order).file({"data.size": 0}), 40)
        expect("losses", outcome.losses(), ["unclean_end"])
        expect("host name", outcome.value("SELECT hostname FROM trace"), "host")


def trial_a1_race_torn():
    """The last feature is cut off: what stands behind the records makes no records, and is counted."""
    recording = small()
    content = recording.file({"data.size": 0})[:-3]
    outcome = check_unclean(content, 40)
    expect("records of other types", outcome.losses("info"), [])
    expect("bytes that are none", sum(outcome.loss(kind)[1] for kind in outcome.losses()),
           len(content) - recording.next_offset())


def trial_a1_cut_record():
    """Killed in the middle of a record: the others are read, the lost bytes counted."""
    content = small().file({"data.size": 0}, sections=False)
    outcome = check_unclean(content[:-8 - 40], 39)
    expect("cut record", outcome.loss("truncated_file")[:2], (1, 80 - 40))


def trial_a2():
    """The first record would pass for the feature table: {79, 0, 56} is no offset."""
    recording = perfdata.Recording([perfdata.Event(ids=[1])])
    recording.record(perfdata.TIME_CONV, recording.pack("QQQQQBB6x", 10, 1024, 0, 0, 0, 1, 0))
    for number in range(10):
        access(recording, number, id=1)
    recording.feature(perfdata.HOSTNAME, recording.string("host"))
    outcome = check_unclean(recording.file({"data.size": 0}, sections=False), 10)
    expect("errors", outcome.losses(), ["unclean_end"])
    assert "0x380000000000" not in outcome.out + outcome.err, outcome.out


def trial_a3():
    """Events but no record: 0 samples are a result."""
    recording = perfdata.Recording([perfdata.Event(ids=[1])])
    for content in (recording.file({"data.size": 0}, sections=False), recording.file(), recording.stream()):
        outcome = ingest(content, 0)
        expect("samples", outcome.samples(), 0)
        assert "0 samples" in outcome.out, outcome.out


def trial_a5():
    """Every ratio is defined for 0 samples."""
    outcome = ingest(small(0).file())
    expect("samples", outcome.samples(), 0)
    for command in ("health", "top-lines", "pairs", "mem-bound", "c2c-stats", "traces"):
        status, out, err = outcome.fsquery(command)
        expect(f"{command}: exit status", (status, "Sanitizer" in err), (0, False))
        for word in ("nan", "inf "):
            assert word not in (out + err).lower().replace("info", ""), f"{command}: {out}{err}"


def trial_a6():
    """A stream is told by its header, not by how it comes in; a file on standard input works too."""
    for content in (small().file(), small().stream()):
        outcome = ingest(content)
        wanted = outcome.content()
        with open("input.data", "rb") as file:
            expect("standard input", ingest(None, 0, "--name", "input.data", path="-", stdin=file).content(), wanted)


def trial_a6_confused():
    """A stream whose header claims to be a file's, and the reverse: refused or salvaged, with a reason."""
    stream, file = bytearray(small().stream()), bytearray(small().file())
    struct.pack_into("<Q", stream, 8, 104)
    struct.pack_into("<Q", file, 8, 16)
    for content in (stream, file):
        outcome = ingest(bytes(content), (2, 3))
        assert outcome.status == 2 or outcome.losses(), "no word of the damage"


def trial_a7():
    """File and stream of one run are the same, switches and all."""
    def record():
        recording = small()
        for number in range(10):
            recording.kernel(perfdata.SWITCH_CPU_WIDE, recording.pack("II", 101, 101), 1 << 13, pid=102, tid=102,
                             time=10 ** 9 + number, cpu=1)
        return recording
    wanted = ingest(record().file()).content()
    assert len(wanted) > 20, "no digest"
    expect("stream", ingest(record().stream()).content(), wanted)


def trial_a9():
    """70 bytes of a text editor at the end are counted, and no reason to refuse."""
    content = small().file()
    outcome = ingest(content + b"# edited by hand\n" * 4 + b"\n\n")
    expect("samples", outcome.samples(), 40)
    expect("trailing_bytes", outcome.loss("trailing_bytes"), (1, 70, len(content)))
    expect("severity", outcome.health("trailing_bytes")[0][0], "info")


def trial_a10():
    """Samples that upset histograms: no map, no thread, an absurd CPU, an empty and a null chain."""
    kind = perfdata.MEMORY | perfdata.sample_type("chain")
    recording = small(0, [perfdata.Event(ids=[1], sample_type=kind)])
    bad = [{"ip": 2 ** 64 - 1}, {"ip": 0}, {"cpu": 2 ** 32 - 1}, {"cpu": 5000}, {"pid": 2 ** 32 - 1, "tid": 2 ** 32 - 1},
           {"pid": 0, "tid": 0}, {"time": 2 ** 64 - 1}, {"addr": 2 ** 64 - 1}, {"period": 2 ** 64 - 1}, {"id": 0},
           {"weight": 2 ** 64 - 1}, {"data_src": 2 ** 64 - 1}]
    for number, values in enumerate(bad * 2):
        chain = recording.chain() if number < len(bad) else recording.chain(0, 2 ** 64 - 512, CODE, 0, 2 ** 64 - 1)
        access(recording, number, **{"id": 1, "chain": chain, **values})
    outcome = ingest(recording.file(), (0, 3))
    expect("samples", outcome.samples(), 2 * len(bad))
    for command in ("health", "top-lines", "pairs", "mem-bound", "c2c-stats"):
        expect(f"{command}: exit status", outcome.fsquery(command)[0], 0)


def trial_a11():
    """Results stand on stdout alone, whatever there is to complain about."""
    outcome = ingest(small().file({"data.size": 0}), 3)
    _, out, err = outcome.fsquery("top-lines", "--format", "csv", "--all")
    lines = out.splitlines()
    expect("line", lines[1].split(",")[1], f"0x{LINE:x}")
    expect("columns of each row", {row.count(",") for row in lines if '"' not in row}, {lines[0].count(",")})
    assert "trace 1" in err, err
    ingest(b"", 2)
    done = subprocess.run([FSINGEST, "--db", "case.db", "input.data"], capture_output=True, check=False)
    expect("stdout of a refusal", done.stdout, b"")
    os.remove("input.data")


if __name__ == "__main__":
    run(sys.modules[__name__])
