# SPDX-License-Identifier: GPL-2.0-only
"""Write a recording of a process that compiles its own code, and what its compiler wrote:

  jit.py CLOCKID   jit.data, perf-77.map, jit-77.dump and the same in the other byte order, swapped.dump

  address  | 0x7000     | 0x8000   |
  1000     | first      | second   |   by perf-77.map: third (the last for 0x7000), second
  2000     | third      | second   |   LOAD
  3000     | third      |          |   MOVE: second to 0x9000
  4000     | third, for the memory is mapped anew, as mprotect does
"""
import struct
import sys

sys.path.insert(0, __file__.rsplit("/", 2)[0])
import perfdata  # noqa: E402

PID = 77


def dump(order):
    def pack(form, *values):
        return struct.pack(order + form, *values)

    def record(kind, time, body):
        return pack("IIQ", kind, 16 + len(body), time) + body

    def load(time, address, size, index, name):
        return record(0, time, pack("IIQQQQ", PID, PID, address, address, size, index) + name + b"\0" + bytes(size))

    def lines(address, *entries):
        return record(2, 0, pack("QQ", address, len(entries)) +
                      b"".join(pack("QII", where, line, 0) + file + b"\0" for where, line, file in entries))

    return pack("IIIIIIQQ", 0x4a695444, 1, 40, 62, 0, PID, 500, 0) + \
        lines(0x7000, (0x7000, 10, b"/src/first.js"), (0x7020, 11, b"\xff")) + \
        load(1000, 0x7000, 0x40, 1, b"first") + load(1000, 0x8000, 0x40, 2, b"second") + \
        load(2000, 0x7000, 0x80, 3, b"third") + \
        record(1, 3000, pack("IIQQQQQ", PID, PID, 0, 0x8000, 0x9000, 0x40, 2)) + record(3, 5000, b"") + \
        record(9, 5000, b"unknown ") + pack("IIQ", 0, 4096, 6000)  # cut off


def main():
    clock = int(sys.argv[1])
    flags = perfdata.INHERIT | perfdata.SAMPLE_ID_ALL | (1 << 25 if clock >= 0 else 0)
    recording = perfdata.Recording([perfdata.Event(ids=[1], flags=flags, clockid=max(clock, 0))])
    recording.comm(PID, PID, "engine", time=100)
    recording.mmap(PID, 0x7000, 0x10000, "//anon", pgoff=0x7000, time=200)
    recording.comm(78, 78, "other", time=100)
    recording.mmap(78, 0x7000, 0x10000, "//anon", pgoff=0x7000, time=200)

    def sample(time, ip, pid=PID):
        recording.sample(ip=ip, pid=pid, tid=pid, time=time, id=1, cpu=1, period=1, weight=10, addr=0x5000,
                         data_src=0x1001042)
    sample(900, 0x7004)
    sample(1500, 0x7004)
    sample(1500, 0x7024)
    sample(1500, 0x8008)
    sample(1500, 0x8040)  # behind it
    sample(1500, 0x7004, pid=78)
    sample(2500, 0x7004)
    sample(3500, 0x9008)
    recording.mmap(PID, 0x7000, 0x1000, "//anon", pgoff=0x7000, time=4000)
    sample(4500, 0x7004)
    with open("jit.data", "wb") as file:
        file.write(recording.file())
    with open(f"jit-{PID}.dump", "wb") as file:
        file.write(dump("<"))
    with open("swapped.dump", "wb") as file:
        file.write(dump(">"))
    with open(f"perf-{PID}.map", "w") as file:
        file.write("7000 40 first\n8000 40 second with blanks\n\nno line\n0x7000 80 third\n9000 0 empty\n"
                   "fffffffffffffff0 40 around the end\n")


main()
