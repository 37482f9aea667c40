"""golden.py BUILD: golden packs (verify/exchange/golden.h) and the checker that needs no library (examples/golden): it
gives the verdicts of `attest compare --batch` on what built-in kernels write, at the bound and one value beyond it, and
refuses files that are damaged; the pack beside this file is the one that this build writes."""
import filecmp
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

BUILD = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
ATTEST = os.path.join(BUILD, "attest")
PACK = os.path.join(HERE, "golden")
TRUTH, BOUND, FIRST, LAST = range(4)


def run(*command, code=0):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert code is None or done.returncode == code, (command, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done


def export(folder, *options, code=0):
    return run(ATTEST, "export", "--quiet", "--golden", "--out", folder, *options, code=code)


def compared(folder, code=None):
    """Verdict and worst ratio of o, by the number of the case."""
    rows = map(json.loads, run(ATTEST, "compare", "--batch", folder, "--format", "json", code=code).stdout.splitlines())
    return {row["file"].split("/")[0]: (row["verdict"], float((row["ratio_hi"] or {"dec": "nan"})["dec"]), row["worst"]) for row in rows}


def checked(checker, pack, outputs, code=None):
    """(case, output): verdict and worst ratio."""
    done = run(checker, pack, outputs, code=code)
    rows = (line.replace(":", "").split() for line in done.stdout.splitlines())
    return {(row[0], row[1]): (row[2], float(row[4])) for row in rows}, done.returncode


def lists(pack):
    with open(os.path.join(pack, "golden.txt"), encoding="utf-8") as text:
        return [line.split(maxsplit=5) for line in text if not line.startswith("#")]


def agree(checker, folder, unproved=0):
    """Both judge the same; returns how many cases pass and fail.  `unproved`: cases that are wrong where no bound is
    proved, which is a fail of the checker and undecided of the other."""
    theirs, code = checked(checker, folder, folder)
    counts = {"pass": 0, "fail": 0}
    types = {row[0]: row[2] for row in lists(folder)}
    for case, (verdict, ratio, worst) in compared(folder).items():
        outputs = {output: row for (number, output), row in theirs.items() if number == case}
        said = [row[0] for row in outputs.values()]
        mine = "fail" if "fail" in said else said[-1]  # lse's line has the verdict of both
        if unproved and (mine, verdict) == ("fail", "undecided"):
            counts["unproved"] = counts.get("unproved", 0) + 1
        else:
            assert mine == verdict, (folder, case, mine, verdict, outputs)
        counts[verdict] = counts.get(verdict, 0) + 1
        # the checker's truth is a double: off by 2^-53 |t|, where a bound is at least half an ulp of the output's type;
        # a wrong infinity stands for 2^(emax+1) there, and is inf here
        if worst.startswith("o") and types[case] != "<f8" and np.isfinite(ratio) and np.isfinite(outputs["o"][1]):
            assert abs(outputs["o"][1] - ratio) <= 2 ** -28 + 1e-8 * ratio, (folder, case, outputs, ratio)
    assert counts.get("unproved", 0) == unproved, counts
    bad = sum(counts.get(verdict, 0) for verdict in ("fail", "undecided", "no-evidence", "unproved"))
    assert (code == 0) == (bad == 0), (code, counts)
    return counts


def kernels(checker, scratch):
    """Outputs of built-in kernels, of the declarations that these have."""
    total = 0
    for kernel, suite, where in [
            ("softmax-two-pass-f32", "smoke", "variant=softmax in=f32"), ("softmax-two-pass-f64", "smoke", "in=f64"),
            ("softmax-online-bf16", "smoke", "in=bf16"), ("softmax-split-f32", "smoke", "variant=layernorm"),
            ("taylor-recurrent-f32", "smoke", "weight=taylor:2"), ("delta-recurrent-f32", "smoke", "variant=gdn"),
            ("linear-recurrent-f32", "smoke", "variant=linear-elu")]:
        folder = os.path.join(scratch, kernel)
        export(folder, "--suite", suite, "--where", where, "--kernel", kernel)
        counts = agree(checker, folder)
        assert counts["fail"] == 0, (kernel, counts)
        total += sum(counts.values())
    assert total >= 24, total
    # the same outputs, a little too large, beside another declaration: some pass, some fail, and both say which
    export(scratch + "/large", "--suite", "smoke", "--where", "variant=softmax in=f32", "--declare",
           "schedule=two-pass exp_error=2^-23 acc_truncates=no")
    for case in {row[0] for row in lists(scratch + "/large")}:
        o = np.load(os.path.join(scratch, "softmax-two-pass-f32", case, "o.npy"))
        np.save(os.path.join(scratch, "large", case, "o.npy"), o * np.float32(1 + 2 ** -18.5))
    counts = agree(checker, scratch + "/large")
    assert counts["pass"] > 3 and counts["fail"] > 3, counts


def truths(folder):
    for row in lists(folder):
        shutil.copy(os.path.join(folder, row[0], row[1] + ".truth.npy"), os.path.join(folder, row[0], row[1] + ".npy"))


def trace(place, q, k, v):
    os.mkdir(place)
    for name, array in zip("qkv", (q, k, v)):
        np.save(os.path.join(place, name + ".npy"), array)
    return "family=trace:" + place


def packed(scratch, name, cases, *options, code=0):
    """A pack of these cases, with the truth as its outputs."""
    suite, folder = os.path.join(scratch, name + ".suite"), os.path.join(scratch, name)
    with open(suite, "w", encoding="utf-8") as out:
        out.write("\n".join(cases) + "\n")
    export(folder, "--suite", suite, *options, code=code)
    truths(folder)
    return folder


# ---- every kind of bound, and values that may stand there -------------------------------------------------------
def kind_of(bound, first):
    if np.isnan(bound):
        return "nan"
    if np.isinf(bound):
        return "inf"
    return "must-be-nan" if np.isnan(first) else "or-nan" if np.signbit(bound) else "number" if bound else "exact"


def kinds(checker, folder, wanted):
    """Plants each value in the first element of each kind of bound of each output; both judge the same."""
    seen = set()
    for row in lists(folder):
        path = os.path.join(folder, row[0], row[1] + ".npy")
        golden, good = np.load(path.replace(".npy", ".golden.npy")), np.load(path)
        most = {"<f2": 65504, "<f4": np.finfo(np.float32).max, "<f8": np.finfo(np.float64).max}[row[2]]
        places = {}
        for at in range(golden.shape[1]):
            places.setdefault(kind_of(golden[BOUND][at], golden[FIRST][at]), at)
        for kind, at in places.items():
            seen.add((row[0], row[1], kind))
            for value in (np.nan, np.inf, -np.inf, most, -most, 0, 7):
                changed = good.copy()
                changed.flat[at] = value
                np.save(path, changed)
                first, last = golden[FIRST][at], golden[LAST][at]
                agree(checker, folder, int(kind == "inf" and not first <= value <= last))
        np.save(path, good)
    assert wanted <= seen, (wanted - seen, seen)


def every_kind(checker, scratch):
    ones = np.ones((1, 1, 3, 2), np.float32)
    large = trace(scratch + "/kinds-large", ones, ones, ones * np.array([65530, -2], np.float32))
    rng = np.random.default_rng(1)
    q, k, v = (rng.standard_normal((1, 1, 5, 4)).astype(np.float32) for _ in "qkv")
    k[0, 0, 3, 1] = v[0, 0, 1, 2] = np.nan
    reads_nan = trace(scratch + "/kinds-nan", q, k, v)
    wide = np.ones((1, 1, 3, 2))  # f64: a v near the largest number; scores that overflow
    largest, scores = trace(scratch + "/kinds-v", wide, wide, wide * 1.7e308), trace(scratch + "/kinds-q", wide * 1e170, wide * 1e170, wide)
    kinds(checker, packed(scratch, "kinds", [
        "variant=softmax n=3 d=2 out=f16 " + large, "variant=softmax mask=causal n=5 d=4 " + reads_nan,
        "variant=softmax n=3 d=2 in=f64 " + largest, "variant=softmax mask=causal-br n=4 m=2 d=3",
        "variant=softmax1 mask=causal hq=2 n=9 d=8 family=huge",
        "variant=softmax n=3 d=2 in=f64 " + scores, "variant=linear norm=sum n=5 d=4 family=flat"]),
        {("0006", "o", "inf"), ("0007", "o", "nan"), ("0001", "o", "inf"), ("0001", "o", "number"), ("0002", "o", "must-be-nan"), ("0002", "o", "nan"), ("0003", "o", "inf"),
         ("0004", "o", "exact"), ("0004", "lse", "exact"), ("0005", "lse", "inf")})
    kinds(checker, packed(scratch, "kinds-or-nan", ["variant=softmax mask=causal-br n=4 m=2 d=3"], "--declare", "empty_row=nan"),
          {("0001", "o", "or-nan"), ("0001", "lse", "or-nan"), ("0001", "o", "number")})


def together(checker, scratch):
    """o alone may tell nothing where o and lse do; the verdict of a case with an lse is that of both."""
    of = ["variant=softmax lens=draw n=3 d=2 seed=%d" % seed for seed in range(1, 9)] + ["variant=softmax1 n=1 d=8 family=huge seed=1"]
    folder = packed(scratch, "together", of)
    rows = {(row[0], row[1]): row[4] for row in lists(folder)}
    assert any(verdict == "no-evidence" and rows[case, "lse"] == "pass" for (case, output), verdict in rows.items()), rows
    agree(checker, folder)
    for case, _ in list(rows):
        if os.path.exists(os.path.join(folder, case, "lse.npy")):
            os.remove(os.path.join(folder, case, "lse.npy"))
    agree(checker, folder)


# ---- at the bound, and beyond it --------------------------------------------------------------------------------
WHOLE = {"<f4": np.uint32, "<f8": np.uint64, "<f2": np.uint16, "<u2": np.uint16}


def stored(values, kind):
    """Doubles that are values of the type, as its bits."""
    if kind == "<u2":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(kind).view(WHOLE[kind])


def sign_of(bits):
    return bits.dtype.type(1) << bits.dtype.type(8 * bits.dtype.itemsize - 1)


def key(bits):
    """Values of a type as integers in their order, both zeros 0."""
    return np.where(bits & sign_of(bits), -(bits & ~sign_of(bits)).astype(np.int64), bits.astype(np.int64))


def neighbour(bits, up):
    """The next value of the type; both zeros have the same ones."""
    keys = key(bits) + (1 if up else -1)
    return np.where(keys < 0, (-keys).astype(bits.dtype) | sign_of(bits), np.abs(keys).astype(bits.dtype))


def put(pack, row, bits):
    shape = tuple(int(n) for n in row[5].strip("()\n").split(","))
    kind = np.dtype("<u2" if row[2] == "<u2" else row[2])
    np.save(os.path.join(pack, row[0], row[1] + ".npy"), bits.view(kind).reshape(shape))


def planted(checker, pack):
    """All elements at an end of what passes; then one element of each case beyond it."""
    for plane, up in ((FIRST, False), (LAST, True)):
        rows = lists(pack)
        for row in rows:
            put(pack, row, stored(np.load(os.path.join(pack, row[0], row[1] + ".golden.npy"))[plane], row[2]))
        assert agree(checker, pack)["fail"] == 0, plane
        beyond = 0
        for turn, row in enumerate(rows):
            golden = np.load(os.path.join(pack, row[0], row[1] + ".golden.npy"))
            bits = stored(golden[plane], row[2])
            at = (7 * turn) % len(bits)
            if not np.isfinite(golden[plane][at]):
                at = int(np.argmax(np.isfinite(golden[plane])))
            bits[at] = neighbour(bits, up)[at]
            put(pack, row, bits)
            theirs, _ = checked(checker, pack, pack)
            assert theirs[row[0], row[1]][0] == "fail", (row, plane, at)
            assert golden[BOUND][at] == 0 or 1 < theirs[row[0], row[1]][1] < np.inf, (row, plane, at, theirs)
            beyond += 1
        counts = agree(checker, pack)
        assert counts["fail"] == len({row[0] for row in rows}) and beyond == len(rows), counts


def damaged(checker, pack):
    """o is the truth everywhere; then one file is wrong at a time."""
    truths(pack)
    assert agree(checker, pack)["fail"] == 0
    o = os.path.join(pack, "0002", "o.npy")
    good = np.load(o)

    def spoil(array, code, text):
        np.save(o, array)
        said = run(checker, pack, pack, code=code).stdout
        assert text in said, (text, said)
        assert (run(ATTEST, "compare", "--batch", pack, code=None).returncode != 0) == (code != 0)

    nan = good.copy()
    nan.flat[5] = np.nan
    spoil(nan, 1, "0002 o fail: worst inf of the bound, 1 outside")
    spoil(np.concatenate([good, good]), 2, o + ": another file; needed: .npy, <f4, (1, 1, 17, 8)")
    spoil(good[:, :, :, :7], 2, o + ": another file")
    spoil(good.astype(np.float64), 2, o + ": another file")
    spoil(np.asfortranarray(good.reshape(1, 1, 17, 8)), 2, o + ": another file")
    spoil(good, 0, "0002 o pass: worst 0.0")
    for size in (os.path.getsize(o) - 1, 130, 9, 0):
        os.truncate(o, size)
        assert o + ": another file" in run(checker, pack, pack, code=2).stdout
    with open(o, "wb") as out:
        np.save(out, good)
        out.write(b"x")
    assert o + ": another file" in run(checker, pack, pack, code=2).stdout
    os.remove(o)
    assert o + ": missing" in run(checker, pack, pack, code=2).stdout
    np.save(o, good)
    os.remove(os.path.join(pack, "0002", "lse.npy"))
    assert ("0002", "lse") not in checked(checker, pack, pack, code=0)[0]
    for kind in (["0002/o.golden.npy"], []):
        os.truncate(os.path.join(pack, *kind or ["golden.txt"]), 100 if kind else 0)
        assert run(checker, pack, pack, code=2).stdout.count("\n") >= 1
    run(checker, code=2)
    run(checker, pack, code=2)


def damaged_list(checker, pack):
    """golden.txt is read to its end, or refused; line ends of another system are none of its words."""
    truths(pack)
    path = os.path.join(pack, "golden.txt")
    with open(path, encoding="utf-8", newline="") as text:
        good = text.read()
    lines = good.splitlines(keepends=True)

    def put_list(text, code):
        with open(path, "w", encoding="utf-8", newline="") as out:
            out.write(text)
        said = run(checker, pack, pack, code=code).stdout
        assert code == 0 or ": no pack, or not all of one" in said or ": another file" in said, said

    put_list(good, 0)
    put_list(good.replace("\n", "\r\n"), 0)
    for kept in range(len(lines)):
        put_list("".join(lines[:kept]), 2)
    put_list("".join(lines[1:]), 2)
    put_list(good.replace("golden 1", "golden 2"), 2)
    put_list(good + lines[2], 2)
    put_list(good + "more\n", 2)
    for wrong in ("0001 o <f4", "0001 o <f5 45 pass (1, 1, 9, 5)", "0001 o <f 45 pass (1, 1, 9, 5)",
                  "0001 o <f4 18446744073709551615 pass (1, 1, 9, 5)", "0001 o <f4 0 pass (1, 1, 9, 5)", ""):
        put_list("".join(lines[:2]) + wrong + "\n" + "".join(lines[3:]), 2)
    put_list(good, 0)


def nearly(checker, pack):
    """An element that is outside, though its distance in doubles is not: the ratio is just above 1."""
    truths(pack)
    path = os.path.join(pack, "0002", "o.golden.npy")
    golden, o = np.load(path), np.load(os.path.join(pack, "0002", "o.npy"))
    golden[LAST][0] = neighbour(stored(golden[TRUTH][:1], "<f4"), False).view(np.float32)[0]
    golden[TRUTH][0], golden[BOUND][0] = o.flat[0] - np.float64(2 ** -30), 2 ** -29
    was = open(path, "rb").read()
    np.save(path, golden)
    assert checked(checker, pack, pack, code=1)[0]["0002", "o"] == ("fail", 1.00000001)
    with open(path, "wb") as out:
        out.write(was)


def undecided_doubles(scratch):
    """The double nearest to 1/2 + 2^-54 + exp(-100000)/.. is not decided, o of f32 is: that is no open rounding."""
    v = np.array([1, 2.0 ** -53, 1], np.float32).reshape(1, 1, 3, 1)
    k = np.array([0, 0, -100], np.float32).reshape(1, 1, 3, 1)
    at = trace(scratch + "/tie", np.full((1, 1, 3, 1), 1000, np.float32), k, v)
    packed(scratch, "tie-f32", ["variant=softmax n=3 d=1 " + at])
    packed(scratch, "tie-f64", ["variant=softmax n=3 d=1 out=f64 " + at], code=4)


def marked(checker, scratch):
    """Elements that nothing judges are told, and are no pass."""
    suite = os.path.join(scratch, "marked.suite")
    with open(suite, "w", encoding="utf-8") as out:
        out.write("variant=softmax mask=causal-br n=4 m=2 d=3\nvariant=taylor:1 n=9 d=4 family=near-zero-denominator\n"
                  "variant=linear norm=sum n=5 d=4 family=flat\n")
    folder = os.path.join(scratch, "marked")
    export(folder, "--suite", suite, "--declare", "empty_row=mean")
    rows = {(row[0], row[1]): row for row in lists(folder)}
    truths(folder)
    bounds = np.load(os.path.join(folder, "0001", "o.golden.npy"))[BOUND]
    assert np.isnan(bounds[:6]).all() and np.isfinite(bounds[6:]).all(), bounds
    assert rows["0001", "o"][4] == "partial", rows
    assert rows["0003", "o"][4] == "undecided", rows
    theirs, _ = checked(checker, folder, folder, code=1)
    mine = compared(folder)
    assert theirs["0001", "o"][0] == mine["0001"][0] == "partial" and theirs["0003", "o"][0] == mine["0003"][0]


def nans(checker, scratch):
    """Rows that read a NaN: where it must stand, and where nothing is known; an lse without a bound."""
    place, suite, folder = scratch + "/trace", scratch + "/nans.suite", scratch + "/nans"
    rng = np.random.default_rng(1)
    q, k, v = (rng.standard_normal((1, 1, 5, 4)).astype(np.float32) for _ in "qkv")
    k[0, 0, 3, 1] = v[0, 0, 1, 2] = np.nan
    os.mkdir(place)
    for name, array in zip("qkv", (q, k, v)):
        np.save(os.path.join(place, name + ".npy"), array)
    with open(suite, "w", encoding="utf-8") as out:
        out.write("variant=softmax mask=causal n=5 d=4 family=trace:%s\n"
                  "variant=softmax1 mask=causal hq=2 n=9 d=8 family=huge\n" % place)
    export(folder, "--suite", suite)
    _, bound, first, _ = np.load(os.path.join(folder, "0001", "o.golden.npy")).reshape(4, 5, 4)
    number, must = np.isfinite(first), (bound == 0) & np.isnan(first)
    assert number[0].all() and not number[1:].any() and must[1:3, 2].all() and must[3:].all(), (bound, first)
    assert np.isnan(bound[1:3, [0, 1, 3]]).all(), bound
    truths(folder)
    assert agree(checker, folder)["fail"] == 0
    o = np.load(os.path.join(folder, "0001", "o.npy"))
    o[0, 0, 1, [0, 1, 3]] = 7, np.inf, -1
    np.save(os.path.join(folder, "0001", "o.npy"), o)
    assert agree(checker, folder)["fail"] == 0
    o[0, 0, 4, 0] = 7
    np.save(os.path.join(folder, "0001", "o.npy"), o)
    assert agree(checker, folder)["fail"] == 1
    golden = np.load(os.path.join(folder, "0002", "lse.golden.npy"))
    open_at = np.flatnonzero(np.isinf(golden[BOUND]))
    assert len(open_at) == 1 and golden[FIRST][open_at] == -np.inf and golden[LAST][open_at] == np.inf
    theirs, _ = checked(checker, folder, folder)
    assert theirs["0002", "lse"][0] == "partial" and compared(folder)["0002"][0] == "partial"
    lse = np.load(os.path.join(folder, "0002", "lse.npy"))
    lse.flat[open_at[0]] = np.nan
    np.save(os.path.join(folder, "0002", "lse.npy"), lse)
    theirs, _ = checked(checker, folder, folder)
    assert theirs["0002", "lse"][0] == "fail" and compared(folder)["0002"][0] == "undecided"


def overflows(checker, scratch):
    """Truths beyond the largest number of f16: an infinity of the right sign is within, and the largest number is as the
    bound says."""
    place, suite, folder = scratch + "/large-v", scratch + "/overflows.suite", scratch + "/overflows"
    os.mkdir(place)
    v = np.array([70000, -70000, 60000, -2, 65530], np.float32) * np.ones((1, 1, 3, 1), np.float32)
    for name, array in zip("qkv", (np.ones_like(v), np.ones_like(v), v)):
        np.save(os.path.join(place, name + ".npy"), array)
    with open(suite, "w", encoding="utf-8") as out:
        out.write("variant=softmax n=3 d=5 out=f16 family=trace:%s\n" % place)
    export(folder, "--suite", suite)
    golden = np.load(os.path.join(folder, "0001", "o.golden.npy")).reshape(4, 3, 5)
    assert (golden[LAST, :, 0] == np.inf).all() and (golden[FIRST, :, 1] == -np.inf).all(), golden
    o = np.load(os.path.join(folder, "0001", "o.truth.npy"))
    assert (o[0, 0, 0] == [np.inf, -np.inf, 60000, -2, np.inf]).all(), o
    for channel, value, wrong in ((0, np.inf, 0), (0, 65504, 1), (0, -np.inf, 1), (1, np.inf, 1), (1, -np.inf, 0),
                                  (2, np.inf, 1), (3, -np.inf, 1), (4, np.inf, 0), (4, 65504, 0)):
        changed = o.copy()
        changed[0, 0, 1, channel] = value
        np.save(os.path.join(folder, "0001", "o.npy"), changed)
        assert agree(checker, folder)["fail"] == wrong, (channel, value, golden[:, 1])


def left_open(scratch):
    """What a declaration leaves open: an lse of another base is in no pack, a row without keys may hold a NaN."""
    suite = scratch + "/open.suite"
    with open(suite, "w", encoding="utf-8") as out:
        out.write("variant=softmax mask=causal-br n=4 m=2 d=3\n")
    for words, outputs, verdict in (("flags=lse-base2", {"o"}, "pass"), ("empty_row=nan", {"o", "lse"}, "pass"),
                                    ("flags=ftz", {"o", "lse"}, "pass")):
        folder = scratch + "/open-" + words.replace("=", "-")
        export(folder, "--suite", suite, "--declare", words)
        assert {row[1] for row in lists(folder)} == outputs and lists(folder)[0][4] == verdict, (words, lists(folder))
        bounds = np.load(os.path.join(folder, "0001", "o.golden.npy"))[BOUND]
        assert (bounds[:6] == 0).all() and (bounds[6:] > 0).all(), (words, bounds)
        assert np.signbit(bounds[:6]).all() == (words == "empty_row=nan"), (words, bounds)


def same_pack(one, other):
    """Inputs, truths and golden.txt byte for byte.  A version of FLINT rounds bounds up in its own way: they are the same
    to 2^-20 of themselves, and what passes ends within a few values of its type."""
    found = filecmp.dircmp(one, other)
    assert not found.left_only and not found.right_only, (found.left_only, found.right_only)
    same = [name for name in found.common_files if not name.endswith(".golden.npy")]
    _, wrong, failed = filecmp.cmpfiles(one, other, same, shallow=False)
    assert not wrong and not failed, (one, other, wrong, "`make golden` writes the pack anew: look at its diff")
    for name in found.common_dirs:
        same_pack(os.path.join(one, name), os.path.join(other, name))


def same_bounds(one, other):
    for case, output, kind, *_ in lists(one):
        was, now = (np.load(os.path.join(pack, case, output + ".golden.npy")) for pack in (one, other))
        assert was.shape == now.shape and was[TRUTH].tobytes() == now[TRUTH].tobytes(), (case, output)
        number = np.isfinite(was[BOUND])
        assert (np.signbit(was[BOUND][number]) == np.signbit(now[BOUND][number])).all(), (case, output)
        assert (np.abs(was[BOUND] - now[BOUND])[number] <= 2.0 ** -20 * np.abs(was[BOUND][number])).all(), (case, output)
        assert np.array_equal(was[BOUND][~number], now[BOUND][~number], equal_nan=True), (case, output)
        for plane in (FIRST, LAST):
            assert np.array_equal(np.isnan(was[plane]), np.isnan(now[plane])), (case, output, plane)
            known = ~np.isnan(was[plane])
            # 2^-19 of a bound in values of the type, and 4 more
            off = np.abs(key(stored(was[plane][known], kind)) - key(stored(now[plane][known], kind)))
            reach = np.abs(key(stored(was[FIRST][known], kind)) - key(stored(was[LAST][known], kind)))
            assert (off <= 4 + 2.0 ** -19 * reach).all(), (case, output, plane, off.max())


def refused(scratch):
    for options, text in [
            (["--model", "two-pass"], "only with it"), (["--declare", "schedule=odd", "--golden"], "schedule"),
            (["--golden", "--kernel", "softmax-two-pass-f32", "--model", "two-pass"], "beside it"),
            (["--golden", "--model", "odd"], "--model=odd"), (["--format", "text"], "--format=text: npy or safetensors"),
            (["--golden", "--model", "recurrent", "--where", "variant=softmax"], "no such form")]:
        done = run(ATTEST, "export", "--suite", "smoke", "--out", scratch + "/none", *options, code=2)
        assert text in done.stderr and done.stderr.count("\n") == 1 and not done.stdout, (options, done.stderr)
        shutil.rmtree(scratch + "/none", ignore_errors=True)


def main():
    scratch = tempfile.mkdtemp(prefix="attest-golden-")
    try:
        checker = os.path.join(scratch, "check_golden")
        source = os.path.join(ROOT, "examples", "golden", "check_golden.c")
        run(os.environ.get("CC", "cc"), "-std=c11", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O2", "-o", checker, source,
            "-lm")
        assert open(source, encoding="utf-8").read().count("\n") <= 60
        size = sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(PACK) for name in names)
        assert 20 <= len(lists(PACK)) and size < 1000000, size
        export(scratch + "/again", "--suite", os.path.join(HERE, "golden.suite"))
        same_pack(PACK, scratch + "/again")
        same_bounds(PACK, scratch + "/again")
        kernels(checker, scratch)
        planted(checker, scratch + "/again")
        damaged_list(checker, scratch + "/again")
        nearly(checker, scratch + "/again")
        damaged(checker, scratch + "/again")
        undecided_doubles(scratch)
        every_kind(checker, scratch)
        together(checker, scratch)
        marked(checker, scratch)
        nans(checker, scratch)
        overflows(checker, scratch)
        left_open(scratch)
        refused(scratch)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
