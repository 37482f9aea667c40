"""tensors.py BUILD: exchanges in .safetensors files: what is exported is the drawn inputs, an output may lie in o.npy,
o.safetensors or outputs.safetensors and has the same result, and every wrong file is one line and exit code 2."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

import numpy as np

BUILD = sys.argv[1]
ATTEST = os.path.join(BUILD, "attest")
KINDS = {"f32": ("F32", "<f4"), "f64": ("F64", "<f8"), "f16": ("F16", "<f2"), "bf16": ("BF16", "<u2"), "i64": ("I64", "<i8"),
         "bool": ("BOOL", "|b1"), "e4m3": ("F8_E4M3", "|u1"), "e5m2": ("F8_E5M2", "|u1")}
SAME = ["problem", "verdict", "reasons", "ratio_lo", "ratio_hi", "worst", "got", "truth", "bound", "rows_judged", "telling"]


def run(*arguments, code=0):
    done = subprocess.run([ATTEST, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == code, (arguments, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    if code == 2:
        assert done.stdout == "" and done.stderr.count("\n") == 1, (done.stdout, done.stderr)
    return done


def judged(folder, code=0):
    rows = map(json.loads, run("compare", "--batch", folder, "--format", "json", code=code).stdout.splitlines())
    return [{field: row[field] for field in SAME} for row in rows]


def cases_of(folder):
    with open(os.path.join(folder, "cases.jsonl"), encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def read(path):
    """A reader of the format that shares nothing with ours: {name: (dtype, shape, bytes)}."""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    assert data[8:9] == b"{" and length % 8 == 0
    for row in header.values():  # views of one buffer by dtype
        assert row["data_offsets"][0] % np.dtype({kind: type for kind, type in KINDS.values()}[row["dtype"]]).itemsize == 0, header
    return {name: (row["dtype"], row["shape"], data[8 + length:][slice(*row["data_offsets"])])
            for name, row in header.items()}


def write(path, tensors, change=None):
    """tensors: {name: (dtype, shape, bytes)}; `change` may spoil the header before it is written."""
    header, at = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
    if change:
        change(header)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in tensors.values()))


def exported(one, other):
    """The inputs of both exports are the same; returns the cases."""
    for case in cases_of(other):
        tensors = read(os.path.join(other, case["case"], "inputs.safetensors"))
        assert sorted(tensors) == sorted(case["inputs"]), case
        for name, facts in case["inputs"].items():
            assert facts["file"] == case["case"] + "/inputs.safetensors"
            dtype, shape, data = tensors[name]
            array = np.load(os.path.join(one, case["case"], name + ".npy"))
            assert KINDS[facts["dtype"]] == (dtype, array.dtype.str) and shape == facts["shape"] == list(array.shape)
            assert data == array.tobytes(), (case["case"], name)
    return cases_of(other)


def outputs(folder, case):
    """The outputs of the case as they lie in .npy."""
    found = {}
    for name, facts in case["outputs"].items():
        path = os.path.join(folder, case["case"], name + ".npy")
        if os.path.exists(path):
            array = np.load(path)
            found[name] = (KINDS[facts["dtype"]][0], array.shape, array.tobytes())
    return found


def places(scratch, kernel):
    """A kernel's outputs in every place that they may have."""
    npy, ours = scratch + "/npy-" + kernel, scratch + "/ours-" + kernel
    of = ["--suite", "smoke", "--where", "variant=softmax", "--kernel", kernel, "--quiet"]
    run("export", *of, "--out", npy)
    run("export", *of, "--format", "safetensors", "--out", ours)
    wanted = judged(npy)
    assert len(wanted) >= 1 and all(row["verdict"] == "pass" for row in wanted), wanted
    cases = exported(npy, ours)
    assert judged(ours) == wanted
    for case in cases:  # as .npy, and as o.safetensors, beside inputs.safetensors
        found = outputs(npy, case)
        os.remove(os.path.join(ours, case["case"], "outputs.safetensors"))
        shutil.copy(os.path.join(npy, case["case"], "o.npy"), os.path.join(ours, case["case"], "o.npy"))
        write(os.path.join(npy, case["case"], "o.safetensors"), {"o": found["o"]})
        os.remove(os.path.join(npy, case["case"], "o.npy"))
    assert [row["verdict"] for row in judged(ours)] == [row["verdict"] for row in judged(npy)] == ["pass"] * len(cases)
    return npy, cases


def spoilt(folder, cases):
    """o.safetensors of one case is wrong in each way."""
    case = cases[0]
    place = os.path.join(folder, case["case"])
    path = os.path.join(place, "o.safetensors")
    o = read_back = read_any(path)["o"]
    wide = (o[0], [2] + o[1][1:], o[2] * 2)

    def refuse(text, tensors, change=None, at=path):
        write(at, tensors, change)
        done = run("compare", "--batch", folder, code=2)
        assert text in done.stderr, (text, done.stderr)

    refuse("axis 0 of o is 2", {"o": wide})
    refuse("dtype I32 where" if o[0] == "F32" else "dtype F16 where bf16 is declared",
           {"o": ("I32" if o[0] == "F32" else "F16", o[1], o[2])})
    refuse("unknown 'dtype'", {"o": ("U16", o[1], o[2])})
    refuse("u: no output of this file has that name", {"o": o, "u": o})
    refuse("no tensor has the name o", {})
    refuse("'data_offsets' lie outside the data", {"o": o}, lambda h: h["o"].update(data_offsets=[0, 1 << 40]))
    refuse("another number of bytes", {"o": o}, lambda h: h["o"].update(data_offsets=[0, 2]))
    write(path, {"o": o})
    os.truncate(path, os.path.getsize(path) - 1)
    assert path in run("compare", "--batch", folder, code=2).stderr
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", 1 << 40) + b"{}")
    assert "the header claims 1099511627776 bytes" in run("compare", "--batch", folder, code=2).stderr
    write(path, {"o": o})
    more = os.path.join(place, "outputs.safetensors")
    refuse("o is in o.safetensors too; allowed: one file", {"o": o}, at=more)
    refuse("w: no output of this case has that name", {"w": o}, at=more)
    os.remove(more)
    extra = os.path.join(place, "out.safetensors")
    refuse("no output of this case has that name", {"o": o}, at=extra)
    os.remove(extra)
    refuse("outputs lie in the folders of their cases", {"o": o}, at=os.path.join(folder, "o.safetensors"))
    os.remove(os.path.join(folder, "o.safetensors"))
    os.remove(path)
    assert "/o.npy: missing" in run("compare", "--batch", folder, code=2).stderr
    write(path, {"o": read_back})
    run("compare", "--batch", folder)


def read_any(path):
    """As read(), of files that are not padded."""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    return {name: (row["dtype"], row["shape"], data[8 + length:][slice(*row["data_offsets"])])
            for name, row in json.loads(data[8:8 + length]).items()}


def aligned(scratch):
    """An odd number of elements of two bytes, and lengths of eight."""
    with open(scratch + "/odd.suite", "w", encoding="utf-8") as out:
        out.write("variant=softmax lens=draw in=bf16 n=3 m=3 d=3\n")
    of = ["export", "--suite", scratch + "/odd.suite", "--quiet"]
    run(*of, "--out", scratch + "/odd-npy")
    run(*of, "--out", scratch + "/odd", "--format", "safetensors")
    case, = exported(scratch + "/odd-npy", scratch + "/odd")
    assert sorted(case["inputs"]) == ["k", "len", "q", "v"], case


def given(scratch):
    """--exp-ulp, of whatever value, replaces what the export says of the kernel; without it that holds."""
    folder = scratch + "/given"
    run("export", "--suite", "smoke", "--where", "variant=softmax", "--kernel", "softmax-two-pass-f32", "--quiet", "--out", folder)
    bounds = [[json.loads(line)["bound"] for line in run("compare", "--batch", folder, "--format", "json", *more).stdout.splitlines()]
              for more in ([], ["--exp-ulp", "4"], ["--exp-ulp", "4.0000001"], ["--model", "unknown"])]
    assert bounds[0] != bounds[1] == bounds[3] and bounds[1] != bounds[2], bounds


def changed(scratch):
    """An input file that is not the one that was exported, once however many tensors it has."""
    folder = scratch + "/changed"
    run("export", "--suite", "smoke", "--kernel", "softmax-two-pass-f64", "--format", "safetensors", "--golden", "--quiet",
        "--out", folder)
    case = cases_of(folder)[0]["case"]
    run("compare", "--batch", folder)
    path = os.path.join(folder, case, "inputs.safetensors")
    with open(path, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x01")
    said = run("compare", "--batch", folder, code=2).stderr
    assert path + ": not the input that was exported\n" in said, said
    os.remove(path)
    assert path + ": missing\n" in run("compare", "--batch", folder, code=2).stderr


def main():
    scratch = tempfile.mkdtemp(prefix="attest-tensors-")
    try:
        spoilt(*places(scratch, "softmax-two-pass-f32"))
        spoilt(*places(scratch, "softmax-online-bf16"))
        changed(scratch)
        aligned(scratch)
        given(scratch)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
