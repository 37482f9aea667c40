"""day.py --build BUILD --out DIR [--nvcc NVCC] [--suite S] [--gpu GPU] [--stand-in GPU]: everything a GPU is needed
for, in one folder, in under half an hour (`make gpu-day`; README.md beside this file).

Each step has a folder DIR/STEP, and ends as DIR/STEP/state: `done`, `failed: why` or `not run: why`.  A step that is
done is skipped the next time; after any other the next step runs all the same.  So it can be ended at any time and
started again, and what needs no GPU (the predictions) can be done before on a machine that has none: --gpu GPU names
the one of kernels/model/mma.h that the folder is for.

--stand-in GPU: the same steps on the CPU, kernels and vectors of device cuda-host under the model of that GPU: for
tests of this program.  What a CPU cannot stand in for is not run.

Exit codes: 0: every step is done; 1: one failed; 77: none failed, and some were not run, which it says at its end."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../../../.."))
LIMIT_S = 600  # of one command; a step may have several
# nvidia-smi's names, and the rows of kernels/model/mma.h.
MODELS = (("H200", "h200"), ("H100", "h100"), ("A100", "a100"), ("L40S", "l40s"), ("B200", "b200"), ("V100", "v100"),
          ("A2", "a2"), ("RTX 40", "ada"), ("Ada", "ada"), ("L4", "ada"))
# Lines for the sanitizers and for times.
SMALL = {"flash": ["variant=softmax mask=causal b=2 hq=4 hkv=2 n=70 d=40 in=bf16 p=bf16",
                   "variant=softmax lens=draw b=2 n=33 d=64 in=f16 p=f16"],
         "flash_f32": ["variant=softmax mask=causal b=2 hq=4 hkv=2 n=70 d=40"],
         "decode": ["variant=softmax mask=causal-br n=3 m=300 d=40 splits=3"],
         "linear": ["variant=linear mask=causal n=70 d=24", "variant=gla n=40 d=8"],
         "softmax": ["variant=softmax mask=causal n=33 d=8"],
         "taylor": ["variant=taylor:2 mask=causal n=40 d=9"],
         "taylor_chunk": ["variant=taylor:2 mask=causal n=70 d=16 in=bf16 p=bf16"],
         "delta": ["variant=deltanet mask=causal n=70 d=24"]}
LARGE = {"flash": ["variant=softmax hq=16 hkv=16 n=4096 d=64 in=bf16 p=bf16",
                   "variant=softmax hq=16 hkv=16 n=4096 d=128 in=bf16 p=bf16",
                   "variant=softmax mask=causal hq=16 hkv=16 n=4096 d=128 in=bf16 p=bf16"],
         "decode": ["variant=softmax mask=causal-br b=8 hq=8 hkv=8 n=1 m=65536 d=64 splits=16"],
         "linear": ["variant=gla hq=16 hkv=16 n=4096 d=64"]}
STAND_IN = {"flash": ["variant=softmax n=33 d=8 in=bf16 p=bf16"], "decode": ["variant=softmax n=1 m=65 d=8 splits=2"]}


class NotRun(Exception):
    """Why a step cannot be run here."""


class Failed(Exception):
    """What a step did not do."""


class Day:
    def __init__(self, given):
        self.build, self.out = os.path.abspath(given.build), os.path.abspath(given.out)
        self.nvcc, self.suite, self.stand_in, self.named = given.nvcc, given.suite, given.stand_in, given.gpu
        self.env = {**os.environ, **({"ATTEST_CUDA_HOST_GPU": given.stand_in} if given.stand_in else {})}
        self.gpu = None if given.stand_in else self.find_gpu()
        self.folder = None

    @staticmethod
    def find_gpu():
        """Name, driver, .. as nvidia-smi has them; None."""
        tool = shutil.which("nvidia-smi")
        if not tool:
            return None
        asked = "name,driver_version,vbios_version,clocks.max.sm,memory.total,ecc.mode.current"
        done = subprocess.run([tool, f"--query-gpu={asked}", "--format=csv,noheader"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else None

    @property
    def device(self):
        return "cuda-host" if self.stand_in else "cuda"

    def model(self):
        """The row of the model for this GPU."""
        if self.stand_in:
            return self.stand_in
        for part, name in MODELS if self.gpu else ():
            if part in self.gpu:
                return name
        if self.named:
            return self.named
        raise NotRun("no GPU" if not self.gpu else f"no row of kernels/model/mma.h is for '{self.gpu.split(',')[0]}'")

    def need_gpu(self):
        if not self.gpu and not self.stand_in:
            raise NotRun("no GPU")

    def only_gpu(self):
        if not self.gpu:
            raise NotRun("no GPU")

    def file(self, name):
        return os.path.join(self.folder, name)

    def built(self, *names):
        """The first of these files of BUILD that is there."""
        for name in names:
            if os.path.exists(os.path.join(self.build, name)):
                return os.path.join(self.build, name)
        raise NotRun(f"no {names[0]} in {self.build} (nvcc makes it)")

    def library(self, name):
        return self.built(f"kernels/cuda-{name}{'-host' if self.stand_in else ''}.so")

    def call(self, log, *words, accept=(0,), stdin=None):
        """Runs a command, its output into a file of the step; its output."""
        try:
            done = subprocess.run(words, env=self.env, cwd=ROOT, stdin=stdin, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired as late:
            raise Failed(f"{os.path.basename(words[0])} took more than {LIMIT_S} s") from late
        with open(self.file(log), "a", encoding="utf-8") as file:
            file.write("$ " + " ".join(words) + "\n" + done.stdout)
        if done.returncode == 77:
            raise NotRun("no GPU")
        if done.returncode not in accept:
            last = (done.stdout.strip().splitlines() or [""])[-1]
            raise Failed(f"{os.path.basename(words[0])}: exit code {done.returncode}: {last}")
        return done.stdout

    # ---- steps ---------------------------------------------------------------------------------------------------
    def provenance(self):
        """GPU, driver, nvcc, commit: what the numbers of this folder are of."""
        self.need_gpu()
        git = ["git", "-C", ROOT]
        facts = {"gpu": self.gpu or f"none: the CPU as {self.stand_in}", "model": self.model()}
        facts["commit"] = self.call("log.txt", *git, "rev-parse", "HEAD", accept=(0, 128)).strip()
        facts["changed"] = self.call("log.txt", *git, "status", "--porcelain", accept=(0, 128)).strip()
        facts["nvcc"] = self.call("log.txt", self.nvcc, "--version").strip().splitlines()[-1] if self.nvcc else "none"
        facts["attest"] = self.call("log.txt", self.built("attest"), "--version").splitlines()[0]
        with open(self.file("provenance.json"), "w", encoding="utf-8") as file:
            json.dump(facts, file, indent=1)

    def ex2(self):
        """The 2^23 outputs of ex2.approx on [0,1), their hash, and the table that fits them."""
        self.only_gpu()
        outputs = self.file("outputs.bin")
        self.call("log.txt", self.built("gpu/ex2"), outputs)
        self.call("log.txt", self.built("ex2-fit"), outputs, self.model(), self.file("table.txt"))
        os.remove(outputs)  # 32 MB; the table gives every one of them again, and the log their hash

    def mma(self):
        """Vectors through mma.sync, against the model of this GPU."""
        self.need_gpu()
        vectors, wrong = self.file("vectors"), []
        os.makedirs(vectors, exist_ok=True)
        self.call("log.txt", self.built("cuda/mma" if self.stand_in else "gpu/mma"), vectors, self.model())
        for name in sorted(os.listdir(vectors)):
            with open(os.path.join(vectors, name), encoding="utf-8") as file:
                said = self.call("equal.txt", self.built("mma-compare"), stdin=file, accept=(0, 1))
            counts = re.search(r"(\d+) of (\d+) equal", said)
            if not counts or counts[1] != counts[2]:
                wrong.append(f"{name}: {counts[0] if counts else said.strip()}")
        if wrong:
            raise Failed(f"{len(wrong)} sets are not the model's: {'; '.join(wrong)}")

    def predict(self):
        """Bits of every CUDA kernel on the suite, by the CPU: needs no GPU, but its name (--gpu)."""
        shutil.rmtree(self.file("bits"), ignore_errors=True)
        self.call("log.txt", self.built("attest"), "predict", "--gpu", self.model(), "--suite", self.suite, "--timeout",
                  "60", "--out", self.file("bits"))

    def gate(self):
        """The suite on the device, verdicts and bits."""
        self.need_gpu()
        bits = os.path.join(self.out, "predict", "bits")
        words = ["--predict", bits] if os.path.exists(os.path.join(bits, "predictions.jsonl")) else []
        self.call("log.txt", self.built("attest"), "gate", "--suite", self.suite, "--device", self.device,
                  "--require-device", self.device, "--timeout", "60", *words, "--out", self.file("results"))

    def bits(self):
        """Which predictions came true: every difference is a line of differences.txt."""
        self.need_gpu()
        path = os.path.join(self.out, "gate", "results", "results.jsonl")
        if not os.path.exists(path):
            raise NotRun("the step gate has no results")
        counts, other = {"equal": 0, "other": 0, "not predicted": 0}, []
        with open(path, encoding="utf-8") as file:
            for result in map(json.loads, file):
                said = result["predicted"]
                if not said:
                    continue
                what = "equal" if said == "equal" else "not predicted" if said.startswith("not predicted") else "other"
                counts[what] += 1
                if what == "other":
                    other.append(f"{result['kernel']}: {result['problem']}: {said}\n")
        with open(self.file("differences.txt"), "w", encoding="utf-8") as file:
            file.writelines(other)
        with open(self.file("counts.json"), "w", encoding="utf-8") as file:
            json.dump(counts, file)
        if other:
            raise Failed(f"{len(other)} of {sum(counts.values())} cases have other bits than predicted; the first: "
                         f"{other[0].strip()}")
        if counts["equal"] == 0:
            raise Failed("no case was predicted")

    def sanitize(self):
        """compute-sanitizer on small lines of every library."""
        self.only_gpu()
        tool = shutil.which("compute-sanitizer")
        if not tool:
            raise NotRun("no compute-sanitizer")
        wrong = []
        for check in ("memcheck", "racecheck", "synccheck", "initcheck"):
            for name, lines in SMALL.items():
                try:
                    self.call(f"{check}.txt", tool, "--tool", check, "--error-exitcode", "9", self.built("cuda/run"),
                              "--library", self.library(name), *lines)
                except Failed as failed:
                    wrong.append(f"{check} {name}: {failed}")
        if wrong:
            raise Failed("; ".join(wrong))

    def times(self):
        """Events around launches, with warm and with emptied caches."""
        self.need_gpu()
        events = self.built("cuda/events.so" if self.stand_in else "gpu/events.so")
        for name, lines in (STAND_IN if self.stand_in else LARGE).items():
            self.call("times.txt", self.built("cuda/run"), "--library", self.library(name), "--times", events, *lines)

    STEPS = ("provenance", "ex2", "mma", "predict", "gate", "bits", "sanitize", "times")


def run_step(day, name):
    """`done`, `failed: ..` or `not run: ..`, kept in the step's folder."""
    day.folder = os.path.join(day.out, name)
    state, before = os.path.join(day.folder, "state"), ""
    if os.path.exists(state):
        with open(state, encoding="utf-8") as file:
            before = file.read().strip()
    if before == "done":
        return "done", True
    shutil.rmtree(day.folder, ignore_errors=True)
    os.makedirs(day.folder)
    try:
        getattr(day, name)()
        said = "done"
    except NotRun as why:
        said = f"not run: {why}"
    except (Failed, OSError) as why:
        said = f"failed: {why}"
    with open(state + ".tmp", "w", encoding="utf-8") as file:
        file.write(said + "\n")
    os.rename(state + ".tmp", state)
    return said, False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--nvcc", default="")
    parser.add_argument("--suite", default="ci")
    parser.add_argument("--gpu", default="")
    parser.add_argument("--stand-in", default="", metavar="GPU")
    day = Day(parser.parse_args())
    print(f"gpu-day: {day.gpu or (f'the CPU as {day.stand_in}' if day.stand_in else 'no GPU')}, into {day.out}")
    ended = {}
    for name in day.STEPS:
        start = time.monotonic()
        ended[name], earlier = run_step(day, name)
        before = " before" if earlier else f" ({time.monotonic() - start:.0f} s)"
        print(f"gpu-day: {name}: {ended[name]}{before}", flush=True)
    failed = [name for name, said in ended.items() if said.startswith("failed")]
    left = [name for name, said in ended.items() if said.startswith("not run")]
    for name in left:
        print(f"gpu-day: not run: {name}: {getattr(Day, name).__doc__.splitlines()[0]}")
    done = len(ended) - len(failed) - len(left)
    print(f"gpu-day: {done} of {len(ended)} steps done, {len(failed)} failed, {len(left)} not run")
    return 1 if failed else 77 if left else 0


if __name__ == "__main__":
    sys.exit(main())
