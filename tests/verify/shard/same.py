"""same.py ONE MERGED: the two folders hold the same run, but for timings; prints `same N results`, or what differs."""
import json
import os
import sys


def results(folder):
    with open(os.path.join(folder, "results.jsonl"), encoding="utf-8") as text:
        lines = [json.loads(line) for line in text]
    return [{key: value for key, value in line.items() if not key.startswith("seconds")} for line in lines]


def main():
    one, merged = sys.argv[1:3]
    a, b = results(one), results(merged)
    for i, (x, y) in enumerate(zip(a, b)):
        wrong = [key for key in x if x[key] != y.get(key)]
        if wrong:
            return f"result {i + 1} differs in {wrong}: {x[wrong[0]]!r}, {y[wrong[0]]!r}"
    if len(a) != len(b):
        return f"{len(a)} results, {len(b)} merged"
    for name in ("run.json", "summary.md", "results.sarif", "code-quality.json"):
        with open(os.path.join(one, name), "rb") as x, open(os.path.join(merged, name), "rb") as y:
            if x.read() != y.read():
                return name + " differs"
    print("same", len(a), "results")
    return 0


sys.exit(main())
