# SPDX-License-Identifier: GPL-2.0-only
"""What a capture can and cannot show: for each limit a capture that has it and one that has not.

The sentence must be there in the first, with the number that is asked for and a command, and must
not be there in the second.
"""
import re
import struct
import sys

import perfdata
from perfdata import Event
from spe import N1, SPE_TYPE, recording_of, spe_record, two_threads, version_2
from trial import FIRST_NS, LOADS, STORES, expect, ingest, run, small

KUNPENG_920, N2_V1P4 = "0x00000000481fd010", 0x410fd8e0
FULL = 1 | 2 | 1 << 16 | 3 << 33  # times, physical addresses, jitter, loads and stores
IBS_TYPE = 11


def spe(data=None, info=None, cpuid=KUNPENG_920, aux_flags=0, **event):
    """A capture of SPE with what the event asked for."""
    kind = perfdata.sample_type("tid", "time", "id", "cpu")
    fields = {"type": SPE_TYPE, "config": FULL, "ids": [1], "sample_type": kind, "sample_period": 1024}
    fields.update(event)
    recording = recording_of(None, info, cpuid=cpuid, events=[Event(name="arm_spe_0//", **fields)])
    data = two_threads(source=None) if data is None else data
    if data:
        recording.kernel(perfdata.AUX, recording.pack("QQQ", 0, len(data), aux_flags), cpu=0, time=FIRST_NS)
        recording.aux_data(data)
    return recording


def other(*events, cpuid="GenuineIntel,6,143,8", **options):
    recording = small(events=[Event(**event) for event in events], **options)
    recording.feature(perfdata.CPUID, recording.string(cpuid))
    recording.feature(perfdata.PMU_MAPPINGS, recording.pack("II", 1, IBS_TYPE) + recording.string("ibs_op"))
    return recording


def ibs(cpuid="AuthenticAMD,26,2,1", **event):
    return other({"name": "ibs_op//", "type": IBS_TYPE, "config": 0, "ids": [11, 12, 21, 22], **event}, cpuid=cpuid)


def sentences(outcome, name, scope=None):
    """[(count, sentence)] of a row of health, by the view and by the command alike."""
    rows = outcome.query("SELECT scope, count, description FROM health WHERE name = ? AND ? IN (scope, '')"
                         .replace("?", "'%s'") % (name, scope or ""))
    _, out, _ = outcome.fsquery("health", "--format", "csv", "--columns", "name,scope,count")
    for where, count, _ in rows:
        assert re.search(f'^{name},"?{re.escape(where)}"?,{count}$', out, re.MULTILINE), out
    return [(count, sentence) for _, count, sentence in rows]


def limits(name, scope, limited, whole, *words, count=None, command="perf record"):
    """One sentence with the words and the command where the limit is; none where it is not."""
    found = sentences(ingest(limited.file()), name, scope)
    expect(f"sentences of {name}, {scope}", len(found), 1)
    if count is not None:
        expect("count", found[0][0], count)
    for word in (*words, command):
        assert word in found[0][1], f"{word} is not in: {found[0][1]}"
    expect(f"{name}, {scope} without the limit", sentences(ingest(whole.file()), name, scope), [])


def trial_latency_filter():
    limits("latency_filter", "arm_spe_0//", spe(config2=30), spe(), "at least 30 cycles", "mean latencies are too high",
           "min_latency=0", count=30)
    limits("latency_filter", LOADS["name"], other(LOADS | {"config1": 30}, STORES), other(LOADS, STORES),
           "loads of at least 30", count=30, command="perf c2c record --ldlat 3")
    limits("latency_filter", "ibs_op//", ibs(config1=256), ibs(), "missed L1D of at least 256", "No store was sampled",
           count=256, command="perf c2c record")


def trial_event_filter():
    limits("event_filter", "arm_spe_0//", spe(config1=1 << 3), spe(), "loads, stores, events 0x8",
           command="Record with load_filter=1,store_filter=1")
    limits("event_filter", "arm_spe_0//", spe(config3=1 << 2), spe(), "not events 0x4", command="Record with")
    limits("event_filter", "arm_spe_0//", spe(config4=1), spe(), "not data sources 0x1", command="Record with")
    limits("event_filter", "arm_spe_0//", spe(config=FULL & ~(1 << 34)), spe(config=FULL | 1 << 32), "(loads)",
           command="Record with")
    limits("event_filter", "arm_spe_0//", spe(config=FULL | 1 << 37 | 1 << 38), spe(),
           "(loads, stores, of those only what is load, store)", command="Record with")
    limits("event_filter", "arm_spe_0//", spe(config=FULL | 1 << 40), spe(), "of those only what is no SIMD",
           command="Record with")
    limits("event_filter", "arm_spe_0//", spe(config=FULL | 1 << 41), spe(), "stores, floating point)",
           command="Record with")
    limits("event_filter", "ibs_op//", ibs(config=1 << 16), ibs(), "missed L3", command="Record without l3missonly=1")


def trial_privileges():
    for kernel, word, command in ((1, "Only user code", "without `:u`"), (0, "Only the kernel", "without `:k`")):
        flags = perfdata.INHERIT | perfdata.SAMPLE_ID_ALL | 1 << 4 + kernel
        limits("event_filter", "arm_spe_0//", spe(flags=flags), spe(), word, command=command)
        limits("event_filter", "ibs_op//", ibs(flags=flags), ibs(), word, command=command)


def trial_interval():
    found = sentences(ingest(spe(sample_period=4096).file()), "sampling")
    assert "one operation in 4096, with jitter" in found[0][1], found
    limits("no_jitter", "arm_spe_0//", spe(config=FULL & ~(1 << 16)), spe(), "same operations", command="jitter=1")


def trial_better_recording():
    for limited, words in ((spe(config=FULL & ~1), "ts_enable=1"), (spe(config=FULL & ~2), "pa_enable=1"),
                           (spe(config2=30), "-c 1024"), (spe(aux_flags=8), "-c 4096"), (spe(aux_flags=1), "-m ,16M")):
        limits("better_recording", "recording", limited, spe(), words)


def trial_collisions():
    limits("collision_rate", "arm_spe_0//", spe(aux_flags=8), spe(), "1 of 1 AUX records (100.0 %)", count=1,
           command="-c 4096")


def trial_one_operation():
    """Captures of loads only and of stores only."""
    limits("not_measurable", "writers", spe(spe_record()), spe(), "who writes a line is unknown")
    limits("not_measurable", "readers", spe(spe_record(operation=1)), spe(), "who reads a line is unknown")
    loads = small(events=[Event(**LOADS | {"ids": [11, 12, 21, 22]})], count=1)
    limits("not_measurable", "writers", loads, small(), "store-store contention", command="perf c2c record")


def trial_data_source():
    miss = two_threads(source=None)  # missed L1, served by nobody knows whom
    limits("not_measurable", "transfers between cores", spe(miss), spe(two_threads(source=0x0c), cpuid=N1),
           "hitm and peer are empty", command="perf record -d -T -e mem:ADDRESS:rw")
    limits("not_measurable", "data source", spe(two_threads(source=None, events=0)),
           spe(two_threads(source=0x0c), cpuid=N1), "No memory sample says where", command="perf record -d -T -e mem:")
    plain = perfdata.MEMORY & ~perfdata.sample_type("data_src")
    limits("not_measurable", "data source", other(LOADS | {"sample_type": plain}, STORES | {"sample_type": plain}),
           small(), "told from latency", command="perf c2c record")


def trial_hitm():
    def capture(events):
        return spe(two_threads(source=0x0c), version_2((0, N2_V1P4), events=events))
    limits("not_measurable", "HITM", capture(0), capture(1 << 21), "hitm is empty", "as far as the file says", count=200)
    limits("not_measurable", "HITM", capture(1 << 23), capture(1 << 21), "has no event for it")
    limits("hitm_meaning", None, capture(1 << 21), capture(0), "0 means that none was", command="")
    for cpuid, faulty in (("AuthenticAMD,25,1,1", 1), ("AuthenticAMD,25,17,1", 0)):
        outcome = ingest(ibs(cpuid=cpuid).file())
        expect("Zen 3 or 4", [len(sentences(outcome, *row)) for row in (("not_measurable", "HITM"), ("erratum", "AMD 1293"))],
               [faulty, faulty])


def trial_errata():
    limits("erratum", "Neoverse N1 1694299", spe(cpuid=N1), spe(), "no fair choice", command="perf record -e cycles")
    limits("erratum", "Neoverse N1 1694299", spe(info=version_2((0, 0x413fd0c1)), cpuid="-"), spe(), "no fair choice")


def trial_attribution():
    nobody = two_threads(source=None).replace(struct.pack("<BI", 0x64, 101), b"\0" * 5)
    outcome = ingest(spe(nobody).file())
    found = sentences(outcome, "attribution")
    assert found[0][0] == 100 and "50.0 % of the samples" in found[0][1] and "--switch-events" in found[0][1], found
    assert "--switch-events" not in sentences(ingest(spe().file()), "attribution")[0][1]


def trial_missing_fields():
    """What the sample_type leaves out."""
    def without(*names):
        kind = perfdata.MEMORY & ~perfdata.sample_type(*names)
        return other(LOADS | {"sample_type": kind}, STORES | {"sample_type": kind})
    limits("not_measurable", "latency", without("weight"), small(), "perf record -W", command="perf c2c record")
    limits("not_measurable", "CPUs", without("cpu"), small(), command="--sample-cpu")
    limits("not_measurable", "overlap in time", without("time"), small(), command="perf record -T")
    limits("not_measurable", "contention", without("addr"), small(), command="perf c2c record")
    limits("not_measurable", "physical addresses", small(), spe(), command="perf record --phys-data")
    limits("not_measurable", "overlap in time", spe(b"".join(
        spe_record(tick=None, operation=number % 2) for number in range(4))), spe(), command="ts_enable=1")
    limits("not_measurable", "physical addresses", spe(config=FULL & ~2), spe(), command="pa_enable=1")
    limits("not_measurable", "spe", spe(b""), spe(), "discard=1", "kpti=off", command="perf record -e cycles")


def trial_everything():
    """Each sentence about what cannot be measured names a command."""
    for recording in (spe(), spe(b""), spe(spe_record(), config=0), small(), ibs(config=1 << 16, config1=128),
                      ibs(cpuid="AuthenticAMD,25,1,1"), spe(two_threads(source=0x0c), cpuid=N1)):
        for scope, sentence in ingest(recording.file()).query(
                "SELECT scope, description FROM health WHERE name IN ('not_measurable', 'erratum', 'no_jitter', "
                "'latency_filter', 'event_filter', 'collision_rate', 'blind_time', 'better_recording')"):
            assert re.search("`perf |Record with|Record without", sentence), f"{scope}: {sentence}"


if __name__ == "__main__":
    run(sys.modules[__name__])
