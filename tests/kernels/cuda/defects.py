"""defects.py --build BUILD --libs LIBS [--only TEXT]: plants the CUDA defects of defects.txt, one at a time, in copies of
the kernels, and asks each check that its row names, without a GPU.  The kernels as they are come first: no check may
catch them, and each of their runs ends well, with all its lines or cases.  Prints a line a defect; exit code 1 if a check
misses one or catches a correct kernel."""
import argparse
import concurrent.futures
import fnmatch
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../../.."))
ORDERS = [word for order in ("forward", "reverse", "greedy", "greedy-reverse", "random:1", "random:2")
          for word in ("--order", order)]
LINES = {"softmax": ["variant=softmax mask=causal-br n=40 m=200 d=8 e=140", "variant=softmax n=9 m=140 d=5 e=7 hq=2 hkv=1"],
         "flash": ["variant=softmax mask=causal n=130 d=64 hq=2 hkv=1 in=bf16 p=bf16",
                   "variant=softmax n=70 m=140 d=5 e=20 in=bf16 p=bf16",
                   "variant=softmax mask=causal-br n=70 m=3 d=72 in=bf16 p=bf16"],
         "flash_f32": ["variant=softmax mask=causal n=70 d=20 e=18 hq=2 hkv=1", "variant=softmax n=33 m=140 d=5 e=70"],
         "decode": ["variant=softmax mask=causal-br n=5 m=150 d=20 e=18 hq=4 hkv=2 splits=3",
                    "variant=softmax n=1 m=140 d=5 e=128 splits=2"],
         "linear": ["variant=retnet norm=sum state=draw n=70 d=20 e=35 hq=4 hkv=2 chunk=24",
                    "variant=sla-gla hq=2 n=40 d=9 e=5 chunk=64", "variant=linear-elu mask=full n=5 m=40 d=6 chunk=16"],
         "taylor": ["variant=taylor:3 mask=causal state=draw n=21 d=9 e=35 hq=4 hkv=2",
                    "variant=taylor:2 mask=full n=3 m=21 d=24 e=5"],
         "delta": ["variant=gdn state=draw n=70 d=8 e=35 hq=4 hkv=2 chunk=24", "variant=deltanet n=5 d=64 e=3 chunk=4"],
         "taylor_chunk": ["variant=taylor:3 mask=causal state=draw n=70 d=9 e=35 hq=4 hkv=2 chunk=24 in=bf16 p=bf16 out=f32",
                          "variant=quadratic mask=full n=3 m=21 d=30 e=5 chunk=16 in=bf16 p=bf16"]}
FAR_PLAIN = "variant=softmax b=2 n=9 d=8"
FAR = {"flash": "variant=softmax b=2 n=9 d=8 in=bf16 p=bf16",
       "linear": "variant=linear mask=causal b=2 n=9 d=8",
       "taylor": "variant=taylor:2 mask=causal b=2 n=9 d=8",
       "delta": "variant=deltanet b=2 n=9 d=8",
       "taylor_chunk": "variant=taylor:2 mask=causal b=2 n=9 d=8 in=bf16 p=bf16"}
SANITIZERS = {"asan": (os.environ.get("CXX", "g++"), ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]),
              "tsan": ("clang++", ["-fsanitize=thread"])}
CHECKS = ["gate", "orders", "told", "asan", "tsan", "far"]


class Defect:
    def __init__(self, name, kernel, checks):
        self.name, self.kernel, self.checks, self.old, self.new = name, kernel, checks, [], []
        self.harmless = "same" in checks or name == "as it is"
        self.id = kernel + "-" + re.sub(r"[^a-z0-9]+", "-", name.lower())


def read_table():
    table = []
    with open(os.path.join(HERE, "defects.txt"), encoding="utf-8") as text:
        for line in text:
            if line.startswith("= "):
                name, kernel, checks = [cell.strip() for cell in line[2:].split("|")]
                table.append(Defect(name, kernel, checks.split()))
            elif line.startswith("- "):
                table[-1].old.append(line[2:].rstrip("\n"))
            elif line.startswith("+"):
                table[-1].new.append(line[2:].rstrip("\n"))
    return table


def source_of(defect):
    path = os.path.join("kernels/cuda", defect.kernel + ".cu")
    with open(os.path.join(ROOT, path), encoding="utf-8") as text:
        source = text.read()
    if defect.old:
        old = "\n".join(defect.old)
        if source.count(old) != 1:
            sys.exit(f"defects.txt: {defect.id}: its text stands {source.count(old)} times in {path}")
        source = source.replace(old, "\n".join(defect.new))
    sed = ["sed", "-E", "-f", os.path.join(ROOT, "kernels/cuda/host/translate.sed")]
    made = subprocess.run(sed, input=source, stdout=subprocess.PIPE, text=True, check=True).stdout
    return f'#line 1 "{path}"\n{made}'


class Ran:
    """How a run ended."""

    def __init__(self, code, text, seconds=0):
        self.code, self.text, self.lines = code, text, text.splitlines()
        self.ended = f"it did not end within {seconds} s" if seconds else f"exit code {code}: {text.strip()[-200:]!r}"

    def is_clean(self, lines):
        """As of a correct kernel: it ended well, with as many lines as it was asked for."""
        return self.code == 0 and len(self.lines) == lines


class Bench:
    """Where copies are built and run."""

    def __init__(self, build, libs):
        self.build, self.libs = os.path.abspath(build), libs.split()
        self.folder = os.path.join(self.build, "cuda/defects")
        self.machine = sorted(glob.glob(os.path.join(self.build, "kernels/cuda/host/*.o")))
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)

    def path(self, defect, kind):
        return os.path.join(self.folder, f"{defect.id}-{kind}")

    def compile(self, defect, kind):
        """kind: so, asan, tsan; None or the compiler's words."""
        cxx, flags = SANITIZERS.get(kind, (os.environ.get("CXX", "g++"), ["-fPIC", "-fvisibility=hidden", "-shared"]))
        with open(self.path(defect, "host.cpp"), "w", encoding="utf-8") as out:
            out.write(source_of(defect))
        linked = [] if kind == "so" else [os.path.join(self.build, name) for name in
                                          ("tests/kernels/cuda/run.o", "libattest.a", "libkernels.a")]
        command = [cxx, "-std=c++17", "-O1", "-g1", "-ffp-contract=off", *flags, "-Ikernels/cuda/host", "-Ikernels/cuda",
                   "-Ikernels", "-o", self.path(defect, kind), self.path(defect, "host.cpp"), *self.machine, *linked,
                   *(self.libs + ["-lgomp"] if linked else ["-lm", "-lpthread"])]
        made = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
        return made.stderr if made.returncode != 0 else None

    def run(self, defect, kind, arguments):
        """A Ran; plain runs by one program that loads the library."""
        program = ([os.path.join(self.build, "cuda/run"), "--library", self.path(defect, "so")] if kind == "so"
                   else [self.path(defect, kind)])
        environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
        try:
            ran = subprocess.run(program + arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 text=True, errors="replace", timeout=120, check=False)
        except subprocess.TimeoutExpired:
            return Ran(124, "", 120)
        return Ran(ran.returncode, ran.stdout)

    def gate(self, defects, whole):
        """The defects that a case of the suite fails on, each with its first words; one run for all.  `whole`: every case
        of each of them has its result, and the run ends by itself."""
        home = os.path.join(self.folder, "gate-whole" if whole else "gate")
        os.makedirs(os.path.join(home, "kernels"))
        for name in ("attest", "attest-worker"):
            shutil.copy(os.path.join(self.build, name), home)
        for defect in defects:
            os.link(self.path(defect, "so"), os.path.join(home, "kernels", defect.id + ".so"))
        results = os.path.join(home, "out/results.jsonl")
        with subprocess.Popen([os.path.join(home, "attest"), "gate", "--device", "cuda-host", "--quiet", "--timeout", "20",
                               "--suite", os.path.join(HERE, "defects.suite"), "--out", os.path.join(home, "out")],
                              cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as gate:
            found, met, quiet = {}, {}, 0
            while gate.poll() is None:
                time.sleep(1)
                before = sum(met.values())
                found, met = read_results(results)
                quiet = quiet + 1 if sum(met.values()) == before else 0
                # what may follow calls each kernel a thousand times, and all are found
                if quiet == 15 and not whole and not [d for d in defects if d.id not in found]:
                    gate.kill()
        found, met = read_results(results)
        missing = {defect.id for defect in defects} - set(met)
        if missing:
            sys.exit("the gate has no result of " + " ".join(sorted(missing)))
        if whole:
            with open(os.path.join(home, "out/run.json"), encoding="utf-8") as run:
                ended = json.load(run)
            if not ended["finished"] or not ended["complete"] or (gate.returncode != 0 and not found):
                sys.exit(f"the gate of what is correct: exit code {gate.returncode}, {ended['done']} of {ended['cases']} "
                         "cases")
        return found


def read_results(path):
    """What failed, by library, and how many results each has."""
    found, met = {}, {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as results:
            for line in results:
                if not line.endswith("\n"):
                    break
                result = json.loads(line)
                name = os.path.basename(result["kernel"].split(":")[0])[:-3]
                met[name] = met.get(name, 0) + 1
                if result["verdict"] in ("fail", "crash", "timeout"):
                    found.setdefault(name, result["verdict"] + " of " + result["problem"])
    return found, met


def caught(bench, defect, check):
    """The words of the check, None: it sees nothing; and how its runs ended.  Of what is correct it wants a clean end."""
    lines = LINES[defect.kernel]
    if check == "far":
        near, far = (bench.run(defect, "so", way + [FAR.get(defect.kernel, FAR_PLAIN)]) for way in ([], ["--far"]))
        words = "bits differ or a crash" if near.is_clean(1) and (far.code, far.text) != (near.code, near.text) else None
        clean, ended = near.is_clean(1) and far.is_clean(1), f"near: {near.ended}; far: {far.ended}"
    else:
        ran = bench.run(defect, check if check in SANITIZERS else "so", (ORDERS if check == "orders" else []) + lines)
        seen = re.search(r"(AddressSanitizer: [a-z-]+|ThreadSanitizer: data race|runtime error: .*)", ran.text)
        words = {"orders": "bits differ" if ran.code == 3 else None,
                 "told": ran.lines[-1] if ran.code == 4 and ran.lines else None}.get(
                     check, seen[1] if seen and ran.code != 0 else None)
        clean, ended = ran.is_clean(len(lines) * (len(ORDERS) // 2 if check == "orders" else 1)), ran.ended
    if defect.harmless and not words and not clean:
        words = "no clean end"
    return words, ended


class Stub:
    """A bench whose runs all end so."""

    def __init__(self, code, text):
        self.ran = Ran(code, text)

    def run(self, *_):
        return self.ran


def check_itself():
    """Of a correct kernel no end but a clean one is taken."""
    for check in CHECKS[1:]:
        correct = Defect("as it is", "linear", [check])
        lines = 1 if check == "far" else len(LINES["linear"]) * (len(ORDERS) // 2 if check == "orders" else 1)
        for code, text, clean in ((0, "x\n" * lines, True), (0, "x\n" * (lines + 1), False), (5, "", False), (-9, "", False),
                                  (66, "FATAL: ThreadSanitizer: unexpected memory mapping\n", False)):
            words, ended = caught(Stub(code, text), correct, check)
            assert (words is None) == clean and f"exit code {code}" in ended, (check, code, words, ended)


def has_tsan():
    """clang++ with the library that its -fsanitize=thread links."""
    if not shutil.which("clang++"):
        return False
    name = subprocess.run(["clang++", "-print-file-name=libclang_rt.tsan-x86_64.a"], stdout=subprocess.PIPE, text=True,
                          check=True).stdout.strip()
    return os.path.exists(name)


def main():
    parser = argparse.ArgumentParser(description="planted CUDA defects")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--libs", required=True)
    parser.add_argument("--only", default="*")
    options = parser.parse_args()
    check_itself()
    checks = [check for check in CHECKS if check != "tsan" or has_tsan()]
    if "tsan" not in checks:
        print("tsan is not asked: clang++ or its library is not there (make deps-long)")
    table = [defect for defect in read_table() if fnmatch.fnmatch(defect.id, options.only)]
    correct = [Defect("as it is", kernel, checks) for kernel in LINES]
    same = [defect for defect in table if defect.harmless]
    for defect in same:
        defect.checks = checks
    bench = Bench(options.build, options.libs)
    asked = [(defect, check) for defect in correct + table for check in defect.checks if check in checks]
    built = sorted({(defect.id, check if check in SANITIZERS else "so") for defect, check in asked} |
                   {(defect.id, "so") for defect in correct + table})
    by_id = {defect.id: defect for defect in correct + table}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for pair, words in zip(built, pool.map(lambda pair: bench.compile(by_id[pair[0]], pair[1]), built)):
            if words:
                sys.exit(f"{pair[0]} does not compile ({pair[1]}):\n{words}")
        gated = {}
        for whole in (False, True):
            some = [defect for defect in correct + table if "gate" in defect.checks and defect.harmless == whole]
            gated.update(bench.gate(some, whole) if some else {})
        found = dict(zip(((defect.id, check) for defect, check in asked), pool.map(
            lambda pair: (gated.get(pair[0].id), "of the gate") if pair[1] == "gate" else caught(bench, *pair), asked)))
    bad = 0
    for defect, check in asked:
        (words, ended), wanted = found[defect.id, check], not defect.harmless
        right = (words is not None) == wanted
        bad += not right
        print(f"{'ok  ' if right else 'BAD '} {defect.id} | {check} | {words or '-'}{'' if right else '; ' + ended}")
    print(f"{len(table)} defects, {len(same)} that change nothing, {len(asked)} questions, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
