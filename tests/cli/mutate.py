# SPDX-License-Identifier: GPL-2.0-only
"""Write a changed copy of a perf.data file (little-endian, file mode), to see how it is refused.

  mutate.py INPUT OUTPUT OPERATION...

Operations, applied in order; numbers may be hexadecimal:

  header FIELD VALUE           size, attr_size, attrs.offset, attrs.size, data.offset, data.size
  attr N FIELD VALUE           type, size, config, sample_period, sample_type, read_format, flags
  attr-tail BYTES              every attr grows by so many bytes, as a newer perf would write it
  record N FIELD VALUE         type, misc, size of the Nth record; N may be typeT for the first
                               record of type T
  word N OFFSET VALUE          a u64 inside the Nth record
  insert N TYPE BYTES          a record of this type and size before the Nth one
  feature NUMBER FIELD VALUE   offset, size in the table of feature sections
  feature-u32 NUMBER OFFSET V  a u32 inside a feature section
  feature-bit NUMBER           a feature that nobody knows, with 16 bytes of content
  noise SEED COUNT             so many bytes, words or runs of bytes at random places
  cut BYTES                    keep so many bytes
  keep-features NUMBER,...     clear the other bits of the feature bitmap
  big-endian                   the same recording from a big-endian machine; must come last, and only
                               features 2 to 10, 12, 20 and 21 may be there
  stream                       the same recording as `perf record -o -` writes it; must come last
"""
import random
import struct
import sys

HEADER = {"magic": 0, "size": 8, "attr_size": 16, "attrs.offset": 24, "attrs.size": 32, "data.offset": 40,
          "data.size": 48, "types.offset": 56, "types.size": 64}
ATTR = {"type": (0, "<I"), "size": (4, "<I"), "config": (8, "<Q"), "sample_period": (16, "<Q"),
        "sample_type": (24, "<Q"), "read_format": (32, "<Q"), "flags": (40, "<Q")}
RECORD = {"type": (0, "<I"), "misc": (4, "<H"), "size": (6, "<H")}
AUXTRACE = 71


class PerfData:
    def __init__(self, content):
        self.bytes = bytearray(content)

    def u64(self, offset):
        return struct.unpack_from("<Q", self.bytes, offset)[0]

    def put(self, offset, form, value):
        struct.pack_into(form, self.bytes, offset, value)

    def header(self, field):
        return self.u64(HEADER[field])

    def records(self):
        """(offset, type, misc, size) of each record."""
        at = self.header("data.offset")
        end = at + self.header("data.size")
        while at + 8 <= min(end, len(self.bytes)):
            kind, misc, size = struct.unpack_from("<IHH", self.bytes, at)
            if size < 8:
                return
            yield at, kind, misc, size
            at += size + (self.u64(at + 8) if kind == AUXTRACE else 0)

    def record(self, which):
        for number, (offset, kind, _, _) in enumerate(self.records()):
            if which == f"type{kind}" or which == str(number):
                return offset
        sys.exit(f"mutate: no record {which}")

    def features(self):
        """{number: offset of its table entry}."""
        bits = struct.unpack_from("<4Q", self.bytes, 72)
        table = self.header("data.offset") + self.header("data.size")
        numbers = [n for n in range(256) if bits[n // 64] >> n % 64 & 1]
        return {n: table + 16 * i for i, n in enumerate(numbers)}

    def splice(self, offset, new):
        """Insert bytes at or after the end of the records' part before `offset`."""
        for entry in self.features().values():
            if self.u64(entry) >= offset:
                self.put(entry, "<Q", self.u64(entry) + len(new))
        self.bytes[offset:offset] = new

    def attr(self, number):
        return self.header("attrs.offset") + int(number) * self.header("attr_size")


def op_header(data, field, value):
    data.put(HEADER[field], "<Q", int(value, 0))


def op_attr(data, number, field, value):
    offset, form = ATTR[field]
    data.put(data.attr(number) + offset, form, int(value, 0))


def op_attr_tail(data, count):
    count = int(count, 0)
    size = data.header("attr_size")
    first = data.header("attrs.offset")
    moved = b""
    for number in range(data.header("attrs.size") // size):
        entry = bytearray(data.bytes[first + number * size:first + (number + 1) * size])
        struct.pack_into("<I", entry, 4, struct.unpack_from("<I", entry, 4)[0] + count)
        moved += entry[:-16] + b"\xa5" * count + entry[-16:]
    data.put(HEADER["attrs.offset"], "<Q", len(data.bytes))
    data.put(HEADER["attrs.size"], "<Q", len(moved))
    data.put(HEADER["attr_size"], "<Q", size + count)
    data.bytes += moved


def op_record(data, which, field, value):
    offset, form = RECORD[field]
    data.put(data.record(which) + offset, form, int(value, 0))


def op_word(data, which, offset, value):
    data.put(data.record(which) + int(offset, 0), "<Q", int(value, 0))


def op_insert(data, which, kind, size):
    size = int(size, 0)
    data.splice(data.record(which), struct.pack("<IHH", int(kind, 0), 0, size) + b"\x5a" * (size - 8))
    data.put(HEADER["data.size"], "<Q", data.header("data.size") + size)


def op_feature(data, number, field, value):
    data.put(data.features()[int(number)] + {"offset": 0, "size": 8}[field], "<Q", int(value, 0))


def op_feature_u32(data, number, offset, value):
    data.put(data.u64(data.features()[int(number)]) + int(offset, 0), "<I", int(value, 0))


def op_feature_bit(data, number):
    number = int(number)
    table = data.features()
    after = sum(1 for n in table if n < number)
    entry = data.header("data.offset") + data.header("data.size") + 16 * after
    data.splice(entry, struct.pack("<QQ", len(data.bytes) + 16, 16))
    data.bytes += b"\x5a" * 16
    data.put(72 + number // 64 * 8, "<Q", data.u64(72 + number // 64 * 8) | 1 << number % 64)


def op_noise(data, seed, count):
    generator = random.Random(int(seed))
    extremes = (0, 1, 7, 0x7f, 0x80, 0xff, 0xfff8, 0xffff, 0x7fffffff, 0xffffffff, 1 << 40, 1 << 63, (1 << 64) - 1)
    for _ in range(int(count)):
        # half of them where sizes and counts stand: in the first KiB and after the records
        tail = data.header("data.offset") + data.header("data.size")
        low, high = generator.choice(((0, 1024), (tail, len(data.bytes)), (0, len(data.bytes)), (0, len(data.bytes))))
        low, high = (low, high) if low < high <= len(data.bytes) else (0, len(data.bytes))
        at = generator.randrange(low, high)
        kind = generator.randrange(4)
        if kind == 0:
            data.bytes[at] = generator.randrange(256)
        elif kind == 1:
            new = struct.pack("<Q", generator.choice(extremes))[:generator.choice((2, 4, 8))]
            at &= ~7
            data.bytes[at:at + len(new)] = new
        elif kind == 2:
            end = min(at + generator.randrange(1, 64), len(data.bytes))
            data.bytes[at:end] = bytes(generator.randrange(256) for _ in range(end - at))
        else:
            source = generator.randrange(len(data.bytes))
            block = data.bytes[source:source + 64]
            data.bytes[at:at + len(block)] = block


def op_cut(data, count):
    del data.bytes[int(count, 0):]


def op_stream(data):
    """Attrs and features become records, as perf's util/header.c and synthetic-events.c do it."""
    out = bytearray(struct.pack("<8sQ", b"PERFILE2", 16))
    stride, start, size = data.header("attr_size"), data.header("attrs.offset"), data.header("attrs.size")
    for at in range(start, start + size, stride):
        ids, length = data.u64(at + stride - 16), data.u64(at + stride - 8)
        body = data.bytes[at:at + stride - 16] + data.bytes[ids:ids + length]
        out += struct.pack("<IHH", 64, 0, 8 + len(body)) + body
    for number, entry in sorted(data.features().items()):
        section = data.bytes[data.u64(entry):data.u64(entry) + data.u64(entry + 8)]
        if number == 2:  # build-ids are records already, but for the type
            while section:
                _, misc, size = struct.unpack_from("<IHH", section)
                out += struct.pack("<IHH", 67, misc, size) + section[8:size]
                section = section[size:]
        elif number == 1:  # stands behind a record of its size
            section += bytes(-len(section) % 8)
            out += struct.pack("<IHHI", 66, 0, 12, len(section)) + section
        elif number != 18 and len(section) < 65000:  # a stream has no index of AUX data
            out += struct.pack("<IHHQ", 80, 0, 16 + len(section), number) + section
    start = data.header("data.offset")
    data.bytes = out + data.bytes[start:start + data.header("data.size")]


def op_keep_features(data, numbers):
    keep = {int(number) for number in numbers.split(",")}
    table = data.features()
    entries = [bytes(data.bytes[entry:entry + 16]) for number, entry in sorted(table.items()) if number in keep]
    at = data.header("data.offset") + data.header("data.size")
    data.bytes[at:at + 16 * len(entries)] = b"".join(entries)
    for word in range(4):
        bits = sum(1 << number % 64 for number in table if number in keep and number // 64 == word)
        data.put(72 + 8 * word, "<Q", bits)


class Swapper:
    """Walks bytes and turns the numbers in them around: I and Q as in struct, s raw bytes."""

    def __init__(self, content):
        self.content, self.out, self.at = bytes(content), bytearray(), 0

    def take(self, form):
        values = []
        for kind in form:
            size = {"B": 1, "H": 2, "I": 4, "Q": 8}[kind]
            value, = struct.unpack_from("<" + kind, self.content, self.at)
            self.out += struct.pack(">" + kind, value)
            self.at += size
            values.append(value)
        return values

    def raw(self, size):
        self.out += self.content[self.at:self.at + size]
        self.at += size

    def string(self):
        self.raw(self.take("I")[0])

    def attr(self, size):
        end = self.at + size
        self.take("IIQQQQ")
        # bit-fields begin at the other end of each byte
        self.out += bytes(int(f"{byte:08b}"[::-1], 2) for byte in self.content[self.at:self.at + 8])
        self.at += 8
        for form in ("II", "Q", "Q", "Q", "Q", "II", "Q", "IHH", "II"):
            if self.at < end:
                self.take(form)
        self.take("Q" * ((end - self.at) // 8))
        assert self.at == end


SAMPLE_FIELDS = [(16, "Q"), (0, "Q"), (1, "II"), (2, "Q"), (3, "Q"), (6, "Q"), (9, "Q"), (7, "II"), (8, "Q"),
                 (14, "Q"), (15, "Q"), (19, "Q"), (24, "Q")]
TRAILER_FIELDS = [(1, "II"), (2, "Q"), (6, "Q"), (9, "Q"), (7, "II"), (16, "Q")]


def fields(table, sample_type):
    return "".join(form for bit, form in table if sample_type >> bit & 1)


def swap_record(data, offset, kind, misc, size, sample_type):
    swap = Swapper(data.bytes[offset:offset + size])
    swap.take("IHH")
    trailer = fields(TRAILER_FIELDS, sample_type) if kind < 64 and kind != 9 else ""
    end = size - struct.calcsize("<" + trailer)
    if kind == 9:
        assert not sample_type & ~sum(1 << bit for bit, _ in SAMPLE_FIELDS)
        swap.take(fields(SAMPLE_FIELDS, sample_type))
    elif kind in (1, 10):
        swap.take("IIQQQ")
        if kind == 10:
            swap.raw(24) if misc & 1 << 14 else swap.take("IIQQ")
            swap.take("II")
        swap.raw(end - swap.at)
    elif kind == 3:
        swap.take("II")
        swap.raw(end - swap.at)
    elif kind in (4, 7):
        swap.take("IIIIQ")
    elif kind == 73:
        for _ in range(swap.take("Q")[0]):
            swap.take("Q")
            swap.raw(16)
    elif kind == 74:
        swap.take("H" * ((end - swap.at) // 2))
    else:
        swap.take("Q" * ((end - swap.at) // 8))
    swap.take(trailer)
    assert swap.at == size, (kind, swap.at, size)
    return swap.out


def swap_feature(number, section):
    swap = Swapper(section)
    if number in (3, 4, 5, 6, 8, 9):
        swap.string()
    elif number == 7:
        swap.take("II")
    elif number == 20:
        for _ in range(swap.take("II")[1]):
            swap.take("IIII")
            for _ in range(3):
                swap.string()
    elif number == 12:
        count, size = swap.take("II")
        for _ in range(count):
            swap.attr(size)
            ids, = swap.take("I")
            swap.string()
            swap.take("Q" * ids)
    elif number == 2:
        while swap.at < len(section):
            start = swap.at
            _, _, size = swap.take("IHH")
            swap.take("I")
            swap.raw(size - (swap.at - start))
    else:
        swap.take("Q" * (len(section) // 8))
    swap.raw(len(section) - swap.at)
    return swap.out


def op_big_endian(data):
    stride, start, size = data.header("attr_size"), data.header("attrs.offset"), data.header("attrs.size")
    out = bytearray(data.bytes)
    sample_types = {data.u64(at + 24) for at in range(start, start + size, stride)}
    assert len(sample_types) == 1
    for at in range(start, start + size, stride):
        ids, length = data.u64(at + stride - 16), data.u64(at + stride - 8)
        entry = Swapper(data.bytes[at:at + stride])
        entry.attr(stride - 16)
        entry.take("QQ")
        out[at:at + stride] = entry.out
        swap = Swapper(data.bytes[ids:ids + length])
        swap.take("Q" * (length // 8))
        out[ids:ids + length] = swap.out
    for offset, kind, misc, length in data.records():
        out[offset:offset + length] = swap_record(data, offset, kind, misc, length, *sample_types)
    for number, entry in data.features().items():
        at, length = data.u64(entry), data.u64(entry + 8)
        out[at:at + length] = swap_feature(number, data.bytes[at:at + length])
        out[entry:entry + 16] = struct.pack(">QQ", at, length)
    header = Swapper(data.bytes[8:104])
    header.take("Q" * 12)
    out[:104] = b"2ELIFREP" + header.out
    data.bytes = out


OPERATIONS = {"header": (op_header, 2), "attr": (op_attr, 3), "attr-tail": (op_attr_tail, 1),
              "record": (op_record, 3), "word": (op_word, 3), "insert": (op_insert, 3),
              "feature": (op_feature, 3), "feature-u32": (op_feature_u32, 3), "feature-bit": (op_feature_bit, 1),
              "noise": (op_noise, 2),
              "cut": (op_cut, 1), "stream": (op_stream, 0),
              "keep-features": (op_keep_features, 1), "big-endian": (op_big_endian, 0)}


def main():
    with open(sys.argv[1], "rb") as file:
        data = PerfData(file.read())
    words = sys.argv[3:]
    while words:
        operation, count = OPERATIONS[words[0]]
        operation(data, *words[1:1 + count])
        words = words[1 + count:]
    with open(sys.argv[2], "wb") as file:
        file.write(data.bytes)


if __name__ == "__main__":
    main()
