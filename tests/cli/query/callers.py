# SPDX-License-Identifier: GPL-2.0-only
"""Write a recording of cycles with call chains: a lock of the kernel that a program of sample-traces reaches.

  callers.py OUTPUT BUILD_ID_HEX OFFSET_OF_BARRIER OFFSET_OF_WORKER
"""
import sys

import perfdata
from perfdata import Event, Recording, sample_type

LOCK_AT, ENTRY_AT, NAMESAKE_AT = 0xffffffffc0001000, 0xffffffffc0002000, 0xffffffffc0003000
PROGRAM_AT, SECOND = 0x400000, 10 ** 9
KERNEL, USER = 2 ** 64 - 128, 2 ** 64 - 512
barrier, worker = (PROGRAM_AT + int(text) for text in sys.argv[3:5])

HEAD = sample_type("identifier", "ip", "tid", "time", "cpu", "period", "chain")
r = Recording([Event(name="instructions", type=0, config=1, ids=[2], sample_type=HEAD),
               Event(name="cycles", type=0, config=0, ids=[1], sample_type=HEAD)])
r.describe_events()
r.mmap2(100, PROGRAM_AT, 0x8000, "/opt/fsight-samples/x86_64/barrier", build_id=bytes.fromhex(sys.argv[2]), misc=2 | 1 << 14)
for address, name in ((LOCK_AT, "osq_lock"), (ENTRY_AT, "entry;64"), (NAMESAKE_AT, "pool_barrier")):
    r.kernel(perfdata.KSYMBOL, r.pack("QIHH", address, 0x100, 1, 0) + r.padded(name), id=1)
for tid, name in ((100, "pool"), (101, "worker")):
    r.comm(100, tid, name, id=1)


def sample(ip, *chain, tid=101, misc=1, count=1, period=1000, event=1):
    for number in range(count):
        r.sample(event, id=2 - event, ip=ip, pid=100, tid=tid, time=SECOND + number, cpu=1, period=period, misc=misc,
                 chain=r.chain(*chain))


# seven in the lock by the barrier, two of them deeper; two by the other thread without a barrier
sample(LOCK_AT + 8, KERNEL, LOCK_AT + 8, ENTRY_AT + 4, USER, barrier, worker, count=5)
sample(ENTRY_AT + 9, KERNEL, ENTRY_AT + 9, LOCK_AT + 16, ENTRY_AT + 4, USER, barrier, worker, count=2)
sample(LOCK_AT + 8, KERNEL, LOCK_AT + 8, USER, worker, tid=100, count=2, period=500)
sample(worker, USER, worker, misc=2, count=3)
# the lock calls itself: its path ends at the innermost
sample(LOCK_AT + 8, KERNEL, LOCK_AT + 8, LOCK_AT + 16, USER, worker)
# a function of the kernel with the name of one of the program touches nothing of the program's
sample(LOCK_AT + 8, KERNEL, LOCK_AT + 8, NAMESAKE_AT + 4, count=4)
# precise: the interrupt came one instruction later, or in the kernel; either way it is one frame
sample(worker, USER, worker + 4, misc=2 | 1 << 14)
sample(worker, KERNEL, ENTRY_AT, USER, worker + 4, misc=2 | 1 << 14)
sample(worker, USER, worker, misc=2, event=0)
with open(sys.argv[1], "wb") as file:
    file.write(r.file())
