"""run.py [--only TEXT] [--jobs N] [--work DIR]: the mutants that operators.py cannot make, one by one, from tables.

tests/mutations/table/**/*.mut hold blocks of `key: value` lines ended by a blank line:

    file: kernels/problem/problem.c
    suite: problem                    tests/kernels/problem/test_problem.c must fail
    old: j <= i + window              must occur exactly once in the file (or `at: N`: the N-th of several); blanks and
    new: j < i + window               line breaks between its tokens may be others

`file` and `suite` are those of the block above where a block does not give them.  Prints what each mutant is caught by,
and exits 1 if one survives, does not build or has no place in its file any more.
"""
import argparse
import concurrent.futures
import glob
import os
import queue
import re
import sys

import ctokens
import tree


def blocks():
    """All mutants of all tables, in file order."""
    found = []
    for path in sorted(glob.glob(os.path.join(tree.ROOT, "tests/mutations/table/**/*.mut"), recursive=True)):
        block = {}
        for number, chunk in enumerate(re.split(r"\n\s*\n", tree.read(path)), 1):
            lines = [line for line in chunk.splitlines() if line.strip() and not line.startswith("#")]
            kept = {key: block[key] for key in ("file", "suite") if key in block}
            block = dict(kept, **dict(re.match(r"(\w+): ?(.*)$", line).groups() for line in lines))
            block["where"] = f"{os.path.basename(path)}#{number}"
            missing = {"file", "old", "new", "suite"} - set(block)
            if lines and missing:
                sys.exit(f"{block['where']}: missing {sorted(missing)}")
            if lines:
                found.append(block)
    return found


def mutated(block, source):
    """The file with the mutation in it, or None, and why it has no place there."""
    places = list(ctokens.loose(block["old"]).finditer(source))
    at = int(block.get("at", 0))
    if (at == 0 and len(places) != 1) or at > len(places):
        return None, f"'{block['old']}' occurs {len(places)} times in {block['file']}"
    place = places[at - 1 if at else 0]
    return source[:place.start()] + block["new"] + source[place.end():], ""


def try_one(block, copy):
    """'' if caught, with block['caught'] naming the test; else what went wrong."""
    path = os.path.join(copy.path, block["file"])
    if not os.path.exists(path):
        return "no such file"
    text, problem = mutated(block, tree.read(path))
    if text is None:
        return problem
    with copy.broken(block["file"], text):
        problem = copy.build_for(block["suite"])
        if problem:
            return "does not build: " + problem[-300:]
        block["caught"] = copy.run_suite(block["suite"], 20 + 3 * copy.times[block["suite"]])
        return "" if block["caught"] else "SURVIVED"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--work", default=tree.WORK)
    options = parser.parse_args()
    table = [b for b in blocks() if options.only in b["where"] + " " + b["file"]]
    copies, suites = queue.Queue(), {b["suite"] for b in table}
    for copy in tree.copies(os.path.abspath(options.work), options.jobs, suites):
        copies.put(copy)

    def one(block):
        copy = copies.get()
        try:
            return try_one(block, copy) if block["suite"] in copy.times else "its suite fails as it is"
        finally:
            copies.put(copy)

    bad = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for block, problem in zip(table, pool.map(one, table)):
            bad += problem != ""
            print(f"{block['file'][:44]:44} {block['suite']:14} "
                  f"{block.get('caught') or problem + '  <== ' + block['where']}", flush=True)
    print(f"{len(table) - bad} of {len(table)} mutants caught")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
