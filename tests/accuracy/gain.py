#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the gains that fsight predicts with what repairing the programs gave.

    gain.py --fsingest PROGRAM TRACES_DIR...

For every memory capture of an unrepaired program (NAME.before.*.data, with its truth.json and that
of the repaired run, NAME.after.truth.json) whose worst line shares falsely: the range for ending
all false sharing against the ratio of the two simulated times.
"""
import argparse
import glob
import json
import os
import sqlite3
import subprocess
import sys
import tempfile


def pairs(folders):
    for folder in folders:
        pattern = os.path.join(folder, "**", "*.before.truth.json")
        for before in sorted(glob.glob(pattern, recursive=True)):
            after = before.replace(".before.", ".after.")
            if os.path.exists(after):
                yield before, after


def measured(before, after):
    """The ratio of the times and whether the worst line shares falsely."""
    with open(before, encoding="utf-8") as first, open(after, encoding="utf-8") as second:
        truth, repaired = json.load(first), json.load(second)
    lines = [line for line in truth["lines"] if line["label"] in ("false", "mixed")]
    worst = max((line["coh_false"] + line["coh_true"] for line in truth["lines"]), default=0)
    shares = any(line["coh_false"] + line["coh_true"] >= worst / 2 for line in lines)
    return truth["sim_ns"] / repaired["sim_ns"], shares


def predicted(fsingest, capture):
    """(low, high, code, reason) of ending all false sharing, or None where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, "case.db")
        symbols = os.path.join(os.path.dirname(capture), "bin")
        command = [fsingest, "-q", "--db", database]
        if os.path.isdir(symbols):
            command += ["--symbols", symbols]
        done = subprocess.run(command + [capture], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 3):
            sys.exit(f"{capture}: fsingest ended with {done.returncode}: {done.stderr}")
        with sqlite3.connect(database) as connection:
            return connection.execute(
                "SELECT gain_low, gain_high, reason_code, reason FROM gain_finding "
                "WHERE unit = 0").fetchone()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--fsingest", default="fsingest")
    parser.add_argument("--min-right", type=float, default=0, metavar="SHARE",
                        help="fail when fewer of the predictions hold the measured ratio")
    parser.add_argument("--max-abstained", type=float, default=1, metavar="SHARE",
                        help="fail when more captures have no prediction")
    parser.add_argument("--reasons", action="store_true", help="print the sentences too")
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    right = wrong = abstained = 0
    print(f"{'capture':<44} measured  predicted    outcome")
    for before, after in pairs(arguments.folders):
        ratio, shares = measured(before, after)
        stem = before[:-len(".truth.json")]
        for capture in sorted(glob.glob(stem + ".spe.data") + glob.glob(stem + ".c2c.data")):
            found = predicted(arguments.fsingest, capture)
            if not shares:
                if found and found[0]:
                    wrong += found[0] > 1.1
                continue
            low, high, code, reason = found or (None, None, "no false line found", "")
            if low is None:
                abstained += 1
                outcome, text = code, "-"
            else:
                holds = low <= ratio <= high
                right += holds
                wrong += not holds
                outcome = "right" if holds else "wrong"
                text = f"{low:.2f}-{high:.2f}"
            name = "/".join(capture.split(os.sep)[-2:])
            print(f"{name:<44} {ratio:8.2f}  {text:<11}  {outcome}")
            if arguments.reasons:
                print(f"    {reason}")
    total = right + wrong + abstained
    print(f"{right} of {right + wrong} predictions hold the measured ratio; "
          f"{abstained} of {total} captures without one")
    if not total:
        sys.exit("no capture found")
    if right < arguments.min_right * (right + wrong) or abstained > arguments.max_abstained * total:
        sys.exit(1)


if __name__ == "__main__":
    main()
