"""run.py [--only TEXT] [--jobs N] [--work DIR]: breaks the code on purpose, one line at a time; which test says so?

tests/mutations/*.mut hold blocks of `key: value` lines ended by a blank line:

    covers: attest_visible            public functions or axis=value that this mutation vouches for
    file: kernels/problem/problem.c
    old: j <= i                       must occur exactly once in the file (or `at: N`: the N-th of several)
    new: j < i
    suite: problem                    tests/kernels/problem/test_problem.c must fail (or `suite: cli`)

Works in copies of the source tree under build/mutate (or DIR), so the tree itself is never touched; a copy is kept, so
that the next run compiles only what changed.  Prints the table (covers, file, caught by which test) and exits 1 if a
mutant survives, does not build, or if a public function of the headers or a served axis value has no line.
"""
import argparse
import concurrent.futures
import filecmp
import glob
import os
import queue
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK = os.path.join(ROOT, "build", "mutate")
HEADERS = ["kernels/status.h", "kernels/problem/variant.h", "kernels/problem/variant_text.h", "kernels/problem/problem.h",
           "kernels/tensor/tensor.h", "kernels/npy/npy.h", "kernels/library/plugin.h", "kernels/library/registry.h", "kernels/attest_float.h",
           "reference/reference.h", "reference/identities/identities.h", "reference/evidence/evidence.h", "reference/dd/dd.h",
           "verify/claims/claims.h",
           "props/draw/rng.h", "props/draw/draw.h", "props/generate/generate.h", "props/generate/labels.h",
           "reports/row.h", "reports/report.h", "reports/write.h",
           "verify/worker/worker.h", "verify/compare/compare.h", "verify/suite/suite.h", "verify/suite/suite_rules.h", "verify/commands/list_cells.h",
           "verify/gate/runner.h", "verify/gate/gate.h", "verify/commands/cli.h", "verify/commands/inputs.h",
           "verify/claims/claims_tables.h", "verify/claims/claims_case.h",
           "reference/yardstick/yardstick.h", "verify/bench/bench.h", "verify/bench/bench_jobs.h", "verify/bench/bench_table.h",
            "verify/defects/defects.h", "verify/gate/case_checks.h", "reference/truth/trust.h", "reports/trust.h", "verify/gate/trust.h",
            "verify/peer_gates/peer_gates.h", "verify/peer_gates/peer_gates_plain.h", "props/search/search.h", "props/search/search_rng.h",
            "props/search/search_latent.h", "verify/search/search_eval.h", "verify/search/search_run.h", "verify/commands/case_file.h",
            "verify/classify/classify.h", "reports/traits.h", "props/shrink/shrink.h", "props/shrink/token.h", "verify/properties/props_files.h",
            "verify/properties/props_replay.h", "props/property.h", "props/properties/trial.h", "props/properties/relation.h", "props/generate/generate.h",
            "props/generate/labels.h", "verify/properties/props_host.h", "verify/properties/props_run.h", "verify/properties/props_print.h",
            "verify/properties/props_defects.h", "verify/properties/props_explain.h", "verify/properties/props_failure.h"]
FOLDERS = ["kernels", "reference", "props", "reports", "verify", "tests", "examples"]


def blocks():
    """All mutations of all tables, in file order."""
    found = []
    for path in sorted(glob.glob(os.path.join(ROOT, "tests/mutations/*.mut"))):
        with open(path, encoding="utf-8") as text:
            for number, chunk in enumerate(re.split(r"\n\s*\n", text.read()), 1):
                lines = [line for line in chunk.splitlines() if line.strip() and not line.startswith("#")]
                if not lines:
                    continue
                block = dict(re.match(r"(\w+): ?(.*)$", line).groups() for line in lines)
                block["where"] = f"{os.path.basename(path)}#{number}"
                missing = {"covers", "file", "old", "new", "suite"} - set(block)
                if missing:
                    sys.exit(f"{block['where']}: missing {sorted(missing)}")
                found.append(block)
    return found


def public_functions():
    """Names declared in the public headers."""
    names = set()
    for header in HEADERS:
        path = os.path.join(ROOT, header)
        if not os.path.exists(path):
            continue
        text = re.sub(r"/\*.*?\*/", "", open(path, encoding="utf-8").read(), flags=re.S)
        for match in re.finditer(r"^(?:static inline )?[a-z][\w \*]*?\b\**((?:attest|claim)_\w+)\(", text, flags=re.M):
            names.add(match.group(1))
    return names


def axis_values():
    """axis=value of every value that this version's reference serves, as `attest list axes` would say."""
    path = os.path.join(ROOT, "tests/mutations/axes.txt")
    return set(open(path, encoding="utf-8").read().split()) if os.path.exists(path) else set()


def files_under(top):
    """Paths of all files of FOLDERS below `top`, relative to it, and the two that make reads."""
    found = {name for name in ("Makefile", "config.mk") if os.path.exists(os.path.join(top, name))}
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(top, folder)):
            found |= {os.path.relpath(os.path.join(path, name), top) for name in names}
    return found


def make_copy(work, index):
    """Brings DIR/index up to date; only files that differ are written, so what is built there stays valid."""
    copy = os.path.join(work, str(index))
    os.makedirs(copy, exist_ok=True)
    wanted = files_under(ROOT)
    for name in files_under(copy) - wanted:
        os.remove(os.path.join(copy, name))
    for name in wanted:
        source, target = os.path.join(ROOT, name), os.path.join(copy, name)
        if not os.path.exists(target) or not filecmp.cmp(source, target, shallow=False):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(source, target)
    return copy


def run(command, cwd, timeout):
    env = dict(os.environ, MAKEFLAGS="", OMP_NUM_THREADS="1", CFLAGS="-O1")
    try:
        done = subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=timeout, text=True, errors="replace", check=False)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return -1, "timeout"


def included(copy, path, seen):
    """Adds to `seen` what `path` includes from the root, and what headers under tests/ include in turn."""
    text = open(os.path.join(copy, path), encoding="utf-8").read()
    for name in set(re.findall(r'#include "(\w+/[\w./-]+)"', text)) - seen:
        seen.add(name)
        if name.startswith("tests/"):
            included(copy, name, seen)
    return seen


def sources(copy, suite):
    """make's lists of sources, cut down to the layers that the suite's test includes: less to compile and link."""
    seen = included(copy, f"tests/test_{suite}.c", set())
    folders = {name.split("/")[0] for name in seen}
    if "verify" in folders or suite == "kernels":
        return []
    folders |= {"props", "kernels"} if "reference" in folders else set()
    def of(folder):
        return sorted(os.path.relpath(p, copy) for p in glob.glob(os.path.join(copy, folder, "*.c")))
    library = [p for folder in ("reference", "props", "reports") if folder in folders for p in of(folder)]
    kernels = [p for p in of("kernels") if p != "kernels/library/registry.c"]
    if "kernels/library/registry.h" in seen:
        kernels = of("kernels") + of("kernels/cpu") + of("kernels/model") + of("kernels/yardstick")
    return ["LIB_SRC=" + " ".join(library), "KERNEL_SRC=" + " ".join(kernels)]


def build_suite(copy, suite):
    build = os.path.join(copy, "build")
    for name in ("libattest.a", "libkernels.a"):  # made of other objects for another suite
        if os.path.exists(os.path.join(build, name)):
            os.remove(os.path.join(build, name))
    targets, lists = [f"build/t/test_{suite}"], []
    if suite in ("cli", "worker", "plugin", "classify", "props_states"):
        targets += sorted("build/plugins/" + os.path.basename(p)[:-2] + ".so"
                          for p in glob.glob(os.path.join(copy, "tests/plugins/*.c")))
    if suite in ("cli", "classify", "props", "props_files", "props_masks", "props_powers", "props_states",
                 "props_values"):
        targets.append("build/defects/defects.so")
    if suite in ("cli", "worker", "study", "classify") or suite.startswith("props"):
        targets.append("all")
    else:
        lists = sources(copy, suite)
    return run(["make", "-j1", "NVCC="] + lists + targets, copy, 600)


def run_suite(copy, suite):
    return run(["env", f"ATTEST_WORKER={copy}/build/attest-worker", f"build/t/test_{suite}"], copy, 240)


def broken_before(copy, suites):
    """Suites that fail without any mutation: what they catch says nothing."""
    broken = []
    for suite in suites:
        code, text = build_suite(copy, suite)
        code, text = run_suite(copy, suite) if code == 0 else (code, text)
        if code != 0:
            broken.append(suite)
            print(f"suite {suite} fails as it is: {text[-600:]}")
    return broken


def restore(path, original, times, since):
    """Puts the file back as it was, and removes what was built since, so that only that is built again."""
    with open(path, "w", encoding="utf-8") as out:
        out.write(original)
    os.utime(path, ns=times)
    copy = path
    while not os.path.exists(os.path.join(copy, "Makefile")):
        copy = os.path.dirname(copy)
    for folder, _, names in os.walk(os.path.join(copy, "build")):
        for name in names:
            built = os.path.join(folder, name)
            if os.stat(built).st_mtime_ns >= since:
                os.remove(built)


def try_one(block, copies):
    """'' if caught, with block['caught'] naming the test; else what went wrong."""
    copy = copies.get()
    path = os.path.join(copy, block["file"])
    try:
        original = open(path, encoding="utf-8").read()
        places = [m.start() for m in re.finditer(re.escape(block["old"]), original)]
        at = int(block.get("at", 0))
        if (at == 0 and len(places) != 1) or at > len(places):
            return f"'{block['old']}' occurs {len(places)} times in {block['file']}"
        place = places[at - 1 if at else 0]
        stat = os.stat(path)
        with open(path, "w", encoding="utf-8") as out:
            out.write(original[:place] + block["new"] + original[place + len(block["old"]):])
        since = os.stat(path).st_mtime_ns
        try:
            code, text = build_suite(copy, block["suite"])
            if code != 0:
                return "does not build: " + text[-300:]
            code, text = run_suite(copy, block["suite"])
            if code == 0:
                return "SURVIVED"
            names = re.findall(r":[FE]:([\w ,.-]+):(\w+):", text)
            block["caught"] = names[0][1] if names else f"exit {code}"
            return ""
        finally:
            restore(path, original, (stat.st_atime_ns, stat.st_mtime_ns), since)
    finally:
        copies.put(copy)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--work", default=WORK)
    options = parser.parse_args()
    table = [b for b in blocks() if options.only in b["where"] + " " + b["covers"] + " " + b["file"]]
    copies = queue.Queue()
    for index in range(options.jobs):
        copies.put(make_copy(options.work, index))
    broken = broken_before(copies.queue[0], sorted({b["suite"] for b in table}))
    bad = skipped = sum(b["suite"] in broken for b in table)
    table = [b for b in table if b["suite"] not in broken]
    print(f"{'covers':44} {'file':32} {'suite':14} caught by")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for block, problem in zip(table, pool.map(lambda b: try_one(b, copies), table)):
            bad += problem != ""
            print(f"{block['covers'][:44]:44} {block['file'][:32]:32} {block['suite']:14} "
                  f"{block.get('caught') or problem + '  <== ' + block['where']}", flush=True)
    print(f"{len(table) + skipped - bad} of {len(table) + skipped} mutants caught")
    if not options.only:
        covered = set(" ".join(b["covers"] for b in table).split())
        for name in sorted((public_functions() | axis_values()) - covered):
            bad += 1
            print(f"no mutation covers {name}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
