# SPDX-License-Identifier: GPL-2.0-only
"""Samples with fields of variable length: every count against what the record holds."""
import sys

import perfdata
from perfdata import Event, sample_type
from trial import CODE, FIRST_NS, LINE, LOAD_HITM, expect, ingest, run, small

COMMON = sample_type("ip", "tid", "time", "id")
HUGE = (2, 8190, 2 ** 29, 2 ** 31, 2 ** 32 - 1, 2 ** 61, 2 ** 63, 2 ** 64 - 1)


def recording_of(*names, **changes):
    return small(0, [Event(ids=[1], sample_type=COMMON | sample_type(*names), **changes)])


def add(recording, number, **values):
    recording.sample(ip=CODE, pid=100, tid=101, id=1, time=FIRST_NS + number, **values)


def check_counts(field, make, names=(), **changes):
    """A good sample, one with each absurd count, a good one: the good ones are read, the others counted."""
    recording = recording_of(field, *names, **changes)
    add(recording, 0, **{field: make(recording, None)})
    offset = recording.next_offset()
    for count in HUGE:
        add(recording, 1, **{field: make(recording, count)})
    add(recording, 2, **{field: make(recording, None)})
    outcome = ingest(recording.file(), 3)
    expect(f"samples with {field}", outcome.samples(), 2)
    expect(f"bad samples with {field}", outcome.loss("bad_sample")[::2], (len(HUGE), offset))


def trial_chain():
    check_counts("chain", lambda recording, count: recording.chain(CODE) if count is None else
                 recording.pack("QQ", count, CODE))


def trial_read_group():
    check_counts("read", lambda recording, count: recording.pack("QQQ", 1, 5, 1) if count is None else
                 recording.pack("QQQ", count, 5, 1), read_format=4 | 8)


def trial_branches():
    check_counts("branches", lambda recording, count: recording.pack("QQQQ", 1, 1, 2, 3) if count is None else
                 recording.pack("QQQQ", count, 1, 2, 3))


def trial_stack():
    check_counts("stack", lambda recording, count: recording.pack("QQQ", 8, 0, 8) if count is None else
                 recording.pack("QQQ", 8 * count % 2 ** 64 or 2 ** 40, 0, 8), stack_user=4096)


def trial_aux():
    check_counts("aux", lambda recording, count: recording.pack("QQ", 8, 0) if count is None else
                 recording.pack("QQ", 8 * count % 2 ** 64 or 2 ** 40, 0))


def trial_raw():
    recording = recording_of("raw")
    add(recording, 0, raw=recording.raw_data(b"12345678"))
    offset = recording.next_offset()
    for size in (5, 2 ** 31, 2 ** 32 - 1):
        add(recording, 1, raw=recording.pack("II", size, 0))
    outcome = ingest(recording.file(), 3)
    expect("samples", outcome.samples(), 1)
    expect("bad samples", outcome.loss("bad_sample")[::2], (3, offset))


def trial_registers():
    """As many registers as the mask has bits, none with ABI 0; the fields behind them are read."""
    for mask in (0, 1, 0xff0fff, 2 ** 64 - 1):
        recording = recording_of("regs_user", "regs_intr", "phys_addr", regs_user=mask, regs_intr=mask)
        count = bin(mask).count("1")
        full = recording.pack(f"Q{count}Q", 2, *range(count))
        for user, interrupt in ((full, full), (bytes(8), full), (full, bytes(8)), (bytes(8), bytes(8))):
            add(recording, 0, regs_user=user, regs_intr=interrupt, phys_addr=0x1234)
        outcome = ingest(recording.file())
        expect("physical addresses", outcome.query("SELECT phys_addr, count(*) FROM sample GROUP BY 1"), [(0x1234, 4)])


def trial_branch_index():
    """hw_idx stands before the branches, or does not where there are none."""
    recording = recording_of("branches", "phys_addr", branch_sample_type=1 << 17)
    for branches in (recording.pack("QQQQQ", 1, 7, 1, 2, 3), recording.pack("QQ", 0, 7), recording.pack("Q", 0)):
        add(recording, 0, branches=branches, phys_addr=0x1234)
    outcome = ingest(recording.file())
    expect("physical addresses", outcome.query("SELECT phys_addr, count(*) FROM sample GROUP BY 1"), [(0x1234, 3)])


def trial_weights():
    """A plain weight and a struct of three; the largest values."""
    for kind, value, wanted in (("weight", 300, 300), ("weight", 2 ** 64 - 1, 2 ** 32 - 1),
                                ("weight_struct", 5 << 48 | 7 << 32 | 300, 300), ("weight_struct", 2 ** 64 - 1, 2 ** 32 - 1)):
        recording = recording_of("addr", "data_src", kind)
        add(recording, 0, addr=LINE, weight=value, data_src=LOAD_HITM)
        expect(f"latency of {kind} {value:#x}", ingest(recording.file()).value("SELECT latency FROM sample"), wanted)


def trial_everything():
    """All fields at once, in both byte orders."""
    names = [name for name in perfdata.BIT if name not in ("task", "weight_struct", "identifier")]
    for order in "<>":
        event = Event(ids=[1], sample_type=sample_type("tid", *names), read_format=1 | 2 | 4 | 16, regs_user=3, regs_intr=5,
                      branch_sample_type=1 << 17, stack_user=64)
        recording = small(0, [event], order=order)
        add(recording, 0, addr=LINE, cpu=1, period=9, read=recording.pack("QQQQQ", 50, 60, 70, 1, 0),
            chain=recording.chain(2 ** 64 - 512, CODE, CODE + 64), raw=recording.raw_data(b"raw bytes"),
            branches=recording.pack("QQQQQ", 1, 7, 1, 2, 3), regs_user=recording.pack("QQQ", 2, 1, 2),
            stack=recording.pack("Q16sQ", 16, b"stack", 8), weight=300, data_src=LOAD_HITM, transaction=1,
            regs_intr=recording.pack("QQQ", 2, 1, 2), phys_addr=0x5678, cgroup=3, data_page_size=4096,
            code_page_size=1 << 21, aux=recording.pack("Q8s", 8, b"aux data"))
        outcome = ingest(recording.file())
        row, = outcome.query("SELECT addr, phys_addr, latency, cpu, period, raw, extra >> 32 & 255, extra >> 40 FROM sample")
        expect("row", row, (LINE, 0x5678, 300, 1, 9, LOAD_HITM, 12, 21))
        expect("chain", outcome.value("SELECT count(*) FROM chain"), 1)
        expect("reading", outcome.query("SELECT value, time_enabled, time_running FROM sample_read"), [(50, 60, 70)])
        expect("losses", outcome.losses(), [])


def trial_tail():
    """Bytes behind the last known field are noted, and the sample is kept."""
    recording = recording_of("period")
    add(recording, 0, period=5, tail=b"\x5a" * 16)
    outcome = ingest(recording.file())
    expect("samples", outcome.samples(), 1)
    expect("sample_tail", outcome.loss("sample_tail")[0], 1)


def trial_nothing():
    """An event whose samples hold nothing at all, and one with everything switched off."""
    for kind in (0, 1 << 16, 1 << 6):
        recording = small(0, [Event(ids=[1], sample_type=kind)])
        for _ in range(3):
            recording.sample(id=1)
        expect("samples", ingest(recording.file(), (0, 3)).samples(), 3)


def trial_deep_chain():
    """Chains of 8,000 entries, and a thousand of them that differ: bounded memory, no recursion."""
    recording = recording_of("chain")
    for number in range(100):
        add(recording, number, chain=recording.chain(*(CODE + 16 * ((number * 7 + step) % 9000) for step in range(8000))))
    expect("samples", ingest(recording.file()).samples(), 100)


if __name__ == "__main__":
    run(sys.modules[__name__])
