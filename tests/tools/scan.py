# SPDX-License-Identifier: GPL-2.0-only
"""What of a perf.data file is plausibly a record, found by trying every byte of it.

  scan.py FILE...      for each file: number of records, and by type

It knows nothing of header, sections or what our reader does. A candidate is a record header at any
offset whose type exists and whose content fits that type: fixed sizes, counts that fit, names that
are text. Candidates of which each begins where the one before ends are a chain. Chains of at least
MIN_CHAIN records count, from the front of the file, each as far as it goes; a shorter one counts
where it ends with the file.

Layouts after the kernel's include/uapi/linux/perf_event.h and perf's tools/lib/perf event.h.
"""
import re
import struct
import sys
from collections import Counter

MIN_CHAIN = 4
TRAILER = 48  # the most that sample_id adds to a record of the kernel
SAMPLE, AUXTRACE, TRACING_DATA = 9, 71, 66
FIXED = {2: 24, 4: 32, 5: 32, 6: 32, 7: 32, 11: 32, 12: 16, 13: 16, 14: 8, 15: 16, 18: 24, 21: 16}
NAMED = {1: (40, 4096), 3: (16, 16), 10: (72, 4096), 17: (24, 256), 19: (16, 4096)}  # offset, most of the name
LEAST = {8: 24, 9: 16, 16: 24, 20: 24, 22: 24}
USER_EXACT = {65: (80,), 68: (8,), 71: (48,), 76: (48,), 77: (24,), 79: (32, 56), 82: (8,)}
USER_LEAST = {64: 72, 66: 12, 67: 36, 69: 16, 70: 16, 72: 48, 73: 16, 74: 12, 75: 16, 78: 25, 80: 16, 81: 12, 83: 24,
              84: 528}


class Scanner:
    def __init__(self, content, swap=False):
        self.content = content
        self.order = ">" if swap else "<"
        # bytes of a small type, whatever stands in misc
        types = rb"[\x01-\x16\x40-\x54]"
        pattern = rb"\x00\x00\x00" + types if swap else types + rb"\x00\x00\x00"
        self.places = re.compile(rb"(?=" + pattern + rb"....)", re.S)

    def header(self, at):
        return struct.unpack_from(self.order + "IHH", self.content, at)

    def is_text(self, begin, most):
        """A NUL-terminated name of printable bytes, padded with NULs."""
        name = self.content[begin:begin + most + 8].split(b"\0")[0]
        return len(name) <= most and all(byte >= 32 for byte in name)

    def size_of(self, at):
        """Size of the record at an offset with the raw data that it owns; None: there is no record."""
        kind, _, size = self.header(at)
        if size < 8 or at + size > len(self.content):
            return None
        if kind < 64:
            if size % 8:
                return None
            if kind in FIXED:
                return size if FIXED[kind] <= size <= FIXED[kind] + TRAILER else None
            if kind in NAMED:
                offset, most = NAMED[kind]
                fits = offset <= size <= offset + most + 8 + TRAILER
                return size if fits and self.is_text(at + offset, most) else None
            return size if size >= LEAST[kind] else None
        if size < USER_LEAST.get(kind, 8) or (kind in USER_EXACT and size not in USER_EXACT[kind]):
            return None
        raw = 0
        if kind == AUXTRACE:
            raw, = struct.unpack_from(self.order + "Q", self.content, at + 8)
        elif kind == TRACING_DATA:
            length, = struct.unpack_from(self.order + "I", self.content, at + 8)
            raw = 0 if 12 + length <= size else length + 7 & ~7
        elif kind in (69, 73):
            count, = struct.unpack_from(self.order + "Q", self.content, at + 8)
            if count * (32 if kind == 69 else 24) > size - 16:
                return None
        return size + raw if at + size + raw <= len(self.content) else None

    def candidates(self):
        """{offset: offset behind the record}"""
        found = {}
        for match in self.places.finditer(self.content):
            size = self.size_of(match.start())
            if size:
                found[match.start()] = match.start() + size
        return found

    def chains(self):
        """[(offset, ...)] of the maximal chains, in the order of the file."""
        follows = self.candidates()
        chains, free = [], 0
        for at in sorted(follows):
            if at < free:
                continue
            chain, end = [], at
            while end in follows:
                chain.append(end)
                end = follows[end]
            if len(chain) >= MIN_CHAIN or end == len(self.content):
                chains.append(chain)
                free = end
        return chains

    def offsets(self):
        return [at for chain in self.chains() for at in chain]

    def counts(self):
        """Counter of record types."""
        return Counter(self.header(at)[0] for at in self.offsets())


def scan(content):
    """Counter of the types of plausible records, in the byte order that has more of them."""
    orders = [Scanner(content, swap).counts() for swap in (False, True)]
    return max(orders, key=lambda counts: counts.total())


def main():
    for path in sys.argv[1:]:
        with open(path, "rb") as file:
            counts = scan(file.read())
        print(path, counts.total(), *(f"{kind}:{count}" for kind, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
