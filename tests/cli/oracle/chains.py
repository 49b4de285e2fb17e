# SPDX-License-Identifier: GPL-2.0-only
"""Are the call chains those of perf? Compares the addresses of `perf script -F ip` with ours.

  chains.py PERF_DATA DB      exit status 1 and a list of differences if not; 77 if perf reads no
                              chains from the file
"""
import collections
import os
import re
import signal
import sqlite3
import subprocess
import sys

SHOWN = 5
CONTEXTS = 0xfffffffffffff000  # entries from here on say whose code follows
LONGEST = 100  # perf cuts chains at 127 entries, contexts included


def perf_chains(path, by_branches):
    """Counts of chains, innermost address first, and how many chains by branch stack have no branch: perf takes the
    first from beyond the end. Of user code perf shows the place in the file."""
    done = subprocess.run(["perf", "script", "--no-inline", "-F", "ip,brstack" if by_branches else "ip", "-i", path],
                          capture_output=True, text=True, errors="replace",
                          preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
    chains, chain, branches, without = collections.Counter(), [], False, 0
    for text in done.stdout.splitlines() + [""]:
        match = re.match(r"\s*([0-9a-f]+)(\s|$)", text)
        branches |= "/" in text
        if match:
            chain.append(int(match[1], 16))
        elif chain and "/" not in text:
            if by_branches and not branches:
                without += 1
            else:
                chains[tuple(address for address in chain if 0 < address < CONTEXTS)[:LONGEST]] += 1
            chain, branches = [], False
    return chains, without


def our_chains(db):
    places = {id: (ip if offset is None or kind in ("kernel", "module", "generated") else offset) % 2 ** 64
              for id, ip, offset, kind in db.execute("SELECT c.id, ip, offset, kind FROM code AS c LEFT JOIN dso AS d "
                                                     "ON d.id = c.dso_id")}
    nodes = {id: (parent, code) for id, parent, code in db.execute("SELECT id, parent_id, code_id FROM chain")}
    chains = collections.Counter()
    for code, chain, count in db.execute("SELECT code_id, chain_id, count(*) FROM sample GROUP BY 1, 2"):
        addresses = [places[code]] if code else []
        while chain:
            chain, code = nodes[chain]
            addresses.append(places[code])
        chains[tuple(address for address in addresses if address)[:LONGEST]] += count
    return chains


def without_leaf(chains, leaf):
    result = collections.Counter()
    for chain, count in chains.items():
        if chain[leaf:]:
            result[chain[leaf:]] += count
    return result


def main():
    if not os.path.exists(sys.argv[2]):
        return 77
    db = sqlite3.connect(f"file:{sys.argv[2]}?mode=ro", uri=True)
    # with copies of the stack perf unwinds further than the recorded chain; we show the chain
    whole, by_branches = db.execute("SELECT min(sample_type >> 5 & 1 AND NOT sample_type >> 13 & 1), max(sample_type >> 11 & 1) "
                                    "FROM event WHERE samples > 0").fetchone()
    perf, without = perf_chains(sys.argv[1], by_branches) if whole else (None, 0)
    if not perf:
        return 77
    ours = our_chains(db)
    # by branch stack perf shows the start of the running function instead of the sampled address;
    # the chain of a precise sample begins where it was interrupted, behind the sampled instruction
    leaf = bool(by_branches or db.execute("SELECT count(*) FROM sample AS s JOIN code AS c ON c.id = s.code_id "
                                          "WHERE c.exact").fetchone()[0])
    perf, ours = without_leaf(perf, leaf), without_leaf(ours, leaf)
    for what, some in (("only perf", perf - ours), ("only fsight", ours - perf)):
        for chain, count in some.most_common(SHOWN):
            print(f"{what}: {count} of {' '.join(f'{address:x}' for address in chain)}")
    print(f"{sum(perf.values())} chains")
    # a precise sample of user code whose interrupt hit the kernel begins in user code here, in the kernel there
    strays = sum(perf.values()) // 20 if by_branches else 0
    return int(sum((perf - ours).values()) > strays or sum((ours - perf).values()) > without + strays)


if __name__ == "__main__":
    sys.exit(main())
