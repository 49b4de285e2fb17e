# SPDX-License-Identifier: GPL-2.0-only
"""Mappings and tasks as kernels, containers, JIT compilers and guests leave them."""
import sys

import perfdata
from trial import access, expect, ingest, run, small

KERNEL = 0xffffffff80000000


def paths(outcome):
    return dict(outcome.query("SELECT path, kind FROM dso WHERE samples > 0"))


def trial_names():
    """Each kind of name is told for what it is, and none is opened."""
    names = {"[vdso]": "vdso", "//anon": "anonymous", "/dev/zero (deleted)": "anonymous", "/SYSV00000000 (deleted)": None,
             "/memfd:jit (deleted)": None, "/anon_hugepage (deleted)": "anonymous", "[heap]": None, "[stack]": None,
             "/opt/example/gone (deleted)": None, "/proc/self/exe": None, "": None, "/": None, "../../etc/passwd": None,
             "/tmp/perf-100.map": None, "jitted-100-1.so": None, "/opt/example/new\nline": None}
    recording = small(0)
    for number, name in enumerate(names):
        start = 0x10000000 + 0x10000 * number
        recording.mmap2(100, start, 0x1000, name)
        access(recording, number, ip=start + 16)
    outcome = ingest(recording.file(), 0, "--symbols", "/")
    found = paths(outcome)
    expect("all are there", set(found), set(names))
    for name, kind in names.items():
        if kind:
            expect(name, found[name], kind)


def trial_kernel():
    """The kernel's map in its several spellings, modules, and the reference symbol in pgoff."""
    for name in ("[kernel.kallsyms]_text", "[kernel.kallsyms]_stext", "[kernel.kallsyms]"):
        recording = small(0)
        recording.mmap(2 ** 32 - 1, KERNEL, 0x1000000, name, pgoff=KERNEL, misc=1)
        recording.mmap(2 ** 32 - 1, KERNEL + 0x2000000, 0x10000, "[ext4]", misc=1)
        access(recording, 0, ip=KERNEL + 0x1000, misc=1)
        access(recording, 0, ip=KERNEL + 0x2000010, misc=1)
        outcome = ingest(recording.file())
        expect(f"kinds with {name}", sorted(paths(outcome).values()), ["kernel", "module"])
        expect("in the kernel's space", outcome.value("SELECT sum(samples) FROM code WHERE dso_id IS NOT NULL"), 2)


def trial_guests():
    """Guests' samples do not get the host's names."""
    recording = small(0)
    recording.mmap(2 ** 32 - 1, KERNEL, 0x1000000, "[kernel.kallsyms]_text", misc=1)
    for number, mode in enumerate((4, 5, 3, 0, 6, 7)):
        access(recording, number, ip=KERNEL + 16 if mode == 4 else 0x400010, misc=mode)
    outcome = ingest(recording.file())
    expect("samples", outcome.samples(), 6)


def trial_lengths():
    """Names without a NUL, of 4,096 bytes, and of none."""
    recording = small(0)
    recording.record(perfdata.MMAP2, recording.pack("IIQQQ", 100, 100, 0x500000, 0x1000, 0) + bytes(24) +
                     recording.pack("II", 5, 2) + b"A" * 24 + bytes(48))
    recording.mmap2(100, 0x600000, 0x1000, "/" + "b" * 4090)
    recording.comm(100, 101, b"0123456789abcdef" * 4)
    access(recording, 0, ip=0x500010)
    access(recording, 1, ip=0x600010)
    outcome = ingest(recording.file(), (0, 3))
    expect("samples", outcome.samples(), 2)
    expect("longest", outcome.value("SELECT max(length(path)) FROM dso"), 4091)


def trial_build_id_changed():
    """One path, two build-ids (deployed during the recording): two binaries."""
    recording = small(0)
    for number, build_id in enumerate((b"\x11" * 20, b"\x22" * 20)):
        start = 0x500000 + 0x100000 * number
        recording.mmap2(100 + number, start, 0x1000, "/app/x", build_id=build_id)
        access(recording, number, ip=start + 16, pid=100 + number, tid=100 + number)
    expect("binaries", ingest(recording.file()).query("SELECT build_id, samples FROM dso WHERE path = '/app/x' ORDER BY 1"),
           [("11" * 20, 1), ("22" * 20, 1)])


def trial_namespaces():
    """NAMESPACES and CGROUP with as many entries as fit, and with more than that."""
    for count in (0, 7, 8, 2 ** 32, 2 ** 64 - 1):
        recording = small(4)
        recording.kernel(perfdata.NAMESPACES, recording.pack("IIQ", 100, 100, count) +
                         recording.pack("QQ", 3, 0xf0000000) * 7)
        recording.kernel(perfdata.CGROUP, recording.pack("Q", count) + recording.padded("/machine/c1"))
        expect(f"samples beside {count} namespaces", ingest(recording.file(), (0, 3)).samples(), 4)


def trial_pid_reuse():
    """A pid used twice is two threads, each with its own name and maps."""
    recording = small(0)
    for number in range(2):
        time = 1000 + 1000 * number
        recording.fork(300, 300, 1, time)
        recording.comm(300, 300, f"life{number}", misc=1 << 13, time=time + 1)
        recording.mmap2(300, 0x400000, 0x1000, f"/opt/example/life{number}", time=time + 2)
        access(recording, 0, pid=300, tid=300, ip=0x400010, time=time + 100)
        recording.fork(300, 300, 1, time + 500, kind=perfdata.EXIT)
    outcome = ingest(recording.file())
    expect("threads", outcome.query("SELECT comm, samples FROM thread WHERE tid = 300 ORDER BY 1"),
           [("life0", 1), ("life1", 1)])
    expect("binaries", outcome.query("SELECT path, samples FROM dso WHERE path LIKE '%life%' ORDER BY 1"),
           [("/opt/example/life0", 1), ("/opt/example/life1", 1)])


def trial_swapper_and_strangers():
    """pid 0 is the idle task; pids that no record announced are threads all the same."""
    recording = small(0)
    for number, pid in enumerate((0, 1, 2 ** 31 - 1, 2 ** 22, 100)):
        access(recording, number, pid=pid, tid=pid)
    outcome = ingest(recording.file())
    expect("threads", outcome.query("SELECT tid FROM thread WHERE samples > 0 ORDER BY 1"),
           [(0,), (1,), (100,), (2 ** 22,), (2 ** 31 - 1,)])


if __name__ == "__main__":
    run(sys.modules[__name__])
