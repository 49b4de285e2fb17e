# SPDX-License-Identifier: GPL-2.0-only
"""mem_bound by CPU family.

Each event is sampled by itself: 40 samples whose periods add up to a sum that the trial states, in
one piece of code. The expected value is worked out here from the literal sums.
"""
import math
import sys

import perfdata
from perfdata import Event, Recording, sample_type
from trial import CODE, FIRST_NS, expect, ingest, run

ARM, X86, SAMPLES = "aarch64", "x86_64", 40


def midr(implementer, part):
    return f"0x{implementer << 24 | 0xf << 16 | part << 4 | 1:016x}"


def described(events, arch, cpuid):
    recording = Recording(events)
    recording.comm(100, 100, "worker")
    recording.mmap(100, CODE & ~0xfff, 0x10000, "/bin/worker")
    recording.feature(perfdata.ARCH, recording.string(arch))
    if cpuid:
        recording.feature(perfdata.CPUID, recording.string(cpuid))
    recording.describe_events()
    return recording


def separately(arch, cpuid, sums, samples=SAMPLES):
    """A file with an event for each (name, type, config, sum), sampled with its own periods."""
    events = [Event(name=name, type=kind, config=config, ids=[number + 1], flags=0, read_format=4,
                    sample_type=sample_type("ip", "tid", "time", "id", "period"))
              for number, (name, kind, config, _) in enumerate(sums)]
    recording = described(events, arch, cpuid)
    time = FIRST_NS
    for number, (*_, total) in enumerate(sums):
        count = min(samples, total)
        for part in range(count):
            time += 1000
            recording.sample(number, ip=CODE, pid=100, tid=100, time=time, id=number + 1,
                             period=total // count + (total % count if part == 0 else 0))
    return recording.file()


def found(outcome, columns="mem_bound"):
    return outcome.query(f"SELECT {columns} FROM mem_bound WHERE source = 'cycles'")


def check(what, content, wanted, formula):
    outcome = ingest(content)
    (value, low, high, method, n), = found(outcome, "mem_bound, low, high, method, n")
    assert value is not None and math.isclose(value, wanted, rel_tol=0, abs_tol=1e-9), f"{what}: {value} for {wanted}"
    assert low < value < high, f"{what}: {low} {value} {high}"
    expect(what + ": n", n, SAMPLES)
    assert method.startswith(formula), f"{what}: {method}"
    return outcome


def codes(*pairs):
    """Events given as raw codes."""
    return [(f"r{code:04x}", 4, code, total) for code, total in pairs]


def names(*pairs):
    """Events given by name, with codes that say nothing."""
    return [(name, 77, 0xfff0 + number, total) for number, (name, total) in enumerate(pairs)]


def trial_hip08():
    for part in (codes((0x11, 1000003), (0x7004, 300007), (0x7005, 100001)),
                 names(("armv8_pmuv3_0/cpu_cycles/", 1000003), ("mem_stall_anyload", 300007),
                       ("MEM_STALL_ANYSTORE", 100001))):
        check("hip08", separately(ARM, midr(0x48, 0xd01), part), (300007 + 100001) / 1000003,
              "(MEM_STALL_ANYLOAD + MEM_STALL_ANYSTORE) / CPU_CYCLES (HiSilicon HIP08")


def trial_hip09():
    check("hip09", separately(ARM, midr(0x48, 0xd02), codes(
        (0x11, 1000003), (0x7005, 300007), (0x7006, 100001), (0x7001, 700001), (0x2011, 500009), (0x1b, 2000003))),
        (300007 + 100001) / 700001 * (1 - (500009 + 2000003) / (6 * 1000003)),
        "(MEM_STALL_ANYLOAD + MEM_STALL_ANYSTORE) / EXE_STALL_CYCLE * ")
    # without execution stalls and slots a share of cycles, by the codes of that generation
    check("hip09 cycles", separately(ARM, midr(0x48, 0xd02), codes((0x11, 1000003), (0x7005, 300007), (0x7006, 100001))),
          (300007 + 100001) / 1000003, "(MEM_STALL_ANYLOAD + MEM_STALL_ANYSTORE) / CPU_CYCLES (HiSilicon HIP09")


def trial_hip12():
    """The code 0x7005 is stores on HIP08 and loads here."""
    check("hip12", separately(ARM, midr(0x48, 0xd06), codes((0x11, 1000003), (0x7005, 300007), (0x7006, 100001))),
          (300007 + 100001) / 1000003, "(MEM_STALL_ANYLOAD + MEM_STALL_ANYSTORE) / CPU_CYCLES (HiSilicon HIP12")


def trial_neoverse():
    cycles, mem, slots, missed = (0x11, 1000003), (0x4005, 400009), (0x3d, 3000017), (0x10, 10007)
    for part, wanted, events, formula in (
            (0xd0c, 400009 / 1000003, [cycles, (0x24, 400009)], "STALL_BACKEND / CPU_CYCLES (Neoverse N1"),
            (0xd49, 400009 / 1000003, [cycles, mem, (0x24, 500009)], "STALL_BACKEND_MEM / CPU_CYCLES (Neoverse N2"),
            (0xd40, 400009 / 1000003, [cycles, mem], "STALL_BACKEND_MEM / CPU_CYCLES (Neoverse V1"),
            (0xd4f, 400009 / 1000003, [cycles, mem], "STALL_BACKEND_MEM / CPU_CYCLES (Neoverse V2"),
            (0xd8e, 350003 / 1000003, [cycles, mem, (0x8164, 350003)],
             "STALL_BACKEND_MEMBOUND / CPU_CYCLES (Neoverse N3"),
            (0xd84, 350003 / 1000003, [cycles, (0x8164, 350003)], "STALL_BACKEND_MEMBOUND / CPU_CYCLES (Neoverse V3"),
            (0xd40, 3000017 / (8 * 1000003), [cycles, slots], "STALL_SLOT_BACKEND / (8 * CPU_CYCLES)"),
            (0xd49, 3000017 / (5 * 1000003) - 3 * 10007 / 1000003, [cycles, slots, missed],
             "STALL_SLOT_BACKEND / (5 * CPU_CYCLES) - 3 * BR_MIS_PRED / CPU_CYCLES"),
            (0xd4f, 3000017 / (8 * 1000003) - 3 * 10007 / 1000003, [cycles, slots, missed],
             "STALL_SLOT_BACKEND / (8 * CPU_CYCLES) - 3 * BR_MIS_PRED / CPU_CYCLES"),
            (0xd8e, 3000017 / (5 * 1000003), [cycles, slots], "STALL_SLOT_BACKEND / (5 * CPU_CYCLES)"),
            (0xd84, 3000017 / (10 * 1000003), [cycles, slots], "STALL_SLOT_BACKEND / (10 * CPU_CYCLES)")):
        outcome = check(formula, separately(ARM, midr(0x41, part), codes(*events)), wanted, formula)
        upper = "STALL_BACKEND /" in formula or "SLOT" in formula
        expect(formula, (found(outcome, "tip")[0][0] or "").startswith("All back-end stalls"), upper)


def trial_skylake():
    sums = {"cpu_clk_unhalted.thread": 1000003, "idq_uops_not_delivered.core": 400009, "uops_issued.any": 1500007,
            "int_misc.recovery_cycles": 20011, "cycle_activity.stalls_mem_any": 450001,
            "exe_activity.bound_on_stores": 30011, "cycle_activity.stalls_total": 600011,
            "exe_activity.1_ports_util": 100003, "exe_activity.2_ports_util": 90001,
            "uops_retired.retire_slots": 1400017}
    raw = (0x3c, 0x19c, 0x10e, 0x10d, 0x140014a3, 0x40a6, 0x40004a3, 0x2a6, 0x4a6, 0x2c2)
    wanted = (1 - (400009 + 1500007 + 4 * 20011) / (4 * 1000003)) * (450001 + 30011) / (
        600011 + 100003 + 1400017 / (4 * 1000003) * 90001 + 30011)
    for events in (names(*((f"cpu/{name}/", total) for name, total in sums.items())),
                   codes(*zip(raw, sums.values()))):
        check("skx", separately(X86, "GenuineIntel,6,85,7", events), wanted, "(1 - (IDQ_UOPS_NOT_DELIVERED.CORE + ")
    check("skx cycles", separately(X86, "GenuineIntel,6,85,7", codes((0x3c, 1000003), (0x140014a3, 450001))),
          450001 / 1000003, "CYCLE_ACTIVITY.STALLS_MEM_ANY / CPU_CYCLES (Intel Skylake")


def trial_sapphire_rapids():
    slots, bound = 6000011, 2000003
    for model in (143, 207, 173, 151, 183, 170, 189, 198):
        for events in (names(("slots", slots), ("topdown-mem-bound", bound)),
                       names(("cpu_core/slots/u", slots), ("cpu_core/topdown-mem-bound/u", bound)),
                       codes((0x400, slots), (0x10a4, bound))):
            check("spr", separately(X86, f"GenuineIntel,6,{model},1", events), bound / slots,
                  "TOPDOWN.MEMORY_BOUND_SLOTS / TOPDOWN.SLOTS (Intel ")
    check("spr fields", separately(X86, "GenuineIntel,6,143,8", codes(
        (0x400, slots), (0x8000, 1900003), (0x8100, 300007), (0x8200, 700001), (0x8300, 3000017), (0x8700, bound))),
        bound / (1900003 + 300007 + 700001 + 3000017), "TOPDOWN.MEMORY_BOUND_SLOTS / (TOPDOWN.RETIRING + ")


def trial_zen4():
    wanted = 2500009 / (6 * 1000003) * 300007 / 450001
    for model in (17, 31, 97, 116, 160):
        check("zen4", separately(X86, f"AuthenticAMD,25,{model},1", codes(
            (0x76, 1000003), (0x100001ea0, 2500009), (0xa2d6, 300007), (0x2d6, 450001))), wanted,
            "DE_NO_DISPATCH_PER_SLOT.BACKEND_STALLS / (6 * CPU_CYCLES)")
    check("zen4 names", separately(X86, "AuthenticAMD,25,17,1", names(
        ("ls_not_halted_cyc", 1000003), ("de_no_dispatch_per_slot.backend_stalls", 2500009),
        ("ex_no_retire.load_not_complete", 300007), ("ex_no_retire.not_complete", 450001))), wanted,
        "DE_NO_DISPATCH_PER_SLOT.BACKEND_STALLS / (6 * CPU_CYCLES)")


def trial_others():
    """A CPU that is not known, by names and by the kernel's own events."""
    check("any", separately(ARM, None, names(("cycles", 1000003), ("stall_backend_mem", 400009))), 400009 / 1000003,
          "STALL_BACKEND_MEM / CPU_CYCLES (Arm")
    check("riscv", separately("riscv64", None, [("cycles", 0, 0, 1000003), ("stalled-cycles-backend", 0, 8, 400009)]),
          400009 / 1000003, "STALL_BACKEND / CPU_CYCLES (this CPU")
    # where cores differ, the upper half of the number names their PMU
    check("hybrid", separately(X86, "GenuineIntel,6,85,7", [("x", 0, 4 << 32, 1000003), *codes((0x140014a3, 450001))]),
          450001 / 1000003, "CYCLE_ACTIVITY.STALLS_MEM_ANY / CPU_CYCLES")


def trial_codes_of_others():
    """A raw code means what the CPU gives it, and nothing on another PMU."""
    events = [("cycles", 0, 0, 1000003), ("hisi_sccl1_ddrc0/x/", 42, 0x4005, 400009)]
    outcome = ingest(separately(ARM, midr(0x41, 0xd40), events))
    expect("uncore", found(outcome), [(None,)])
    outcome = ingest(separately(ARM, midr(0x41, 0xd40), codes((0x11, 1000003), (0x7005, 400009))))
    expect("code of HiSilicon", found(outcome), [(None,)])


def trial_missing():
    """What is not there is named with the command that records it on that CPU."""
    for arch, cpuid, command in ((ARM, midr(0x48, 0xd01), "{cycles,r7004,r7005}:S"),
                                 (ARM, midr(0x48, 0xd06), "{cycles,r7005,r7006}:S"),
                                 (ARM, midr(0x41, 0xd8e), "{cycles,r8164}:S"),
                                 (X86, "GenuineIntel,6,143,8", "{slots,topdown-mem-bound}:S"),
                                 (X86, "AuthenticAMD,25,17,1", "ex_no_retire.load_not_complete,")):
        outcome = ingest(separately(arch, cpuid, [("cycles", 0, 0, 1000003)]))
        (value, tip), = found(outcome, "mem_bound, tip")
        assert value is None and "not computable from this file" in tip and command in tip, tip
        status, out, err = outcome.fsquery("mem-bound")
        assert status == 0 and command in out + err, out + err
        told = [row[4] for row in outcome.health("not_measurable")]
        assert any("mem" in text and command in text for text in told), told


def trial_absurd():
    """Values below 0 and above 1 stand, and are told."""
    outcome = ingest(separately(ARM, midr(0x41, 0xd40), codes((0x11, 1000003), (0x4005, 1250009))))
    (value, tip), = found(outcome, "mem_bound, tip")
    assert math.isclose(value, 1250009 / 1000003, abs_tol=1e-9) and tip.startswith("Above 1"), (value, tip)
    outcome = ingest(separately(ARM, midr(0x41, 0xd49), codes((0x11, 1000003), (0x3d, 500009), (0x10, 50021))))
    (value, tip), = found(outcome, "mem_bound, tip")
    assert math.isclose(value, 500009 / (5 * 1000003) - 3 * 50021 / 1000003, abs_tol=1e-9), value
    assert value < 0 and tip.startswith("Below 0"), (value, tip)


def trial_zero():
    """A count of 0 that the formula divides by gives no number; a stall event that never counts is not taken for 0."""
    outcome = ingest(separately(X86, "AuthenticAMD,25,17,1", codes(
        (0x76, 1000003), (0x100001ea0, 2500009), (0xa2d6, 300007), (0x2d6, 0))))
    (value, tip), = found(outcome, "mem_bound, tip")
    assert value is None and "divides by is 0" in tip, (value, tip)
    outcome = ingest(separately(ARM, midr(0x41, 0xd40), codes((0x11, 1000003), (0x4005, 0))))
    (value, tip), = found(outcome, "mem_bound, tip")
    assert value is None and "not computable" in tip, (value, tip)


def trial_few():
    outcome = ingest(separately(ARM, midr(0x41, 0xd40), codes((0x11, 1000003), (0x4005, 400009)), samples=29))
    expect("few", found(outcome, "mem_bound, tip, n"), [(None, "Only 29 samples: a ratio needs 30", 29)])


def trial_interval():
    """Two standard errors: the relative one of a ratio is sqrt(1/n + 1/n)."""
    outcome = ingest(separately(ARM, midr(0x41, 0xd40), codes((0x11, 4000000), (0x4005, 1000000))))
    (low, high), = found(outcome, "low, high")
    error = 0.25 * math.sqrt(1 / SAMPLES + 1 / SAMPLES)
    assert math.isclose(low, 0.25 - 2 * error, abs_tol=1e-9) and math.isclose(high, 0.25 + 2 * error, abs_tol=1e-9)


def grouped(read_format, running):
    """A leader and a member read with it, of a group each; the times of the second by its `running` share."""
    events = [Event(name=name, type=4, config=code, ids=[number], flags=0, read_format=read_format,
                    sample_type=sample_type("ip", "tid", "time", "id", "period", "read"))
              for number, name, code in ((1, "r0011", 0x11), (2, "r4005", 0x4005))]
    recording = described(events, ARM, midr(0x41, 0xd40))
    for number in range(1, SAMPLES + 1):
        now = number * 1000000
        if read_format & 8:
            times = [now] * (read_format & 1) + [now] * (read_format >> 1 & 1)
            lost = [0] * (read_format >> 4 & 1)
            read = [2, *times, number * 10000, 1, *lost, number * 3700, 2, *lost]
            recording.sample(0, ip=CODE, pid=100, tid=100, time=FIRST_NS + now, id=1, period=10000,
                             read=recording.pack(f"{len(read)}Q", *read))
            continue
        for event, value, share in ((1, 10000, 1), (2, 3700, running)):
            recording.sample(event - 1, ip=CODE, pid=100, tid=100, time=FIRST_NS + now, id=event, period=value,
                             read=recording.pack("4Q", number * value, now, int(now * share), event))
    return recording.file()


def trial_groups():
    """Each form of a group read; the counts' growth is what counts."""
    for read_format in (4 | 8, 1 | 2 | 4 | 8, 4 | 8 | 16, 1 | 2 | 4 | 8 | 16):
        outcome = check(f"format {read_format}", grouped(read_format, 1), 0.37, "STALL_BACKEND_MEM / CPU_CYCLES (")
        assert "group read" in found(outcome, "method")[0][0]


def trial_multiplexed():
    """The stall event ran a quarter of the time: its sum stands for four times as much."""
    outcome = check("multiplexed", grouped(1 | 2 | 4, 0.25), 0.37 * 4, "STALL_BACKEND_MEM / CPU_CYCLES (")
    assert "scaled by time_enabled / time_running" in found(outcome, "method")[0][0]
    expect("times", outcome.query("SELECT time_enabled, time_running FROM event ORDER BY idx"),
           [(40000000, 40000000), (40000000, 10000000)])


def trial_two_groups():
    """Two groups with a leader each, the second on the counters for half of the time; cycles are those of the first."""
    events = [Event(name=f"r{code:x}", type=4, config=code, ids=[number + 1], flags=0, read_format=15,
                    sample_type=sample_type("ip", "tid", "time", "id", "period", "read"))
              for number, code in enumerate((0x11, 0x7005, 0x11, 0x7006))]
    recording = described(events, ARM, midr(0x48, 0xd06))
    for number in range(1, SAMPLES + 1):
        now = number * 1000000
        for leader, first, second, share in ((0, 10000, 1700, 1), (2, 5000, 1100, 0.5)):
            recording.sample(leader, ip=CODE, pid=100, tid=100, time=FIRST_NS + now, id=leader + 1, period=first,
                             read=recording.pack("7Q", 2, now, int(now * share), number * first, leader + 1,
                                                 number * second, leader + 2))
    check("two groups", recording.file(), (1700 + 1100 * 2) / 10000, "(MEM_STALL_ANYLOAD + MEM_STALL_ANYSTORE) / ")


def trial_read_records():
    """The times of a thread's READ records scale where samples tell none."""
    events = [Event(name=f"r{code:x}", type=4, config=code, ids=[number + 1], flags=perfdata.SAMPLE_ID_ALL, read_format=7,
                    sample_type=sample_type("ip", "tid", "time", "id", "period"))
              for number, code in enumerate((0x11, 0x4005))]
    recording = described(events, ARM, midr(0x41, 0xd40))
    for number in range(2 * SAMPLES):
        recording.sample(number % 2, ip=CODE, pid=100, tid=100, time=FIRST_NS + number * 1000, id=number % 2 + 1,
                         period=1000 if number % 2 else 8000)
    for number, running in ((1, 900000), (2, 300000)):
        recording.kernel(perfdata.READ, recording.pack("IIQQQQ", 100, 100, 1, 900000, running, number),
                         pid=100, tid=100, time=FIRST_NS, id=number)
    check("read records", recording.file(), 1000 * 3 / 8000, "STALL_BACKEND_MEM / CPU_CYCLES (")


def trial_functions():
    """Each place has its own sums; a place with a stall but no cycles has no ratio and says so."""
    sums = {CODE: (60, 15), CODE + 64: (40, 30), CODE + 128: (0, 5)}
    events = [Event(name=f"r{code:x}", type=4, config=code, ids=[number + 1], flags=0, read_format=4,
                    sample_type=sample_type("ip", "tid", "time", "id", "period"))
              for number, code in enumerate((0x11, 0x4005))]
    recording = described(events, ARM, midr(0x41, 0xd40))
    for ip, counts in sums.items():
        for number, count in enumerate(counts):
            for _ in range(count):
                recording.sample(number, ip=ip, pid=100, tid=100, time=FIRST_NS, id=number + 1, period=1000)
    expect("functions", found(ingest(recording.file()), "rank, share, mem_bound, n, tip"),
           [(1, 0.6, 0.25, 60, None), (2, 0.4, 0.75, 40, None), (3, 0.0, None, 0, "Only 0 samples: a ratio needs 30")])


if __name__ == "__main__":
    run(sys.modules[__name__])
