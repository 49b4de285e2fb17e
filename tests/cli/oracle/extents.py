# SPDX-License-Identifier: GPL-2.0-only
"""Does each byte of a file stand where it belongs? An independent account of perf.data files.

  extents.py FILE DB [FILE DB ...]     exit status 1 and the differences if not

The file is walked by what the kernel's perf_event.h and perf's header.c say; header, sections and
records by type, read and skipped, must have the bytes of table `extent`. Where the walk goes on behind
damage is a matter of judgement, so gaps among records are taken from the database, but each must begin
where a record would and where none can be.
"""
import collections
import os
import sqlite3
import struct
import sys

import perfdata

SIMPLEPERF_TRACING_DATA = 32777
KNOWN = set(range(1, 23)) | set(range(64, 87)) | {SIMPLEPERF_TRACING_DATA}
OF_NO_USE = {22, 65, 85, 86}
NAMES = {getattr(perfdata, name): name for name in (
    "MMAP LOST COMM EXIT THROTTLE UNTHROTTLE FORK READ SAMPLE MMAP2 AUX ITRACE_START LOST_SAMPLES SWITCH "
    "SWITCH_CPU_WIDE NAMESPACES KSYMBOL BPF_EVENT CGROUP TEXT_POKE HEADER_ATTR HEADER_EVENT_TYPE "
    "HEADER_TRACING_DATA HEADER_BUILD_ID FINISHED_ROUND ID_INDEX AUXTRACE_INFO AUXTRACE AUXTRACE_ERROR THREAD_MAP "
    "CPU_MAP STAT_CONFIG STAT STAT_ROUND EVENT_UPDATE TIME_CONV HEADER_FEATURE COMPRESSED FINISHED_INIT "
    "COMPRESSED2").split()}
NAMES.update({21: "AUX_OUTPUT_HW_ID", 22: "CALLCHAIN_DEFERRED", 84: "BPF_METADATA", 85: "SCHEDSTAT_CPU",
              86: "SCHEDSTAT_DOMAIN"})
FEATURES = {1: "TRACING_DATA", 2: "BUILD_ID", 3: "HOSTNAME", 4: "OSRELEASE", 5: "VERSION", 6: "ARCH", 7: "NRCPUS",
            8: "CPUDESC", 9: "CPUID", 10: "TOTAL_MEM", 11: "CMDLINE", 12: "EVENT_DESC", 13: "CPU_TOPOLOGY",
            14: "NUMA_TOPOLOGY", 15: "BRANCH_STACK", 16: "PMU_MAPPINGS", 17: "GROUP_DESC", 18: "AUXTRACE", 19: "STAT",
            20: "CACHE", 21: "SAMPLE_TIME", 22: "MEM_TOPOLOGY", 23: "CLOCKID", 24: "DIR_FORMAT", 25: "BPF_PROG_INFO",
            26: "BPF_BTF", 27: "COMPRESSED", 28: "CPU_PMU_CAPS", 29: "CLOCK_DATA", 30: "HYBRID_TOPOLOGY",
            31: "PMU_CAPS", 32: "CPU_DOMAIN_INFO", 33: "E_MACHINE", 34: "CLN_SIZE", 128: "SIMPLEPERF_FILE",
            129: "SIMPLEPERF_META_INFO", 132: "SIMPLEPERF_FILE2"}
# Bytes that the payload must have in front of the trailer, where that is a number.
NEED = {1: 32, 2: 16, 3: 8, 4: 24, 5: 24, 6: 24, 7: 24, 10: 64, 11: 24, 12: 8, 13: 8, 17: 16, 18: 16, 19: 8, 21: 8,
        76: 40, 77: 16, 79: 24}


class Short(Exception):
    pass


class Reader:
    def __init__(self, content, order):
        self.content, self.order, self.at = content, order, 0

    def left(self):
        return len(self.content) - self.at

    def skip(self, size):
        if size > self.left():
            raise Short()
        self.at += size

    def take(self, form):
        value, = struct.unpack_from(self.order + form, self.content, self.at) if \
            struct.calcsize("<" + form) <= self.left() else self.skip(9 + self.left())
        self.at += struct.calcsize("<" + form)
        return value

    def u16(self):
        return self.take("H")

    def u32(self):
        return self.take("I")

    def u64(self):
        return self.take("Q")


Attr = collections.namedtuple("Attr", "type sample_type read_format sample_id_all branch regs_user regs_intr")


def parse_attr(content, order):
    content = content + bytes(144)
    flag = content[42] >> (2 if order == "<" else 5) & 1
    u64 = lambda at: struct.unpack_from(order + "Q", content, at)[0]
    return Attr(struct.unpack_from(order + "I", content)[0], u64(24), u64(32), flag, u64(72), u64(80), u64(96))


def read_values(reader, attr):
    """The values of a read_format; raises Short."""
    form = attr.read_format
    if not form & 8:
        reader.skip(8 * (1 + (form & 1) + (form >> 1 & 1) + (form >> 2 & 1) + (form >> 4 & 1)))
        return
    count = reader.u64()
    reader.skip(8 * ((form & 1) + (form >> 1 & 1)))
    reader.skip(count * 8 * (1 + (form >> 2 & 1) + (form >> 4 & 1)))


def branches(reader, attr, index):
    count = reader.u64()
    if attr.branch >> 17 & 1 and (count or index):
        reader.u64()
    reader.skip(count * (24 + 8 * (attr.branch >> 19 & 1)))


def read_sample(reader, attr, index=True):
    """Walk the fields of a sample; raises Short where they are not all there."""
    kind = attr.sample_type
    for bit in (16, 0, 1, 2, 3, 6, 9, 7, 8):
        if kind >> bit & 1:
            reader.u64()
    if kind >> 25:
        return
    if kind >> 4 & 1:
        read_values(reader, attr)
    if kind >> 5 & 1:
        reader.skip(8 * reader.u64())
    if kind >> 10 & 1:
        reader.skip(reader.u32())
    if kind >> 11 & 1:
        branches(reader, attr, index)
    if kind >> 12 & 1 and reader.u64():
        reader.skip(8 * bin(attr.regs_user).count("1"))
    if kind >> 13 & 1:
        size = reader.u64()
        reader.skip(size + 8 if size else 0)
    reader.skip(8 * ((kind >> 14 | kind >> 24) & 1) + 8 * (kind >> 15 & 1) + 8 * (kind >> 17 & 1))
    if kind >> 18 & 1 and reader.u64():
        reader.skip(8 * bin(attr.regs_intr).count("1"))
    for bit in (19, 21, 22, 23):
        if kind >> bit & 1:
            reader.u64()
    if kind >> 20 & 1:
        reader.skip(reader.u64())


def cpu_map(reader):
    kind = reader.u16()
    if kind == 2:
        reader.skip(2)
        if reader.u16() > reader.u16():
            raise Short()
        return
    count = reader.u16()
    if kind == 0:
        reader.skip(2 * count)
        return
    size = reader.u16()
    if kind > 1 or size not in (4, 8) or count * size * 8 >= 65535:
        raise Short()
    reader.skip((4 if size == 8 else 0) + count * size)


def listed(head, entry):
    def check(reader, _):
        reader.skip(head)
        reader.skip(entry * reader.u64())
    return check


def text_poke(reader, _):
    reader.skip(8)
    reader.skip(reader.u16() + reader.u16())


def auxtrace_error(reader, _):
    reader.skip(20)
    form = reader.u32()
    reader.skip(16 if form >= 1 else 8)


def event_update(reader, walk):
    kind, ident = reader.u64(), reader.u64()
    if ident in walk.ids and kind == 1:
        reader.u64()
    if ident in walk.ids and kind == 3:
        cpu_map(reader)


def build_id(reader, walk):
    reader.skip(24)
    length = reader.take("B")
    reader.skip(3)


def auxtrace_info(reader, walk):
    """Of Arm SPE: version 1 of two words, or version 2 with a list of CPUs. Only the first counts."""
    kind = reader.u32()
    reader.skip(4)
    if kind != 4 or walk.spe_types:
        return
    if reader.left() == 16:
        walk.spe_types = {reader.u64()}
        return
    walk.spe_types = {-1}
    reader.u64()
    words, pmu, count = reader.u64(), reader.u64(), reader.u64()
    walk.spe_types = {pmu}
    if words < 4:
        raise Short()
    reader.skip(8 * (words - 4))
    if count > reader.left() // 24:
        raise Short()
    for _ in range(count):
        reader.skip(16)
        reader.skip(8 * reader.u64())


def tracing_data(reader, walk):
    size = reader.u32()
    if not walk.raw:
        reader.skip(size)


CHECKS = {16: listed(8, 16), 20: text_poke, 67: build_id, 69: listed(0, 32), 70: auxtrace_info, 72: auxtrace_error,
          73: listed(0, 24), 74: lambda reader, _: cpu_map(reader), 75: listed(0, 16), 78: event_update,
          84: listed(512, 320), 66: tracing_data, SIMPLEPERF_TRACING_DATA: tracing_data}


class Walk:
    def __init__(self, content, gaps):
        self.content, self.size = content, len(content)
        self.gaps = gaps
        self.sums = collections.Counter()
        self.attrs, self.first_ids, self.ids, self.names = [], [], {}, {}
        self.spe_types, self.raw, self.faults = set(), 0, []
        self.spooled = False
        self.claims = []
        self.samples_alike = None

    def u64(self, at):
        return struct.unpack_from(self.order + "Q", self.content, at)[0]

    def claim(self, begin, size, rank, name):
        begin = min(begin, self.size)
        end = min(begin + size, self.size)
        for first, last in ((begin, min(end, self.data)), (max(begin, self.end), end)):
            if first < last:
                self.claims.append((first, rank, last, name))

    def header(self):
        magic, = struct.unpack_from("8s", self.content)
        self.order = ">" if magic == b"2ELIFREP" else "<"
        if magic == b"PERFFILE" and self.u64(8) > 2 ** 32:
            self.order = ">"
        if struct.unpack(">Q", struct.pack("<Q", self.u64(8)))[0] in (16, 72, 104):
            self.order = "<>"[self.order == "<"]
        self.header_size = self.u64(8)
        if self.header_size == 16:
            self.data, self.end = 16, self.size
            self.claim(0, 16, 0, ("header", "header"))
            return
        stride, attrs, attrs_size, self.data, length = struct.unpack_from(self.order + "5Q", self.content, 16)
        self.end = min(self.size, self.data + length) if length else self.size
        self.claim(0, self.header_size, 0, ("header", "header"))
        self.claim(attrs, attrs_size, 1, ("section", "attrs"))
        left = self.size
        for at in range(attrs, attrs + attrs_size // stride * stride, stride):
            attr = parse_attr(self.content[at:at + stride - 16], self.order)
            ids, size = self.u64(at + stride - 16), self.u64(at + stride - 8)
            if size and ids + size <= self.size and size % 8 == 0 and size <= left:
                left -= size
                self.claim(ids, size, 2, ("section", "ids"))
            else:
                size = 0
            self.add_event(attr, struct.unpack_from(f"{self.order}{size // 8}Q", self.content, ids) if size else ())
        if length and self.data + length <= self.size and self.header_size == 104:
            self.features(self.data + length)

    def add_event(self, attr, ids):
        for ident in ids:
            self.ids.setdefault(ident, len(self.attrs))
        self.attrs.append(attr)
        self.first_ids.append(ids[0] if ids else None)

    def features(self, table):
        words = list(struct.unpack_from(self.order + "4Q", self.content, 72))
        if self.order == ">" and not words[0] >> 3 & 1:
            words = [word >> 32 | (word & 0xffffffff) << 32 for word in words]
        at = table
        for bit in range(256):
            if not words[bit // 64] >> bit % 64 & 1 or at + 16 > self.size:
                continue
            offset, size = self.u64(at), self.u64(at + 8)
            at += 16
            if offset + size <= self.size:
                self.claim(offset, size, 4 + bit, ("section", FEATURES.get(bit, f"feature {bit}")))
                self.spooled |= bit == 27
                if bit == 12:
                    self.describe(Reader(self.content[offset:offset + size], self.order))
        self.claim(table, at - table, 3, ("section", "feature table"))

    def describe(self, reader):
        """The events' names, for Arm SPE's, and what the attrs section does not have of them."""
        known = dict(self.ids)
        try:
            count, size = reader.u32(), reader.u32()
            for place in range(min(count, 65536)):
                at = reader.at
                reader.skip(size)
                attr = bytes(reader.content[at:reader.at])
                count_ids, length = reader.u32(), reader.u32()
                name = bytes(reader.content[reader.at:reader.at + length])
                reader.skip(length)
                if count_ids * 8 > len(reader.content) - reader.at:
                    raise Short
                ids = [reader.u64() for _ in range(count_ids)]
                first = ids[0] if ids else None
                here = place < len(self.attrs) and self.first_ids[place] == first
                index = place if here else known.get(first, place)
                if index == len(self.attrs) and size >= 64 and ids:
                    self.add_event(parse_attr(attr, self.order), ())
                if index < len(self.attrs) and ids and self.first_ids[index] is None:
                    self.first_ids[index] = first
                    for ident in ids:
                        self.ids.setdefault(ident, index)
                self.names.setdefault(index, name)
        except Short:
            pass

    # ---- records ----

    def stream_head(self):
        """Events of a stream are records, and its events are known before the first record is judged."""
        for kind, _, at, size, _ in self.records():
            if kind == 64:
                body = self.content[at + 8:at + size]
                own = struct.unpack_from(self.order + "I", body, 4)[0] or 64 if len(body) >= 8 else 0
                if 64 <= own <= len(body) and own % 8 == 0:
                    ids = (len(body) - own) // 8
                    self.add_event(parse_attr(body[:own], self.order),
                                   struct.unpack_from(f"{self.order}{ids}Q", body, own))
            elif kind == 80 and size > 16:
                feature = self.u64(at + 8)
                self.spooled |= feature == 27
                if feature == 12:
                    self.describe(Reader(self.content[at + 16:at + size], self.order))

    def is_whole(self, at):
        """Whether a good record stands here: by its header, and with another record or the end behind it."""
        if self.end - at < 8:
            return False
        kind, _, size = struct.unpack_from(self.order + "IHH", self.content, at)
        if at + size != self.end:
            if self.end - at - size < 8:
                return False
            behind, _, length = struct.unpack_from(self.order + "IHH", self.content, at + size)
            if behind not in KNOWN or length < 8:
                return False
        return kind in KNOWN and NEED.get(kind, 0) + 8 <= size <= self.end - at and \
            (kind >= 64 or size % 8 == 0) and kind not in (1, 3, 8, 10, 14, 15, 68, 71, 82) and \
            not (kind in NEED and size > NEED[kind] + 8 + 48)

    def records(self):
        at, gaps = self.data, dict(self.gaps)
        while at < self.end:
            if at in gaps:
                if self.is_whole(at):
                    self.faults.append(f"a gap begins at {at:#x} where a good record stands")
                at += gaps.pop(at)
                continue
            kind, misc, size = struct.unpack_from(self.order + "IHH", self.content, at) if self.end - at >= 8 else (0, 0, 0)
            if size < 8 or size > self.end - at:
                self.faults.append(f"no record at {at:#x}, but no gap begins there")
                return
            raw = 0
            if kind == 71:
                raw = self.u64(at + 8) if size >= 16 else 0
            elif kind == 66 and size >= 12:
                raw, = struct.unpack_from(self.order + "I", self.content, at + 8)
                raw = 0 if 12 + raw <= size else raw + 7 & ~7
            raw = min(raw, self.end - at - size)
            yield kind, misc, at, size, raw
            at += size + raw
        if gaps:
            self.faults.append(f"gaps that begin in no place of records: {sorted(gaps.items())[:3]}")

    def trailer(self, body):
        attr = self.attrs[0]
        if attr.sample_type >> 16 & 1 and len(body) >= 8:
            last, = struct.unpack_from(self.order + "Q", body, len(body) - 8)
            attr = self.attrs[self.ids.get(last, 0)]
        size = 8 * sum(attr.sample_type >> bit & 1 for bit in (1, 2, 6, 9, 7, 16))
        return size if attr.sample_id_all and size <= len(body) else 0, attr

    def event_of(self, body):
        """The attr of a sample, None where that cannot be told."""
        first = self.attrs[0] if self.attrs else None
        if len(self.attrs) <= 1:
            return first
        kind = first.sample_type
        if not kind >> 16 & 1 and not kind >> 6 & 1:
            return first
        at = 0 if kind >> 16 & 1 else 8 * sum(kind >> bit & 1 for bit in (0, 1, 2, 3))
        ident = struct.unpack_from(self.order + "Q", body, at)[0] if at + 8 <= len(body) else 0
        if not ident or ident in self.ids:
            return self.attrs[self.ids.get(ident, 0)]
        if self.samples_alike is None:
            self.samples_alike = len({attr[1:3] + attr[4:] for attr in self.attrs}) == 1
        return first if self.samples_alike else None

    def is_sample(self, body):
        attr = self.event_of(body)
        if not attr:
            return False
        for index in (True, False):
            try:
                read_sample(Reader(body, self.order), attr, index)
                return True
            except Short:
                pass
        return False

    def is_read(self, kind, body):
        if kind not in KNOWN or kind in OF_NO_USE:
            return False
        if self.spooled:
            return True
        if kind == 9:
            return self.is_sample(body)
        if kind in (81, 83):
            return False
        if kind == 71:
            return any(attr.type in self.spe_types for attr in self.attrs) or bool(self.spe_types) and \
                any(name.startswith(b"arm_spe_") for name in self.names.values())
        end, owner = self.trailer(body) if kind < 64 and self.attrs else (0, None)
        reader = Reader(body[:len(body) - end], self.order)
        try:
            reader.skip(NEED.get(kind, 0))
            reader.at = 0
            if kind in CHECKS:
                CHECKS[kind](reader, self)
            if kind == 8 and owner:
                reader.skip(8)
                read_values(reader, owner)
            if kind == 15:
                pass
        except Short:
            return False
        return True

    def account(self):
        if self.header_size == 16:
            self.stream_head()
            self.faults.clear()
        records = list(self.records())
        # Arm SPE is known before its data is decoded, wherever that stands
        for kind, _, at, size, self.raw in records:
            if kind == 70 and not self.spooled:
                self.is_read(kind, self.content[at + 8:at + size])
        spe, self.spe_types = self.spe_types, set()
        for kind, misc, at, size, self.raw in records:
            body = self.content[at + 8:at + size]
            known, self.spe_types = self.spe_types, spe if kind == 71 else self.spe_types
            read = self.is_read(kind, body)
            self.spe_types = known if kind == 71 else self.spe_types
            name = NAMES.get(kind, f"type {kind}" if kind < 127 else "type 127 and above")
            self.sums["record_read" if read or (self.spooled and kind in KNOWN) else "record_skipped", name] += size + self.raw
        self.claims.append((self.data, 999, self.end, None))
        given = 0
        for begin, _, end, name in sorted(self.claims, key=lambda claim: claim[:2]):
            given = max(given, begin)
            if name and end > given:
                self.sums[name] += end - given
            given = max(given, end)


def directory(path, gaps):
    """A perf.data directory: the file `data`, and files of records alone, each record of which is copied."""
    with open(os.path.join(path, "data"), "rb") as file:
        walk = Walk(file.read(), gaps)
    walk.header()
    walk.spooled = True
    walk.account()
    size = walk.size
    for number in range(65536):
        try:
            with open(os.path.join(path, f"data.{number}"), "rb") as file:
                walk.content = file.read()
        except FileNotFoundError:
            return walk, size
        walk.data, walk.end, walk.claims = 0, len(walk.content), []
        size += walk.end
        walk.account()


def extents_of(path):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    sums, gaps, total = collections.Counter(), [], 0
    for kind, name, count, size, first in db.execute("SELECT kind, name, count, bytes, first_offset FROM extent"):
        total += size
        if kind != "gap":
            sums[kind, name] += size
        elif name == "among records":
            gaps.append((first, size))
    size, = db.execute("SELECT bytes FROM trace").fetchone()
    kinds = {kind for kind, in db.execute("SELECT kind FROM loss")}
    db.close()
    return sums, gaps, total, size, kinds


def differences(path, db):
    sums, gaps, total, size, kinds = extents_of(db)
    if total != size:
        yield f"all extents have {total} bytes, trace.bytes is {size}"
    if "bad_header" in kinds:
        return  # where its sections are is a matter of judgement
    if os.path.isdir(path):
        walk, found = directory(path, gaps)
    else:
        with open(path, "rb") as file:
            walk = Walk(file.read(), gaps)
        found = walk.size
        walk.header()
        walk.account()
    if found != size:
        yield f"trace.bytes is {size}, the input has {found} bytes"
    yield from walk.faults
    for key in sorted(walk.sums.keys() | sums.keys()):
        if walk.sums[key] != sums[key]:
            yield f"{key[0]} {key[1]}: {sums[key]} bytes, the walk says {walk.sums[key]}"


def main():
    status = 0
    for path, db in zip(sys.argv[1::2], sys.argv[2::2]):
        found = list(differences(path, db))
        for text in found[:8]:
            print(f"{os.path.basename(path)}: {text}")
        status |= bool(found)
    return status


if __name__ == "__main__":
    sys.exit(main())
