# SPDX-License-Identifier: GPL-2.0-only
"""What may stand where a recording is named: directories, pipes, devices, links, odd names, sizes."""
import os
import subprocess
import sys
import threading

import perfdata
from trial import FSINGEST, expect, ingest, run, small


def refused(path, *words):
    outcome = ingest(None, 2, path=path)
    expect("lines", outcome.err.count("\n"), 1)
    for word in words:
        assert word in outcome.err, outcome.err


def trial_directory():
    """A directory is a recording if it holds `data`; data.0 and so on belong to it."""
    os.mkdir("empty.dir")
    refused("empty.dir", "empty.dir", "data")
    recording, whole = small(20), small(20)
    os.mkdir("perf.dir")
    part = perfdata.Recording(recording.events)
    for number in range(2):
        part.comm(500 + number, 500 + number, f"part{number}")
        whole.comm(500 + number, 500 + number, f"part{number}")
        with open(f"perf.dir/data.{number}", "wb") as file:
            file.write(part.records)
        part.records = bytearray()
    recording.feature(perfdata.DIR_FORMAT, recording.pack("Q", 1))
    with open("perf.dir/data", "wb") as file:
        file.write(recording.file())
    outcome = ingest(None, path="perf.dir")
    expect("samples", outcome.samples(), 20)
    expect("names", outcome.query("SELECT DISTINCT name FROM comm WHERE name LIKE 'part%' ORDER BY 1"),
           [("part0",), ("part1",)])


def trial_directory_links():
    """Nothing in a directory is followed out of it, and no part is waited for."""
    with open("outside", "wb") as file:
        file.write(small(4).file())
    os.mkdir("linked.dir")
    os.symlink(os.path.abspath("outside"), "linked.dir/data")
    refused("linked.dir", "data")
    os.remove("linked.dir/data")
    with open("linked.dir/data", "wb") as file:
        file.write(small(4).file())
    os.mkfifo("linked.dir/data.0")
    outcome = ingest(None, 3, path="linked.dir")
    expect("samples", outcome.samples(), 4)


def trial_devices():
    """Devices and sockets are refused at once, in a sentence."""
    for path in ("/dev/null", "/dev/zero", "/dev/full"):
        refused(path, path)
    refused("missing.data", "missing.data", "No such file")
    with open("file", "wb"):
        pass
    refused("file/below", "file/below")
    os.symlink("loop", "loop")
    refused("loop", "loop")


def trial_pipes():
    """A pipe with a name, as the shell's <(...) gives one, is read like standard input."""
    for content in (small().file(), small().stream()):
        os.mkfifo("pipe")

        def write(content=content):
            with open("pipe", "wb") as pipe:
                pipe.write(content)
        # the recorder is there before the reader is
        keep = os.open("pipe", os.O_RDWR)
        writer = threading.Thread(target=write)
        writer.start()
        timer = threading.Timer(1, os.close, (keep,))
        timer.start()
        outcome = ingest(None, path="pipe")
        writer.join()
        timer.join()
        os.remove("pipe")
        expect("samples", outcome.samples(), 40)
    os.mkfifo("idle")
    refused("idle", "idle", "empty")


def trial_links_and_names():
    """A link to a recording is a recording; a name may hold anything."""
    content = small(4).file()
    names = ["two words.data", "new\nline.data", "\x1b[31mred.data", "quote's \"double\".data", "%s%n.data", "-dash.data",
             b"\xff\xfe.data", "x" * 250]
    for name in names:
        with open(name, "wb") as file:
            file.write(content)
        path = os.path.join(b"." if isinstance(name, bytes) else ".", name)
        outcome = ingest(None, path=path)
        expect("samples", outcome.samples(), 4)
        assert "\x1b" not in outcome.out + outcome.err, outcome.out
        expect("lines of the summary", outcome.out.count("\n"), 4)
        _, out, err = outcome.fsquery("traces")
        assert "\x1b" not in out + err and out.count("\n") == 2, out
        with open(path, "wb") as file:
            file.write(b"nothing")
        outcome = ingest(None, 2, path=path)
        assert "\x1b" not in outcome.err and outcome.err.count("\n") == 1, outcome.err
        os.remove(path)
    with open("target", "wb") as file:
        file.write(content)
    os.symlink("target", "link.data")
    expect("samples through a link", ingest(None, path="link.data").samples(), 4)


def trial_unreadable():
    """A file that may not be read is refused, with the reason."""
    with open("secret.data", "wb") as file:
        file.write(small(4).file())
    os.chmod("secret.data", 0)
    if os.geteuid():
        refused("secret.data", "secret.data", "denied")


def trial_default():
    """Without an argument it is perf.data, and the sentence names that."""
    done = subprocess.run([FSINGEST, "--db", "case.db"], capture_output=True, text=True, check=False)
    expect("exit status", done.returncode, 2)
    assert "perf.data" in done.stderr, done.stderr


def trial_sparse():
    """A data section far behind the header."""
    content = small().file()
    recording = small()
    start = recording.data_offset()
    # by default the gap is short: hashing 4 GiB takes a minute of a sanitized program, and the
    # reader is tested beyond 4 GiB in perf_file_test.c
    for gap in (int(os.environ.get("SPARSE_GAP", 64 << 20)),):
        table = start + len(recording.records)
        with open("sparse.data", "wb") as file:
            file.write(small().file({"data.offset": start + gap})[:start])
            file.seek(start + gap)
            file.write(content[start:table])
            at = start + gap + len(recording.records)
            bodies = [recording.features[number] for number in sorted(recording.features)]
            place = at + 16 * len(bodies)
            for body in bodies:
                file.write(recording.pack("QQ", place, len(body)))
                place += len(body)
            file.write(b"".join(bodies))
        outcome = ingest(None, path="sparse.data", exits=(0, 3))
        expect("samples", outcome.samples(), 40)
        expect("host name", outcome.value("SELECT hostname FROM trace"), "host")
        os.remove("sparse.data")


def trial_several():
    """One bad file among good ones costs only itself; the worst is told by the exit status."""
    for name, content in (("one.data", small(4).file()), ("bad.data", b"bad"), ("two.data", small(6).file())):
        with open(name, "wb") as file:
            file.write(content)
    done = subprocess.run([FSINGEST, "--db", "many.db", "one.data", "bad.data", "two.data"], capture_output=True, text=True,
                          check=False)
    expect("exit status", done.returncode, 2)
    assert "bad.data" in done.stderr and "two.data" in done.stdout, done.stdout + done.stderr


if __name__ == "__main__":
    run(sys.modules[__name__])
