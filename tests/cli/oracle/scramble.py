# SPDX-License-Identifier: GPL-2.0-only
"""Copy a memory capture with other data sources, so that every rule of `perf c2c` has work.

  scramble.py INPUT OUTPUT SEED

In SAMPLE records the data_src word becomes a random one, sometimes the address 0; in Arm SPE
records the operation, the event bits and the data source code. Sizes stay as they are.
"""
import random
import struct
import sys

# Fields of a sample before data_src, by bit of sample_type; all are 8 bytes.
BEFORE = [16, 0, 1, 2, 3, 6, 9, 7, 8, 14, 24]
VARIABLE = [4, 5, 10, 11, 12, 13]
DATA_SRC, ADDR = 15, 3
SAMPLE, AUXTRACE = 9, 71
SOURCES = [0, 8, 9, 10, 11, 12, 13, 14, 3, 5, 7, 1, 2, 6]
OPERATIONS = [0, 1, 4, 5, 6, 7, 8, 9, 0x14, 0x16, 0x17]


def word(random_):
    """Mostly one operation and few bits elsewhere, as hardware has them."""
    value = random_.choice([1, 2, 2, 2, 4, 4, 8, 6, 0])
    for shift, bits in ((5, 14), (19, 5), (24, 2), (26, 7), (38, 2), (40, 3)):
        for _ in range(random_.choice([0, 1, 1, 2, 3])):
            value |= 1 << shift + random_.randrange(bits)
    return value | random_.randrange(16) << 33 | random_.choice([0, 0, 1]) << 37 | random_.choice([0, 0, 1, 2]) << 43


def sample_offsets(data):
    """Offsets of the address and of data_src in the payload; all events must agree."""
    attrs, size, attr_size = *struct.unpack_from("<QQ", data, 24), struct.unpack_from("<Q", data, 16)[0]
    found = set()
    for offset in range(attrs, attrs + size, attr_size):
        kind, = struct.unpack_from("<Q", data, offset + 24)
        if kind >> DATA_SRC & kind >> ADDR & 1 and not any(kind >> bit & 1 for bit in VARIABLE):
            fields = [bit for bit in BEFORE if kind >> bit & 1]
            found.add((8 * fields.index(ADDR), 8 * len(fields)))
    return found.pop() if len(found) == 1 else None


def scramble_spe(data, start, end, random_):
    """Records of the simulator have a fixed set of packets and are 64 bytes long or longer."""
    sizes = {0x49: 1, 0x4a: 1, 0x48: 1, 0x42: 1, 0x52: 2, 0x62: 4, 0x43: 1, 0x53: 2, 0x71: 8, 0xb0: 8, 0xb1: 8,
             0xb2: 8, 0xb3: 8, 0x64: 4, 0x65: 4, 0x98: 2, 0x99: 2, 0x9a: 2, 0x00: 0, 0x01: 0}
    while start < end:
        header = data[start]
        if header not in sizes:
            sys.exit(f"scramble: packet 0x{header:02x} at 0x{start:x}")
        at = start + 1
        if header == 0x49:
            data[at] = random_.choice(OPERATIONS)
        elif header == 0x43:
            data[at] = random_.choice(SOURCES)
        elif header in (0x52, 0x62):
            data[at:at + sizes[header]] = random_.randbytes(sizes[header])
        start = at + sizes[header]


def main():
    data = bytearray(open(sys.argv[1], "rb").read())
    random_ = random.Random(int(sys.argv[3]))
    offset, size = struct.unpack_from("<QQ", data, 40)
    end = offset + size
    where = sample_offsets(data)
    while offset < end:
        kind, _, length = struct.unpack_from("<IHH", data, offset)
        if kind == SAMPLE and where:
            struct.pack_into("<Q", data, offset + 8 + where[1], word(random_))
            if random_.randrange(50) == 0:
                struct.pack_into("<Q", data, offset + 8 + where[0], 0)
        if kind == AUXTRACE:
            more, = struct.unpack_from("<Q", data, offset + 8)
            scramble_spe(data, offset + length, offset + length + more, random_)
            length += more
        offset += length
    open(sys.argv[2], "wb").write(data)


main()
