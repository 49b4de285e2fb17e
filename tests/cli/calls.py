#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""calls.py DATABASE TMPDIR READABLE... <strace: judge what a program did to the world around it.

Input is the output of strace -ff -y -e trace=%file,%network,execve,execveat of all its processes.
Allowed are: one execve, the program itself; opening DATABASE, its directory and what SQLite puts
beside it, system libraries and locales, what stands about the process in /proc, and what is at or
below READABLE; writing DATABASE and what belongs to it, and files in TMPDIR that are removed
again. Everything else is printed, also if it failed; exit 1. Only what the sealed helper asks for
and is refused does not count: libdw looks for debug files of its own accord.
"""
import os
import re
import sys

DATABASE, TEMPORARY = (os.path.realpath(path) for path in sys.argv[1:3])
SYSTEM = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/usr/share/locale", "/etc/locale.alias",
          "/dev/null", "/dev/urandom", "/proc/self", "/proc/sys", "/sys/devices/system/cpu"]
READABLE = SYSTEM + [os.path.realpath(path) for path in sys.argv[3:]]
FOLDER, NAME = os.path.split(DATABASE)
OURS = re.compile(re.escape(FOLDER) + r"/(" + re.escape(NAME) + r"|\." + re.escape(NAME) + r"\.tmp-\d+)"
                  r"(-journal|-wal|-shm)?$")
OPENS = ("open", "openat", "openat2", "creat")
HARMLESS = ("stat", "lstat", "fstat", "newfstatat", "statx", "access", "faccessat", "faccessat2", "readlink",
            "readlinkat", "getcwd", "statfs", "fstatfs")
CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+|\?)(?:<(.*?)>)?(.*)$")
PATH = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>(?:\(deleted\))?, )?"((?:[^"\\]|\\.)*)"')


def below(path, folders):
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def paths_of(arguments):
    """Those that a call names, in full; a relative path without a folder begins in the database's."""
    for folder, path in PATH.findall(arguments):
        yield os.path.normpath(os.path.join(folder or FOLDER, path))


class Judge:
    def __init__(self):
        self.executed, self.made = 0, set()

    def may_write(self, path):
        return OURS.match(path) or below(path, [TEMPORARY]) or path == "/dev/null"

    def may_read(self, path):
        return below(path, READABLE) or path == FOLDER or re.match(r"/proc/\d+(/|$)", path)

    def opened(self, arguments, result, target):
        writes = re.search("O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_TMPFILE", arguments)
        named = list(paths_of(arguments))
        if not named and os.geteuid():  # the helper hides its memory from all but root
            return True
        path = target if target and result != "-1" else named[0]
        path = path.removesuffix(" (deleted)")
        if writes and below(path, [TEMPORARY]) and "O_TMPFILE" not in arguments:
            self.made.add(path)
        return self.may_write(path) or (not writes and self.may_read(path))

    def changed(self, name, arguments):
        """A call that changes names or attributes."""
        paths = list(paths_of(arguments))
        if name.startswith("unlink"):
            self.made -= set(paths)
        return paths and all(self.may_write(path) for path in paths)

    def judge(self, line):
        match = CALL.match(line)
        if not match:
            return line.startswith(("---", "+++"))
        name, arguments, result, target, _ = match.groups()
        if name == "execve":
            self.executed += result == "0"
            return self.executed <= 1
        if "= -1 EACCES" in line and (name in OPENS or name in HARMLESS) or name in HARMLESS:
            return True
        if name in OPENS:
            return self.opened(arguments, result, target)
        return self.changed(name, arguments)


def main():
    judge = Judge()
    faults = [line for line in sys.stdin if not judge.judge(line.rstrip("\n"))]
    faults += [f"left behind: {path}\n" for path in sorted(judge.made)]
    sys.stdout.writelines(faults)
    if not judge.executed:
        sys.exit("no program was seen: are these the calls?")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
