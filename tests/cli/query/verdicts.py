# SPDX-License-Identifier: GPL-2.0-only
"""Write one recording per small program whose verdict is known: the ten meanings of Featherlight's micro-tests,
Cheetah's rules, linear_regression at each start within a line, and what the definition of contention leaves out.

  verdicts.py FOLDER N      FOLDER/NAME.data each; prints NAME EXPECTED-VERDICTS EXPECTED-PAIR-CLASSES INVALIDATIONS

INVALIDATIONS are those that Cheetah's table of two entries counts on the first line, plus the first store to it if
nobody had it before: what the line's stores that missed must add up to where every access is a sample.

A program is a list of threads, a thread a list of phases, a phase the places that it goes round. Caches are played as
MESI would: each core holds a line or not, and one of them may have written it. Every Nth access is a sample, so what
a recording holds follows from the program alone.
"""
import random
import sys

import perfdata
from perfdata import Event, Recording, sample_type

CODE, SHARED, OWN, STACK = 0x400000, 0x600000, 0x700000, 0x7f0000000000
LOAD, STORE = 2, 4  # PERF_MEM_OP
HIT, MISS, L1, L3 = 2, 4, 8, 0x40  # PERF_MEM_LVL
NO_SNOOP, HITM = 2, 0x10  # PERF_MEM_SNOOP
ROUNDS = 600


class Thread:
    def __init__(self, cpu, *phases, pid=100, tid=None):
        self.cpu, self.phases, self.pid, self.tid = cpu, phases, pid, 100 + cpu if tid is None else tid


def read(offset):
    return LOAD, SHARED + offset


def write(offset):
    return STORE, SHARED + offset


def own(cpu):
    """A place that no other thread touches."""
    return LOAD, OWN + 4096 * cpu


def update(offset):
    return [read(offset), write(offset)]


class Caches:
    def __init__(self):
        self.holders, self.writer = {}, {}

    def access(self, cpu, operation, address):
        """The data source of the access."""
        line = address // 64
        holders, writer = self.holders.setdefault(line, set()), self.writer.get(line)
        if operation == STORE:
            hit = holders == {cpu}
            self.holders[line], self.writer[line] = {cpu}, cpu
            return STORE | (L1 | (HIT if hit else MISS)) << 5
        if cpu in holders:
            return LOAD | (L1 | HIT) << 5 | NO_SNOOP << 19
        holders.add(cpu)
        self.writer[line] = None
        return LOAD | (L3 | HIT) << 5 | (NO_SNOOP if writer is None else HITM) << 19


class Invalidations:
    """Cheetah's table: of each line two threads that accessed it; here their cores, which is what has a cache. A write
    is an invalidation when the table holds another than the writer, and leaves the writer alone in it."""
    def __init__(self):
        self.table, self.count = {}, {}

    def access(self, cpu, operation, address):
        line = address // 64
        first = line not in self.table
        table = self.table.setdefault(line, set())
        if operation == LOAD:
            if len(table) < 2:
                table.add(cpu)
            return
        self.count[line] = self.count.get(line, 0) + (first or bool(table - {cpu}))
        self.table[line] = {cpu}


def recording(threads, every, invalidations):
    kind = sample_type("identifier", "ip", "tid", "time", "addr", "cpu", "period", "weight", "data_src", "phys_addr")
    r = Recording([Event(ids=[1], sample_type=kind),
                   Event(ids=[2], sample_type=kind, name="cpu/mem-stores/P", config=0x2cd)])
    r.describe_events()
    r.feature(perfdata.CPUID, r.string("GenuineIntel,6,106,6"))
    r.feature(perfdata.ARCH, r.string("x86_64"))
    r.feature(perfdata.NRCPUS, r.pack("II", 4, 4))
    for pid in sorted({thread.pid for thread in threads}):
        r.comm(pid, pid, "worker", id=1)
        r.mmap2(pid, CODE, 0x1000, "/opt/example/worker", id=1)
        r.mmap2(pid, SHARED, 0x2000, "/dev/shm/example", id=1)
    for thread in threads:
        r.comm(thread.pid, thread.tid, "worker", id=1)
    chance, caches, time, accesses = random.Random(6), Caches(), 1000000, 0
    for phase in range(max(len(thread.phases) for thread in threads)):
        active = [thread for thread in threads if phase < len(thread.phases) and thread.phases[phase]]
        place = {thread.tid: 0 for thread in active}
        for _ in range(ROUNDS * len(active)):
            thread = chance.choice(active)
            places = thread.phases[phase]
            at = place[thread.tid]
            place[thread.tid] = (at + 1) % len(places)
            operation, address = places[at]
            source = caches.access(thread.cpu, operation, address)
            invalidations.access(thread.cpu, operation, address)
            time += 10000
            accesses += 1
            if accesses % every:
                continue
            r.sample(event=operation == STORE, id=1 + (operation == STORE), pid=thread.pid, tid=thread.tid, time=time,
                     ip=CODE + 16 * at + (operation == STORE), addr=address, cpu=thread.cpu, period=1000 * every,
                     weight=200 if source >> 19 & HITM else 60 if source >> 5 & L3 else 4, data_src=source,
                     phys_addr=address)
        time += 1000000000
    return r.file()


def linear_regression(start):
    """Four threads go over their points: each reads the pointer and the count of its arguments, 64 bytes, and updates
    the five sums behind them. The array of arguments begins at `start` in a line."""
    def places(arguments):
        reads = [read(arguments + offset) for offset in (8, 16)]
        return reads + sum((update(arguments + offset) for offset in range(24, 64, 8)), [])
    return [Thread(cpu, places(start + 64 * cpu)) for cpu in range(4)]


PROGRAMS = {
    # Featherlight's ten meanings
    "write-write": ("false", "FS", [Thread(0, update(0)), Thread(1, update(8))]),
    "no-sharing": ("private", "-", [Thread(0, update(0)), Thread(1, update(64))]),
    "read-write": ("false", "FS", [Thread(0, [read(0)]), Thread(1, [write(8)])]),
    "read-apart-from-write": ("private", "-", [Thread(0, [read(0)]), Thread(1, [write(64)])]),
    "array-beside": ("false", "FS", [Thread(0, update(0) + [own(0)] * 4), Thread(1, update(8) + [own(1)] * 4)]),
    "two-severities": ("false", "FS", [Thread(0, update(0) * 4 + update(64)), Thread(1, update(8) * 4 + update(72))]),
    "same-variable": ("true", "TS", [Thread(0, update(0)), Thread(1, update(0))]),
    "many-source-lines": ("false", "FS", [Thread(0, update(0) * 6), Thread(1, update(8) * 6)]),
    "barrier-phases": ("unknown", "-", [Thread(0, update(0), [], update(0), []),
                                        Thread(1, [], update(8), [], update(8))]),
    # This is false sharing, too, but lines of two processes are judged apart: the other writer is not found, and no
    # more than that is said.
    "two-processes": ("unknown", "-", [Thread(0, update(0)), Thread(1, update(8), pid=200, tid=200)]),
    # Cheetah's rules: a write after another thread's access invalidates, a second one by the same thread does not,
    # however many read; words of two threads are true sharing, and single bytes no words; two writes are not worth a
    # look; what a serial phase pays is no contention; nor does it matter which thread of a phase is the slowest.
    "writes-in-runs": ("false", "FS", [Thread(0, [write(0)] * 5), Thread(1, [write(8)] * 5)]),
    "many-readers": ("false", "FS", [Thread(0, [write(0)])] + [Thread(cpu, [read(8 * cpu)]) for cpu in (1, 2, 3)]),
    "readers-of-the-word": ("true", "TS", [Thread(0, [write(0)])] + [Thread(cpu, [read(0)]) for cpu in (1, 2, 3)]),
    "bytes-of-a-word": ("false", "FS", [Thread(0, [write(0)]), Thread(1, [write(1)])]),
    "two-writes": ("unknown", "-", [Thread(0, [read(0)] * 300 + [write(0)]), Thread(1, [read(8)])]),
    "serial-phase": ("private", "-", [Thread(0, [own(cpu) for cpu in range(64)] + update(0), [own(0)]),
                                      Thread(1, [], [own(1)])]),
    "slow-thread": ("false", "FS", [Thread(0, update(0) + [own(0)] * 30), Thread(1, update(8))]),
    # the definition of contention
    "write-write-blind": ("false", "FS", [Thread(0, [write(0)]), Thread(1, [write(8)])]),
    "read-only": ("read-only", "-", [Thread(0, [read(0)]), Thread(1, [read(8)])]),
    "one-core": ("unknown", "-", [Thread(0, update(0)), Thread(0, update(8), tid=101)]),
    "initialised-then-read": ("unknown", "-", [Thread(0, [write(0), write(8)]), Thread(1, [], [read(0)]),
                                               Thread(2, [], [read(8)])]),
    "handed-over": ("unknown", "-", [Thread(cpu, *[update(0) if phase == cpu else [] for phase in range(4)])
                                     for cpu in range(4)]),
    "one-thread": ("private", "-", [Thread(0, update(0) + update(8)), Thread(1, [own(1)])]),
    "both-classes": ("mixed", "FS,TS", [Thread(0, update(0) + update(8)), Thread(1, update(0) + update(16))]),
    **{f"linear-regression-{start}": ("private", "-", linear_regression(start)) if start in (0, 56) else
       ("false,private", "FS", linear_regression(start)) for start in range(0, 64, 8)},
    "four-slots": ("false", "FS", [Thread(cpu, update(8 * cpu)) for cpu in range(4)]),
}

for name, (verdict, classes, threads) in PROGRAMS.items():
    invalidations = Invalidations()
    with open(f"{sys.argv[1]}/{name}.data", "wb") as file:
        file.write(recording(threads, int(sys.argv[2]), invalidations))
    print(name, verdict, classes, invalidations.count.get(SHARED // 64, 0))
