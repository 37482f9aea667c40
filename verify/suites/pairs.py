"""pairs.py ATTEST HOLLOW.so CI.suite: a covering array beside the hand-written cases of suite ci, on stdout.

Cases are added until each built-in kernel meets every pair of conditions that it serves (props/cover/cover.h).  A case
that one of them does not simply pass (elements without a bound, nothing to judge, no evidence) is left out, since it
cannot tell a wrong kernel from a right one, and the next round looks for another one in its place.  Nor may it rest on
lse, u or z: kernels that give o alone (quiet-* of tests/verify/gate/plugins/hollow.c) must pass it too.  Where lens=draw
leaves no key to any row, all of o is 0, and the case gets the first seed that leaves some.
"""
import json
import os
import subprocess
import sys
import tempfile

ROUNDS, SEEDS = 6, 20
HEAD = """# pairs: a covering array, written by `make pairs`; suites ci and full include it.
# Beside the hand-written cases of ci, each kernel meets every pair of conditions that it serves (axis values, classes of
# sizes, types, families, scales: props/cover/factors.c) in one of these cases at least, but for pairs that no case was
# found for that all kernels can pass.
"""


def call(*arguments):
    done = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 4):
        sys.exit(f"{' '.join(arguments)}: exit code {done.returncode}")
    return done.stdout


def write(path, lines):
    with open(path, "w", encoding="ascii") as out:
        out.write("\n".join(lines) + "\n")


def not_passed(attest, suite, out, lines, *kernels):
    """Problems among `lines` that some kernel does not simply pass; a part of a suite lacks other cases' evidence."""
    write(suite, lines)
    call(attest, "gate", "--suite", suite, "--out", out, "--quiet", "--no-strict", *kernels)
    with open(os.path.join(out, "results.jsonl"), encoding="utf-8") as text:
        results = [json.loads(line) for line in text]
    left = [key for key in results[0] if key.startswith("elements_") and key != "elements_judged"] if results else []
    return {r["problem"] for r in results if r.get("verdict") not in ("pass", "skip")
            and not (kernels and r["why"].startswith("no case of this kernel") and not any(r[key] for key in left))}


def told_by_o(attest, hollow, suite, out, lines):
    """The lines, each with the first seed at which kernels that give o alone pass it; those without one are left out."""
    found = {}
    for seed in range(SEEDS):
        asked = {line + (f" seed={seed}" if seed else ""): line for line in lines if line not in found}
        if not asked:
            break
        bad = not_passed(attest, suite, out, list(asked), "--library", hollow, "--kernel", "quiet-*")
        found.update({line: text for text, line in asked.items() if text not in bad})
    return [found[line] for line in lines if line in found]


def main():
    attest, hollow, ci = sys.argv[1:]
    kept = []
    with open(ci, encoding="utf-8") as text:
        hand = [line.rstrip("\n") for line in text if not line.startswith("!include")]
    with tempfile.TemporaryDirectory() as folder:
        suite, out = os.path.join(folder, "ci.suite"), os.path.join(folder, "out")
        for seed in range(1, ROUNDS + 1):
            write(suite, hand + kept)
            before = call(attest, "gate", "--suite", suite, "--list-cases").splitlines()
            after = call(attest, "gate", "--suite", suite, "--cover", "2", "--seed", str(seed), "--list-cases").splitlines()
            fresh = told_by_o(attest, hollow, suite, out, after[len(before):])
            if not fresh:
                break
            left_out = not_passed(attest, suite, out, fresh)
            good = [line for line in fresh if line not in left_out]
            print(f"round {seed}: {len(fresh)} cases, {len(good)} kept", file=sys.stderr)
            kept += good
        left_out = not_passed(attest, suite, out, hand + kept)  # once more together: evidence is a matter of the suite
        kept = [line for line in kept if line not in left_out]
    sys.stdout.write(HEAD + "\n".join(kept) + "\n")


main()
