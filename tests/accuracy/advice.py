#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Follow fsight's layout advice and measure what it removes.

    advice.py --fsingest PATH --fsquery PATH --simcap DIR [--traces DIR] [--minimum PERCENT]
              [--arch ARCH]... [--only NAME]... [--rounds N]

For each workload of the simulator in DIR: take the capture of the unrepaired program (from --traces,
else a fresh one), find what the trace itself calls falsely shared, ask `fsquery layout` for each,
put its C into the source in place of the definition, compile that as simcap compiles its workloads,
capture again with the same arguments, and compare the false coherence misses that the simulator
counted. Nothing is known here of the workloads or of their repair.

A structure's definition is replaced whole; the members' types come from debug information.
Variables, for which no C is printed, stay as they are.

Exit status: 1 when a change removes less than --minimum percent or does not compile, 2 when a
command failed, 77 when a program that this needs is missing.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COMPILERS = {"aarch64": ["aarch64-linux-gnu-gcc", "-march=armv8.1-a"], "x86_64": ["gcc"]}
FLAGS = ["-O2", "-g", "-fno-omit-frame-pointer", "-pthread", "-fno-tree-vectorize"]
KINDS = {"aarch64": "spe", "x86_64": "c2c"}


class Failed(Exception):
    pass


def run(command, **options):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            **options)
    if result.returncode not in (0, 3):
        raise Failed("%s: status %d: %s" % (" ".join(map(str, command)), result.returncode,
                                            result.stderr.strip()[-2000:]))
    return result.stdout


def prepare_simcap(source, scratch):
    """A copy of the simulator, built there: the original may be read-only."""
    simcap = scratch / "simcap"
    shutil.copytree(source, simcap, ignore=shutil.ignore_patterns("build"))
    run(["make", "-s", "-C", simcap, "build/simcap.so", "build/simenc"])
    return simcap


def workloads(simcap):
    """{name: its C files}: NAME.c, or all of a folder."""
    found = {}
    for path in sorted((simcap / "workloads").iterdir()):
        if path.is_dir():
            found[path.name] = sorted(path.glob("*.c"))
        elif path.suffix == ".c":
            found[path.stem] = [path]
    return found


def compile_workload(arch, sources, program):
    run(COMPILERS[arch] + FLAGS + ["-o", program] + sources)


def capture(simcap, arch, program, prefix, words, options):
    run([simcap / "simcap", "run", "--arch", arch, "--formats", KINDS[arch], "-o", prefix] + options +
        ["--", program] + words)
    return json.loads(pathlib.Path("%s.truth.json" % prefix).read_text())


def query(arguments, database, *words):
    return json.loads(run([arguments.fsquery, "--db", database, *words, "--format", "json",
                           "--limit", "0"]))["rows"]


def find_suspects(arguments, database):
    """Structures, and variables of no structure, on lines that the trace calls false or mixed."""
    suspects = []
    for line in query(arguments, database, "top-lines", "--columns", "line,verdict,type,object"):
        if line["verdict"] not in ("false", "mixed"):
            continue
        for name in layout_names(line):
            if name not in suspects:
                suspects.append(name)
    return suspects


def layout_names(line):
    types = (line["type"] or "").split(", ")
    return [re.sub(r"(\[\d*\])+$", "", t) for t in types if t]


def end_of_definition(text, start):
    """Behind the semicolon that ends what begins at start."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if text[i] == ";" and not depth:
            return i + 1
    raise Failed("a definition without an end")


def splice(text, name, advice):
    """The text with the definition of a structure replaced; None: it is not there."""
    tag = re.sub(r"^struct ", "", name)
    found = re.search(r"^[ \t]*(typedef )?struct %s\s*\{" % re.escape(tag), text, re.M)
    if not found:
        return None
    text = text[:found.start()] + advice + text[end_of_definition(text, found.start()):]
    # what asserts the old layout
    return re.sub(r"^_Static_assert\(.*struct %s\b.*;\n" % re.escape(tag), "", text, flags=re.M)


def follow(arguments, database, sources, folder):
    """Write the sources changed as advised to the folder. ([files], [what was changed])"""
    texts = {path: path.read_text() for path in sources}
    changed = []
    for name in find_suspects(arguments, database):
        try:
            advice = run([arguments.fsquery, "--quiet", "--db", database, "layout", name,
                          "--format", "c"])
        except Failed as failure:
            changed.append("%s (%s)" % (name, str(failure).split(": ", 2)[-1]))
            continue
        for path, text in texts.items():
            new = splice(text, name, advice)
            if new and new != text:
                texts[path] = new
                sizes = re.search(r"(\d+) bytes before, (\d+) now", advice)
                changed.append("%s %s" % (name, "%s -> %s" % sizes.groups() if sizes else ""))
    folder.mkdir()
    for path, text in texts.items():
        (folder / path.name).write_text(text.replace('"../common.h"', '"common.h"'))
    return [folder / path.name for path in sources], changed


def false_misses(truth):
    return truth["totals"]["coh_false"]


def judge(arguments, simcap, arch, name, sources, scratch):
    """(before, after, [changes]) of one workload; None: the trace shows no false sharing."""
    prefix = scratch / ("%s.%s" % (name, arch))
    program = scratch / ("%s.%s.bin" % (name, arch)) / name
    program.parent.mkdir()
    compile_workload(arch, sources, program)
    words, options = ["before"], []
    if arguments.traces:
        stem = arguments.traces / arch / ("%s.before" % name)
        if not pathlib.Path("%s.truth.json" % stem).exists():
            return None
        before = json.loads(pathlib.Path("%s.truth.json" % stem).read_text())
        words = before["argv"][1:]
        if before["machine"]["adjacent_prefetch"]:
            options.append("--adjacent")
        symbols = stem.parent / "bin"
    else:
        words = ["before", "8", str(arguments.rounds)]
        before = capture(simcap, arch, program, prefix, words, options)
        stem, symbols = prefix, program.parent
    database = "%s.db" % prefix
    run([arguments.fsingest, "--quiet", "--db", database, "--symbols", symbols,
         "%s.%s.data" % (stem, KINDS[arch])])
    folder = scratch / ("%s.%s.after" % (name, arch))
    files, changed = follow(arguments, database, sources, folder)
    if not changed:
        return None
    shutil.copy(simcap / "workloads" / "common.h", folder)
    changed_program = folder / name
    compile_workload(arch, files, changed_program)
    after = capture(simcap, arch, changed_program, folder / "again", words, options)
    return false_misses(before), false_misses(after), changed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--fsingest", required=True)
    parser.add_argument("--fsquery", required=True)
    parser.add_argument("--simcap", type=pathlib.Path, required=True)
    parser.add_argument("--traces", type=pathlib.Path)
    parser.add_argument("--minimum", type=float, default=95,
                        help="percent of the false misses that must go [95]")
    parser.add_argument("--arch", action="append", choices=sorted(COMPILERS))
    parser.add_argument("--only", action="append", help="workloads by name; default: all")
    parser.add_argument("--rounds", type=int, default=1500, help="of fresh captures [1500]")
    parser.add_argument("--keep", type=pathlib.Path, help="work in this folder and leave it")
    arguments = parser.parse_args()
    arguments.fsingest, arguments.fsquery = map(os.path.abspath,
                                                (arguments.fsingest, arguments.fsquery))
    archs = arguments.arch or sorted(COMPILERS)
    for program in ["make"] + [word for a in archs for word in ("qemu-" + a, COMPILERS[a][0])]:
        if not shutil.which(program):
            print("advice: skipped: no %s here" % program)
            return 77
    for folder in filter(None, (arguments.simcap, arguments.traces)):
        if not folder.is_dir():
            print("advice: skipped: no %s here" % folder)
            return 77
    if arguments.keep:
        arguments.keep.mkdir(parents=True)
        return measure(arguments, archs, arguments.keep)
    with tempfile.TemporaryDirectory(prefix="advice.") as folder:
        return measure(arguments, archs, pathlib.Path(folder))


def measure(arguments, archs, scratch):
    simcap = prepare_simcap(arguments.simcap, scratch)
    worst, count = 100.0, 0
    print("%-22s %-8s %10s %10s %8s  %s" % ("workload", "", "before", "after", "removed", "changed"))
    for name, sources in workloads(simcap).items():
        if arguments.only and name not in arguments.only:
            continue
        for arch in archs:
            result = judge(arguments, simcap, arch, name, sources, scratch)
            if not result:
                continue
            before, after, changed = result
            removed = 100 * (before - after) / before
            worst = min(worst, removed)
            count += 1
            print("%-22s %-8s %10d %10d %7.1f%%  %s" % (name, arch, before, after, removed,
                                                        ", ".join(changed)), flush=True)
    if not count:
        raise Failed("no workload has false sharing")
    return 1 if worst < arguments.minimum else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failed, OSError, ValueError, KeyError) as failure:
        print("advice: %s" % failure, file=sys.stderr)
        sys.exit(2)
