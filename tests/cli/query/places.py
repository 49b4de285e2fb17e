# SPDX-License-Identifier: GPL-2.0-only
"""Write a recording of loads on two NUMA nodes: memory at home and away, page walks, huge pages.

  places.py OUTPUT
"""
import sys

import perfdata
from perfdata import Event, Recording, sample_type

HEAP, STACK, FILE, ANON, KERNEL = 0x5000000, 0x7ffc0000000, 0x400000, 0x7f0000000000, 0xffff888000000000
GIB = 1 << 30
LOAD, HIT, MISS, L1, DRAM, REMOTE = 2 << 0, 2, 4, 8, 1 << 7, 1 << 8  # memory operation; levels of PERF_MEM_LVL
TLB_HIT, TLB_MISS, TLB_L2, TLB_WALK = 2, 4, 16, 32


def data_src(level, tlb):
    return LOAD | (level | HIT) << 5 | tlb << 26


HOME, AWAY = data_src(DRAM, TLB_HIT | TLB_L2), data_src(REMOTE, TLB_HIT | TLB_L2)
WALK, FAST = data_src(L1, TLB_MISS | TLB_WALK), data_src(L1, TLB_HIT | TLB_L2)

kind = sample_type("identifier", "ip", "tid", "time", "addr", "cpu", "period", "weight", "data_src", "phys_addr",
                   "data_page_size")
r = Recording([Event(ids=[1], sample_type=kind)])
r.describe_events()
r.feature(perfdata.CPUID, r.string("GenuineIntel,6,106,6"))
r.feature(perfdata.ARCH, r.string("x86_64"))
r.feature(perfdata.NRCPUS, r.pack("II", 4, 4))
r.feature(perfdata.NUMA_TOPOLOGY, r.pack("I", 2) + b"".join(
    r.pack("IQQ", node, GIB, GIB // 2) + r.string(cpus) for node, cpus in ((0, "0-1"), (1, "2-3"))))
r.feature(perfdata.MEM_TOPOLOGY, r.pack("QQQ", 1, GIB, 2) + r.pack("QQQQ", 0, 2, 2, 1) + r.pack("QQQQ", 1, 2, 2, 2))
r.comm(100, 100, "worker", id=1)
for start, length, name in ((FILE, 0x3000, "/opt/example/worker"), (FILE + 0x3000, 0x1000, "/opt/example/worker"),
                            (HEAP, 0x400000, "[heap]"), (STACK, 0x1000, "[stack]"), (ANON, 0x400000, "//anon")):
    r.mmap2(100, start, length, name, id=1)


def sample(addr, source, count, cpu=0, weight=200, page=4096, node=0, misc=2):
    for number in range(count):
        r.sample(id=1, ip=FILE + 16, pid=100, tid=100, time=1000 + number, addr=addr + 8 * number % 4096, cpu=cpu, misc=misc,
                 period=1000, weight=weight, data_src=source, phys_addr=node * GIB + 0x1000 + number, data_page_size=page)


sample(HEAP, AWAY, 30, cpu=2)  # used by node 1, on node 0
sample(HEAP, HOME, 10)  # and a little by node 0
sample(ANON, AWAY, 40, cpu=1, node=1)  # used by node 0 alone
sample(HEAP + 0x2000, WALK, 25, weight=60)
sample(HEAP + 0x2000, FAST, 100, weight=4)
sample(ANON + 0x200000, WALK, 30, weight=50, page=2 << 20)
sample(FILE + 8, FAST, 5, weight=4)
sample(FILE + 0x3008, FAST, 5, weight=4)
sample(STACK, FAST, 7, weight=4)
sample(KERNEL, HOME, 19, weight=100, misc=1, page=0)
sample(0x123000, FAST, 3, weight=4)
with open(sys.argv[1], "wb") as file:
    file.write(r.file())
