"""points.py ATTEST FOLDER [SEED [wrong]]: points of `attest study` against the formulas written again, here.

Draws q, k, v of its own into FOLDER, has the studies read them (family trace), and compares each point's figure with
sums in Fractions and mpmath: order (|o_P - o_exp|), range (|w_T/w - 1|), length (range and size of the scores), state
(a sum rounded after every token).  Prints one line a study: points, differences.  Exit code 1 if one differs.  `wrong`
alters our own formulas a little: every point must then differ.
"""
import json
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
from mpmath import mp

mp.dps = 60
CLOSE = mp.mpf(2) ** -28  # attest's own enclosures are narrower than 2^-30
D, E = 3, 3
WRONG = {"scale": Fraction(1), "bits": 0}


def draw(folder, rng, queries, keys):
    """(q, k, v) as Fractions, after writing them as f32."""
    os.makedirs(folder, exist_ok=True)
    found = []
    for name, rows, width in (("q", queries, D), ("k", keys, D), ("v", keys, E)):
        x = rng.standard_normal((rows, width)).astype(np.float32)
        np.save(os.path.join(folder, name + ".npy"), x)
        found.append([[Fraction(float(c)) for c in row] for row in x])
    return found


def study(attest, folder, name, *options):
    """The results of one study, as dictionaries."""
    out = os.path.join(folder, "out")
    subprocess.run([attest, "study", name, "--quiet", "--out", out, *options], check=True)
    with open(os.path.join(out, "study-%s.jsonl" % name), encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def words(result):
    return dict(word.split("=", 1) for word in result["problem"].split())


def exactly(value):
    return Fraction(float.fromhex(value["hex"]))


def mpf(x):
    return mp.mpf(x.numerator) / x.denominator


def scores(result, q, k):
    scale = exactly(result["scale"]) * WRONG["scale"]
    return [[scale * sum(a * b for a, b in zip(x, y)) for y in k] for x in q]


def center(name, row):
    return {"zero": Fraction(0), "max": max(row), "min": min(row), "mid": (max(row) + min(row)) / 2}[name]


def weights(row, order, name):
    """(Taylor weights, exponentials), each divided by its sum."""
    c = center(name, row)
    taylor, term = [], None
    for s in row:
        total = term = Fraction(1)
        for n in range(1, order + 1):
            term *= (s - c) / n
            total += term
        taylor.append(total)
    exps = [mp.exp(mpf(s)) for s in row]
    return [mpf(w / sum(taylor)) for w in taylor], [w / sum(exps) for w in exps]


def same(ours, theirs):
    return abs(ours - mpf(exactly(theirs))) <= CLOSE * abs(ours)


def order_of(result):
    return int(result["variant"].split(":")[1])


def check_order(result, q, k, v):
    largest = mp.mpf(0)
    for row in scores(result, q, k):
        taylor, exps = weights(row, order_of(result), words(result).get("center", "zero"))
        for c in range(E):
            largest = max(largest, abs(sum((a - b) * mpf(x[c]) for a, b, x in zip(taylor, exps, v))))
    return same(largest, result["truncation"]) and same(largest, result["ordinate"])


def check_range(result, q, k, v):
    row = scores(result, q, k)[0]
    taylor, exps = weights(row, order_of(result), words(result).get("center", "zero"))
    size = max(row) - min(row) if "center" in words(result) else max(abs(s) for s in row)
    return same(max(abs(a / b - 1) for a, b in zip(taylor, exps)), result["ordinate"]) and same(mpf(size), result["abscissa"])


def check_length(result, q, k, v):
    rows = scores(result, q, k)
    return (same(mpf(max(max(row) - min(row) for row in rows)), result["range"])
            and same(mpf(max(abs(s) for row in rows for s in row)), result["abs_score"]))


def rounded(x, bits, least):
    """x to nearest even with so many bits, the last at least 2^least."""
    if x == 0:
        return x
    exponent = 0
    while abs(x) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while abs(x) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - bits + 1, least)
    return round(x / unit) * unit  # Python rounds ties to even


def check_state(result, q, k, v):
    bits, least = {"bf16": (8, -133), "f16": (11, -24), "f32": (24, -149)}[result["series"].split()[-1]]
    bits += WRONG["bits"]
    written = taken = 0
    lost = Fraction(0)
    for a in range(D):
        for c in range(E):
            kept, exact, size = Fraction(0), Fraction(0), Fraction(0)
            for t, (x, y) in enumerate(zip(k, v)):
                write = x[a] * y[c]
                new = rounded(kept + write, bits, least)
                exact, size = exact + write, size + abs(write)
                written += 2 * t >= len(k) and write != 0
                taken += 2 * t >= len(k) and write != 0 and new != kept
                kept = new
            lost = max(lost, abs(kept - exact) / size)
    return same(mpf(Fraction(taken, written)), result["ordinate"]) and same(mpf(lost), result["rounding"])


def main(attest, folder, seed="1", wrong=""):
    if wrong:
        WRONG.update(scale=1 + Fraction(1, 2**20), bits=-1)
    rng = np.random.default_rng(int(seed))
    family = os.path.join(folder, "inputs")
    wrong = 0
    for name, queries, keys, check, options in (
            ("order", 6, 6, check_order, ["--orders", "0..3,6,9", "--ranges", "0.5,3", "--centers", "zero,max,min,mid"]),
            ("range", 1, 7, check_range, ["--orders", "1,4", "--ranges", "2^-6,1", "--centers", "zero,max,min,mid"]),
            ("length", 4, 40, check_length, ["--variant", "softmax,taylor:2", "--kernel", "[st]*-*-f32", "--seeds", "0"]),
            ("state", 1, 40, check_state, ["--in", "bf16,f16,f32", "--seeds", "0"])):
        q, k, v = draw(family, rng, queries, keys)
        results = study(attest, folder, name, "--families", "trace:" + family, "--lengths", str(keys), "--dims", str(D),
                        *options)
        bad = [r for r in results if not check(r, q, k, v)]
        print("%s: %d points, %d differences" % (name, len(results), len(bad)))
        for r in bad[:3]:
            print("    %s: %s" % (r["series"], r["problem"]))
        wrong += len(bad) + (not results)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
