"""kills.py workers|gate|four BUILD [--suite NAME] [--kernel GLOB] [--kills N] [--seed S]: what kill -9, or others of
its kind, do to a gate.

    workers   N random workers are killed while a suite runs (again and again, until there were N): the verdicts are those
              of a run that nobody disturbs, but for cases whose worker was killed twice, which are crashes and say so
    gate      the gate is killed N times at random moments, shown by `attest report` as unfinished, and resumed: the files
              in the end are those of one run, byte for byte but for the seconds that kernels took
    four      four gates begin at once in one folder: one runs, three end with exit code 2 and one line, and its files are
              those of one run; then four in a folder each: all files are those of one run
Exit code 1 if not.
"""
import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TWICE = re.compile(r"signal 9 \(Killed\)")


def command(args, out, *more):
    line = [os.path.join(args.build, "attest"), "gate", "--suite", args.suite, "--quiet", "--out", out, *more]
    return line + (["--kernel", args.kernel] if args.kernel else [])


def environment(args):
    return dict(os.environ, SOURCE_DATE_EPOCH="7", ATTEST_WORKER=os.path.join(args.build, "attest-worker"))


def verdicts(folder):
    """(kernel, problem) -> (verdict, why) of each result."""
    with open(os.path.join(folder, "results.jsonl"), encoding="utf-8") as lines:
        results = [json.loads(line) for line in lines]
    pairs = [(r["kernel"], r["problem"]) for r in results]
    assert len(pairs) == len(set(pairs)), "a pair has two results"
    return {pair: (r["verdict"], r["why"]) for pair, r in zip(pairs, results)}


def workers_of(pid):
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.path.basename(os.readlink(f"/proc/{name}/exe")) == "attest-worker":
                with open(f"/proc/{name}/stat", encoding="utf-8") as stat:
                    if int(stat.read().rsplit(")", 1)[1].split()[1]) == pid:
                        found.append(int(name))
        except OSError:
            pass  # it has ended
    return found


def kill_workers(args, rng, scratch):
    whole = os.path.join(scratch, "whole")
    start = time.monotonic()
    subprocess.run(command(args, whole), env=environment(args), check=False)
    pause = args.pause or 1.8 * (time.monotonic() - start) / args.kills  # so that they reach to the end of a run
    want = verdicts(whole)
    kills, runs, crashes, wrong = 0, 0, 0, 0
    while kills < args.kills:
        folder = os.path.join(scratch, f"run{runs}")
        runs += 1
        process = subprocess.Popen(command(args, folder), env=environment(args))
        while process.poll() is None:
            time.sleep(rng.uniform(0, pause))
            alive = workers_of(process.pid)
            if alive and kills < args.kills:
                try:
                    os.kill(rng.choice(alive), signal.SIGKILL)
                    kills += 1
                except ProcessLookupError:
                    pass
        got = verdicts(folder)
        for pair in sorted(set(want) | set(got)):
            twice = pair in got and got[pair][0] == "crash" and TWICE.search(got[pair][1])
            crashes += bool(twice)
            if not twice and (pair not in got or pair not in want or got[pair][0] != want[pair][0]):
                wrong += 1
                if wrong <= 20:
                    print(f"{pair}: {got.get(pair)}, undisturbed {want.get(pair)}")
        shutil.rmtree(folder)
    print(f"{kills} workers killed in {runs} runs of {len(want)} results: {crashes} crashes of workers that were killed "
          f"twice, {wrong} other verdicts")
    return wrong


def texts(folder):
    """Each file without what depends on the clock."""
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as text:
            content = text.read()
        if name == "results.csv":
            rows = [row.split(",") for row in content.split("\n")]  # timings come last, four cells
            content = "\n".join(",".join(row[:-4]) for row in rows)
        content = re.sub(r'"seconds_\w+":(\{[^}]*\}|null)', "", content)
        found[name] = re.sub(r' time="[^"]*"', "", content)
    return found


def first_difference(want, got):
    """Two lines, where both files are there."""
    if want is None or got is None:
        return "it is missing"
    for a, b in zip(want.split("\n"), got.split("\n")):
        if a != b:
            at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            return f"...{a[max(0, at - 80):at + 80]} | ...{b[max(0, at - 80):at + 80]}"
    return "more lines"


def kill_gate(args, rng, scratch):
    whole, folder = os.path.join(scratch, "whole"), os.path.join(scratch, "killed")
    start = time.monotonic()
    subprocess.run(command(args, whole), env=environment(args), check=False)
    seconds = time.monotonic() - start
    kills, finished, wrong, shown = 0, 0, 0, 0
    report = [os.path.join(args.build, "attest"), "report", folder, "--quiet"]
    while kills < args.kills:
        shutil.rmtree(folder, ignore_errors=True)
        more = []
        while kills < args.kills:
            process = subprocess.Popen(command(args, folder, *more), env=environment(args))
            time.sleep(rng.uniform(0, seconds * args.share))
            process.send_signal(signal.SIGKILL)
            if process.wait() != -signal.SIGKILL:
                break
            kills += 1
            if not os.path.exists(os.path.join(folder, "run.json")):
                continue
            more = ["--resume"]
            code = subprocess.run(report, check=False).returncode
            with open(os.path.join(folder, "index.html"), encoding="utf-8") as page:
                shown += code == 0 and "unfinished" in page.read()
            for name in ("index.html", "order.json"):  # what the report made
                os.unlink(os.path.join(folder, name))
        subprocess.run(command(args, folder, *more), env=environment(args), check=False)
        finished += 1
        want, got = texts(whole), texts(folder)
        for name in sorted(set(want) | set(got)):
            if want.get(name) != got.get(name):
                wrong += 1
                print(f"{name} differs from that of one run: {first_difference(want.get(name), got.get(name))}")
    print(f"the gate was killed {kills} times in {finished} runs of {seconds:.1f} s and resumed: {wrong} files differ, "
          f"{shown} pages said unfinished")
    return wrong


def differing(want, folder):
    """Prints and counts the files of a folder that are not as in `want`."""
    got = texts(folder)
    odd = [name for name in sorted(set(want) | set(got)) if want.get(name) != got.get(name)]
    for name in odd:
        print(f"{folder}/{name} differs from that of one run")
    return len(odd)


def at_once(args, folders):
    """(exit code, standard error) of one gate in each folder."""
    gates = [subprocess.Popen(command(args, folder), env=environment(args), stderr=subprocess.PIPE, encoding="utf-8")
             for folder in folders]
    errors = [gate.communicate()[1] for gate in gates]
    return [(gate.returncode, error) for gate, error in zip(gates, errors)]


def four_gates(args, rng, scratch):
    whole, shared = os.path.join(scratch, "whole"), os.path.join(scratch, "shared")
    code = subprocess.run(command(args, whole), env=environment(args), check=False).returncode
    want = texts(whole)
    ends = at_once(args, [shared] * 4)
    refused = [error for ended, error in ends if ended == 2 and error.count("\n") == 1 and "another run" in error]
    wrong = abs(len(refused) - 3) + ([ended for ended, _ in ends].count(code) != 1) + differing(want, shared)
    if wrong:
        print(ends)
    apart = [os.path.join(scratch, f"own{number}") for number in range(4)]
    ends = at_once(args, apart)
    late = sum(ended != code for ended, _ in ends)
    other = sum(differing(want, folder) for folder in apart)
    print(f"four gates in one folder: {len(refused)} refused; in four folders: {late} with another exit code, {other} of "
          f"{4 * len(want)} files differ; {wrong + late + other} wrong")
    return wrong + late + other


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["workers", "gate", "four"])
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("--suite", default="smoke")
    parser.add_argument("--kernel")
    parser.add_argument("--kills", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, help="seconds between kills of workers, at most; else spread over a run")
    parser.add_argument("--share", type=float, default=0.5, help="of a run's time before the gate is killed, at most")
    args = parser.parse_args()
    args.kills = args.kills or (200 if args.what == "workers" else 20)
    scratch = tempfile.mkdtemp(prefix="attest-kills-")
    harm = {"workers": kill_workers, "gate": kill_gate, "four": four_gates}[args.what]
    wrong = harm(args, random.Random(args.seed), scratch)
    shutil.rmtree(scratch)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
