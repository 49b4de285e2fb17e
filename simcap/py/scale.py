# SPDX-License-Identifier: MIT
"""Large synthetic files: samples over zipf distributed lines, PCs from a real
ELF file; no program is run."""
import json
import os
import struct
import subprocess
import tempfile
import time
from collections import Counter

import capture as C
from elf import Elf


class FakeTrace:
    """Just enough of capture.Trace for side_band() and the features."""

    def __init__(self, exe, threads, cpus):
        self.exe = os.path.realpath(exe)
        e = Elf(self.exe)
        self.elves = {self.exe: e}
        self.bias = 0 if e.type == 2 else 0xAAAAAAAA0000 if e.machine == 183 else 0x555555554000
        self.maps = []
        for va, off, fsz, msz, fl in e.loads:
            a = (va + self.bias) & ~4095
            self.maps.append(dict(time=C.T0, ord=0, addr=a, len=((va + self.bias + fsz + 4095) & ~4095) - a,
                                  pgoff=off & ~4095, prot=(fl & 4) >> 2 | (fl & 2) | (fl & 1) << 2, flags=2,
                                  path=self.exe))
        self.threads = {o: dict(ord=o, start=C.T0 - 100 + 10 * o, cpu=o % cpus, end=None, moves=[])
                        for o in range(threads + 1)}
        self.switches, self.end = [], C.T0

    def elf(self, path):
        return self.elves.get(path)

    def cpu_at(self, o, t):
        return self.threads[o]["cpu"]


def scale(opt):
    arch = "aarch64" if opt.format == "spe" else "x86_64"
    exe = opt.elf or os.path.join(C.BUILD, "wl", arch, "barrier")
    opt.arch = arch
    if opt.round == 20000:
        opt.round = 500000
    tr = FakeTrace(exe, opt.threads, opt.cpus)
    e = tr.elves[tr.exe]
    step = 4 if e.machine == 183 else 1
    pcs = []
    for va, size, name in e.funcs:
        pcs += [tr.bias + va + o for o in range(0, max(size, 4), 4 if step == 4 else 5)]
    pcs = pcs[:65536]
    t0 = time.time()
    with tempfile.TemporaryDirectory(prefix="simcap.") as d:
        base = os.path.join(d, "t")
        with open(base + ".pcs", "wb") as f:
            f.write(struct.pack(f"<{len(pcs)}Q", *pcs))
        src = ["--synth", str(opt.samples), "--pcs", base + ".pcs", "--nthr", str(opt.threads), "--lines",
               str(opt.lines), "--zipf", str(opt.zipf), "--seed", str(opt.seed)]
        if not opt.no_truth:
            src += ["--gt", base + ".sgt"]
        build = C.build_spe if opt.format == "spe" else C.build_c2c
        info = build(tr, opt, [tr.exe], src, opt.output, base)
        if not opt.no_truth:
            tot = Counter()
            lines = []
            for ln in open(base + ".sgt"):
                a, kind, ld, st, hl, hs = ln.split()
                ld, st, hl, hs = int(ld), int(st), int(hl), int(hs)
                tot["loads"] += ld
                tot["stores"] += st
                tot["hitm_loads"] += hl
                tot["hitm_stores"] += hs
                tot["lines"] += 1
                lines.append((hl, a, kind, ld, st, hs))
            lines.sort(reverse=True)
            with open(opt.output + ".truth.json", "w") as f:
                json.dump(dict(generator="simcap scale", format=opt.format, seed=opt.seed, totals=dict(tot), file=info,
                               lines=[dict(addr="0x" + a, label=k, loads=ld, stores=st, hitm_loads=hl, hitm_stores=hs)
                                      for hl, a, k, ld, st, hs in lines[:1000]]), f, indent=1)
    print(f"{opt.output}: {info['bytes']} bytes, {info['records']} samples, {time.time() - t0:.1f} s")
