"""predict.py BUILD: `attest predict` and `attest gate --predict` without a GPU: the CUDA kernels on the CPU under one
GPU's tensor cores stand in for the GPU.  The same model gives equal bits; another's differ first where two folders of
.npy say that they do, read here."""
import ast
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(sys.argv[1])
ATTEST = os.path.join(BUILD, "attest")
FLASH = os.path.join(BUILD, "kernels/cuda-flash-host.so")
DEVICE = os.path.join(BUILD, "plugins/host_device.so")
SUITE = os.path.join(HERE, "predict.suite")


def run(*words, code=0, gpu=None, order=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith("ATTEST_CUDA_HOST_")}
    env.update({k: v for k, v in (("ATTEST_CUDA_HOST_GPU", gpu), ("ATTEST_CUDA_HOST_ORDER", order)) if v})
    done = subprocess.run([ATTEST, *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == code, f"{words}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def array(path):
    """Shape and bits of a .npy file of four bytes an element."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + size].decode())
    assert header["descr"] == "<f4" and not header["fortran_order"], header
    body = data[10 + size:]
    return header["shape"], struct.unpack(f"<{len(body) // 4}I", body)


def difference(one, two, files):
    """What the field must say: the first element with other bits, o before lse, and how many there are."""
    first, differ, elements = None, 0, 0
    for name in ("o", "lse"):
        shape, predicted = array(os.path.join(one, files[name]))
        also, got = array(os.path.join(two, files[name]))
        assert shape == also and len(predicted) == len(got)
        elements += len(got)
        for at, (p, g) in enumerate(zip(predicted, got)):
            if p == g:
                continue
            differ += 1
            if first is None:
                index, rest = [], at
                for length in reversed(shape):
                    index.insert(0, rest % length)
                    rest //= length
                first = f"{name}[{','.join(map(str, index))}]: predicted 0x{p:08x}, got 0x{g:08x}"
    return "equal" if first is None else f"{first} ({differ} of {elements} elements differ)"


def gate(work, name, gpu, predict, *words):
    out = os.path.join(work, name)
    run("gate", "--device", "cuda-host", "--suite", SUITE, "--kernel", "softmax-flash-cuda-*16", "--predict", predict,
        "--out", out, "--quiet", *words, gpu=gpu)
    return {(r["kernel"].rsplit(":", 1)[1], r["problem"]): r["predicted"]
            for r in lines(out + "/results.jsonl") if r["problem"]}


def check_predictions(work):
    """What `attest predict` writes: every kernel, hardware's share where there are tensor cores, what is not predicted."""
    said = run("predict", "--gpu", "h100", "--suite", SUITE, "--out", work + "/h100")
    rows = lines(work + "/h100/predictions.jsonl")
    assert f"{len(rows) - 1} cases predicted for h100, 1 not, " in said and len(rows) >= 7, said
    cannot = [r["kernel"] for r in rows if "cannot" in r]
    assert cannot == ["softmax-online-cuda-f32"], cannot
    assert not [r for r in rows if "unsure" in r] and "not known" not in said, said
    for r in rows:
        if "cannot" in r:
            continue
        assert r["verdict"] == "pass" and 0 < r["ratio"] < 1, r
        if not r["kernel"].startswith("softmax-flash-cuda-") or r["kernel"].endswith("f32"):
            assert r["hardware"] is None, r
            continue
        h = r["hardware"]
        assert 0 < h["changed"] <= h["elements"] and h["steps"] >= 1 and 0 < h["norm"] < 1e-4, r
        assert abs(h["norm_error_exact"] - r["norm_error"]) <= h["norm"], r
    return {(r["kernel"], r["problem"]): r for r in rows if "problem" in r}


def check_stand_ins(work, predicted):
    run("predict", "--gpu", "a100", "--suite", SUITE, "--kernel", "softmax-flash-cuda-*16", "--out", work + "/a100")
    same = gate(work, "same", "h200", work + "/h100")
    assert len(same) == 3 and set(same.values()) == {"equal"}, same
    other = gate(work, "other", "a100", work + "/h100")
    assert len(other) == 3, other
    for key, field in other.items():
        want = difference(work + "/h100", work + "/a100", predicted[key]["files"])
        assert field == want and field != "equal", f"{key}: {field}, not {want}"
    summary = open(work + "/other/summary.md", encoding="utf-8").read()
    assert "Bits beside" in summary or "Outputs beside those" in summary, summary
    first = gate(work, "first", None, "h100")  # predicts into OUT/predicted, then compares
    assert set(first.values()) == {"equal"} and os.path.exists(work + "/first/predicted/predictions.jsonl"), first
    shutil.copy(FLASH, work + "/own.so")  # kernels of --library; those beside attest have the same names
    own = gate(work, "own", None, "h100", "--library", work + "/own.so")
    assert len(own) == 3 and set(own.values()) == {"equal"}, own


def check_older(work):
    """Predictions that are not of this kernel, these inputs or these outputs are no evidence."""
    rows = lines(work + "/h100/predictions.jsonl")
    mine = [r for r in rows if r["kernel"] == "softmax-flash-cuda-f16"]
    changes = {"version": "0", "inputs": "0123456789abcdef", "problem": mine[0]["problem"] + " seed=7"}
    words = {"version": "of version 0", "inputs": "inputs are others", "problem": "has the case"}
    for key, value in changes.items():
        shutil.copytree(work + "/h100", work + "/old-" + key)
        with open(work + f"/old-{key}/predictions.jsonl", "w", encoding="utf-8") as file:
            for r in mine:
                file.write(json.dumps({**r, key: value}) + "\n")
        got = gate(work, "gate-" + key, None, work + "/old-" + key, "--case", "*in=f16*")
        assert all(re.match("not predicted: .*" + words[key], v) for v in got.values()) and got, got


def check_cut(work):
    """A prediction whose files are gone or cut is none; the verdict stays."""
    line = "*n=20*in=f16*"
    for name, spoil in (("gone", os.remove), ("cut", lambda path: os.truncate(path, 100))):
        shutil.copytree(work + "/h100", work + "/" + name)
        spoil(work + f"/{name}/softmax-flash-cuda-f16/0001/lse.npy")
        got = gate(work, "gate-" + name, None, work + "/" + name, "--case", line)
        assert got and all(v.startswith("not predicted: ") and "lse.npy" in v for v in got.values()), got


def check_damaged(work):
    """A bit of a file that is another one than was predicted is no difference of the kernel."""
    shutil.copytree(work + "/h100", work + "/bit")
    path = work + "/bit/softmax-flash-cuda-f16/0001/o.npy"
    with open(path, "r+b") as file:
        file.seek(-3, os.SEEK_END)
        byte = file.read(1)[0]
        file.seek(-3, os.SEEK_END)
        file.write(bytes([byte ^ 1]))
    got = gate(work, "gate-bit", None, work + "/bit", "--case", "*n=20*in=f16*")
    assert got and all(v.startswith("not predicted: its files are damaged: hash ") for v in got.values()), got


def check_stale(work):
    """A library that is another file than the one that predicted is told, once; its predictions are compared."""
    words = ("gate", "--device", "cuda-host", "--suite", SUITE, "--kernel", "softmax-flash-cuda-*16", "--quiet",
             "--predict", work + "/h100")
    text = "cuda-flash-host.so is another file than the one that predicted: predictions may be old"
    said = run(*words)
    assert "another file" not in said, said
    os.mkdir(work + "/other-libraries")
    library = shutil.copy(FLASH, work + "/other-libraries")
    with open(library, "ab") as file:
        file.write(b"more")
    said = run(*words, "--library", library, "--out", work + "/stale")
    assert said.count(text) == 1 and f"--predict={work}/h100: {library} is another" in said, said
    assert {r["predicted"] for r in lines(work + "/stale/results.jsonl")} == {"equal"}


def check_foreign(work):
    """Of a library that is not attest's own nobody knows whether its operations are named, whatever its kernel's name."""
    words, line = "it is not known whether every operation of this kernel is named", "variant=softmax n=5 d=8 in=bf16 p=bf16"
    shutil.copy(FLASH, work + "/copy.so")
    for library in (DEVICE, work + "/copy.so"):
        said = run("predict", "--gpu", "h100", "--kernel", library, "--out", work + "/foreign", "variant=softmax n=5 d=8", line,
                   code=3 if library == DEVICE else 0)
        rows = lines(work + "/foreign/predictions.jsonl")
        assert len(rows) == 1 and rows[0]["unsure"] == words and f": unsure, {words}\n" in said, said
        assert "1 case predicted for h100" in said and "(1 unsure: it is not known whether " in said, said
        shutil.rmtree(work + "/foreign")
    said = run("predict", "--gpu", "h100", "--kernel", os.path.relpath(FLASH) + ":*bf16", line)
    assert "unsure" not in said and "not known" not in said, said


def check_twice(work):
    """A line that is given twice, in whichever spelling, is predicted once: two would be refused where they are read."""
    one, two = "variant=softmax n=5 d=8 in=bf16 p=bf16", "n=5 d=8 p=bf16 in=bf16 variant=softmax"
    other = "variant=softmax n=6 d=8 in=bf16 p=bf16"
    run("predict", "--gpu", "h100", "--kernel", FLASH + ":*bf16", "--out", work + "/twice", one, other, two, one)
    assert [r["problem"].split()[1] for r in lines(work + "/twice/predictions.jsonl")] == ["n=5", "n=6"]
    with open(work + "/twice.suite", "w", encoding="utf-8") as file:
        file.write("\n".join((one, one, other)) + "\n")
    run("gate", "--device", "cuda-host", "--suite", work + "/twice.suite", "--kernel", "softmax-flash-cuda-bf16", "--quiet",
        "--predict", "h100", "--out", work + "/gate-twice")
    got = [r["predicted"] for r in lines(work + "/gate-twice/results.jsonl")]
    assert got and set(got) == {"equal"}, got


def check_exact_ends(work):
    """A run with exact sums that ends its process costs `hardware` of that case and nothing else, of a gate neither."""
    cases = [f"variant=softmax n={n} d=8" for n in (4, 5, 6)]
    said = run("predict", "--gpu", "h100", "--kernel", DEVICE + ":exact-ends", "--out", work + "/ends", *cases, code=3)
    assert "3 cases predicted for h100 (1 without exact sums) (3 unsure: " in said, said
    rows = lines(work + "/ends/predictions.jsonl")
    assert [r["hardware"] is None for r in rows] == ["no_hardware" in r for r in rows] == [False, True, False], rows
    assert "with exact sums: run() ended the process with signal 6" in rows[1]["no_hardware"] and rows[1]["bits"], rows
    with open(work + "/ends.suite", "w", encoding="utf-8") as file:
        file.write("\n".join(cases) + "\n")
    run("gate", "--device", "cuda-host", "--suite", work + "/ends.suite", "--library", DEVICE, "--kernel", "exact-ends",
        "--predict", "h100", "--out", work + "/gate-ends", "--quiet")
    got = [r["predicted"] for r in lines(work + "/gate-ends/results.jsonl")]
    assert got == ["equal"] * 3, got


def refused(text, *words, **settings):
    said = run(*words, code=2, **settings)
    assert text in said and said.count("\n") == 1, said


def check_settings(work):
    """A setting of cuda-host that is none is no fault of a kernel; of commands that use no such kernel it is no matter."""
    line, name = "variant=softmax n=5 d=8", "softmax-flash-cuda-f32"
    library = os.path.join(BUILD, "kernels/cuda-flash_f32-host.so")
    for words in (("gate", "--suite", SUITE, "--device", "cuda-host"), ("audit", library, "--suite", SUITE),
                  ("predict", "--gpu", "h100", line), ("replay", "--kernel", library, line),
                  ("props", "--kernel", library, "--cases", "2"),
                  ("export", "--kernel", library, "--suite", SUITE, "--out", work + "/exported"),
                  ("search", "--kernel", library, "--problem", line, "--cases", "2"),
                  ("bench", "kernels", "--device", "cuda-host", "--kernel", name)):
        refused("ATTEST_CUDA_HOST_GPU=k80 in the environment: v100, ", *words, gpu="k80")
        refused("ATTEST_CUDA_HOST_ORDER=bogus in the environment: forward, ", *words, order="bogus")
    run("gate", "--suite", SUITE, "--kernel", "softmax-online-f32", "--quiet", gpu="k80", order="bogus")


def check_refusals(work):
    line = "variant=softmax n=5 d=8 in=bf16 p=bf16"
    refused("--gpu is missing", "predict", line)
    refused("--gpu=k80: v100, a100", "predict", "--gpu", "k80", line)
    refused("no kernel of device cuda-host", "predict", "--gpu", "h100", "--kernel", "softmax-online-f32", line)
    refused("one of them", "predict", "--gpu", "h100", "--suite", "ci", line)
    refused("there already", "predict", "--gpu", "h100", "--out", work + "/h100", line)
    words = "--predict=nosuch: no such folder and no such GPU; GPUs: v100, a100, a2, ada, l40s, h100, h200, b200"
    refused(words, "gate", "--suite", SUITE, "--predict", "nosuch")
    refused(words, "gate", "--suite", SUITE, "--predict", "nosuch", "--out", work + "/nosuch")
    refused("needs --out", "gate", "--suite", SUITE, "--device", "cuda-host", "--predict", "h100")
    os.mkdir(work + "/bad")
    for text, words in (("{", "predictions.jsonl:1: no JSON"), ("{}\n", "'kernel' is missing"), ("", "no prediction"),
                        ('{"kernel":"k","version":"1","problem":"variant=softmax n=1 d=1"}', "'inputs' is missing"),
                        ('{"kernel":"k","version":"1","cannot":"x"}\n' * 2, "two lines have k")):
        with open(work + "/bad/predictions.jsonl", "w", encoding="utf-8") as file:
            file.write(text)
        refused(words, "gate", "--suite", SUITE, "--device", "cuda-host", "--predict", work + "/bad")
    for dtype in ("bf16", "f16"):
        said = run("predict", "--gpu", "v100", "--kernel", f"{FLASH}:*-{dtype}", line.replace("bf16", dtype), code=77)
        assert "not predicted" in said and "needs sm_80" in said, said


def main():
    with tempfile.TemporaryDirectory() as work:
        predicted = check_predictions(work)
        check_stand_ins(work, predicted)
        check_older(work)
        check_cut(work)
        check_damaged(work)
        check_stale(work)
        check_foreign(work)
        check_twice(work)
        check_exact_ends(work)
        check_settings(work)
        check_refusals(work)


main()
