"""table.py BUILD [--quick]: a library of hostile kernels (plugins/hostile.c) under attest, one row a place and harm.

Each row must have its own result and reason, all other kernels of the run complete results, attest its documented exit
code; and nothing may be left behind: processes, shared memory, files.  Prints the table; exit code 1 if a row is not
kept.  --quick: some harms in run, and four libraries; only rows that are not kept are printed."""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT, LONG = "3", "60"
DEAR = ["print", "print-errors", "segv"]  # seconds of work: in a gate of their own, with more time
LINES = ["variant=softmax n=9 d=5", "variant=softmax mask=causal n=9 d=5"]
# harm: verdicts, `why`.  What is refused, or is ended after the run, costs nothing: pass.
PASS = ("pass", "")
HARMS = {
    "segv": ("crash", "signal 11.*near NULL"),
    "abort": ("crash", r"signal 6.*\(it printed: assertion failed: 0\)"),
    "exit-now": ("crash", "exit code 3"),
    "exit": ("crash", "exit code 5"),
    "hang": ("timeout", "within 3 s"),
    "stop": ("timeout", "within 3 s"),
    "overflow": ("crash", "signal 11"),
    "alarm": ("crash", "signal 14"),
    "fpe": ("crash", "signal 8"),
    "self-kill": ("crash", "signal 9.*twice"),
    "fork": PASS, "fork-away": PASS, "fork-busy": PASS, "thread": PASS,
    "thread-late": ("pass|crash", "^$|signal 11|run\\(\\) leaves"),
    "files": PASS,
    "close-socket": ("crash", "exit code 0"),
    "close-all": ("crash", "exit code 0"),
    "block": PASS,
    "unmap": ("pass|crash", ""),
    "no-files": ("crash", "could not go on.*descriptor"), "no-stack": PASS, "rename": PASS, "stdin": PASS,
    "no-space": ("pass|crash", ""), "no-data": ("pass|crash|fail", ""),
    "no-time": ("crash", "signal (9|24)"),
    "exec": ("crash", "exit code 0"),
    "longjmp": ("crash|timeout", "signal|within"),
    "kill-parent": PASS, "term-parent": PASS, "kill-all": PASS, "tgkill": PASS, "trace": PASS,
    "memory-of-parent": PASS, "limits-of-parent": PASS, "mount": PASS, "truncate-self": PASS, "unlink": PASS,
    "terminal": PASS, "modes": PASS, "owner": PASS, "queues": PASS,
    "group": ("pass|crash", "^$|signal 15"),  # its own group, at most
    "seconds": ("pass|timeout|crash", "within|descriptor 3"),
    "forge": PASS,
    "forge-death": ("crash", "exit code 7"),
    "resize": PASS,
    "garbage": ("crash", "wrote to the worker's descriptor 3"),
    "answer": ("crash", "wrote to the worker's descriptor 3"),
    "empty-packet": ("crash", "wrote to the worker's descriptor 3"),
    "close-and-stay": ("timeout", "within 3 s"),
    "flood": ("crash", "wrote to the worker's descriptor 3"),
    "inputs": ("pass|fail", ""),
    "print": PASS, "print-errors": PASS,
    "bomb": ("crash|timeout", "of memory|signal 9|within"),  # a machine may be too slow for half of its memory
    "text": ("fail|skip", r"script|\?"),
    "endless-text": ("fail|skip", "<<<"),
    "status": ("fail", "run\\(\\) returned -1, which is no status"),
}
# Where the place says otherwise: supports() refuses, and what happens in the constructor is no result but exit code 2.
SPECIAL = {
    ("supports", "text"): ("none", ""), ("supports", "endless-text"): ("none", ""),
    ("supports", "status"): ("none", ""), ("workspace", "status"): ("pass|fail", "workspace"),
    ("workspace", "text"): ("pass|fail", "workspace"), ("workspace", "endless-text"): ("pass|fail", "workspace"),
    ("run", "fork"): ("pass", "leaves processes"), ("run", "fork-away"): ("pass", "leaves processes"),
    ("run", "fork-busy"): ("pass", "leaves processes"),
}
QUICK = ["segv", "abort", "exit-now", "self-kill", "fork-away", "kill-parent", "memory-of-parent", "files", "close-all",
         "forge-death", "garbage", "answer", "text", "status"]
# Not run where nothing holds a kernel back: they would reach whoever runs the table.
OTHERS = {"kill-parent", "term-parent", "kill-all", "tgkill", "trace", "memory-of-parent", "limits-of-parent", "mount",
          "truncate-self", "unlink", "terminal", "files", "modes", "group", "owner", "queues"}
LIBRARY_PLACES = ["constructor", "open", "close", "destructor"]
# harm: what a library that does it while it is loaded ends with; None: it is loaded all the same.
LOADING = {
    "segv": "signal 11", "abort": "signal 6", "exit-now": "exit code 3", "exit": "exit code 5", "hang": "no answer within",
    "self-kill": "signal 9", "overflow": "signal 11", "fork": None, "fork-away": None, "thread": None, "files": None,
    "close-socket": "exit code", "kill-parent": None, "trace": None, "kill-all": None, "forge": None,
    "print-errors": None, "garbage": "garbled", "exec": "exit code 0", "rename": None,
}


def processes(mark):
    """Processes that carry the mark in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                if mark.encode() in f.read():
                    found.append(pid)
        except OSError:
            pass
    return found


class Run:
    """One attest with folders of its own; `left` says what it left behind."""

    def __init__(self, build, library):
        self.build, self.mark = os.path.abspath(build), f"FAULTS_MARK={uuid.uuid4()}"
        self.folder = tempfile.mkdtemp(prefix="faults-run-")
        self.temporary, self.work = os.path.join(self.folder, "tmp"), os.path.join(self.folder, "work")
        self.plugins = os.path.join(self.folder, "bin", "kernels")
        for path in (self.temporary, self.work, self.plugins):
            os.makedirs(path)
        self.library = os.path.join(self.plugins, library)
        shutil.copy(os.path.join(self.build, "faults", "hostile.so"), self.library)
        self.program = os.path.join(self.folder, "bin", "attest")
        os.symlink(os.path.join(self.build, "attest"), self.program)
        with open(os.path.join(self.work, "victim"), "w", encoding="utf-8") as f:
            f.write("whole")
        self.bytes = os.path.getsize(self.library)

    def attest(self, *arguments):
        environment = dict(os.environ, ATTEST_WORKER=os.path.join(self.build, "attest-worker"), TMPDIR=self.temporary,
                           FAULTS_LIBRARY=self.library, OMP_NUM_THREADS="1")
        name, value = self.mark.split("=")
        environment[name] = value
        return subprocess.run([self.program, *arguments], cwd=self.work, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace", timeout=1500, check=False)

    def left(self):
        said = [f"process {pid}" for pid in processes(self.mark)]
        said += [f"file {name}" for name in os.listdir(self.temporary)]
        said += [f"file {name}" for name in os.listdir(self.work) if name not in ("victim", "one.suite", "out")]
        said += [f"file {path}" for path in ("/dev/shm/faults-left", "/tmp/faults-left") if os.path.exists(path)]
        if not os.path.exists(os.path.join(self.work, "victim")):
            said.append("victim is gone")
        with open("/proc/sysvipc/shm", encoding="utf-8") as table:
            said += ["shared memory 0x4641554c"] if f" {0x4641554c} " in table.read() else []
        if os.path.getsize(self.library) != self.bytes:
            said.append("the library has changed")
        return said

    def clear(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def kernel_rows(build, harms, places, timeout=TIMEOUT):
    """One gate over the whole library: a row for each kernel."""
    run = Run(build, "hostile.so")
    suite = os.path.join(run.work, "one.suite")
    with open(suite, "w", encoding="utf-8") as f:
        f.write("\n".join(LINES) + "\n")
    out = os.path.join(run.work, "out")
    rows, results = [], {}
    calm = ["calm-first", "calm-middle", "calm-last"]
    names = [f"{place}-{harm}" for place in places for harm in harms]
    os.environ["FAULTS_ROWS"] = f" {' '.join(names)} ".replace(" ", "  ")
    done = run.attest("gate", "--suite", suite, "--timeout", timeout, "--out", out, "--quiet", "--kernel", "f-*")
    try:
        with open(os.path.join(out, "results.jsonl"), encoding="utf-8") as f:
            for line in f:
                result = json.loads(line)
                results.setdefault(result["kernel"].split(":f-")[-1], []).append(result)
    except OSError:
        pass
    for name in calm + names:
        place, _, harm = name.partition("-")
        verdicts, why = ("pass", "") if name in calm else SPECIAL.get((place, harm), HARMS[harm])
        of = results.get(name, [])
        said = ", ".join(sorted({r["verdict"] for r in of})) or "none"
        text = next((r["why"] for r in of if r["why"]), "")
        complete = len(of) == (1 if verdicts == "none" else len(LINES))
        fits = all(re.fullmatch("skip" if verdicts == "none" else verdicts, r["verdict"]) for r in of)
        fits = fits and (verdicts == "none" or any(re.search(why, r["why"]) for r in of))
        rows.append((name, said, text, complete and fits and bool(of)))
    left = run.left()
    rows.append(("exit code of the gate", str(done.returncode), done.stderr.strip()[:200], done.returncode == 3))
    rows.append(("left behind by the gate", str(len(left)), "; ".join(left[:4]), not left))
    run.clear()
    return rows


def library_row(build, place, harm):
    """One replay of a right kernel in a library that does its harm when it is loaded or let go."""
    run = Run(build, f"{place}-{harm}.so")
    done = run.attest("replay", "--timeout", LONG if harm in DEAR else TIMEOUT, "--kernel", f"{run.library}:f-calm-last", LINES[0])
    loading = LOADING[harm] if place in ("constructor", "open") else None
    verdict = re.search(r"^verdict +(\S+)", done.stdout, re.M)
    said = verdict[1] if verdict else f"exit code {done.returncode}"
    text = done.stderr.strip().replace("\n", " | ")
    if loading:
        fits = done.returncode == 2 and re.search(loading, text) and "\n" not in done.stderr.strip()
    else:
        fits = done.returncode == 0 and said == "pass" and "it worked" not in done.stderr
    left = run.left()
    run.clear()
    return (f"{place}-{harm} (library)", said, "; ".join(left) or text, bool(fits) and not left)


def is_held_back(build):
    """1 if attest reaches Landlock and seccomp here."""
    run = Run(build, "hostile.so")
    done = run.attest("replay", "--sandbox=require", "--quiet", "--kernel", "softmax-two-pass-f32", LINES[0])
    run.clear()
    return done.returncode == 0


def main():
    build, quick = sys.argv[1], "--quick" in sys.argv
    if not is_held_back(build):
        print("faults: no Landlock or no seccomp here: rows that reach for others are left out")
        for harm in OTHERS:
            HARMS.pop(harm, None), LOADING.pop(harm, None)
    harms = [h for h in QUICK if h in HARMS] if quick else [h for h in HARMS if h not in DEAR or h == "segv"]
    places = ["run"] if quick else ["supports", "workspace", "run"]
    libraries = [(p, h) for p in LIBRARY_PLACES for h in LOADING]
    if quick:
        libraries = [("constructor", "segv"), ("open", "fork-away"), ("close", "segv"), ("destructor", "fork")]
    rows = kernel_rows(build, harms, places)
    if not quick:
        rows += kernel_rows(build, DEAR, places, LONG)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        rows += pool.map(lambda pair: library_row(build, *pair), libraries)
    for name, said, text, kept in rows:
        shown = "".join(c if " " <= c <= "~" else "?" for c in text)
        if not quick or not kept:
            print(f"{'kept' if kept else 'LOST':5}{name:34}{said:14}{shown[:110]}")
    lost = sum(not row[3] for row in rows)
    print(f"faults: {len(rows)} rows, {len(rows) - lost} kept, {lost} lost")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
