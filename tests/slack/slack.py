"""slack.py ATTEST FOLDER [KERNEL..] - how tight the bounds are: bound/error of o by kernel, variant and n.

Runs slack.suite over the built-in kernels (or those named, globs) and prints bound/error at the element in the middle
and at the worst one, and the bound there.  A slack is that of these inputs: no number here is demanded by a test.
"""
import json
import os
import subprocess
import sys


def slack(ratio):
    return "%9.0f" % (1 / ratio["dec"]) if ratio and ratio["dec"] > 0 else "        -"


def main(attest, folder, *kernels):
    suite = os.path.join(os.path.dirname(os.path.abspath(__file__)), "slack.suite")
    print("%-26s %-12s %5s %9s %9s %9s" % ("kernel", "variant", "n", "median", "worst", "bound"))
    for kernel in kernels or ["softmax-*-f32", "taylor-*", "linear-*", "delta-*"]:
        subprocess.run([attest, "gate", "--suite=" + suite, "--kernel=" + kernel, "--out=" + folder, "--quiet",
                        "--no-strict", "--timeout=100"], check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(folder, "results.jsonl")) as lines:
            results = [r for r in map(json.loads, lines) if r["verdict"] != "skip"]
        for r in sorted(results, key=lambda r: (r["kernel"], r["variant"], r["n"])):
            print("%-26s %-12s %5d %s %s %9.1e" % (r["kernel"], r["variant"], r["n"], slack(r["ratio_median"]),
                                                 slack(r["ratio_hi"]), r["bound"]["dec"]), flush=True)


main(*sys.argv[1:])
