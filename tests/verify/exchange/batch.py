"""batch.py BUILD: an exported suite whose outputs come from elsewhere is judged as the gate judges the kernel; every way
in which a folder can be wrong is one line and exit code 2."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

BUILD = sys.argv[1]
ATTEST = os.path.join(BUILD, "attest")
SAME = ["verdict", "reasons", "ratio_lo", "ratio_hi", "ulp_lo", "ulp_hi", "bias", "worst", "got", "truth", "bound",
        "rows_judged", "elements_judged", "telling", "why"]


def run(*arguments, code=0):
    done = subprocess.run([ATTEST, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert code is None or done.returncode == code, (arguments, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    if code == 2:
        assert done.stdout == "" and done.stderr.count("\n") == 1, (done.stdout, done.stderr)
    return done


def results(*arguments, code=0):
    return {row["problem"]: row for row in map(json.loads, run(*arguments, "--format", "json", code=code).stdout.splitlines())}


def equal(folder, kernel, suite, glob, where):
    """What is exported of a built-in kernel has the gate's results."""
    run("export", "--suite", suite, "--case", glob, "--where", where, "--kernel", kernel, "--out", folder, "--quiet")
    judged = results("compare", "--batch", folder, code=None)
    gate = results("gate", "--suite", suite, "--case", glob, "--kernel", kernel, code=None)
    for problem, row in judged.items():
        if gate[problem]["verdict"] == "no-evidence" and row["verdict"] == "pass":
            continue  # of a part of a suite: the gate knows no other case of this variant
        if row["verdict"] == "skip" or gate[problem]["verdict"] == "skip":
            assert row["verdict"] == gate[problem]["verdict"], (kernel, problem)
            continue
        for field in SAME:
            # what the gate notes of a result that passes (layouts, disguises) says nothing of its numbers
            if field == "why" and row["verdict"] == "pass":
                continue
            assert row.get(field) == gate[problem].get(field), (kernel, problem, field, row.get(field),
                                                                gate[problem].get(field))
    return len(judged)


def softmax(folder, keys):
    """o in float64, rounded once: another implementation."""
    q, k, v = (np.load(os.path.join(folder, name + ".npy")).astype(np.float64) for name in "qkv")
    k, v = (np.repeat(x, keys["hq"] // keys["hkv"], axis=1) for x in (k, v))
    s = np.einsum("bhnd,bhmd->bhnm", q, k) * keys["scale"]
    if keys["bias"] != "none":
        s = s + np.load(os.path.join(folder, "bias.npy")).astype(np.float64)
    if keys["attn_mask"] != "none":
        s = np.where(np.load(os.path.join(folder, "attn_mask.npy")), s, -np.inf)
    if keys["mask"] == "causal":
        s = np.where(np.tri(keys["n"], keys["m"], dtype=bool), s, -np.inf)
    top = s.max(axis=-1, keepdims=True)
    w = np.exp(s - np.where(np.isinf(top), 0, top))
    z = w.sum(axis=-1)[..., None]
    return (np.einsum("bhnm,bhme->bhne", w, v) / np.where(z > 0, z, 1)).astype(np.float32)  # 0 where no key is visible


def elsewhere(folder):
    """numpy serves full and causal softmax, and says so of the rest; a forgotten scale is found."""
    run("export", "--suite", "smoke", "--where", "variant=softmax in=f32", "--out", folder, "--quiet")
    cases = [json.loads(line) for line in open(os.path.join(folder, "cases.jsonl"), encoding="utf-8")]
    served = 0
    for case in cases:
        keys, place = case["keys"], os.path.join(folder, case["case"])
        odd = [key for key in ("rope", "window", "lens", "lens_q", "dropout", "cap", "clamp", "alibi", "state") if keys[key] not in ("none", "0")]
        odd += ["kv"] if keys["kv"] not in ("in", "f16") else []  # of 8 bits: with scales
        if odd or keys["mask"] not in ("full", "causal"):
            with open(os.path.join(place, "skip.txt"), "w", encoding="utf-8") as out:
                out.write("numpy knows no %s\n" % (odd + [keys["mask"]])[0])
            continue
        np.save(os.path.join(place, "o.npy"), softmax(place, keys))
        served += 1
    assert served >= 5, served
    declare = ["--declare", "schedule=two-pass exp_error=2^-23 acc_truncates=no"]
    rows = results("compare", "--batch", folder, *declare)
    assert sum(row["verdict"] == "pass" for row in rows.values()) == served, rows
    assert any("numpy knows no" in row["why"] for row in rows.values() if row["verdict"] == "skip") or served == len(rows)
    wrong = next(case for case in cases if case["keys"]["mask"] == "full" and case["keys"]["m"] > 4
                 and os.path.exists(os.path.join(folder, case["case"], "o.npy")))
    place = os.path.join(folder, wrong["case"])
    np.save(os.path.join(place, "o.npy"), softmax(place, dict(wrong["keys"], scale=1.0)))
    done = run("compare", "--batch", folder, *declare, code=1)
    assert "--case " + wrong["case"] in done.stdout, done.stdout
    assert results("compare", "--batch", folder, "--case", wrong["case"], *declare, code=1).keys() == {wrong["problem"]}


def damage(folder, whole):
    """Each kind of a wrong folder, on a copy; then the whole one passes still."""
    def spoil(name, change, message, code=2):
        copy = folder + "-" + name
        shutil.copytree(whole, copy)
        change(copy)
        done = run("compare", "--batch", copy, code=code)
        text = (done.stderr if code == 2 else done.stdout).replace(copy, "DIR")
        assert message in text, (name, text)
        shutil.rmtree(copy)

    def put(path, array):
        np.save(path, array, allow_pickle=False)

    o = np.load(whole + "/0002/o.npy")
    spoil("missing", lambda d: os.remove(d + "/0002/o.npy"), "DIR/0002/o.npy: missing")
    spoil("many", lambda d: [os.remove(d + "/000%d/o.npy" % i) for i in (2, 3)], "DIR/0002/o.npy: missing (and 1 more")
    spoil("extra", lambda d: put(d + "/0002/out.npy", o), "DIR/0002/out.npy: no output of this case has that name")
    spoil("place", lambda d: put(d + "/o.npy", o), "DIR/o.npy: outputs lie in the folders of their cases")
    spoil("folder", lambda d: os.mkdir(d + "/9999"), "DIR/9999: no case of cases.jsonl has this folder")
    spoil("cut", lambda d: os.truncate(d + "/0002/o.npy", os.path.getsize(d + "/0002/o.npy") - 3), "DIR/0002/o.npy: ")
    spoil("shape", lambda d: put(d + "/0002/o.npy", np.concatenate([o, o])), "DIR/0002/o.npy: axis 0 of o is 2")
    spoil("type", lambda d: put(d + "/0002/o.npy", o.astype(np.float64)), "DIR/0002/o.npy: ")
    spoil("input", lambda d: put(d + "/0002/q.npy", np.load(d + "/0002/q.npy") * 2),
          "DIR/0002/q.npy: not the input that was exported")
    spoil("gone", lambda d: os.remove(d + "/0002/q.npy"), "DIR/0002/q.npy: missing")
    spoil("manifest", lambda d: os.remove(d + "/cases.jsonl"), "DIR/cases.jsonl")
    spoil("line", lambda d: open(d + "/cases.jsonl", "a").write("{}\n"), "'case' is missing")
    spoil("twice", lambda d: open(d + "/cases.jsonl", "a", encoding="utf-8").write(
        open(d + "/cases.jsonl", encoding="utf-8").readline()), "two lines have the case 0001")
    spoil("fifo", lambda d: os.mkfifo(d + "/0002/skip.txt"), "DIR/0002/skip.txt: it cannot be read")
    spoil("nan", lambda d: put(d + "/0002/o.npy", o * np.nan), "some NaN", code=1)
    run("compare", "--batch", whole)
    run("export", "--suite", "smoke", "--out", whole, code=2)
    run("export", "--suite", "smoke", code=2)
    run("export", "--suite", "smoke", "--where", "mask=odd", "--out", folder, code=2)
    run("export", "--suite", "smoke", "--where", "n=999", "--out", folder, code=2)
    run("compare", "--batch", whole, "--case", "nothing", code=2)
    run("compare", "--batch", whole, "--problem", "n=3", code=2)
    run("compare", "--batch", whole, "--declare", "schedule=odd", code=2)


def main():
    scratch = tempfile.mkdtemp(prefix="attest-batch-")
    try:
        count = equal(scratch + "/f32", "softmax-two-pass-f32", "ci", "*mask=causal*d=8*", "variant=softmax in=f32")
        assert count >= 20, count
        count = equal(scratch + "/bf16", "softmax-online-bf16", "ci", "*mask=causal*in=bf16*", "variant=softmax")
        assert count >= 2, count
        equal(scratch + "/taylor", "taylor-recurrent-f32", "smoke", "*", "in=f32")
        equal(scratch + "/delta", "delta-recurrent-f32", "smoke", "*", "in=f32")
        elsewhere(scratch + "/numpy")
        damage(scratch + "/spoilt", scratch + "/f32")
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
