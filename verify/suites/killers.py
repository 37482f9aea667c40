"""killers.py DEFECTS.json: the cases that killed a planted defect first (`attest defects --out`), as a suite on stdout.

The case that killed most comes first.  `attest defects` begins with them, so that few defects run many cases; which
defects are killed does not depend on it, since what these cases let live runs all others too.
"""
import collections
import json
import sys

HEAD = """# killers: cases of ci that kill planted defects, the one that kills most first, written by `make killers`.
# `attest defects` begins with them.
"""


def main(path):
    with open(path) as lines:
        rows = [row for row in map(json.loads, lines) if row.get("killed")]
    if not rows:
        sys.exit(f"killers.py: {path}: no defect that was killed")
    kills = collections.Counter(row["smallest"] for row in rows)
    sys.stdout.write(HEAD + "\n".join(line for line, _ in kills.most_common()) + "\n")


main(sys.argv[1])
