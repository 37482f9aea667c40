"""door.py BUILD ROOT: programs as kernels; honest ones pass, and each harm costs one result that names it."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

BUILD, ROOT = sys.argv[1:3]
ATTEST = os.path.join(BUILD, "attest")
PYTHON = sys.executable

KERNEL = '''
import os, sys, time
import numpy as np
HARM = %r
if HARM == "early": sys.exit(3)
if HARM == "import": import a_module_that_is_not_there
if HARM == "shell": os.execlp("no-such-program", "no-such-program")
if HARM == "chatter": print("hello")
print({"first": "attest 2", "word": "attest 1 tile=x", "axis": "attest 1 mask=odd"}.get(HARM,
      "attest 1 name=mine mask=full,causal schedule=two-pass exp_error=2^-22 flags=deterministic,masked-finite"
      + (" asks=yes" if HARM == "asks" else "")), flush=True)
count = 0
for line in sys.stdin:
    p = dict(word.split("=", 1) for word in line.split()[1:])
    if line.startswith("supports"):
        print("no only d=4" if p["d"] != "4" else "yes", flush=True)
        continue
    count += 1
    odd = p["n"] == "3"
    if HARM == "chatter": print("thinking", flush=True)
    if HARM == "crash" and odd: import ctypes; ctypes.string_at(0)
    if HARM == "exit" and odd: sys.exit(5)
    if HARM == "says" and odd: sys.exit("the scratch space is gone")
    if HARM == "raise" and odd: raise ValueError("no table for %%s keys" %% p["m"])
    if HARM == "quiet-none" and odd: print("nothing written", file=sys.stderr); print("ok", flush=True); continue
    if HARM == "hang" and odd: time.sleep(100)
    if HARM == "error" and odd: print("error no memory for 3", flush=True); continue
    q, k, v = (np.load("%%s/%%s.npy" %% (p["dir"], x)) for x in "qkv")
    k, v = (np.repeat(x, int(p["hq"]) // int(p["hkv"]), axis=1) for x in (k, v))
    s = np.float32(1 if HARM == "scale" else p["scale"]) * np.einsum("bhnd,bhmd->bhnm", q, k)
    if p.get("mask") == "causal":
        s = np.where(np.tri(int(p["n"]), int(p["m"]), dtype=bool), s, np.float32(-np.inf))
    w = np.exp(s - s.max(axis=-1, keepdims=True))
    o = np.einsum("bhnm,bhme->bhne", w / w.sum(axis=-1, keepdims=True), v)
    if HARM == "shape" and odd: o = o[:, :, :2]
    if HARM == "count": o = o + np.float32(count * 1e-7)
    if HARM == "text":  # a hair below the middle of o and its neighbour: o, unless it is rounded to f64 first
        from decimal import Decimal, getcontext
        getcontext().prec = 300
        hair = 1 - Decimal("1e-40")
        with open(p["dir"] + "/o.txt", "w") as out:
            for x in o.ravel():
                out.write(str(Decimal(float(x)) + Decimal(float(np.spacing(x))) / 2 * hair) + "\\n")
    elif not (HARM == "none" and odd): np.save(p["dir"] + "/o.npy", o)
    print("ok", flush=True)
'''
SUITE = "variant=softmax n={2,3,4} m=5 d={4,6} mask={full,causal}\nvariant=softmax hq=4 hkv=2 n=2 d=4\nvariant=softmax in=bf16 n=2\n"


def run(*arguments, code=None):
    done = subprocess.run([ATTEST, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert code is None or done.returncode == code, (arguments, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done


def audit(folder, harm, code, *more):
    return judged(folder, harm, code, "audit", "--exec", *more)


def gate(folder, harm, code, *more):
    return judged(folder, harm, code, "gate", "--library", "--jobs", "1", *more)


def judged(folder, harm, code, command, option, *more):
    path = os.path.join(folder, harm + ".py")
    with open(path, "w", encoding="utf-8") as out:
        out.write(KERNEL % harm)
    program = ("exec:" if command == "gate" else "") + PYTHON + " " + path
    done = run(command, option, program, "--suite", folder + "/one.suite", "--format", "json", *more, code=code)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [row for row in rows if row.get("problem") and not row["why"].startswith("in a probe")], done.stderr


def verdicts(rows, **wanted):
    """Of the cases with n=3 as wanted, all others pass."""
    for row in rows:
        ok = row["verdict"] == wanted["verdict"] and wanted["why"] in row["why"] if row["n"] == 3 else row["verdict"] == "pass"
        assert ok, (row["problem"], row["verdict"], row["why"])
    assert any(row["n"] == 3 for row in rows)


def main():
    folder = tempfile.mkdtemp(prefix="attest-door-")
    try:
        with open(folder + "/one.suite", "w", encoding="utf-8") as out:
            out.write(SUITE)
        rows, _ = audit(folder, "honest", 0)
        assert len(rows) == 13 and all(row["verdict"] == "pass" for row in rows), rows
        assert rows[0]["kernel"].startswith("exec:") and rows[0]["reproduction"].count("exec:") == 1
        texts, _ = gate(folder, "text", 0)
        assert [row["outputs"] for row in texts] == [row["outputs"] for row in rows], "a text is rounded twice"
        rows, said = audit(folder, "asks", 0)
        assert len(rows) == 7 and "only d=4" in said, (len(rows), said)
        rows, _ = gate(folder, "chatter", 0)
        assert len(rows) == 13
        rows, _ = audit(folder, "scale", 1)
        verdict = next(row for row in rows if row["verdict"] == "fail" and row["n"] == 4)
        again = subprocess.run(verdict["reproduction"].replace(ATTEST, ATTEST, 1), shell=True, stdout=subprocess.PIPE, check=False)
        assert again.returncode == 1, verdict["reproduction"]
        verdicts(audit(folder, "crash", 3)[0], verdict="crash", why="signal 11")
        verdicts(gate(folder, "exit", 3)[0], verdict="crash", why="exit code 5")
        verdicts(gate(folder, "says", 3)[0], verdict="crash", why="exit code 1 (it printed: the scratch space is gone)")
        verdicts(gate(folder, "raise", 3)[0], verdict="crash",
                 why="(it printed: Traceback (most recent call last): .. ValueError: no table for 5 keys)")
        verdicts(gate(folder, "quiet-none", 1)[0], verdict="fail", why="wrote no o.npy (it printed: nothing written)")
        verdicts(gate(folder, "hang", 3, "--timeout", "1.5", "--case", "*n=[34]*d=4")[0], verdict="timeout", why="1.5 s")
        verdicts(gate(folder, "error", 1)[0], verdict="fail", why="no memory for 3")
        verdicts(gate(folder, "shape", 1)[0], verdict="fail", why="another shape")
        verdicts(gate(folder, "none", 1)[0], verdict="fail", why="wrote no o.npy")
        rows, _ = gate(folder, "count", 1)
        assert any("nondeterministic" in row["reasons"] for row in rows), rows
        for harm, message in [("early", "ended before"), ("import", "No module named 'a_module_that_is_not_there')"),
                              ("shell", "(it printed: Traceback (most recent call last): .. FileNotFoundError"), ("first", "first line is 'attest 2'"),
                              ("word", "tile=x: a whole number"), ("axis", "mask")]:
            _, said = (audit if harm == "import" else gate)(folder, harm, 2)
            assert message in said and said.count("\n") == 1, (harm, said)
        for command in ["%s %s/examples/doors/softmax.py" % (PYTHON, ROOT), "sh %s/examples/doors/softmax.sh" % ROOT,
                        folder + "/softmax"]:
            if command.endswith("/softmax"):
                subprocess.run(["cc", "-O2", "-Wall", "-o", command, ROOT + "/examples/doors/softmax.c", "-lm"], check=True)
            audited = ["gate", "--library", "exec:" + command] if command.startswith("sh ") else ["audit", "--exec", command]
            done = run(*audited, "--suite", folder + "/one.suite", code=0)  # the shell's many probes take a quarter of a minute
            assert "PASS 1 kernel" in done.stdout, done.stdout
        done = run("props", "--kernel", "exec:" + folder + "/softmax", "--cases", "20", "--out", folder + "/kept", code=0)
        run("audit", "--exec", "true", "softmax-*", code=2)
        run("audit", code=2)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
