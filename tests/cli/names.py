#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""names.py INPUT: import a copy of INPUT whose names are hostile, and read every answer back.

The names of the program, its libraries, the events and the machine become bytes that drive a
terminal, run in a spreadsheet or break a format. Each command is run in each format; its output is
parsed by a real parser, and no byte of the kinds below may be in it, nor on standard error.
"""
import csv
import io
import json
import os
import re
import subprocess
import sys

FSQUERY, FSINGEST = os.environ["FSQUERY"], os.environ["FSINGEST"]
# seven bytes each, as many as "barrier" has
NASTY = [b"\x1b]0;x\x07\xff", b"=1+1\r\n\t", b"@SUM\x9b2J", b"|`*[<b>", "\u202e<&\\n".encode(),
         b"-2+3\xc3\x28,", b"\"';\"\x7f\xed\xa0", b"\tx\ry\vz\f"]
BAD = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
FORMULA = re.compile(r"^[=+@\t\r-](?![0-9.]+$)")
failures = 0


def complain(what, text):
    global failures
    failures += 1
    print(f"{what}: {text}", file=sys.stderr)


def mutate(content):
    """Each occurrence of a name becomes the next nasty one of its length."""
    turn = 0
    for name, suffix in ((b"barrier", b""), (b"cpu/mem", b""), (b"libc.so", b""), (b"simcap-", b"")):
        at = content.find(name)
        while at >= 0:
            content = content[:at] + NASTY[turn % len(NASTY)] + suffix + content[at + 7:]
            turn += 1
            at = content.find(name, at + 7)
    assert turn > 10
    return content


def run(arguments, status=(0,)):
    done = subprocess.run(arguments, capture_output=True, timeout=120)
    what = " ".join(os.fsdecode(word) for word in arguments[1:])
    texts = []
    for stream in (done.stdout, done.stderr):
        try:
            texts.append(stream.decode())
        except UnicodeDecodeError as error:
            complain(repr(what), f"not UTF-8: {error}")
            texts.append(stream.decode(errors="replace"))
    if done.returncode not in status:
        complain(repr(what), f"exit status {done.returncode}: {texts[1]}")
    return repr(what), texts[0], texts[1]


def check_plain(what, *texts, allowed=""):
    for text in texts:
        bad = BAD.search(text.translate({ord(c): None for c in allowed}))
        if bad:
            complain(what, f"raw {bad.group()!r}: {text[max(0, bad.start() - 40):bad.end() + 40]!r}")


def check_table(what, rows):
    """Rows of a csv or tsv: all as wide as the first, none a formula."""
    for row in rows:
        if len(row) != len(rows[0]):
            complain(what, f"{len(row)} fields, not {len(rows[0])}: {row}")
        for cell in row:
            if FORMULA.match(cell):
                complain(what, f"a formula: {cell!r}")


def strings(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value


def check_markdown(what, text):
    lines = text.splitlines()
    width = len(re.findall(r"(?<!\\)\|", lines[0]))
    for line in lines:
        if len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) != width:
            complain(what, f"columns: {line}")
        if re.search(r"(?<!\\)(?:\\\\)*[<`\[*]", line):
            complain(what, f"raw markup: {line}")


def check(what, form, text):
    check_plain(what, text, allowed="\t" if form == "tsv" else "")
    if form == "csv":
        check_table(what, list(csv.reader(io.StringIO(text), strict=True)))
    elif form == "tsv":
        check_table(what, [line.split("\t") for line in text.splitlines()])
    elif form == "md" and text:
        check_markdown(what, text)
    elif form in ("json", "ndjson"):
        documents = [text] if form == "json" else text.splitlines()
        for value in strings([json.loads(document) for document in documents]):
            check_plain(what, value)


def commands():
    text = subprocess.run([FSQUERY, "--help"], capture_output=True, text=True, check=True).stdout
    more = {"line": ["--rank", "1"]}
    for name in re.findall(r"^  ([a-z][a-z0-9-]*) ", text.split("Commands:")[1], re.M):
        if name not in ("sql", "analyze", "symbols", "layout", "type", "views", "schema",
                        "digest"):
            yield [name] + more.get(name, [])
    for table in ("trace", "thread", "comm", "dso", "event", "samples LIMIT 50", "line_accesses"):
        yield ["sql", f"SELECT * FROM {table}"]
    yield ["sql", "SELECT comm AS \"=a\x1b\", x'00ff1b', char(27) || '|', '-1x', -1 FROM thread"]


def main():
    with open(sys.argv[1], "rb") as file:
        content = file.read()
    data = b"nas\x1b[2Jty\n\xff.data"
    with open(data, "wb") as file:
        file.write(mutate(content))
    for options in ([], ["--json"]):
        what, out, err = run([FSINGEST, "--replace", "--db", "case.db"] + options + [data])
        check_plain(what, out, err)
        if options:
            json.loads(out)
    for command in commands():
        for form in ("table", "csv", "tsv", "json", "ndjson", "md"):
            what, out, err = run([FSQUERY, "--db", "case.db"] + command + ["--format", form],
                                 (0, 1))
            check_plain(what, err)
            check(what, form, out)
        # on a terminal, where colour and width come in, only colour may be there
        what, out, err = run(["script", "-qec", " ".join(
            "'" + word.replace("'", "'\\''") + "'" for word in
            [FSQUERY, "--db", "case.db", "-q", "--color", "always"] + command), "/dev/null"], (0, 1))
        check_plain(what, re.sub(r"\x1b\[[0-9;]*m", "", out), allowed="\r")
    # names of files and words of the user's on standard error
    for arguments in ([FSINGEST, "--db", b"\x1b[1m.db", b"no\x1b]0;\x07such"],
                      [FSINGEST, "--db", b"a\nb/c.db", data],
                      [FSQUERY, "--db", b"\x1b[31m\n.db", "traces"],
                      [FSQUERY, "--db", "case.db", b"comm\x1band"],
                      [FSQUERY, "--db", "case.db", "--trace", b"\x1b\xff", "pairs"],
                      [FSQUERY, "--db", "case.db", "pairs", "--sort", b"\x1b[1m"],
                      [FSQUERY, "--db", "case.db", "pairs", "--dso", b"\x1b[1m\xff", "--format", "json"],
                      [FSQUERY, "--db", "case.db", "sql", b"SELECT \x1b"]):
        what, out, err = run(arguments, (0, 1, 2, 4))
        check_plain(what, out, err)


main()
sys.exit(bool(failures))
