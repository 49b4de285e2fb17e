#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""hostile.py GOOD.db PERF_DATA PART...: run every command on databases made from GOOD.db to attack it.

Each database must be refused, or answered, within limits of time and memory: no crash, no internal
error, a sentence for every failure, and the file as it was. fsingest must refuse to add to what
fsquery refuses.
"""
import hashlib
import os
import random
import re
import resource
import shutil
import sqlite3
import subprocess
import sys

GOOD, PERF_DATA = sys.argv[1:3]
FSQUERY, FSINGEST = os.environ["FSQUERY"], os.environ["FSINGEST"]
DB = "hostile.db"
SECONDS = 30
KIB = 512 << 10
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x"

failures = 0
turn = 0


def complain(what, text):
    global failures
    failures += 1
    print(f"{what}: {text}", file=sys.stderr)


def commands():
    """Those of fsquery --help, with arguments where one needs any."""
    needs = {"line": ["--rank", "1"], "layout": ["pool_before"], "type": ["pool_before"],
             "sql": ["SELECT * FROM samples LIMIT 10"],
             "analyze": None, "symbols": None}  # write: on their own below
    text = subprocess.run([FSQUERY, "--help"], capture_output=True, text=True, check=True).stdout
    for name in re.findall(r"^  ([a-z][a-z0-9-]*) ", text.split("Commands:")[1], re.M):
        if needs.get(name, []) is not None:
            yield [name] + needs.get(name, [])
    yield ["--thin", "2", "top-lines"]  # these make findings of what stands there
    yield ["--line-size", "256", "pairs"]


COMMANDS = list(commands())
SANITIZED = b"__asan_init" in open(FSQUERY, "rb").read()


def run(arguments):
    """Exit status, standard error and peak memory in KiB of a run."""
    with open("out", "wb") as out, open("err", "wb") as err:
        child = subprocess.Popen(["timeout", "-s", "KILL", str(SECONDS)] + arguments, stdout=out,
                                 stderr=err, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
    with open("err", encoding="utf-8", errors="surrogateescape") as err:
        return os.waitstatus_to_exitcode(status), err.read(), usage.ru_maxrss


def check(what, arguments, allowed):
    """Run it, and complain unless it ends in order. Returns the exit status."""
    status, said, kib = run(arguments)
    shown = " ".join(arguments[1:4])
    if status not in allowed:
        complain(what, f"{shown}: exit status {status}, expected {allowed}: {said[-500:]}")
    elif status and not re.fullmatch(r"(?s).*fs\w+: [^\n]+\n", said):
        complain(what, f"{shown}: exit status {status} without a sentence: {said[-200:]!r}")
    if "Sanitizer" in said or "runtime error" in said:
        complain(what, f"{shown}: {said[-3000:]}")
    if re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]|[\udc80-\udcff]", said):
        complain(what, f"{shown}: raw bytes of a name on standard error: {said[-300:]!r}")
    if kib > KIB and not SANITIZED:
        complain(what, f"{shown}: {kib} KiB of memory")
    return status


def content(path):
    with open(path, "rb") as file:
        return file.read()


def digest(path):
    """Of a regular file, read bit by bit: the peak of this process counts for its children."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        sha256 = hashlib.sha256()
        for block in iter(lambda: file.read(1 << 20), b""):
            sha256.update(block)
        return sha256.hexdigest()


def ask_all(what, allowed, step=1):
    """Every command, or every step-th, in turns."""
    global turn
    turn += 1
    before = digest(DB)
    for command in COMMANDS[turn % step::step]:
        # these two answer from the program alone
        own = {0} if command[0] in ("views", "schema") else set()
        if command[0] == "reproduce" and 0 in allowed:
            own = {10}  # the values are not what the passes make
        check(what, [FSQUERY, "--db", DB] + command, allowed | own)
    if digest(DB) != before:
        complain(what, "fsquery changed the database")


def refused(what):
    ask_all(what, {2}, step=5)
    before = digest(DB)
    for arguments in ([FSQUERY, "--db", DB, "analyze"],
                      [FSQUERY, "--db", DB, "symbols", "--symbols", "."],
                      [FSINGEST, "--db", DB, PERF_DATA]):
        check(what, arguments, {2})
    if digest(DB) != before:
        complain(what, "refused, but changed")


def answered(what, ingest=True):
    """Content that the schema allows: anything but a crash, and fsingest keeps its word."""
    ask_all(what, {0, 1, 2, 4}, step=1 if ingest else 3)
    check(what, [FSQUERY, "--db", DB, "analyze"], {0, 1, 2, 4})
    check(what, [FSQUERY, "--db", DB, "symbols", "--symbols", "."], {0, 1, 2, 4})
    if ingest:
        check(what, [FSINGEST, "-q", "--db", DB, PERF_DATA], {0, 2, 4})


def copy():
    for name in os.listdir("."):
        if name.startswith(DB):
            shutil.rmtree(name) if os.path.isdir(name) and not os.path.islink(name) \
                else os.remove(name)
    shutil.copyfile(GOOD, DB)


def alter(*statements):
    copy()
    db = sqlite3.connect(DB, isolation_level=None)
    db.execute("PRAGMA synchronous = OFF")
    for statement in statements:
        db.execute(statement)
    db.close()


def rewrite(name, old, new):
    """Change the stored text of a table or view behind SQLite's back."""
    alter("PRAGMA writable_schema = ON",
          f"UPDATE sqlite_schema SET sql = replace(sql, '{old}', '{new}') WHERE name = '{name}'")


def patch(offset, data):
    copy()
    with open(DB, "r+b") as file:
        file.seek(offset)
        file.write(data)


def schemas():
    changes = {
        "a view that never ends for a table": (
            "DROP TABLE loss", f"CREATE VIEW loss AS {ENDLESS} AS trace_id FROM c"),
        "a view that never ends for a view": (
            "DROP VIEW top_lines", f"CREATE VIEW top_lines AS {ENDLESS} AS trace_id FROM c"),
        "a trigger that deletes": (
            "CREATE TRIGGER t AFTER INSERT ON trace BEGIN DELETE FROM sample; END",),
        "a trigger that never ends": (
            f"CREATE TRIGGER t BEFORE INSERT ON thread BEGIN INSERT INTO fact {ENDLESS}, x, x "
            "FROM c; END",),
        "a trigger on a view": (
            "CREATE TRIGGER t INSTEAD OF INSERT ON samples BEGIN DELETE FROM trace; END",),
        "an extra table": ("CREATE TABLE extra (x)",),
        "an extra view": ("CREATE VIEW extra AS SELECT load_extension('./evil.so')",),
        "an index on an expression": ("CREATE INDEX i ON sample (hex(addr))",),
        "a partial index": ("CREATE INDEX i ON sample (addr) WHERE addr > 0",),
        "a generated column": (
            "DROP TABLE loss", "CREATE TABLE loss (trace_id INTEGER, kind TEXT AS "
            "(hex(zeroblob(400000000))) VIRTUAL)"),
        "a CHECK clause": (
            "DROP TABLE fact", "CREATE TABLE fact (trace_id INTEGER, name TEXT, value TEXT "
            "CHECK (length(zeroblob(900000000)) > 1))"),
        "a default of its own": (
            "ALTER TABLE fact ADD COLUMN more TEXT DEFAULT 'evil'",),
        "a table without rowid": (
            "DROP TABLE fact", "CREATE TABLE fact (trace_id INTEGER, name TEXT, value TEXT, "
            "PRIMARY KEY (trace_id, name)) WITHOUT ROWID"),
        "a missing table": ("DROP TABLE sample",),
        "statistics that mislead": ("ANALYZE",),
        "another application": ("PRAGMA application_id = 0",),
        "a newer schema": ("PRAGMA user_version = 1000",),
        "an older schema": ("PRAGMA user_version = 0",),
        "a negative schema": ("PRAGMA user_version = -1",),
        "WAL mode": ("PRAGMA journal_mode = WAL",),
    }
    for module in ("fts3(a)", "fts5(a)", "rtree(i, a, b)"):
        changes["virtual table " + module] = (f"CREATE VIRTUAL TABLE v USING {module}",)
    for what, statements in changes.items():
        try:
            alter(*statements)
        except sqlite3.OperationalError as error:
            if "no such module" in str(error):
                continue
            raise
        refused(what)
    rewrite("health", "CREATE VIEW health", "CREATE VIEW  health")
    refused("a blank more")
    rewrite("sample", "CREATE TABLE sample", "CREATE TABLE broken broken")
    refused("a schema that is no SQL")
    rewrite("trace", "INTEGER PRIMARY KEY", "INTEGER PRIMARY KEY REFERENCES trace(id)")
    refused("a reference to itself")
    alter("PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET rootpage = 1 WHERE name = 'fact'")
    ask_all("a table in the page of the schema", {0, 2})
    alter("PRAGMA writable_schema = ON",
          "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = "
          "'sample') WHERE name = 'trace'")
    refused("two tables in one place")
    alter("PRAGMA writable_schema = ON",
          "UPDATE sqlite_schema SET rootpage = 99999999 WHERE name = 'trace'")
    ask_all("a table beyond the end", {0, 2})


def files():
    size = os.path.getsize(GOOD)
    for what, offset, data in (
            ("no page size", 16, b"\0\0"), ("an absurd page size", 16, b"\x12\x34"),
            ("WAL by its header", 18, b"\2\2"), ("another format", 18, b"\7\7"),
            ("reserved bytes", 20, b"\xff"), ("UTF-16", 56, b"\0\0\0\2"),
            ("schema format 9", 44, b"\0\0\0\x09"), ("not SQLite", 0, b"PERFILE2"),
            ("a payload fraction of its own", 21, b"\1\1\1")):
        patch(offset, data)
        ask_all(what, {2}, step=5)
    for length in (0, 1, 99, 100, 16384, 20000, size // 2, size - 1):
        copy()
        os.truncate(DB, length)
        ask_all(f"cut to {length} bytes", {0, 1, 2} if length > 16384 else {2}, step=5)
        check(f"cut to {length} bytes", [FSINGEST, "-q", "--db", DB, PERF_DATA],
              {0, 2} if length > 16384 else {2})
    for number in (1, 2**31 - 1, 2**32 - 1):
        patch(28, number.to_bytes(4, "big"))
        answered(f"{number} pages")
        patch(32, number.to_bytes(4, "big") + b"\0\0\xff\xff")
        answered(f"free list at page {number}")
    for suffix in ("-journal", "-wal"):
        for what in ("garbage", "link", "directory", "pipe"):
            copy()
            place = DB + suffix
            if what == "garbage":
                with open(place, "wb") as file:
                    file.write(b"\x37\x7f\x06\x82\0\x2d\xe2\x18" + bytes(504))
            elif what == "link":
                os.symlink("/dev/zero", place)
            elif what == "directory":
                os.mkdir(place)
            else:
                os.mkfifo(place)
            (refused if suffix == "-wal" or what != "garbage" else
             lambda text: ask_all(text, {0, 2}))(f"{DB}{suffix}: {what}")
    copy()
    os.rename(DB, "elsewhere")
    os.symlink("elsewhere", DB)
    refused("a link")
    os.remove(DB)
    os.mkfifo(DB)
    refused("a pipe")
    os.remove(DB)
    os.remove("elsewhere")


def damaged_pages():
    for seed in range(int(os.environ.get("NOISE_COUNT", "20"))):
        rng = random.Random(seed)
        copy()
        data = bytearray(content(DB))
        for _ in range(1 + seed):
            # page headers and cell pointers lie at the beginning of pages
            page = rng.randrange(len(data) // 16384)
            at = page * 16384 + (rng.randrange(64) if seed % 2 else rng.randrange(16384))
            data[100 if at < 100 else at] = rng.randrange(256)
        with open(DB, "wb") as file:
            file.write(data)
        answered(f"damaged pages, seed {seed}")


INTEGERS = ("9223372036854775807", "-9223372036854775808", "-1", "0")
OTHERS = ("'=cmd|' || char(27, 10, 13, 8238, 0) || CAST(x'ff80' AS TEXT)",
          "x'00ff00ff'", "-9e999")
HISTOGRAMS = ("x'04'", "x'ff01'", "x'04ffffffffffffffff7f'", "x'04ffffffffffffffff7f05ffffffffffff"
              "ffff7f'", "zeroblob(1000000)", "randomblob(5000)", "'text'", "1")


def columns():
    """Tables with rows, and their columns and types but the keys."""
    db = sqlite3.connect(GOOD)
    for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND "
                               "name NOT LIKE 'sqlite_%'").fetchall():
        if db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():
            yield table, [(name, kind) for _, name, kind, _, _, key in
                          db.execute(f"PRAGMA table_info({table})") if not key]
    db.close()


def values():
    tables = list(columns())
    for value in INTEGERS + OTHERS:
        for table, names in tables:
            if not names:
                continue
            alter(f"UPDATE OR IGNORE \"{table}\" SET " + ", ".join(
                f"\"{name}\" = {value}" for name, _ in names
                if name != "trace_id" or value in INTEGERS))
            answered(f"{value} throughout {table}", ingest=False)
    for table, names in tables:
        for name, kind in names:
            if kind == "BLOB":
                for value in HISTOGRAMS:
                    alter(f"UPDATE \"{table}\" SET \"{name}\" = {value} WHERE rowid < 40")
                    answered(f"{value} in {table}.{name}", ingest=False)
    # sums that do not fit, on lines that contend
    alter("UPDATE access SET period = 9223372036854775807, latency_sum = 9223372036854775807, "
          "samples = 9223372036854775807",
          "UPDATE code_total SET period = 9223372036854775807, samples = 9223372036854775807",
          "UPDATE line_total SET samples = 9223372036854775807, stores = 9223372036854775807")
    answered("sums that overflow")
    check("sums that overflow", [FSQUERY, "--db", DB, "top-lines"], {0})
    for value in ("9223372036854775807", "-9223372036854775808", "-5"):
        for table in ("trace", "dso", "code", "event"):
            alter(f"UPDATE \"{table}\" SET id = {value} WHERE id = (SELECT max(id) FROM {table})")
            answered(f"id {value} in {table}")
    # the greatest number for max(), and 0 where one is asked for
    alter("UPDATE cpu SET midr = 1", "UPDATE cpu SET cpu = x'00' WHERE cpu = (SELECT min(cpu) FROM cpu)",
          "UPDATE fact SET value = 2, name = 'spe_metadata_version' WHERE rowid = (SELECT min(rowid) FROM fact)")
    answered("a CPU whose number is a blob")
    for size in (1000000, 20000000):
        for place in ("thread SET comm", "dso SET path", "function SET name", "trace SET name"):
            alter(f"UPDATE {place} = replace(hex(zeroblob({size // 2})), '0', 'A') WHERE rowid = 1")
            answered(f"{size} bytes: {place}")


def noise():
    """Any value anywhere."""
    tables = list(columns())
    for seed in range(int(os.environ.get("NOISE_COUNT", "20"))):
        rng = random.Random(seed)
        statements = []
        for _ in range(1 + seed):
            table, names = rng.choice([entry for entry in tables if entry[1]])
            statements.append(
                f"UPDATE OR IGNORE \"{table}\" SET \"{rng.choice(names)[0]}\" = "
                f"{rng.choice(INTEGERS + OTHERS + HISTOGRAMS)} "
                f"WHERE rowid < 40 AND rowid % {rng.randint(1, 4)} = 0")
        alter(*statements)
        answered(f"noise, seed {seed}")


def many_rows():
    """What joins with itself must not take time by the square."""
    alter("INSERT INTO access SELECT a.* FROM access AS a, (WITH RECURSIVE c(x) AS (SELECT 1 UNION "
          "ALL SELECT x + 1 FROM c LIMIT 200) SELECT x FROM c)",
          "UPDATE access SET line = (SELECT min(line) FROM access), space_id = 1",
          "INSERT INTO fact SELECT trace_id, f.name, f.value FROM fact AS f, (WITH RECURSIVE c(x) "
          "AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 2000) SELECT x FROM c)")
    answered("many rows")


resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
for part in sys.argv[3:]:
    {"schemas": schemas, "files": files, "damaged_pages": damaged_pages, "values": values,
     "noise": noise, "many_rows": many_rows}[part]()
sys.exit(bool(failures))
