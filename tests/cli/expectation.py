# SPDX-License-Identifier: GPL-2.0-only
"""Compare what a program printed with what was expected."""
import difflib
import re


def glob_matches(pattern, text):
    """`*` is any part of a line, a line `...` any number of lines."""
    expression = ""
    for line in pattern.splitlines():
        if line == "...":
            expression += r"(?:.*\n)*?"
        else:
            expression += ".*".join(map(re.escape, line.split("*"))) + r"\n"
    return re.fullmatch(expression, text) is not None


def difference(expected, text):
    return "\n".join(difflib.unified_diff(expected.splitlines(), text.splitlines(), "expected", "got",
                                          lineterm=""))
