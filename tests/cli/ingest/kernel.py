# SPDX-License-Identifier: GPL-2.0-only
"""Write a recording of kernel code:

  kernel.py OUTPUT BUILD_ID REFERENCE ADDRESS MODULE BASE CODE,... DATA,... [MODULE_BUILD_ID]

The mapping of the kernel says that the symbol REFERENCE (- for none) lay at ADDRESS; MODULE was
loaded at BASE. Two threads sample each address of CODE, reading those of DATA in turn; of
ADDRESS:TID:CPU that thread does, on that CPU. The build-id (- for none) stands in the feature
BUILD_ID, as perf 6.1 has it. Addresses are hex.
"""
import sys

sys.path.insert(0, __file__.rsplit("/", 2)[0])
import perfdata  # noqa: E402

KERNEL, EXACT, ANY = 1, 1 << 14, 0xffffffff


def main():
    output, build_id, reference, address, module, base, code, data = sys.argv[1:9]
    recording = perfdata.Recording([perfdata.Event(ids=[1])])
    address, base = int(address, 16), int(base, 16)
    name = "[kernel.kallsyms]" + reference.strip("-")
    recording.mmap(ANY, address & ~0xffff, 1 << 24, name, pgoff=address if reference != "-" else 0, misc=KERNEL)
    recording.mmap(ANY, base, 1 << 20, module, misc=KERNEL)
    for tid in (7, 8):
        recording.comm(tid, tid, "worker")
    data = [int(text, 16) for text in data.split(",")]
    for i, text in enumerate(code.split(",")):
        ip, *where = text.split(":")
        for tid, cpu in [map(int, where)] if where else ((7, 7), (8, 8)):
            recording.sample(misc=KERNEL | EXACT, ip=int(ip, 16), pid=tid, tid=tid, time=1000 + i, id=1, cpu=cpu, period=1,
                             addr=data[i % len(data)], weight=300, data_src=0x1001042 if tid == 7 else 0x1001044)
    recording.feature(perfdata.OSRELEASE, recording.string("6.1.0-test"))
    table = b""
    for file, hex_id in (("[kernel.kallsyms]", build_id), (module, (sys.argv[9:] + ["-"])[0])):
        if hex_id != "-":
            body = recording.pack("i", -1) + bytes.fromhex(hex_id) + recording.pack("I", 20) + \
                recording.padded(file, 64)
            table += recording.pack("IHH", 0, KERNEL | 1 << 15, 8 + len(body)) + body
    if table:
        recording.feature(perfdata.BUILD_ID, table)
    with open(output, "wb") as file:
        file.write(recording.file())


main()
