#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Score fsight's verdicts against captures whose truth is known.

    accuracy.py --fsingest PATH --fsquery PATH [--minimum PERCENT] TRACES_DIR...

TRACES_DIR is laid out like the simulator's output (sample-traces/README.md): in it or in its
folders lie NAME.spe.data and NAME.c2c.data beside NAME.truth.json, the programs in bin/. Every
capture is imported, its findings read through fsquery, and judged:

* The truth's top line (most coherence misses among the lines that are not `none`) is `false` or
  `mixed`: rank 1 of top-lines is a line with at least 80 % of the most coherence misses, has the
  label that truth gives that line, and its first FS pair is among its pairs in truth.
* It is `true`: the same without the pair.
* There is none: no line is called false or mixed, also no line that truth leaves out.
* Neighbouring lines that contend as one, which truth knows as a region labelled `pair`: rank 1 is
  `adjacent`. Nowhere else is a line.

Prints each wrong capture with the reason, the share that is right, and the confusion matrix over
all lines and over those with at least 30 samples of two threads; and how many of the pairs that
have at least 1 % of the misses of such a line are listed with their class. Exit status: 1 when the
share is below --minimum, any line got the opposite verdict (false for true, true for false), or
contention was reported where truth has none; 2 when a command failed. --thin N scores what one
sample in N shows: by fsquery --thin, or with --simcap PATH by captures that it thinned.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

LABELS = ("false", "true", "mixed", "none", "unlisted")
VERDICTS = ("false", "true", "mixed", "adjacent", "unknown", "private", "read-only", "absent")
CONTENDED = ("false", "true", "mixed", "adjacent")
OPPOSITE = {("false", "true"), ("true", "false")}
INVENTED = {(label, verdict) for label in ("none", "unlisted")
            for verdict in ("false", "true", "mixed")}
ENOUGH = 30       # samples of two threads, for a line to be judged for certain
SAME_LEAGUE = 0.8  # of the top line's misses: sampling cannot rank closer lines


class Failed(Exception):
    pass


def run(command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode not in (0, 3):
        raise Failed("%s: status %d: %s" % (" ".join(command), result.returncode,
                                            result.stderr.strip()))
    return result.stdout


def ask(arguments, database, command):
    thin = ["--thin", str(arguments.thin), "--seed", "3"]
    text = run([arguments.fsquery, "--db", database, command, "--format", "json", "--limit", "0",
                *(thin if arguments.thin > 1 and not arguments.simcap else [])])
    return json.loads(text)["rows"]


def misses(line):
    return line["coh_true"] + line["coh_false"]


def same_side(ours, truth):
    """Truth counts a 16-byte pair access as two of 8 bytes; samples see the first."""
    if ours["offset"] != truth["offset"]:
        return False
    return (ours["width"] in (None, truth["size"]) or
            (ours["width"] >= 16 and ours["width"] == 2 * truth["size"]))


def pair_in_truth(pair, line):
    return any(p["class"] == "false" and p["kind"] == pair["kind"] and
               same_side(pair["a"], p["a"]) and same_side(pair["b"], p["b"]) for p in line["pairs"])


def in_pairs(truth, line):
    """Whether truth says that two neighbours contend here as one."""
    return truth["machine"].get("adjacent_prefetch") and any(
        region["label"] == "pair" and
        0 <= int(line["line"], 16) - int(region["addr"], 16) < region["size"]
        for region in truth["regions"])


def judge(truth, lines, pairs):
    """(right, reason) for one capture."""
    strays = [line["line"] for line in lines
              if line["verdict"] == "adjacent" and not in_pairs(truth, line)]
    if strays:
        return False, "%s called adjacent" % strays[0]
    listed = {int(line["addr"], 16): line for line in truth["lines"]}
    contended = [line for line in truth["lines"] if line["label"] != "none"]
    top = max(contended, key=misses, default=None)
    if not top:
        wrong = [line for line in lines if line["verdict"] in ("false", "mixed")]
        reasons = ["%s called %s" % (line["line"], line["verdict"]) for line in wrong[:3]]
        if truth["machine"].get("adjacent_prefetch") and any(
                region["label"] == "pair" for region in truth["regions"]) and not (
                lines and lines[0]["verdict"] == "adjacent"):
            reasons.append("no neighbours were called adjacent")
        return not reasons, ", ".join(reasons)
    if not lines:
        return False, "no line was reported, truth has %s %s" % (top["addr"], top["label"])
    first = lines[0]
    line = listed.get(int(first["line"], 16))
    if not line:
        return False, "rank 1 is %s, not in truth" % first["line"]
    if misses(line) < SAME_LEAGUE * misses(top):
        return False, "rank 1 is %s with %d misses, %s has %d" % (
            first["line"], misses(line), top["addr"], misses(top))
    if first["verdict"] != line["label"]:
        return False, "%s called %s, truth says %s (%.0f %% of %d misses true)" % (
            first["line"], first["verdict"], line["label"], 100 * line["coh_true"] / misses(line),
            misses(line))
    if line["label"] == "true":
        return True, ""
    pair = next((p for p in pairs if p["line"] == first["line"] and p["class"] == "FS"), None)
    if not pair:
        return False, "%s has no FS pair" % first["line"]
    if not pair_in_truth(pair, line):
        left_out = line.get("pairs_omitted")
        return False, "first FS pair of %s (%s, +%d x +%d) is not among truth's%s" % (
            first["line"], pair["kind"], pair["a"]["offset"], pair["b"]["offset"],
            ", which leaves out %d pairs of this line" % left_out if left_out else "")
    return True, ""


def confusion(truth, lines):
    """All lines, and under ("enough", ...) those with enough samples of two threads."""
    count = collections.Counter()
    labels = {int(line["addr"], 16): line["label"] for line in truth["lines"]}
    for line in lines:
        label = labels.pop(int(line["line"], 16), "unlisted")
        if label == "unlisted" and line["verdict"] not in CONTENDED:
            continue
        count[label, line["verdict"]] += 1
        if line["samples"] >= ENOUGH and line["threads"] >= 2:
            count["enough", label, line["verdict"]] += 1
    count.update((label, "absent") for label in labels.values())
    return count


def listed_pairs(truth, lines, pairs):
    """Pairs of well sampled contended lines: in truth, and of them listed with their class."""
    count = collections.Counter()
    well = {int(line["line"], 16) for line in lines
            if line["samples"] >= ENOUGH and line["verdict"] in CONTENDED}
    ours = collections.defaultdict(list)
    for pair in pairs:
        ours[int(pair["line"], 16)].append(pair)
    for line in truth["lines"]:
        if int(line["addr"], 16) not in well or line["label"] == "none":
            continue
        for pair in line["pairs"]:
            if pair["misses"] < 0.01 * misses(line):
                continue
            count["pairs"] += 1
            count["pairs listed"] += any(
                p["class"] == ("FS" if pair["class"] == "false" else "TS") and
                same_side(p["a"], pair["a"]) and same_side(p["b"], pair["b"])
                for p in ours[int(line["addr"], 16)])
    return count


def score(arguments, data, truth_file):
    with tempfile.TemporaryDirectory(prefix="accuracy.") as folder:
        database, binaries = os.path.join(folder, "trace.db"), str(data.parent / "bin")
        keep = ["--no-samples"]
        if arguments.thin > 1 and not arguments.simcap:
            keep = []
        elif arguments.thin > 1:
            thinned = os.path.join(folder, data.name)
            run([arguments.simcap, "thin", "--keep", "1/%d" % arguments.thin, "--seed", "3",
                 str(data), "-o", thinned])
            data = thinned
        run([arguments.fsingest, "--quiet", *keep, "--db", database, "--symbols", binaries,
             str(data)])
        lines = ask(arguments, database, "top-lines")
        pairs = ask(arguments, database, "pairs")
    truth = json.loads(truth_file.read_text())
    return judge(truth, lines, pairs) + (confusion(truth, lines) +
                                         listed_pairs(truth, lines, pairs),)


def captures(folders):
    for folder in folders:
        for truth in sorted(pathlib.Path(folder).rglob("*.truth.json")):
            stem = str(truth)[: -len(".truth.json")]
            for kind in ("spe", "c2c"):
                data = pathlib.Path("%s.%s.data" % (stem, kind))
                if data.exists():
                    yield data, truth


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--fsingest", required=True)
    parser.add_argument("--fsquery", required=True)
    parser.add_argument("--minimum", type=float, default=90,
                        help="percent of captures that must be right [90]")
    parser.add_argument("--thin", type=int, default=1, metavar="N",
                        help="judge by one sample in N of each capture")
    parser.add_argument("--simcap", help="the simulator, to thin captures instead of answers")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("traces", nargs="+", metavar="TRACES_DIR")
    arguments = parser.parse_args()

    jobs = list(captures(arguments.traces))
    if not jobs:
        sys.exit("accuracy: no captures with a truth file under %s" % " ".join(arguments.traces))
    right, matrix = 0, collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = pool.map(lambda job: score(arguments, *job), jobs)
        for (data, _), (good, reason, count) in zip(jobs, results):
            opposite = sum(count[key] for key in OPPOSITE)
            right += good
            matrix += count
            name = "/".join(data.parts[-2:])
            print("%-5s %s%s%s" % ("right" if good else "WRONG", name,
                                   ": " + reason if reason else "",
                                   " (%d opposite verdicts)" % opposite if opposite else ""))
    percent = 100 * right / len(jobs)
    opposites = sum(matrix[key] for key in OPPOSITE)
    invented = sum(matrix[key] for key in INVENTED)
    print("\n%d of %d captures right, %.1f %%; opposite verdicts: %d; contention invented: %d" %
          (right, len(jobs), percent, opposites, invented))
    print("%d of %d pairs with at least 1 %% of a line's misses are listed with their class" %
          (matrix["pairs listed"], matrix["pairs"]))
    for title, prefix in (("all lines", ()), ("lines with %d samples of two threads" % ENOUGH,
                                              ("enough",))):
        print("\n%s: truth down, verdict across" % title)
        print("%-9s" % "", *("%9s" % v for v in VERDICTS))
        for label in LABELS:
            print("%-9s" % label, *("%9d" % matrix[prefix + (label, v)] for v in VERDICTS))
    return 1 if percent < arguments.minimum or opposites or invented else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failed, OSError, ValueError, KeyError) as failure:
        print("accuracy: %s" % failure, file=sys.stderr)
        sys.exit(2)
