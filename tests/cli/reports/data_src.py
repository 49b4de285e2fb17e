# SPDX-License-Identifier: GPL-2.0-only
"""data_src and weights of each vendor, from samples to rows. A row for each code that a vendor's kernel driver
writes is in the unit test of ingest/memsrc; these are the words that mean something else by vendor, or are rare."""
import sys

import perfdata
from perfdata import Event
from trial import CODE, FIRST_NS, LINE, expect, ingest, run

LOAD, STORE, NA_OP = 2, 4, 1
# mem_lvl, its bits shifted
HIT, MISS, L1, L2, L3 = (bit << 5 for bit in (0x02, 0x04, 0x08, 0x20, 0x40))
LOC_RAM, REM_RAM1, REM_RAM2, REM_CCE1, REM_CCE2 = (bit << 5 for bit in (0x80, 0x100, 0x200, 0x400, 0x800))
S_NA, S_NONE, S_HIT, S_HITM = (bit << 19 for bit in (1, 2, 4, 0x10))
LOCKED, REMOTE, FORWARD, PEER = 2 << 24, 1 << 37, 1 << 38, 2 << 38


def number(value):
    """mem_lvl_num"""
    return value << 33


(N_L1, N_L2, N_L3, N_L4, N_L2_MHB, N_MSC, N_L0, _, N_CXL, N_IO, N_ANY, N_LFB, N_RAM, N_PMEM, N_NA) = \
    (number(value) for value in range(1, 16))


def hops(value):
    return value << 43


def region(value):
    return value << 46


# Word, then operation, source and certainty.
INTEL = [
    (LOAD | HIT | L3 | S_HITM, "load", "hitm_local", "hardware"),  # before mem_lvl_num
    (LOAD | HIT | REM_CCE1 | S_HITM, "load", "hitm_remote", "hardware"),
    (LOAD | HIT | N_ANY | REMOTE | S_HITM, "load", "hitm_remote", "hardware"),
    (LOAD | HIT | N_ANY | REMOTE | FORWARD, "load", "forward_remote", "hardware"),
    (LOAD | HIT | N_RAM | REMOTE | S_NONE, "load", "dram_remote", "hardware"),
    (LOAD | HIT | REM_RAM1 | N_L3 | REMOTE | S_HIT, "load", "dram_remote", "hardware"),  # L3 is not where it was
    (LOAD | HIT | N_PMEM | S_HIT, "load", "pmem", "hardware"),
    (LOAD | HIT | N_L4 | REMOTE | S_HIT, "load", "msc", "hardware"),
    (LOAD | N_CXL, "load", "cxl", "hardware"),
    (LOAD | N_L2_MHB, "load", "l2_mhb", "hardware"),
    (LOAD | HIT | N_MSC, "load", "msc", "hardware"),
    (LOAD | HIT | N_L0, "load", "l1", "hardware"),
    (LOAD | MISS | L3 | N_L3 | S_HITM, "load", "hitm_local", "hardware"),  # Lion Cove
    (LOAD | MISS | N_L3 | S_NA, "load", "l3_miss", "hardware"),
    (LOAD | HIT | L3 | N_L3 | region(5) | S_HIT, "load", "l3_snoop_hit", "hardware"),
    (LOAD | N_NA | region(7), "load", "io", "hardware"),
    (LOAD | HIT | LOC_RAM | N_RAM | region(9), "load", "dram_local", "hardware"),
    (LOAD | region(15), "load", "dram_local", "hardware"),
    (LOAD | region(16), "load", None, "none"),
    (LOAD | HIT | N_NA, "load", "unknown", "none"),
    (STORE | MISS | L1, "store", "l1_miss", "hardware"),
    (STORE | HIT | L1 | LOCKED, "atomic", "l1", "hardware"),
    (LOAD | STORE | HIT | L1, "atomic", "l1", "hardware"),
    (0, "load", None, "none"),  # by the event's name
    (0x11e05080021, "load", None, "none"),
]
AMD = [
    (LOAD | HIT | L3 | REM_CCE1 | N_ANY | hops(1) | S_HITM, "load", "hitm_local", "hardware"),  # before Zen 4
    (LOAD | HIT | L3 | REM_CCE1 | N_ANY | hops(1) | S_NA, "load", "l3", "hardware"),
    (LOAD | HIT | REM_CCE1 | N_ANY | REMOTE | hops(1) | S_NA, "load", "peer_local", "hardware"),  # near CCX
    (LOAD | HIT | REM_CCE1 | N_ANY | REMOTE | hops(1) | S_HITM, "load", "hitm_local", "hardware"),
    (LOAD | HIT | REM_CCE2 | N_ANY | REMOTE | hops(2) | S_NA, "load", "peer_remote", "hardware"),  # far CCX
    (LOAD | HIT | REM_CCE2 | N_ANY | REMOTE | hops(2) | S_HITM, "load", "hitm_remote", "hardware"),
    (LOAD | HIT | REM_RAM1 | N_RAM | REMOTE | hops(2) | S_NA, "load", "dram_remote", "hardware"),
    (LOAD | N_PMEM, "load", "pmem", "hardware"),
    (LOAD | N_CXL | REMOTE | hops(2), "load", "cxl", "hardware"),
    (STORE | HIT | L2 | N_L2, "store", "l2", "hardware"),
    (NA_OP | 1 << 5 | S_NA, "other", None, "none"),  # most of what IBS samples
]
POWER = [
    (LOAD | HIT | L3 | N_L3 | S_HIT, "load", "l3", "hardware"),  # every hit says so
    (LOAD | HIT | L2 | N_L2 | REMOTE | hops(1) | S_HIT, "load", "peer_local", "hardware"),
    (LOAD | HIT | L3 | N_L3 | REMOTE | hops(1) | S_HIT, "load", "l3_snoop_hit", "hardware"),
    (LOAD | HIT | L3 | N_L3 | REMOTE | hops(1) | S_HITM, "load", "hitm_local", "hardware"),
    (LOAD | HIT | REM_CCE1 | N_ANY | REMOTE | hops(3) | S_HIT, "load", "forward_remote", "hardware"),
    (LOAD | HIT | REM_CCE1 | S_HITM, "load", "hitm_local", "hardware"),  # before Linux 5.17: on the chip
    (LOAD | HIT | REM_CCE2 | S_HITM, "load", "hitm_remote", "hardware"),
    (LOAD | HIT | REM_CCE2 | S_HIT, "load", "forward_remote", "hardware"),
    (LOAD | HIT | REM_RAM2 | N_RAM | REMOTE | hops(4), "load", "dram_remote", "hardware"),
    (LOAD | MISS | L1, "load", "l1_miss", "hardware"),
]
ARM = [  # as perf inject --itrace writes them, which takes no packet for L1
    (LOAD | HIT | L2 | N_L2 | PEER, "load", "peer_local", "inferred"),
    (LOAD | HIT | L3 | N_L3 | S_HIT, "load", "l3", "inferred"),
    (LOAD | HIT | REM_CCE1 | N_L3 | PEER, "load", "peer_local", "inferred"),
    (LOAD | HIT | REM_CCE1 | N_L3 | S_HITM | PEER, "load", "hitm_local", "inferred"),
    (LOAD | REM_CCE2 | N_ANY | REMOTE | S_HITM | PEER, "load", "hitm_remote", "inferred"),
    (LOAD | 1 << 5 | N_NA | REMOTE | PEER, "load", "peer_remote", "inferred"),
    (STORE | 1 << 5 | N_NA | S_NA, "store", None, "none"),
]
MACHINES = {"intel": ("x86_64", "GenuineIntel,6,143,8", "<", INTEL), "amd": ("x86_64", "AuthenticAMD,25,17,1", "<", AMD),
            "hygon": ("x86_64", "HygonGenuine,24,1,1", "<", AMD), "power": ("ppc64le", "004e1202", "<", POWER),
            "power, big endian": ("ppc64", "004e1202", ">", POWER), "arm": ("aarch64", "0x00000000410fd0c0", "<", ARM)}


def recording_of(arch, cpuid, order="<", weight="weight"):
    kind = perfdata.sample_type("ip", "tid", "time", "addr", "id", "cpu", "period", "data_src", weight)
    recording = perfdata.Recording([Event(name="cpu/mem-loads,ldlat=30/P", ids=[1], sample_type=kind)], order)
    recording.comm(100, 100, "worker")
    for feature, text in ((perfdata.HOSTNAME, "host"), (perfdata.ARCH, arch), (perfdata.CPUID, cpuid)):
        recording.feature(feature, recording.string(text))
    recording.describe_events()
    return recording


def add(recording, at, **values):
    recording.sample(ip=CODE, pid=100, tid=100, time=FIRST_NS + at, id=1, addr=LINE, period=1000, **values)


def trial_words():
    """One class of each word, how certain it is, and the word itself."""
    for machine, (arch, cpuid, order, words) in MACHINES.items():
        recording = recording_of(arch, cpuid, order)
        for at, (word, *_) in enumerate(words):
            add(recording, at, data_src=word, weight=100)
        outcome = ingest(recording.file())
        rows = outcome.query("SELECT data_src, op, source, certainty FROM samples ORDER BY time_ns")
        for (word, *wanted), got in zip(words, rows, strict=True):
            expect(f"{machine}, {word:#x}", got, (hex(word) if word else "0x0", *wanted))
        expect("a sample has one class", outcome.value("SELECT sum(samples) FROM code_total"), len(words))


def trial_words_without_machine():
    """Where the file does not tell the CPU, the fields mean what the kernel's header says."""
    recording = recording_of("", "")
    for at, word in enumerate((LOAD | HIT | REM_CCE1 | S_HITM, LOAD | HIT | REM_CCE1 | N_L3 | PEER, LOAD | HIT | L3 | S_HIT)):
        add(recording, at, data_src=word)
    expect("sources", [row[0] for row in ingest(recording.file()).query("SELECT source FROM samples ORDER BY time_ns")],
           ["hitm_remote", "peer_local", "l3_snoop_hit"])


def trial_weights():
    """Three weights of a struct in both byte orders; 0 is not measured."""
    for order in "<>":
        recording = recording_of("ppc64" if order == ">" else "ppc64le", "004e1202", order, "weight_struct")
        words = (3 << 48 | 2 << 32 | 1, 0, 0xffff << 48 | 0xffff << 32 | 0xffff, 7 << 32, 2 ** 64 - 1)
        for at, word in enumerate(words):
            add(recording, at, data_src=LOAD, weight=word)
        expect("weights", ingest(recording.file()).query(
            "SELECT latency, instruction_latency, weight3, saturated FROM samples ORDER BY time_ns"),
               [(1, 2, 3, 0), (None, None, None, 0), (0xffff, 0xffff, 0xffff, 1), (None, 7, None, 0),
                (2 ** 32 - 1, 0xffff, 0xffff, 0)])


if __name__ == "__main__":
    run(sys.modules[__name__])
