"""alloc.py [--step N] [--runs N] [--command NAME] [--modes 1,2] ATTEST SHIM FOLDER: commands on a small problem with
its k-th allocation failing, for every k (or every N-th), and with all from the k-th on failing.  Of a gate and an audit
every k to its number in WRITES, and every tenth behind it: there they write csv, junit, sarif and summary as report and
merge do, which have every k.  A judgement repeats one case many times: behind its number every 997th.

What must hold for each k: the program ends by itself, within 30 seconds, by no signal.  Either all is as without a
failure (code, standard output, files); or the code is 3 and standard error is one line that speaks of memory; or a case
of the gate is undecided and the code 4.  A verdict that is told is that of a run without a failure.  No process is left,
and no file that is neither whole nor there without a failure (but results.jsonl.final and study-NAME.part, which
--resume reads).  Prints a
table by command and exit code; exit 1 with a breach, each told with its k.
"""
import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import time

LINE = "variant=softmax n=2 d=2 e=1"
SUITE = "variant=softmax n=2 d=2\n"
SHARDED = SUITE + "variant=softmax n=3 d=2\n"  # one case for each of two shards
KERNEL = "softmax-two-pass-f32"
ON_HOST = "*softmax-flash-cuda-f32"  # a kernel whose bits can be predicted
ON_HOST_LIBRARY = "cuda-flash_f32-host.so"
# Commands of the parent process; kernels are in workers, which have their memory.
COMMANDS = {
    "reference-dd": ["reference", "--engine", "dd", "--problem", LINE],
    "reference-exact": ["reference", "--problem", "variant=taylor:2 n=2 d=1", "--want", "o,u,z,ht"],
    "reference-ball": ["reference", "--problem", LINE + " mask=causal", "--want", "o,lse", "--engine", "ball"],
    "reference-witness": ["reference", "--problem", LINE, "--engine", "witness"],
    "reference-npy": ["reference", "--problem", LINE, "--format", "npy", "--out", "npy"],
    "compare": ["compare", "--problem", LINE, "-t", "o={folder}/o.npy", "--format", "json", "--quiet"],
    "replay": ["replay", "--kernel", KERNEL, LINE],
    "replay-repro": ["replay", "av1:query-permutation:softmax-online-f32:7:variant=softmax,hq=2,n=2,m=1,d=1:q=0.0.0.0:"
                     "k=0.0:v=0.3f800000:f7f64856"],
    "replay-case": ["replay", "{root}/tests/worst-cases/softmax-two-pass-f32-ratio.case"],
    "list-kernels": ["list", "kernels"],
    "list-variants": ["list", "variants"],
    "gate": ["gate", "--suite", "{folder}/one.suite", "--kernel", KERNEL, "--jobs", "1", "--quiet", "--out", "out"],
    "gate-compact": ["gate", "--suite", "{folder}/one.suite", "--kernel", KERNEL, "--jobs", "1", "--quiet", "--out", "out",
                     "--results", "compact"],
    "gate-predicted": ["gate", "--suite", "{folder}/one.suite", "--kernel", ON_HOST, "--device", "cuda-host", "--jobs", "1",
                       "--quiet", "--out", "out", "--predict", "predicted"],
    "report": ["report", "report"],
    "report-compact": ["report", "report"],
    "audit": ["audit", "--suite", "{folder}/one.suite", "--jobs", "1", "--quiet", "--out", "out",
              "{build}/plugins/year-new.so"],
    "order": ["order", "--range", "1", "--in", "bf16", "--center", "zero", "--out", "order"],
    "export": ["export", "--suite", "{folder}/one.suite", "--quiet", "--out", "cases"],
    "batch": ["compare", "--batch", "cases", "--format", "json", "--quiet"],
    "diff": ["diff", "report", "report"],
    "baseline": ["baseline", "accept", "report", "--baseline", "accepted.jsonl", "--reason", "first"],
    "merge": ["merge", "shard1", "shard2", "--quiet", "--out", "all"],
    "merge-compact": ["merge", "shard1", "shard2", "--quiet", "--out", "all"],
    "props": ["props", "--cases", "2", "--kernel", KERNEL, "--property", "scale*", "--jobs", "1", "--out", "store"],
    "predict": ["predict", "--gpu", "h200", "--suite", "{folder}/one.suite", "--kernel", ON_HOST, "--quiet", "--out",
                "predicted"],
    "study": ["study", "length", "--lengths", "2", "--dims", "2", "--seeds", "0", "--kernel", KERNEL, "--jobs", "1",
              "--quiet", "--out", "study"],
    "defects": ["defects", "--kernel", "exp2-for-exp", "--suite", "{folder}/one.suite", "--jobs", "1", "--quiet",
                "--out", "found"],
    "judge": ["judge", "--seed", "7", "--suite", "{folder}/one.suite", "--out", "judged.jsonl",
              "{build}/plugins/year-new.so"],
    "init-kernel": ["init-kernel", "--out", "own", "--quiet", "own"],
    "search": ["search", "--kernel", KERNEL, "--problem", LINE, "--cases", "40", "--jobs", "1", "--format", "json"],
}
# Before this allocation a gate of one case has run its kernel and read its results again, an audit its traits, and a
# judgement its first case; the step behind it.
WRITES = {"gate": (2000, 10), "audit": (5000, 10), "judge": (3000, 997)}
QUICK = ["reference-exact", "compare", "replay", "list-kernels", "init-kernel", "predict", "gate", "report"]
TIMES = re.compile(r'"seconds\w*":(null|\{[^}]*\}|[0-9.e+-]+)|"score":(?:[1-9]|0\.)[0-9.e+-]*|'
                   r'seconds_\w+ +[0-9.e+-]+ +|time="[^"]*"|[0-9.e+-]+ s\b')
COLUMNS = re.compile(r'(,[^,\n]*){4}$', re.MULTILINE)


def plain(data, name=""):
    """Text without what time changes: seconds, a judgement's score, the last four columns of results.csv.  Of other
    files each byte."""
    if name.endswith((".npy", ".safetensors", ".bin")):
        return data.decode("latin-1")
    text = data.decode("utf-8", "replace")
    if name.endswith(".csv"):
        return COLUMNS.sub("", text)
    return TIMES.sub(lambda found: '"seconds":0' if found[0].startswith('"') else "", text)


def tree(folder):
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = plain(file.read(), name)
    return found


class Program:
    """One command, ready to be run once for each k."""

    def __init__(self, arguments, name):
        self.folder = os.path.join(arguments.folder, name)
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(os.path.join(self.folder, "run"))
        self.root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        with open(os.path.join(self.folder, "one.suite"), "w", encoding="ascii") as file:
            file.write(SHARDED if name.startswith("merge") else SUITE)
        self.build = os.path.dirname(os.path.abspath(arguments.attest))
        self.attest = os.path.join(self.few("defects" if name == "defects" else "kernels"), "attest")
        outside = {key: value for key, value in os.environ.items() if key != "CI"}  # baselines are not accepted there
        self.environment = dict(outside, SOURCE_DATE_EPOCH="0", NO_COLOR="1", OMP_NUM_THREADS="1",
                                ATTEST_WORKER=self.attest + "-worker")
        self.before = {}
        self.prepare(name)
        words = [word.format(folder=self.folder, root=self.root, build=self.build)
                 for word in COMMANDS[name]]
        to, answer = os.pipe(), os.pipe()
        environment = dict(self.environment, LD_PRELOAD=os.path.abspath(arguments.shim))

        def files():
            os.dup2(to[0], 90)
            os.dup2(answer[1], 91)
            os.dup2(90, 100)
            os.dup2(91, 101)
            os.close(90)
            os.close(91)

        self.process = subprocess.Popen([self.attest] + words, cwd=self.folder, env=environment, close_fds=False,
                                        preexec_fn=files)
        os.close(to[0])
        os.close(answer[1])
        self.to, self.answer = os.fdopen(to[1], "w"), os.fdopen(answer[0])

    def few(self, library):
        """A folder with attest, its worker and one library: a start of each library costs more than all else."""
        folder = os.path.join(self.folder, "few")
        os.makedirs(os.path.join(folder, library))
        file = {"kernels": ON_HOST_LIBRARY, "defects": "defects.so"}[library]
        for name in ("attest", "attest-worker", os.path.join(library, file)):
            shutil.copy2(os.path.join(self.build, name), os.path.join(folder, name))
        return folder

    def call(self, *words):
        subprocess.run([self.attest, *words], cwd=self.folder, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env=self.environment)

    def keep(self, name):
        """Each run finds this folder."""
        self.before[name] = os.path.join(self.folder, name)

    def prepare(self, name):
        """What the command reads."""
        gate = ["gate", "--suite", "one.suite", "--kernel", KERNEL, "--quiet", "--out"]
        compact = ["--results", "compact"] if name.endswith("compact") else []
        if name == "compare":
            self.call("reference", "--problem", LINE, "--format", "npy", "--out", ".")
        if name in ("diff", "baseline"):
            self.call(*gate, "report")
            self.keep("report")
        if name == "batch":
            self.call("export", "--suite", "one.suite", "--kernel", KERNEL, "--quiet", "--out", "cases")
            self.keep("cases")
        if name == "gate-predicted":
            self.call("predict", "--gpu", "h200", "--suite", "one.suite", "--kernel", ON_HOST, "--quiet", "--out",
                      "predicted")
            self.keep("predicted")
        if name.startswith("merge"):
            for shard in (1, 2):
                self.call(*gate, f"shard{shard}", "--shard", f"{shard}/2", *compact)
                self.keep(f"shard{shard}")
        if name.startswith("report"):
            self.call(*gate, "report", *compact)
            for junk in ("index.html", "summary.md"):
                if os.path.exists(os.path.join(self.folder, "report", junk)):
                    os.remove(os.path.join(self.folder, "report", junk))
            self.keep("report")

    def run(self, k, mode):
        """(status, allocations, left, stdout, stderr, files)"""
        inside = os.path.join(self.folder, "run")
        shutil.rmtree(inside)
        os.makedirs(inside)
        for name, source in self.before.items():
            shutil.copytree(source, os.path.join(inside, name))
        self.to.write(f"{k} {mode}\n")
        self.to.flush()
        answer = self.answer.readline().split()
        texts = []
        for name in ("stdout", "stderr"):
            with open(os.path.join(self.folder, name), "rb") as file:
                texts.append(plain(file.read()))
        return (int(answer[0]), int(answer[1]), int(answer[2]), texts[0], texts[1], tree(inside))

    def close(self):
        self.to.close()
        self.process.wait()


def lines_with_verdicts(text):
    return sum(line.startswith("{") and '"verdict":"' in line for line in text.splitlines())


def verdicts(text):
    """{(kernel, problem, trait): verdict} of JSON lines; what is no whole line is none.  A trait that was not asked is
    undecided."""
    found = {}
    for line in text.splitlines():
        try:
            result = json.loads(line)
        except ValueError:
            continue
        if isinstance(result, dict) and "verdict" in result:
            lost = result["verdict"] == "not visible" and result.get("why", "").startswith("not asked: ")
            key = result.get("kernel"), result.get("problem"), result.get("trait")
            found[key] = "undecided" if lost else result["verdict"]
    return found


ENDS = {"xml": "</testsuites>\n", "csv": "\n", "jsonl": "}\n", "md": "\n", "json": ("}\n", "]\n"), "sarif": "}\n",
        "html": "</html>\n", "final": "}\n", "part": "}\n"}


def whole(name, text):
    """A file of a run that ended early, as far as it came: no part of a line, no open element."""
    end = ENDS.get(name.rsplit(".", 1)[-1])
    return end is not None and (text.endswith(end) or text == "")


def lasting(name):
    """What a file is named when the run has finished."""
    if name.endswith(".part"):
        return name[:-len("part")] + "jsonl"
    return name[:-len(".final")] if name.endswith(".final") else name


def compare_verdicts(base, run):
    """(verdicts that are not those of a run without a failure, how many are undecided)"""
    pairs = [(run[3], base[3])] + [(text, base[5].get(lasting(name), "")) for name, text in run[5].items()]
    wrong, undecided = {}, 0
    for text, meant in pairs:
        told, meant = verdicts(text), verdicts(meant)
        undecided += sum(v == "undecided" for v in told.values())
        wrong.update({k: v for k, v in told.items() if v != meant.get(k) and v not in ("undecided", "crash")})
    return wrong, undecided


def breach(base, run):
    """None, or what does not hold of this run."""
    status, _, left, out, err, files = run
    if status == -1:
        return "hang"
    if not os.WIFEXITED(status):
        return f"signal {os.WTERMSIG(status)}"
    code, wanted = os.WEXITSTATUS(status), os.WEXITSTATUS(base[0])
    if left:
        return "a process was left"
    odd = [name for name in files if name not in base[5] and lasting(name) not in base[5]]
    if odd:
        return f"files left: {odd}"
    if code == wanted and out == base[3] and files == base[5]:
        return None
    wrong, undecided = compare_verdicts(base, run)
    if wrong:
        return f"verdict changed: {wrong}"
    if code == wanted:
        return "the same code, another output"
    if code == 4 and undecided:
        lost = [name for name, text in files.items() if set(verdicts(base[5].get(name, ""))) - set(verdicts(text))]
        if lost:
            return f"exit 4 without all results: {lost}"
    elif code != 3:
        return f"exit {code}: {err.strip()[:200]}"
    lines = [line for line in err.splitlines() if line]
    if code == 3 and (len(lines) != 1 or not re.search("memory|allocate", lines[0])):
        return f"exit 3 without its one line: {err.strip()[:300]!r}"
    half = [name for name, text in files.items() if text != base[5].get(name) and not whole(name, text)]
    if half:
        return f"half a file: {half}"
    return None


def blind(base):
    """Texts with verdicts of which none would be compared."""
    texts = {"standard output": base[3], **base[5]}
    return [name for name, text in texts.items() if lines_with_verdicts(text) != len(verdicts(text))]


def check(arguments, name):
    program = Program(arguments, name)
    base = program.run(0, 1)
    again = program.run(0, 1)
    said, codes = [], collections.Counter()
    if base[2:] != again[2:] or base[0] != again[0] or base[0] != 0:
        said.append(f"{name}: two runs without a failure differ: {base[0]} {again[0]} {base[4][:300]}")
    if blind(base):
        said.append(f"{name}: verdicts that cannot be compared: {blind(base)}")
    for mode in arguments.modes:
        k = 1
        while k <= base[1] and not said[arguments.most:]:
            run = program.run(k, mode)
            what = breach(base, run)
            codes[os.WEXITSTATUS(run[0]) if run[0] >= 0 and os.WIFEXITED(run[0]) else "ended"] += 1
            if what:
                said.append(f"{name}: k = {k}, mode {mode}: {what}")
            early, step = WRITES.get(name.split("-", maxsplit=1)[0], (base[1], 1))
            k += max(step if k >= early else 1, arguments.step, base[1] // arguments.runs if arguments.runs else 1)
    program.close()
    return base[1], codes, said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--runs", type=int, help="about so many k of each command")
    parser.add_argument("--most", type=int, default=40, help="breaches of a command after which it is left")
    parser.add_argument("--command", help="names, separated by commas")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--modes", default="1,2")
    for name in ("attest", "shim", "folder"):
        parser.add_argument(name)
    arguments = parser.parse_args()
    arguments.modes = [int(mode) for mode in arguments.modes.split(",")]
    arguments.folder = os.path.abspath(arguments.folder)
    names = arguments.command.split(",") if arguments.command else QUICK if arguments.quick else list(COMMANDS)
    total, breaches = 0, []
    for name in names:
        start = time.time()
        count, codes, said = check(arguments, name)
        total += sum(codes.values())
        breaches += said
        table = ", ".join(f"{code}: {number}" for code, number in sorted(codes.items(), key=str))
        print(f"alloc: {name}: {count} allocations, exit codes {table}; {len(said)} breaches, "
              f"{time.time() - start:.0f} s", flush=True)
        for line in said:
            print("    " + line, flush=True)
    print(f"alloc: {total} runs, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
