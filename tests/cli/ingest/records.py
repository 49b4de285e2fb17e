# SPDX-License-Identifier: GPL-2.0-only
"""Write a recording with every kind of record that is neither thread nor mapping.

  records.py OUTPUT big|little file|stream
"""
import sys

import perfdata
from perfdata import Event, Recording, sample_type

KSYMBOL_AT, KERNEL_AT, SECOND = 0xffffffffc0001000, 0xffffffff81000000, 10 ** 9
HEAD = sample_type("identifier", "tid", "time", "cpu", "period")

r = Recording([Event(name="cycles", type=0, config=0, ids=[1], sample_type=HEAD | sample_type("ip", "chain"),
                     read_format=7),
               Event(name="cpu-clock", type=1, config=0, ids=[2], sample_type=HEAD, read_format=7)],
              order=">" if sys.argv[2] == "big" else "<")
r.describe_events()
r.feature(perfdata.HOSTNAME, r.string("host"))
r.feature(perfdata.PMU_CAPS, r.pack("II", 1, 1) + r.string("branches") + r.string("32") + r.string("cpu_core"))
r.record(perfdata.ID_INDEX, r.pack("Q8Q4Q", 2, 1, 0, 3, 2 ** 64 - 1, 2, 1, 4, 2 ** 64 - 1, 900, 0, 900, 1))
r.record(perfdata.THREAD_MAP, r.pack("QQ16s", 1, 50, b"worker"))
r.record(perfdata.CPU_MAP, r.pack("HHHHHH", 0, 4, 0, 1, 2, 9))
r.record(perfdata.TIME_CONV, r.pack("QQQ", 10, 1024, 5))
r.record(perfdata.STAT_CONFIG, r.pack("QQQ", 1, 1, 100))
r.record(perfdata.EVENT_UPDATE, r.pack("QQHBBHH", 3, 2, 2, 0, 0, 0, 3))
for value, kind in ((10, 0), (25, 1)):
    r.record(perfdata.STAT, r.pack("QIIQQQ", 2, 4, 0, value, 100, 50))
    r.record(perfdata.STAT_ROUND, r.pack("QQ", kind, value * 1000))
r.mmap(2 ** 32 - 1, KERNEL_AT, 0x1000000, "[kernel.kallsyms]_text", KERNEL_AT, misc=1)
r.mmap(100, 0x400000, 0x1000, "/bin/app")
r.mmap(100, 0x500000, 0, "/bin/empty")
r.mmap(100, 0x600000, 0x1000, "/bin/guest", misc=5)


def kernel(kind, payload, misc=0, time=SECOND, cpu=3, **trailer):
    r.kernel(kind, payload, misc, pid=100, tid=101, time=time, cpu=cpu, **trailer)


kernel(perfdata.KSYMBOL, r.pack("QIHH", KSYMBOL_AT, 0x100, 1, 0) + r.padded("bpf_prog_6deef7357e7b4530_f"))
kernel(perfdata.BPF_EVENT, r.pack("HHI", 1, 0, 41) + bytes.fromhex("6deef7357e7b4530"))
kernel(perfdata.CGROUP, r.pack("Q", 77) + r.padded("/system.slice"))
kernel(perfdata.NAMESPACES, r.pack("IIQ2Q", 100, 101, 1, 4, 4026531840))
kernel(perfdata.TEXT_POKE, r.pack("QHH", KERNEL_AT + 0x40, 5, 5) + bytes.fromhex("0f1f440000e801020304") + bytes(2))
kernel(21, r.pack("Q", 12), id=2)
kernel(perfdata.READ, r.pack("IIQQQQ", 100, 101, 12345, 70, 60, 2), id=2)
for second in range(4):  # of 4 losses 3 are on CPU 5, in the third and fourth second
    kernel(perfdata.LOST, r.pack("QQ", 1, 10), time=(3 if second else 2) * SECOND + second, cpu=5 if second else 6)
kernel(perfdata.LOST_SAMPLES, r.pack("Q", 3), misc=1 << 15)
kernel(perfdata.THROTTLE, r.pack("QQQ", 2 * SECOND, 1, 1), id=1, time=2 * SECOND)
kernel(perfdata.UNTHROTTLE, r.pack("QQQ", 3 * SECOND, 1, 1), id=1, time=3 * SECOND)
kernel(perfdata.AUX, r.pack("QQQ", 0, 4096, 13), time=2 * SECOND, cpu=6)
kernel(perfdata.KSYMBOL, r.pack("QIHH", KSYMBOL_AT, 0x100, 1, 1) + r.padded("bpf_prog_6deef7357e7b4530_f"), time=9 * SECOND)
r.record(perfdata.AUXTRACE_ERROR, r.pack("IIIIIIQQ64s", 4, 9, 2, 30, 31, 1, 0x1234, SECOND, b"gone"))

USER_CHAIN = (2 ** 64 - 512, 0x400010, 0x400100)
r.sample(0, id=1, ip=KSYMBOL_AT + 8, pid=100, tid=101, time=SECOND + 1, misc=1,
         chain=r.chain(2 ** 64 - 128, KSYMBOL_AT + 8, KERNEL_AT + 4, *USER_CHAIN))
r.sample(0, id=1, ip=0x400010, pid=100, tid=101, time=SECOND + 2, chain=r.chain(2 ** 64 - 640, 4711))
for misc in (3, 4, 5):  # hypervisor, guest kernel, guest user: at addresses that the host maps, too
    r.sample(0, id=1, ip=0x400010 if misc == 5 else KERNEL_AT, pid=100, tid=101, time=SECOND + misc, misc=misc,
             chain=r.chain(2 ** 64 - 2560, 0x400010 if misc == 5 else KERNEL_AT, 0x400100, *USER_CHAIN))
for number in range(3):
    r.sample(1, id=2, pid=100, tid=101, time=SECOND + 10 + number, cpu=4, period=7)

with open(sys.argv[1], "wb") as file:
    file.write(r.file() if sys.argv[3] == "file" else r.stream())
