# SPDX-License-Identifier: GPL-2.0-only
"""Make a recording of Arm SPE with context packets into one without, in which only samples of the
tracepoint sched_switch tell who ran:

  attribution.py INPUT OUTPUT FOLD LOST   CPU n becomes n % FOLD, so that several threads share a
                                          CPU; every LOSTth sched_switch is missing, but for the last of
                                          a CPU; 0: none of both

A switch stands where the context packets of a CPU change. Printed is the number of samples at
instants at which, by the clock's steps, several threads ran on a CPU: nothing can tell those apart. OUTPUT is a stream with the tracepoint's
format behind the record HEADER_TRACING_DATA.
"""
import struct
import sys

sys.path.insert(0, __file__.rsplit("/", 2)[0])
import mutate  # noqa: E402
import perfdata  # noqa: E402

SCHED_SWITCH, ID = 317, 0xabcdef
FORMAT = "name: sched_switch\nID: 317\nformat:\n" + "".join(
    f"\tfield:{kind};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n" + ("\n" if offset == 4 else "")
    for kind, offset, size, signed in (
        ("unsigned short common_type", 0, 2, 0), ("unsigned char common_flags", 2, 1, 0),
        ("unsigned char common_preempt_count", 3, 1, 0), ("int common_pid", 4, 4, 1),
        ("char prev_comm[16]", 8, 16, 0), ("pid_t prev_pid", 24, 4, 1), ("int prev_prio", 28, 4, 1),
        ("long prev_state", 32, 8, 1), ("char next_comm[16]", 40, 16, 0), ("pid_t next_pid", 56, 4, 1),
        ("int next_prio", 60, 4, 1))) + "\nprint fmt: \"%d\", REC->prev_pid\n"


def packets(data):
    """(offset, header, payload) of each SPE packet."""
    at = 0
    while at < len(data):
        start = at
        if data[at] & 0xfc == 0x20:  # an extended header has two bytes
            at += 1
        header = data[at]
        size = 1 << (header >> 4 & 3) if header not in (0, 1) else 0
        yield start, header, data[at + 1:at + 1 + size]
        at += 1 + size


def tracing_data():
    def sized(text):
        return struct.pack("<Q", len(text)) + text.encode()

    return b"\x17\x08\x44tracing0.6\0" + struct.pack("<BBI", 0, 8, 4096) + b"header_page\0" + sized("") + \
        b"header_event\0" + sized("") + struct.pack("<II", 0, 1) + b"sched\0" + struct.pack("<I", 1) + \
        sized(FORMAT) + struct.pack("<II", 0, 0) + sized("")


def remove_contexts(data, clock, seen):
    """Put pads in place of context packets; add (time, thread) of each record to `seen`."""
    out, context = bytearray(data), None
    for at, header, payload in packets(data):
        if header & 0xfc == 0x64:
            context = int.from_bytes(payload, "little")
            out[at:at + 5] = bytes(5)
        elif header == 0x71:
            shift, mult, zero, cycles, mask = clock
            counter = cycles + (int.from_bytes(payload, "little") - cycles & mask)
            seen.append(((zero + (counter * mult >> shift)) % (1 << 64), context))
    return out


def switch_sample(time, cpu, before, after):
    raw = struct.pack("<HBBi16siiq16sii", SCHED_SWITCH, 1, 0, before, b"before", before, 120, 1, b"after", after, 120)
    body = struct.pack("<QQIIQIII", ID, 0, 1, before, time, cpu, 0, len(raw) + 4) + raw + bytes(4)
    return struct.pack("<IHH", 9, 1, 8 + len(body)) + body


def main():
    data = mutate.PerfData(open(sys.argv[1], "rb").read())
    fold, lost = map(int, sys.argv[3:5])
    records, seen, clock = bytearray(), {}, None
    for at, kind, _, size in data.records():
        if kind == perfdata.TIME_CONV:
            clock = struct.unpack_from("<QQQQQ", data.bytes, at + 8)
    for at, kind, _, size in data.records():
        record = data.bytes[at:at + size]
        if kind == perfdata.AUXTRACE:
            length, cpu = data.u64(at + 8), struct.unpack_from("<I", record, 40)[0]
            cpu = cpu % fold if fold else cpu
            struct.pack_into("<I", record, 40, cpu)
            record += remove_contexts(data.bytes[at + size:at + size + length], clock, seen.setdefault(cpu, []))
        if kind not in (perfdata.SWITCH, perfdata.SWITCH_CPU_WIDE, perfdata.ITRACE_START):
            records += record
    ambiguous = 0
    for cpu, times in seen.items():
        times.sort(key=lambda entry: entry[0])
        pairs = [pair for pair in zip([(0, 0)] + times, times) if pair[0][1] != pair[1][1]]
        ambiguous += sum(earlier == time for (earlier, _), (time, _) in pairs)
        for number, ((_, before), (time, after)) in enumerate(pairs):
            # nothing could tell that the last one is missing
            if not lost or number % lost != lost - 1 or number == len(pairs) - 1:
                records += switch_sample(time, cpu, before, after)
    print(ambiguous)

    mutate.op_stream(data)
    size = struct.unpack_from("<H", data.bytes, 16 + 6)[0]  # of the first HEADER_ATTR
    event = perfdata.Event(type=2, config=SCHED_SWITCH, sample_period=1, read_format=0, flags=perfdata.SAMPLE_ID_ALL,
                           sample_type=perfdata.sample_type("identifier", "ip", "tid", "time", "cpu", "raw"))
    attr = event.attr("<", 128) + struct.pack("<Q", ID)
    formats = tracing_data()
    formats += bytes(-len(formats) % 8)
    head = data.bytes[:16 + size] + struct.pack("<IHH", 64, 0, 8 + len(attr)) + attr
    rest = data.bytes[16 + size:len(data.bytes) - data_size(sys.argv[1])]
    with open(sys.argv[2], "wb") as out:
        out.write(head + rest + struct.pack("<IHHI", 66, 0, 12, len(formats)) + formats + records)


def data_size(path):
    with open(path, "rb") as file:
        return mutate.PerfData(file.read()).header("data.size")


if __name__ == "__main__":
    main()
