# SPDX-License-Identifier: GPL-2.0-only
"""Build perf.data files from parts, in either byte order, as a file or as a stream.

It writes what the kernel's perf_event.h and perf's header.c say and not what our reader believes;
whatever is not given is written as a recorder would, and everything can be overridden with lies.

  recording = Recording([Event(name="loads", ids=[1])])
  recording.comm(100, 100, "worker")
  recording.sample(ip=0x400010, pid=100, tid=100, time=1000, id=1)
  recording.feature(HOSTNAME, recording.string("host"))
  open("perf.data", "wb").write(recording.file())

  file:    | header (104) | ids | attrs | records | feature table | features |
  stream:  | header (16) | HEADER_ATTR ... | HEADER_FEATURE ... | records |
"""
import struct

HEADER = {"magic": 0, "size": 8, "attr_size": 16, "attrs.offset": 24, "attrs.size": 32, "data.offset": 40,
          "data.size": 48, "types.offset": 56, "types.size": 64}
ATTR = {"type": (0, "<I"), "size": (4, "<I"), "config": (8, "<Q"), "sample_period": (16, "<Q"),
        "sample_type": (24, "<Q"), "read_format": (32, "<Q"), "flags": (40, "<Q")}
HEADER_SIZE, BITMAP = 104, 72

(MMAP, LOST, COMM, EXIT, THROTTLE, UNTHROTTLE, FORK, READ, SAMPLE, MMAP2, AUX, ITRACE_START, LOST_SAMPLES, SWITCH,
 SWITCH_CPU_WIDE, NAMESPACES, KSYMBOL, BPF_EVENT, CGROUP, TEXT_POKE) = range(1, 21)
(HEADER_ATTR, HEADER_EVENT_TYPE, HEADER_TRACING_DATA, HEADER_BUILD_ID, FINISHED_ROUND, ID_INDEX, AUXTRACE_INFO,
 AUXTRACE, AUXTRACE_ERROR, THREAD_MAP, CPU_MAP, STAT_CONFIG, STAT, STAT_ROUND, EVENT_UPDATE, TIME_CONV,
 HEADER_FEATURE, COMPRESSED, FINISHED_INIT, COMPRESSED2) = range(64, 84)

TRACING_DATA, BUILD_ID, HOSTNAME, OSRELEASE, VERSION, ARCH, NRCPUS, CPUDESC, CPUID = range(1, 10)
TOTAL_MEM, CMDLINE, EVENT_DESC, CPU_TOPOLOGY, NUMA_TOPOLOGY, BRANCH_STACK, PMU_MAPPINGS, GROUP_DESC = range(10, 18)
AUXTRACE_INDEX, STAT_FEATURE, CACHE, SAMPLE_TIME, MEM_TOPOLOGY, CLOCKID, DIR_FORMAT = range(18, 25)
BPF_PROG_INFO, BPF_BTF, COMPRESSED_FEATURE, CPU_PMU_CAPS, CLOCK_DATA, HYBRID_TOPOLOGY, PMU_CAPS = range(25, 32)

# Fields of SAMPLE and of the sample_id trailer by bit of sample_type, in the order of the record.
FIELDS = [(16, "identifier", "Q"), (0, "ip", "Q"), (1, "task", "II"), (2, "time", "Q"), (3, "addr", "Q"),
          (6, "id", "Q"), (9, "stream_id", "Q"), (7, "cpu", "II"), (8, "period", "Q"), (4, "read", "s"),
          (5, "chain", "s"), (10, "raw", "s"), (11, "branches", "s"), (12, "regs_user", "s"), (13, "stack", "s"),
          (14, "weight", "Q"), (24, "weight", "Q"), (15, "data_src", "Q"), (17, "transaction", "Q"),
          (18, "regs_intr", "s"), (19, "phys_addr", "Q"), (21, "cgroup", "Q"), (22, "data_page_size", "Q"),
          (23, "code_page_size", "Q"), (20, "aux", "s")]
TRAILER = [(1, "task", "II"), (2, "time", "Q"), (6, "id", "Q"), (9, "stream_id", "Q"), (7, "cpu", "II"),
           (16, "identifier", "Q")]
BIT = {name: bit for bit, name, _ in FIELDS if bit != 24}
BIT["weight_struct"] = 24

# Flags of perf_event_attr.
INHERIT, FREQ, SAMPLE_ID_ALL = 1 << 1, 1 << 10, 1 << 18


def sample_type(*names):
    """The bits of the named fields; `tid` is the field with pid and tid."""
    return sum(1 << BIT["task" if name == "tid" else name] for name in names)


MEMORY = sample_type("ip", "tid", "time", "addr", "id", "cpu", "period", "weight", "data_src")


class Event:
    """struct perf_event_attr, its name and its ids."""

    def __init__(self, **fields):
        self.name, self.ids = "cpu/mem-loads/P", []
        self.type, self.config, self.sample_period = 4, 0x1cd, 1000
        self.sample_type, self.read_format, self.flags = MEMORY, 4, INHERIT | SAMPLE_ID_ALL
        self.bp_type = self.config1 = self.config2 = self.branch_sample_type = self.regs_user = 0
        self.stack_user = self.clockid = self.regs_intr = self.config3 = self.config4 = 0
        self.claimed_size = None
        for name, value in fields.items():
            getattr(self, name)  # a misspelt field
            setattr(self, name, value)

    def attr(self, order, size, filler=0xa5):
        """`size` bytes; what a newer recorder added behind the known ones is not zero."""
        claimed = size if self.claimed_size is None else self.claimed_size
        flags = struct.pack("<Q", self.flags)
        if order == ">":  # bit-fields begin at the other end of each byte
            flags = bytes(int(f"{byte:08b}"[::-1], 2) for byte in flags)
        known = struct.pack(order + "IIQQQQ8sIIQQQQIiQIHHIIQQQ", self.type, claimed, self.config, self.sample_period,
                            self.sample_type, self.read_format, flags, 0, self.bp_type, self.config1, self.config2,
                            self.branch_sample_type, self.regs_user, self.stack_user, self.clockid, self.regs_intr,
                            0, 0, 0, 0, 0, 0, self.config3, self.config4)
        return known[:size] + bytes([filler]) * (size - len(known))


class Recording:
    def __init__(self, events, order="<", attr_size=144):
        self.events, self.order, self.attr_size = events, order, attr_size
        self.records = bytearray()
        self.features = {}

    # ---- pieces ----

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    @staticmethod
    def padded(text, width=8):
        """A name with at least one NUL, to a multiple of `width`."""
        text = text.encode() if isinstance(text, str) else text
        return text + bytes(width - len(text) % width)

    def string(self, text):
        """`str` of the feature sections."""
        body = self.padded(text, 64)
        return self.pack("I", len(body)) + body

    def chain(self, *ips):
        return self.pack(f"Q{len(ips)}Q", len(ips), *ips)

    def raw_data(self, data):
        return self.pack("I", len(data) + -(4 + len(data)) % 8) + data + bytes(-(4 + len(data)) % 8)

    def _fields(self, table, kind, values):
        out = b""
        for bit, name, form in table:
            if not kind >> bit & 1:
                continue
            if name == "task":
                out += self.pack("II", values.get("pid", 0), values.get("tid", 0))
            elif name == "identifier":
                out += self.pack("Q", values.get("id", 0))
            elif name == "cpu":
                out += self.pack("II", values.get("cpu", 0), 0)
            elif form == "s":
                out += values.get(name, bytes(8))
            else:
                out += self.pack("Q", values.get(name, 0))
        return out

    # ---- records ----

    def data_offset(self):
        """Where the records of the file form begin."""
        return HEADER_SIZE + sum(8 * len(event.ids) for event in self.events) + \
            len(self.events) * (self.attr_size + 16)

    def next_offset(self):
        """Where the next record will begin in the file form."""
        return self.data_offset() + len(self.records)

    def record(self, kind, payload=b"", misc=0, size=None, raw=b""):
        """Append a record; `size` overrides what its header says, `raw` stands behind it."""
        self.records += self.pack("IHH", kind, misc, 8 + len(payload) if size is None else size) + payload + raw

    def kernel(self, kind, payload, misc=0, **trailer):
        """A record of the kernel, with the trailer of the first event."""
        event = self.events[0]
        if event.flags & SAMPLE_ID_ALL:
            payload += self._fields(TRAILER, event.sample_type, trailer)
        self.record(kind, payload, misc)

    def sample(self, event=0, misc=2, tail=b"", **values):
        self.record(SAMPLE, self._fields(FIELDS, self.events[event].sample_type, values) + tail, misc)

    def comm(self, pid, tid, name, misc=0, **trailer):
        self.kernel(COMM, self.pack("II", pid, tid) + self.padded(name), misc, pid=pid, tid=tid, **trailer)

    def fork(self, pid, tid, parent, time, parent_tid=None, kind=FORK):
        parent_tid = parent if parent_tid is None else parent_tid
        self.kernel(kind, self.pack("IIIIQ", pid, parent, tid, parent_tid, time), pid=pid, tid=tid, time=time)

    def mmap(self, pid, start, length, name, pgoff=0, misc=2, **trailer):
        self.kernel(MMAP, self.pack("IIQQQ", pid, pid, start, length, pgoff) + self.padded(name), misc, **trailer)

    def mmap2(self, pid, start, length, name, pgoff=0, misc=2, build_id=None, id_size=None, **trailer):
        identity = self.pack("IIQQ", 8, 1, 4711, 0)
        if build_id is not None:
            misc |= 1 << 14
            identity = struct.pack("BBH20s", len(build_id) if id_size is None else id_size, 0, 0, build_id[:20])
        self.kernel(MMAP2, self.pack("IIQQQ", pid, pid, start, length, pgoff) + identity + self.pack("II", 5, 2) +
                    self.padded(name), misc, **trailer)

    def aux_data(self, data, offset=0, cpu=0, tid=0xffffffff, index=0):
        """An AUXTRACE record with its data behind it."""
        data = data + bytes(-len(data) % 8)
        self.record(AUXTRACE, self.pack("QQQIIII", len(data), offset, 0, index, tid, cpu, 0), raw=data)

    def feature(self, number, content):
        self.features[number] = bytes(content)

    def describe_events(self):
        """The EVENT_DESC feature."""
        out = self.pack("II", len(self.events), self.attr_size)
        for event in self.events:
            out += event.attr(self.order, self.attr_size) + self.pack("I", len(event.ids)) + self.string(event.name)
            out += self.pack(f"{len(event.ids)}Q", *event.ids)
        self.feature(EVENT_DESC, out)

    # ---- the whole ----

    def file(self, header=None, sections=True, version=b"PERFILE2"):
        """The file form. `header` overrides fields of the header; without `sections` the file ends behind the
        records, as that of a killed recorder does."""
        header = dict(header or {})
        ids = b"".join(self.pack(f"{len(event.ids)}Q", *event.ids) for event in self.events)
        attrs, at = b"", HEADER_SIZE
        for event in self.events:
            attrs += event.attr(self.order, self.attr_size) + self.pack("QQ", at, 8 * len(event.ids))
            at += 8 * len(event.ids)
        bitmap = [sum(1 << number % 64 for number in self.features if number // 64 == word) for word in range(4)]
        fields = {"size": HEADER_SIZE, "attr_size": self.attr_size + 16, "attrs.offset": HEADER_SIZE + len(ids),
                  "attrs.size": len(attrs), "data.offset": self.data_offset(), "data.size": len(self.records),
                  "types.offset": 0, "types.size": 0}
        fields.update(header)
        magic = version[::-1] if self.order == ">" else version
        out = magic + self.pack("8Q", *fields.values()) + self.pack("4Q", *bitmap) + ids + attrs + self.records
        if not sections:
            return out
        table, bodies, at = b"", b"", len(out) + 16 * len(self.features)
        for _, body in sorted(self.features.items()):
            table += self.pack("QQ", at + len(bodies), len(body))
            bodies += body
        return out + table + bodies

    def stream(self):
        """The pipe form."""
        out = (b"2ELIFREP" if self.order == ">" else b"PERFILE2") + self.pack("Q", 16)
        head = Recording(self.events, self.order, self.attr_size)
        for event in self.events:
            head.record(HEADER_ATTR, event.attr(self.order, self.attr_size) +
                        self.pack(f"{len(event.ids)}Q", *event.ids))
        for number, body in sorted(self.features.items()):
            if number == BUILD_ID:  # records already, but for the type
                while body:
                    size, = struct.unpack_from(self.order + "H", body, 6)
                    head.records += self.pack("I", HEADER_BUILD_ID) + body[4:size]
                    body = body[size:]
            elif number != AUXTRACE_INDEX:
                head.record(HEADER_FEATURE, self.pack("Q", number) + body)
        return out + head.records + self.records
