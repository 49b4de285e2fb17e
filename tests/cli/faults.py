#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""faults.py FAULT.SO FIRST SECOND: import SECOND while one call after the other fails.

SECOND goes into a new database, and into one that holds FIRST. Whatever fails, there must be a
sentence and an exit status for it, no half database, no lost earlier trace and no debris.
FAULT_LIMIT calls of each kind fail, spread over the run [8]; all when it is 0.
"""
import errno
import os
import re
import shutil
import sqlite3
import subprocess
import sys

LIBRARY, FIRST, SECOND = sys.argv[1:]
FSQUERY, FSINGEST = os.environ["FSQUERY"], os.environ["FSINGEST"]
LIMIT = int(os.environ.get("FAULT_LIMIT", "8"))
CALLS = {"write": errno.ENOSPC, "read": errno.EIO, "fsync": errno.EIO, "ftruncate": errno.EIO,
         "unlink": errno.EACCES, "rename": errno.EIO, "renameat2": errno.EIO, "link": errno.EPERM,
         "open": errno.EMFILE, "malloc": errno.ENOMEM}
DIRECTORY, TEMPORARY = "work", "tmp"
DB = DIRECTORY + "/case.db"
failures = 0


def complain(what, text):
    global failures
    failures += 1
    print(f"{what}: {text}", file=sys.stderr)


def ingest(db, path, **environment):
    return subprocess.run([FSINGEST, "-q", "--db", db, path], capture_output=True, timeout=120,
                          env={**os.environ, "TMPDIR": os.path.abspath(TEMPORARY), **environment})


def digest(db):
    done = subprocess.run([FSQUERY, "--db", db, "digest"], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else f"exit {done.returncode}: {done.stderr}"


def start(base):
    for directory in (DIRECTORY, TEMPORARY):
        shutil.rmtree(directory, ignore_errors=True)
        os.mkdir(directory)
    if base:
        shutil.copyfile("base.db", DB)


def is_damaged(db):
    """Sound, and says of its last trace that it is not complete."""
    connection = sqlite3.connect(db)
    sound = connection.execute("PRAGMA integrity_check").fetchone()[0]
    complete = connection.execute("SELECT complete FROM trace ORDER BY id DESC").fetchone()[0]
    connection.close()
    return sound == "ok" and not complete


def check(what, base, call, done, before, whole):
    said = done.stderr.decode(errors="surrogateescape")
    status = done.returncode
    after = digest(DB) if os.path.exists(DB) else None
    if status not in (0, 2, 3, 4):
        complain(what, f"exit status {status}: {said[-300:]}")
    elif status in (2, 4) and not re.fullmatch(r"(.*\n)*fsingest: [^\n]+\n", said):
        complain(what, f"exit status {status} without a sentence: {said!r}")
    if status == 0 and after != whole:
        complain(what, "exit status 0, but not all is there")
    elif status == 3 and not is_damaged(DB):
        complain(what, "exit status 3, but no damage")
    elif status not in (0, 3) and after not in (before, whole):
        complain(what, f"half a database: {after}")
    expected = {"case.db"} if after else set()
    # a journal that cannot be removed has played its part
    if set(os.listdir(DIRECTORY)) - expected and call != "unlink":
        complain(what, f"left behind: {os.listdir(DIRECTORY)}")
    if os.listdir(TEMPORARY) and call != "unlink":
        complain(what, f"left behind: {os.listdir(TEMPORARY)}")


def positions(count):
    if not LIMIT or count <= LIMIT:
        return range(1, count + 1)
    return sorted({1 + i * (count - 1) // (LIMIT - 1) for i in range(LIMIT)})


def sweep(base, before, whole):
    for call, number in CALLS.items():
        start(base)
        ingest(DB, SECOND, LD_PRELOAD=LIBRARY, FAULT_CALL=call, FAULT_COUNT="count")
        with open("count", encoding="ascii") as file:
            count = int(file.read())
        for at in positions(count):
            start(base)
            done = ingest(DB, SECOND, LD_PRELOAD=LIBRARY, FAULT_CALL=call, FAULT_AT=str(at),
                          FAULT_ERRNO=str(number))
            check(f"{'added' if base else 'new'}, {call} {at} of {count}", base, call, done, before,
                  whole)


def names_without_help():
    """File systems that cannot rename without replacing, nor link."""
    for links in (True, False):
        for taken in (False, True):
            start(False)
            calls = {"FAULT_CALL": "renameat2" if links else "renameat2+link", "FAULT_AT": "all",
                     "FAULT_ERRNO": str(errno.EINVAL)}
            if taken:
                calls["FAULT_APPEAR"] = DB
            done = ingest(DB, SECOND, LD_PRELOAD=LIBRARY, **calls)
            what = f"no renameat2, links {links}, taken {taken}"
            if taken:
                with open(DB, encoding="ascii") as file:
                    if done.returncode != 4 or file.read() != "mine\n":
                        complain(what, f"exit status {done.returncode}: {done.stderr}")
            elif done.returncode or digest(DB) != ALONE:
                complain(what, f"exit status {done.returncode}: {done.stderr}")
            if os.listdir(DIRECTORY) != ["case.db"]:
                complain(what, f"left behind: {os.listdir(DIRECTORY)}")


start(False)
ingest("base.db", FIRST)
BASE = digest("base.db")
ingest(DB, SECOND)
ALONE = digest(DB)
start(True)
ingest(DB, SECOND)
BOTH = digest(DB)
assert len({BASE, ALONE, BOTH}) == 3
sweep(False, None, ALONE)
sweep(True, BASE, BOTH)
names_without_help()
sys.exit(bool(failures))
