# SPDX-License-Identifier: GPL-2.0-only
"""Write SPE data whose buffers end inside records, between two packets and within one.

  cut_records.py OUTPUT
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "reports"))
import perfdata  # noqa: E402
import spe  # noqa: E402

recording = spe.recording_of(None)
recording.attr_size = 128  # as perf 6.1 writes it: it refuses larger ones
recording.describe_events()
recording.feature(perfdata.NRCPUS, recording.pack("II", 2, 2))
recording.feature(perfdata.NUMA_TOPOLOGY, recording.pack("IIQQ", 1, 0, 1 << 20, 1 << 19) + recording.string("0-1"))
offset = {0: 0, 1: 0}
tick = 1000
# bytes kept of the last record: behind PC, operation, events, latencies and addresses; 64: all
for number, kept in enumerate((9, 11, 14, 17, 20, 29, 38, 64, 11, 38, 38)):
    for cpu in (0, 1):
        data = b""
        for operation in (number + cpu, number + cpu // 2, number // 2):  # loads and stores, one is cut
            tick += 1
            data += spe.spe_record(tick=tick, operation=operation % 2, events=0x1e if tick % 3 else 0x06, source=(0, 8, 0x0c)[tick % 3])
        data = data[:len(data) - 64 + kept]
        recording.aux_data(data, cpu=cpu, offset=offset[cpu], index=cpu)
        offset[cpu] += len(data) + -len(data) % 8
with open(sys.argv[1], "wb") as file:
    file.write(recording.file())
