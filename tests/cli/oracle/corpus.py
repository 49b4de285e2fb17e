# SPDX-License-Identifier: GPL-2.0-only
"""Print the files of a corpus that any reader must read in full, with their number of samples.

  corpus.py CORPUS        lines "FILE SAMPLES"

Its INDEX.tsv says what a recent perf counted. Eligible by their header: file mode, little-endian,
finalised, no feature beyond 127, no COMPRESSED record.
"""
import csv
import os
import struct
import sys

COMPRESSED, AUXTRACE = (81, 83), 71


def eligible(path):
    with open(path, "rb") as file:
        content = file.read()
    if len(content) < 104 or content[:8] != b"PERFILE2":
        return False
    words = struct.unpack_from("<12Q", content, 8)
    size, offset, length, features = words[0], words[4], words[5], words[8:12]
    if size != 104 or length == 0 or offset + length > len(content) or features[2] or features[3]:
        return False
    at = offset
    while at + 8 <= offset + length:
        kind, _, size = struct.unpack_from("<IHH", content, at)
        if size < 8 or kind in COMPRESSED:
            return False
        at += size + (struct.unpack_from("<Q", content, at + 8)[0] if kind == AUXTRACE else 0)
    return True


with open(os.path.join(sys.argv[1], "INDEX.tsv"), encoding="utf-8") as index:
    for row in csv.DictReader(index, delimiter="\t"):
        path = os.path.join(sys.argv[1], "files", row["file"])
        if row["samples"].isdigit() and os.path.exists(path) and eligible(path):
            print(path, row["samples"])
