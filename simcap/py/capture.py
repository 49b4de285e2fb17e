# SPDX-License-Identifier: MIT
"""Run a program under the simulator and build perf.data files and the ground
truth from what the plugin recorded."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import defaultdict

import perfdata as P
from elf import Elf

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build")
T0 = 1000000000000
SPE_TYPE = 44			# dynamic PMU type of arm_spe_0
TS_HZ, TIME_ZERO = 100000000, -20000000000

# name: (cpuid / MIDR, data source encoding, v1p4 events available)
CPUS = {
    "neoverse-n1": (0x413FD0C1, "common", False),
    "neoverse-v1": (0x411FD401, "common", False),
    "neoverse-n2": (0x410FD493, "common", True),
    "ampereone": (0xC00FAC40, "ampereone", False),
    "hisi-hip12": (0x480FD060, "hisi", False),
    "hisi-hip09": (0x480FD020, "none", False),
    "kunpeng920": (0x481FD010, "none", False),
}

LD, ST, ATOMIC, EXCL, ACQREL, SIMD = 1, 2, 4, 8, 16, 32


def opname(op):
    if op & ATOMIC:
        return "rmw"
    return "load" if op & LD and not op & ST else "store" if not op & LD else "rmw"


class Trace:
    """Parsed .events file."""

    def __init__(self, base, arch, sysroot):
        self.threads, self.maps, self.switches, self.brk = {}, [], [], []
        self.end, self.stats = T0, {}
        self.exe = None
        for line in open(base + ".events"):
            w = line.split()
            k = w[0]
            if k == "P":
                self.exe = os.path.realpath(" ".join(w[4:]))
                self.start_code, self.entry = int(w[1], 16), int(w[3], 16)
            elif k == "T":
                self.threads[int(w[2])] = dict(ord=int(w[2]), start=int(w[1]), cpu=int(w[3]), end=None, moves=[])
            elif k == "X":
                t = self.threads[int(w[2])]
                t.update(end=int(w[1]), instr=int(w[4]), cycles=int(w[5]), mem_stall_cycles=int(w[6]),
                         loads=int(w[7]), stores=int(w[8]))
            elif k == "M":
                self.maps.append(dict(time=int(w[1]), ord=int(w[2]), addr=int(w[3], 16), len=int(w[4], 16),
                                      pgoff=int(w[5], 16), prot=int(w[6], 16), flags=int(w[7], 16),
                                      path=" ".join(w[8:])))
            elif k == "B":
                self.brk.append(int(w[2], 16))
            elif k in "OI":
                self.switches.append((int(w[1]), int(w[2]), int(w[3]), k))
            elif k == "C":
                self.threads[int(w[2])]["moves"].append((int(w[1]), int(w[3]), int(w[4])))
            elif k == "E":
                self.end = int(w[1])
                self.stats = {a.split("=")[0]: int(a.split("=")[1]) for a in w[2:]}
        self.elves = {}
        exe = self.elf(self.exe)
        xseg = min((s for s in exe.loads if s[4] & 1), key=lambda s: s[0])
        self.bias = self.start_code - xseg[0]
        segs = [(self.exe, self.bias, exe)]
        if exe.interp:
            ip = os.path.realpath(sysroot + exe.interp)
            ie = self.elf(ip)
            segs.append((ip, self.entry - ie.entry, ie))
        first = []
        for path, bias, e in segs:
            for va, off, fsz, msz, fl in e.loads:
                prot = (fl & 4) >> 2 | (fl & 2) | (fl & 1) << 2
                a = (va + bias) & ~4095
                fend = (va + bias + fsz + 4095) & ~4095
                mend = (va + bias + msz + 4095) & ~4095
                first.append(dict(time=T0, ord=0, addr=a, len=fend - a, pgoff=off & ~4095, prot=prot,
                                  flags=2, path=path, bias=bias))
                if mend > fend:
                    first.append(dict(time=T0, ord=0, addr=fend, len=mend - fend, pgoff=0, prot=prot,
                                      flags=0x22, path="//anon", bias=bias))
        for m in self.maps:
            m["path"] = os.path.realpath(m["path"]) if m["path"].startswith("/") and m["path"] != "//anon" else m["path"]
        if self.brk and max(self.brk) > min(self.brk):
            lo, hi = min(self.brk) & ~4095, (max(self.brk) + 4095) & ~4095
            first.append(dict(time=T0 + 5, ord=0, addr=lo, len=hi - lo, pgoff=0, prot=3, flags=0x22, path="[heap]"))
        self.maps = first + self.maps
        self.objs = []		# (lo, hi, path, bias) of file backed images
        spans = defaultdict(list)
        for m in self.maps:
            if m["path"].startswith("/") and os.path.isfile(m["path"]) and m["path"] != "//anon":
                spans[m["path"]].append(m)
        for path, ms in spans.items():
            e = self.elf(path)
            if not e:
                continue
            if "bias" in ms[0]:
                bias = ms[0]["bias"]
            else:
                m = ms[0]	# first mapping covers file offset pgoff
                bias = None
                for va, off, fsz, msz, fl in e.loads:
                    if (off & ~4095) == m["pgoff"]:
                        bias = m["addr"] - (va & ~4095)
                        break
                if bias is None:
                    continue
            lo = min(s[0] for s in e.loads) + bias
            hi = max(s[0] + s[3] for s in e.loads) + bias
            self.objs.append((lo, hi, path, bias))

    def elf(self, path):
        if path not in self.elves:
            try:
                self.elves[path] = Elf(path)
            except (ValueError, OSError):
                self.elves[path] = None
        return self.elves[path]

    def sym(self, a, data=False):
        for lo, hi, path, bias in self.objs:
            if lo <= a < hi:
                e = self.elves[path]
                r = e.object(a - bias) if data else e.func(a - bias)
                if r:
                    return dict(dso=path, symbol=r[0], offset=r[1])
                return dict(dso=path, symbol=None, offset=a - bias)
        return None

    def cpu_at(self, ordn, time):
        t = self.threads[ordn]
        c = t["moves"][0][1] if t["moves"] else t["cpu"]
        for when, _, to in t["moves"]:
            if when <= time:
                c = to
        return c


def run_qemu(opt, argv, base):
    qemu = "qemu-" + opt.arch
    plug = os.path.join(BUILD, "simcap.so")
    po = dict(out=base, ncpu=opt.cpus, nnode=opt.nodes, cluster=opt.cluster, place=opt.place, spe=opt.spe_period,
              pebs_ld=opt.pebs_ld_period, ldlat=opt.ldlat, pebs_st=opt.pebs_st_period, cyc=opt.cyc_period,
              adjacent=int(opt.adjacent), slack=opt.slack, seed=opt.seed, max=opt.max_accesses,
              migrate=opt.migrate_us, otherops=int(opt.branches), chains=int(opt.callchain))
    cmd = [qemu]
    if opt.arch == "aarch64" and opt.sysroot:
        cmd += ["-L", opt.sysroot]
    cmd += ["-plugin", plug + "," + ",".join(f"{k}={v}" for k, v in po.items())] + argv
    env = dict(os.environ, SIMCAP_TRUTH=base + ".truth")
    r = subprocess.run(cmd, env=env, stdout=subprocess.DEVNULL)
    if r.returncode < 0 or not os.path.exists(base + ".gt"):
        sys.exit(f"simcap: {' '.join(argv)} failed under qemu (status {r.returncode})")
    return r.returncode


class Side:
    def __init__(self):
        self.r = []

    def add(self, time, cpu, b):
        self.r.append((time, len(self.r), cpu, b))

    def write(self, path):
        with open(path, "wb") as f:
            for time, _, cpu, b in sorted(self.r):
                f.write(struct.pack("<QII", time, cpu, len(b)) + b)


def side_band(tr, opt, ids, data_maps, spe, switch):
    """Side-band records; ids(cpu) gives the identifier of the tracking event."""
    s = Side()
    pid = opt.pid
    comm = os.path.basename(tr.exe)[:15]
    main_cpu = tr.cpu_at(0, T0)

    def sid(ordn, time, cpu):
        return P.sample_id(pid, pid + ordn, time, cpu, ids(cpu))

    s.add(T0 - 3000, main_cpu, P.rec(P.R_COMM, 1 << 13, struct.pack("<II", pid, pid) + P.cstr(comm) +
                                     sid(0, T0 - 3000, main_cpu)))
    if spe:
        for c in range(opt.cpus):
            s.add(T0 - 2000, c, P.rec(P.R_ITRACE_START, 0, struct.pack("<II", pid, pid) + sid(0, T0 - 2000, c)))
    for m in tr.maps:
        ex = m["prot"] & 4
        if not ex and not data_maps:
            continue
        if m["path"] in ("//anon", "[heap]") and not data_maps:
            continue
        cpu = tr.cpu_at(m["ord"], m["time"])
        misc = 2 | (0 if ex else 1 << 13)
        path = m["path"]
        e = tr.elf(path) if os.path.isfile(path) else None
        if opt.mmap_buildid and e and e.build_id:
            misc |= 1 << 14
            idp = struct.pack("<BBH", len(e.build_id), 0, 0) + e.build_id.ljust(20, b"\0")[:20]
        else:
            st = os.stat(path) if os.path.isfile(path) else None
            idp = struct.pack("<IIQQ", 254 if st else 0, 1 if st else 0, st.st_ino if st else 0, 0)
        ln = (m["len"] + 4095) & ~4095
        body = struct.pack("<IIQQQ", pid, pid + m["ord"], m["addr"], ln, m["pgoff"]) + idp + \
            struct.pack("<II", m["prot"], m["flags"]) + P.cstr(path)
        tm = m["time"] if m["time"] > T0 + 10 else T0 - 1000
        s.add(tm, cpu, P.rec(P.R_MMAP2, misc, body + sid(m["ord"], tm, cpu)))
    for o, t in tr.threads.items():
        cpu = tr.cpu_at(o, t["start"])
        if o:
            c0 = tr.cpu_at(0, t["start"])
            tm = t["start"] - 500
            s.add(tm, c0, P.rec(P.R_FORK, 0, struct.pack("<IIIIQ", pid, pid, pid + o, pid, tm) + sid(0, tm, c0)))
        end = t["end"] or tr.end
        ecpu = tr.cpu_at(o, end)
        sw = []
        if switch != "none":
            sw.append((t["start"] - 100, cpu, "I"))
            sw += [(x[0], x[2], x[3]) for x in tr.switches if x[1] == o]
            for when, a, b in t["moves"]:
                sw += [(when, a, "O"), (when + 1600, b, "I")]
            sw.append((end + 100, ecpu, "O"))
        for tm, c, kind in sw:
            out = kind == "O"
            # task switches carry no peer; CPU wide ones name the other task
            if switch == "task":
                r = P.rec(P.R_SWITCH, 1 << 13 if out else 0, sid(o, tm, c))
            else:
                peer = (0, 0)
                r = P.rec(P.R_SWITCH_CPU_WIDE, 1 << 13 if out else 0, struct.pack("<II", *peer) + sid(o, tm, c))
                if not out:	# the outgoing idle task names us as next
                    s.add(tm - 1, c, P.rec(P.R_SWITCH_CPU_WIDE, 1 << 13, struct.pack("<II", pid, pid + o) +
                                           P.sample_id(0, 0, tm - 1, c, ids(c))))
            s.add(tm, c, r)
        if t["end"]:
            tm = end + 200
            s.add(tm, ecpu, P.rec(P.R_EXIT, 0, struct.pack("<IIIIQ", pid, pid, pid + o, pid, tm) + sid(o, tm, ecpu)))
    return s


def common_features(tr, opt, arch, cpuid, cpudesc, cmdline, events, pmus, span):
    bids = [(p, e.build_id) for p, e in tr.elves.items() if e and e.build_id]
    ft = {
        P.F_BUILD_ID: P.feat_build_ids(bids),
        P.F_HOSTNAME: P.hstr("simcap-" + arch),
        P.F_OSRELEASE: P.hstr("6.6.0-simcap"),
        P.F_VERSION: P.hstr("6.6.0"),
        P.F_ARCH: P.hstr(arch),
        P.F_NRCPUS: struct.pack("<II", opt.cpus, opt.cpus),
        P.F_CPUID: P.hstr(cpuid),
        P.F_TOTAL_MEM: struct.pack("<Q", opt.nodes * (64 << 20)),
        P.F_CMDLINE: P.feat_cmdline(cmdline),
        P.F_EVENT_DESC: P.feat_event_desc(events),
        P.F_CPU_TOPOLOGY: P.feat_cpu_topology(opt.cpus, opt.nodes),
        P.F_NUMA_TOPOLOGY: P.feat_numa(opt.cpus, opt.nodes),
        P.F_PMU_MAPPINGS: P.feat_pmus(pmus),
        P.F_CACHE: P.feat_cache(opt.cpus, opt.nodes),
        P.F_SAMPLE_TIME: struct.pack("<QQ", *span),
        P.F_MEM_TOPOLOGY: P.feat_mem_topology(opt.nodes),
    }
    if cpudesc:
        ft[P.F_CPUDESC] = P.hstr(cpudesc)
    return ft


def id_index(events, ncpu):
    ent = b""
    n = 0
    for e in events:
        for c, i in enumerate(e.ids):
            ent += struct.pack("<QQQQ", i, c, c, 0xFFFFFFFFFFFFFFFF)
            n += 1
    # records are limited to 64 KiB
    return P.rec(P.R_ID_INDEX, 0, struct.pack("<Q", n) + ent)


def auxtrace_info(opt, midr):
    if opt.spe_meta == 1:
        priv = [SPE_TYPE, 1]
    else:
        priv = [2, 4, SPE_TYPE, opt.cpus]
        cap = 0xF00FE if not CPUS[opt.cpu][2] else 0xFF00FE
        for c in range(opt.cpus):
            per = [midr, SPE_TYPE, 256] + ([cap] if opt.spe_meta == 3 else [])
            priv += [0x1010101010101010, c, len(per)] + per
    return P.rec(P.R_AUXTRACE_INFO, 0, struct.pack("<II", 4, 0) + struct.pack(f"<{len(priv)}Q", *priv))


def simenc(args, aux_out=None):
    r = subprocess.run([os.path.join(BUILD, "simenc")] + args, stdout=subprocess.PIPE, text=True)
    if r.returncode:
        sys.exit("simcap: simenc failed: " + " ".join(args))
    index, stats = [], {}
    for line in r.stdout.splitlines():
        w = line.split()
        if w[0] == "A":
            index.append((int(w[1]), int(w[2])))
        else:
            stats = {a.split("=")[0]: int(a.split("=")[1]) for a in w[1:]}
    return index, stats


def perf_argv(tr, opt, ev, argv):
    return ["perf", "record"] + ev + ["--"] + argv


def build_spe(tr, opt, argv, src, out, tmp):
    """src: simenc input arguments (['--in', f] or ['--synth', ...])."""
    midr, ds, v1p4 = CPUS[opt.cpu]
    ds = opt.ds or ds
    n = opt.cpus
    st = P.IP | P.TID | P.CPU | P.IDENTIFIER | P.DATA_SRC
    if not opt.timeless:
        st |= P.TIME
    dummy = P.IP | P.TID | P.CPU | P.IDENTIFIER | (0 if opt.timeless else P.TIME)
    if opt.pa:
        st |= P.PHYS_ADDR
    cfg = (0 if opt.timeless else 1) | (2 if opt.pa else 0) | 1 << 16 | 1 << 33 | 1 << 34 | (1 << 32 if opt.branches else 0)
    if opt.timeless:
        sys.exit("simcap: timeless SPE is not supported")
    name = "arm_spe_0/ts_enable=1," + ("pa_enable=1," if opt.pa else "") + "jitter=1," + \
        ("branch_filter=1," if opt.branches else "") + \
        f"load_filter=1,store_filter=1,min_latency={opt.min_latency}/"
    flags = ["disabled", "inherit", "sample_id_all", "exclude_guest", "enable_on_exec"]
    ev = [P.Event(name, P.attr(SPE_TYPE, cfg, st, flags, period=opt.spe_period, config2=opt.min_latency),
                  [100 + c for c in range(n)]),
          P.Event("dummy:u", P.attr(1, 9, dummy, ["disabled", "inherit", "exclude_kernel", "exclude_hv", "mmap", "comm",
                                                  "task", "sample_id_all", "mmap2", "comm_exec", "enable_on_exec",
                                                  "ksymbol", "bpf_event"] +
                                    (["context_switch"] if opt.switch != "none" else []) +
                                    (["mmap_data"] if opt.data_maps else []), period=1),
                  [100 + n + c for c in range(n)])]
    if opt.branches:
        src = src + []
    pf = P.PerfFile(out)
    pf.begin(ev)
    shift, mult = 24, 10 << 24
    epoch = (T0 - TIME_ZERO) // 10 - 5000
    pf.add(P.rec(P.R_TIME_CONV, 0, struct.pack("<QQQQQBB6x", shift, mult, TIME_ZERO & (1 << 64) - 1, epoch,
                                               (1 << 56) - 1, 1, 1)))
    pf.add(id_index(ev, n))
    pf.add(auxtrace_info(opt, midr))
    tm = struct.pack("<Q", 1) + struct.pack("<Q", opt.pid) + b"perf".ljust(16, b"\0")
    pf.add(P.rec(P.R_THREAD_MAP, 0, tm))
    cpus = struct.pack("<HH", 0, n) + struct.pack(f"<{n}H", *range(n))
    pf.add(P.rec(P.R_CPU_MAP, 0, cpus))
    pf.add(P.rec(P.R_FINISHED_INIT, 0, b""))
    side = side_band(tr, opt, lambda c: 100 + n + c, opt.data_maps, True, opt.switch)
    side.write(tmp + ".side")
    a = ["spe", "--side", tmp + ".side", "--out", out, "--off", str(pf.pos), "--ncpu", str(n), "--pid", str(opt.pid),
         "--ds", ds, "--id-base", "100", "--ts-hz", str(TS_HZ), f"--time-zero={TIME_ZERO}", "--round", str(opt.round),
         "--aux-max", str(opt.aux_max), "--min-latency", str(opt.min_latency), "--ctx-el", str(opt.ctx_el)] + src
    if not opt.pa:
        a.append("--no-pa")
    if not opt.context:
        a.append("--no-context")
    if opt.no_align:
        a.append("--no-align")
    if opt.ds_stores:
        a.append("--ds-stores")
    if opt.truncated_every:
        a += ["--truncated-every", str(opt.truncated_every)]
    if opt.v1p4 or v1p4:
        a.append("--v1p4")
    index, stats = simenc(a)
    ft = common_features(tr, opt, "aarch64", "0x%016x" % midr, None,
                         perf_argv(tr, opt, ["-e", name], argv), ev,
                         [(1, "software"), (2, "tracepoint"), (8, "armv8_pmuv3_0"), (SPE_TYPE, "arm_spe_0")],
                         (stats["first"], stats["last"]))
    ft[P.F_AUXTRACE] = P.feat_auxtrace(index)
    total = pf.finish(stats["end"], ft)
    return dict(file=out, bytes=total, records=stats["records"], aux_bytes=stats["aux_bytes"],
                auxtrace_records=stats["aux_records"], period=opt.spe_period, cpu=opt.cpu, midr="0x%x" % midr,
                data_source=ds, metadata=opt.spe_meta, min_latency=opt.min_latency, truncated=stats["cut"])


def build_c2c(tr, opt, argv, src, out, tmp):
    n = opt.cpus
    st = P.IP | P.TID | P.TIME | P.ADDR | P.CPU | P.PERIOD | P.DATA_SRC | P.IDENTIFIER
    st |= P.WEIGHT_STRUCT if opt.weight_struct else P.WEIGHT
    if opt.callchain:
        st |= P.CALLCHAIN
    if opt.pa:
        st |= P.PHYS_ADDR
    base = ["disabled", "inherit", "sample_id_all", "exclude_guest", "precise1", "precise2"]
    track = ["mmap", "comm", "task", "mmap2", "comm_exec", "mmap_data", "enable_on_exec", "ksymbol", "bpf_event"]
    ev = [P.Event(f"cpu/mem-loads,ldlat={opt.ldlat}/P",
                  P.attr(4, 0x1CD, st, base + track, period=opt.pebs_ld_period, config1=opt.ldlat),
                  [100 + c for c in range(n)]),
          P.Event("cpu/mem-stores/P", P.attr(4, 0x82D0, st, base + ["enable_on_exec"], period=opt.pebs_st_period),
                  [100 + n + c for c in range(n)])]
    pf = P.PerfFile(out)
    pf.begin(ev)
    pf.add(P.rec(P.R_FINISHED_INIT, 0, b""))
    side = side_band(tr, opt, lambda c: 100 + c, True, False, "none")
    side.write(tmp + ".side")
    a = ["c2c", "--side", tmp + ".side", "--out", out, "--off", str(pf.pos), "--ncpu", str(n), "--pid", str(opt.pid),
         "--id-base", "100", "--round", str(opt.round), "--period-ld", str(opt.pebs_ld_period),
         "--period-st", str(opt.pebs_st_period)] + src
    if opt.weight_struct:
        a.append("--weight-struct")
    if opt.callchain:
        a += ["--chains", tmp + ".chains"]
    if not opt.pa:
        a.append("--no-pa")
    _, stats = simenc(a)
    ft = common_features(tr, opt, "x86_64", "GenuineIntel,6,106,6", "Intel(R) Xeon(R) Platinum 8380 (simcap)",
                         perf_argv(tr, opt, ["-W", "-d", "--phys-data", "--sample-cpu", "-e", ev[0].name, "-e", ev[1].name],
                                   argv), ev,
                         [(1, "software"), (2, "tracepoint"), (4, "cpu")], (stats["first"], stats["last"]))
    total = pf.finish(stats["end"], ft)
    return dict(file=out, bytes=total, records=stats["records"], period_loads=opt.pebs_ld_period,
                period_stores=opt.pebs_st_period, ldlat=opt.ldlat)


def build_cyc(tr, opt, argv, src, out, tmp):
    n = opt.cpus
    arm = opt.arch == "aarch64"
    st = P.IP | P.TID | P.TIME | P.CPU | P.PERIOD | P.READ | P.IDENTIFIER
    rf = 1 | 2 | 4 | 8
    if opt.callchain:
        st |= P.CALLCHAIN
    track = ["mmap", "comm", "task", "mmap2", "comm_exec", "ksymbol", "bpf_event"]
    fl = ["inherit", "sample_id_all", "exclude_guest"]
    if arm:
        evs = [("cycles", 0, 0), ("armv8_pmuv3_0/stall_backend_mem/", 8, 0x4005), ("instructions", 0, 1)]
        cpuid, desc = "0x%016x" % CPUS[opt.cpu][0], None
        pmus = [(1, "software"), (2, "tracepoint"), (8, "armv8_pmuv3_0"), (SPE_TYPE, "arm_spe_0")]
    else:
        evs = [("cycles", 0, 0), ("cycle_activity.stalls_mem_any", 4, 0x140014A3), ("instructions", 0, 1)]
        cpuid, desc = "GenuineIntel,6,106,6", "Intel(R) Xeon(R) Platinum 8380 (simcap)"
        pmus = [(1, "software"), (2, "tracepoint"), (4, "cpu")]
    ev = []
    for k, (name, t, cfg) in enumerate(evs):
        lead = k == 0
        ev.append(P.Event(name, P.attr(t, cfg, st, fl + (["disabled", "enable_on_exec"] + track if lead else []),
                                       period=opt.cyc_period if lead else 0, read_format=rf),
                          [100 + k * n + c for c in range(n)]))
    pf = P.PerfFile(out)
    pf.begin(ev)
    pf.add(id_index(ev, n))
    pf.add(P.rec(P.R_FINISHED_INIT, 0, b""))
    side = side_band(tr, opt, lambda c: 100 + c, False, False, "none")
    side.write(tmp + ".side")
    _, stats = simenc(["cyc", "--side", tmp + ".side", "--out", out, "--off", str(pf.pos), "--ncpu", str(n),
                       "--pid", str(opt.pid), "--id-base", "100", "--round", str(opt.round)] + src +
                      (["--chains", tmp + ".chains"] if opt.callchain else []))
    ft = common_features(tr, opt, opt.arch, cpuid, desc,
                         perf_argv(tr, opt, ["-e", "{" + ",".join(e.name for e in ev) + "}:S"], argv), ev, pmus,
                         (stats["first"], stats["last"]))
    ft[P.F_GROUP_DESC] = P.feat_groups([("{anon_group}", 0, 3)])
    total = pf.finish(stats["end"], ft)
    return dict(file=out, bytes=total, records=stats["records"], period_cycles=opt.cyc_period,
                events=[e.name for e in ev])


# ---------------------------------------------------------------- ground truth
GT_FIELDS = ("va pc ord op size n hitm_local hitm_remote peer upgrades walks l1_misses s_spe s_spe_hitm s_spe_peer "
             "s_ld s_ld_hitm s_st lat coh_true coh_false").split()


def load_gt(path):
    for line in open(path):
        w = line.split("\t")
        yield (int(w[0], 16), int(w[1], 16)) + tuple(map(int, w[2:]))


def label_of(coh_t, coh_f, upg, n, total):
    """Dynamic label from the miss classification in the full population. Lines
    whose misses are rare for the line or for the program count as none."""
    coh = coh_t + coh_f
    if coh < 20 or coh < n * 0.002 or coh < total * 0.0002:
        return "none"
    f = coh_f / coh
    return "false" if f >= 0.9 else "true" if f <= 0.1 else "mixed"


def structure_of(rows):
    """Byte level view: does any byte see two threads with one writing?
    Threads with under 0.5 % of the line's accesses (initialisation) are left out."""
    wr, ac, n = defaultdict(int), defaultdict(int), defaultdict(int)
    for r in rows:
        n[r[2]] += r[5]
    total = sum(n.values())
    for r in rows:
        if n[r[2]] < total * 0.005:
            continue
        m = ((1 << r[4]) - 1) << (r[0] & 63)
        ac[r[2]] |= m
        if r[3] & ST:
            wr[r[2]] |= m
    if len(ac) < 2:
        return "private"
    if not wr:
        return "read-shared"
    overlap = disjoint = False
    for t, w in wr.items():
        for u, a in ac.items():
            if u != t:
                if w & a:
                    overlap = True
                if a & ~w or w & ~a:
                    disjoint = True
    return "overlap+disjoint" if overlap and disjoint else "overlap" if overlap else "disjoint"


def load_pairs(path, gt):
    """{line: [(own access, remote access, misses, upgrades)]}"""
    pairs = defaultdict(list)
    for ln in open(path):
        a, b, miss, upg = map(int, ln.split())
        pairs[gt[a - 1][0] >> 6].append((gt[a - 1], gt[b - 1], miss, upg))
    return pairs


def merge_pairs(opt, symbol, raw, what, count):
    """Merge the threads, code addresses and directions of raw pairs (see
    load_pairs()), count misses (2) or upgrades (3), drop those under 0.5 %."""
    def side(r):
        return r[0] & 63, r[4], opname(r[3]), symbol(r[1]) or ""

    acc, total = {}, 0
    for p in raw:
        if not p[count]:
            continue
        total += p[count]
        a, b = sorted(((side(p[0]), p[0][2]), (side(p[1]), p[1][2])))
        e = acc.setdefault((a[0], b[0]), [0, set(), set()])
        e[0] += p[count]
        e[1].add(a[1])
        e[2].add(b[1])
        if a[0] == b[0]:	# the two sides are the same code on the same bytes
            e[1].add(b[1])
            e[2].add(a[1])
    out = []
    for (a, b), (n, ta, tb) in sorted(acc.items(), key=lambda x: (-x[1][0], x[0])):
        if n < total * 0.005:
            continue
        sides = [dict(offset=s[0], size=s[1], op=s[2], sym=s[3] or None) for s in (a, b)]
        apart = a[0] + a[1] <= b[0] or b[0] + b[1] <= a[0]
        out.append({"a": sides[0], "b": sides[1], "class": "false" if apart else "true",
                    "kind": "SL" if "load" in (a[2], b[2]) else "SS", what: n,
                    "tids_a": sorted(opt.pid + t for t in ta), "tids_b": sorted(opt.pid + t for t in tb)})
    return out


def ground_truth(tr, opt, argv, base, files, truth_regions):
    lines = defaultdict(list)
    tot = defaultdict(int)
    gt = list(load_gt(base + ".gt"))
    raw_pairs = load_pairs(base + ".pairs", gt)
    symbols = {}

    def symbol(pc):
        if pc not in symbols:
            s = tr.sym(pc)
            symbols[pc] = s and s["symbol"]
        return symbols[pc]

    for r in gt:
        lines[r[0] >> 6].append(r)
        tot["accesses"] += r[5]
        if r[3] & LD:
            tot["loads"] += r[5]
        if r[3] & ST:
            tot["stores"] += r[5]
        tot["hitm_local"] += r[6]
        tot["hitm_remote"] += r[7]
        tot["peer"] += r[8]
        tot["upgrades"] += r[9]
        tot["coh_true"] += r[19]
        tot["coh_false"] += r[20]
        tot["sampled_spe"] += r[12]
        tot["sampled_spe_hitm"] += r[13]
        tot["sampled_pebs_loads"] += r[15]
        tot["sampled_pebs_load_hitm"] += r[16]
        tot["sampled_pebs_stores"] += r[17]
    out, omitted = [], defaultdict(int)
    for ln, rows in lines.items():
        addr = ln << 6
        threads = sorted({r[2] for r in rows})
        n = sum(r[5] for r in rows)
        ct, cf = sum(r[19] for r in rows), sum(r[20] for r in rows)
        upg = sum(r[9] for r in rows)
        hl, hr = sum(r[6] for r in rows), sum(r[7] for r in rows)
        region = next((g for g in truth_regions if g["addr"] < addr + 64 and g["addr"] + g["size"] > addr), None)
        st = structure_of(rows)
        if st in ("private", "read-shared") and ct + cf < 20 and not (region and opt.all_regions):
            omitted[st] += 1
            continue
        if not region and ct + cf + hl + hr + upg < 20:
            omitted["shared-insignificant"] += 1
            continue
        acc, raw = [], raw_pairs.get(ln, [])
        pairs = merge_pairs(opt, symbol, raw, "misses", 2)
        for r in sorted(rows, key=lambda r: -r[5])[:opt.max_by]:
            s = tr.sym(r[1])
            acc.append(dict(offset=r[0] & 63, size=r[4], tid=opt.pid + r[2], op=opname(r[3]),
                            atomic=bool(r[3] & ATOMIC), exclusive=bool(r[3] & EXCL), pc="0x%x" % r[1],
                            symbol=s and s["symbol"], dso=s and os.path.basename(s["dso"]), count=r[5],
                            hitm_local=r[6], hitm_remote=r[7], peer=r[8], upgrades=r[9], tlb_walks=r[10],
                            l1_misses=r[11], latency_sum=r[18], coh_true=r[19], coh_false=r[20],
                            sampled=dict(spe=r[12], spe_hitm=r[13], spe_peer=r[14], pebs_load=r[15],
                                         pebs_load_hitm=r[16], pebs_store=r[17])))
        d = tr.sym(addr, True)
        out.append(dict(
            addr="0x%x" % addr, label=label_of(ct, cf, upg, n, tot["accesses"]), structure=st,
            region=region and region["name"], region_label=region and region["label"],
            data_symbols=sorted({x["symbol"] for x in (tr.sym(r[0], True) for r in rows) if x and x["symbol"]}),
            data_dso=d and os.path.basename(d["dso"]), threads=[opt.pid + t for t in threads], accesses=n,
            loads=sum(r[5] for r in rows if r[3] & LD), stores=sum(r[5] for r in rows if r[3] & ST),
            hitm_local=hl, hitm_remote=hr, peer=sum(r[8] for r in rows), upgrades=upg, coh_true=ct, coh_false=cf,
            latency_mean=round(sum(r[18] for r in rows) / max(n, 1), 1),
            sampled=dict(spe=sum(r[12] for r in rows), spe_hitm=sum(r[13] for r in rows),
                         spe_peer=sum(r[14] for r in rows), pebs_load=sum(r[15] for r in rows),
                         pebs_load_hitm=sum(r[16] for r in rows), pebs_store=sum(r[17] for r in rows)),
            pairs=pairs, upgrade_pairs=merge_pairs(opt, symbol, raw, "upgrades", 3),
            by_omitted=max(0, len(rows) - opt.max_by), by=acc))
    out.sort(key=lambda x: -(x["hitm_local"] + x["hitm_remote"] + x["coh_true"] + x["coh_false"]))
    for x in out[opt.full_lines:]:		# keep the file small
        x["by_omitted"] += len(x["by"][opt.rest_by:])
        x["by"] = x["by"][:opt.rest_by]
        x["pairs_omitted"] = len(x["pairs"][opt.rest_pairs:])
        x["pairs"] = x["pairs"][:opt.rest_pairs]
        x["upgrade_pairs"] = x["upgrade_pairs"][:opt.rest_pairs]
    exe = tr.elves[tr.exe]
    return dict(
        generator="simcap", arch=opt.arch, program=tr.exe, argv=argv, pid=opt.pid,
        build_id=exe.build_id.hex() if exe.build_id else None, load_bias="0x%x" % tr.bias, line_size=64,
        machine=dict(cpus=opt.cpus, nodes=opt.nodes, cluster=opt.cluster, adjacent_prefetch=bool(opt.adjacent)),
        sim_ns=tr.end - T0,
        threads=[dict(tid=opt.pid + o, **{k: v for k, v in t.items() if k != "ord"}) for o, t in sorted(tr.threads.items())],
        regions=[dict(g, addr="0x%x" % g["addr"]) for g in truth_regions], totals=dict(tot), files=files,
        lines_omitted=dict(omitted), lines=out[:opt.max_lines])


def read_truth(path):
    r = []
    if os.path.exists(path):
        for line in open(path):
            n, a, s, l = line.split()
            r.append(dict(name=n, addr=int(a, 16), size=int(s, 16), label=l))
    return r


def capture(opt, argv):
    prefix = opt.output
    os.makedirs(os.path.dirname(os.path.abspath(prefix)), exist_ok=True)
    tmpd = tempfile.mkdtemp(prefix="simcap.")
    base = os.path.join(tmpd, "t")
    argv = [os.path.realpath(argv[0])] + argv[1:]
    status = run_qemu(opt, argv, base)
    tr = Trace(base, opt.arch, opt.sysroot if opt.arch == "aarch64" else "")
    files = {}
    src = ["--in", base + ".samples"]
    if "spe" in opt.formats:
        files["spe"] = build_spe(tr, opt, argv, src, prefix + ".spe.data", base)
    if "c2c" in opt.formats:
        files["c2c"] = build_c2c(tr, opt, argv, src, prefix + ".c2c.data", base)
    if "cyc" in opt.formats:
        files["cyc"] = build_cyc(tr, opt, argv, src, prefix + ".cyc.data", base)
    gt = ground_truth(tr, opt, argv, base, files, read_truth(base + ".truth"))
    gt["exit_status"] = status
    gt["simulator"] = tr.stats
    lines = gt.pop("lines")
    with open(prefix + ".truth.json", "w") as f:	# one cache line per text line
        f.write(json.dumps(gt, indent=1)[:-2] + ',\n "lines": [\n')
        f.write(",\n".join(json.dumps(ln, separators=(",", ":")) for ln in lines))
        f.write("\n]}\n")
    gt["lines"] = lines
    if opt.keep:
        print("kept", tmpd)
    else:
        shutil.rmtree(tmpd)
    return gt
