"""tree.py: copies of the source tree in which code is broken on purpose, built, tested and put back.

The tree itself is never touched.  A copy is kept, so that the next run compiles only what changed.  One program holds
all suites (build/attest-tests); CK_RUN_SUITE chooses one.  Which suites can notice a change of a file is read from the
objects: those whose program holds an object made of that file, or that start a program which does.
"""
import filecmp
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK = os.path.join(ROOT, "build", "mutate")
FOLDERS = ["kernels", "reference", "props", "reports", "verify", "tests", "examples"]
TESTS = "build/attest-tests"
DEFECTS = "build/defects/defects.so"
COMMAND_LINE = ("cli", "cmd_audit", "cmd_bench", "cmd_defects", "cmd_gate", "cmd_init_kernel", "cmd_props")  # they start it
SLOW_TO_BUILD = {"made_up", "stream"}  # these build a tree, or a program, of their own: no operator asks them
TIMED = {"yardstick"}  # measures time: asked only of its own room, a busy machine fails it too
TIMES = "suite-times.json"
MAKE = ["make", "-j1", "NVCC="]
QUICKLY = ["STREAM="]  # programs that only the suite stream starts; they are made of all that draws, four times


def files_under(top):
    """Paths of all files of FOLDERS below `top`, relative to it, and the two that make reads."""
    found = {name for name in ("Makefile", "config.mk") if os.path.exists(os.path.join(top, name))}
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(top, folder)):
            found |= {os.path.relpath(os.path.join(path, name), top) for name in names if not name.endswith(".pyc")}
    return found


def read(path):
    with open(path, encoding="utf-8") as text:
        return text.read()


def run(command, cwd, timeout, **more):
    """Exit code (None: it took too long, and was ended with all that it started) and what it printed."""
    env = dict(os.environ, MAKEFLAGS="", OMP_NUM_THREADS="1", CFLAGS="-O1", ATTEST_TEST_JOBS="1", ATTEST_TEST_PART="",
               CK_TIMEOUT_MULTIPLIER="4", ATTEST_WORKER=os.path.join(cwd, "build/attest-worker"), **more)
    process = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    try:
        text, _ = process.communicate(timeout=timeout)
        return process.returncode, text
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, "timeout"


class Copy:
    """One copy, with everything built, and what is known of its suites."""

    def __init__(self, work, index):
        self.path, self.work = os.path.join(work, str(index)), work
        self.reach, self.users, self.times, self.names = {}, {}, {}, {}

    def update(self):
        """Brings the sources up to date; only files that differ are written, so what is built there stays valid."""
        os.makedirs(self.path, exist_ok=True)
        wanted = files_under(ROOT)
        for name in files_under(self.path) - wanted:
            os.remove(os.path.join(self.path, name))
        for name in wanted:
            source, target = os.path.join(ROOT, name), os.path.join(self.path, name)
            if not os.path.exists(target) or not filecmp.cmp(source, target, shallow=False):
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copyfile(source, target)

    def build(self, programs, more=QUICKLY):
        """The runner; with programs=1 what suites start too, with 2 also planted defects.  '' or make's last words."""
        started = (self.program_targets() if programs else []) + ([DEFECTS] if programs == 2 else [])
        code, text = run(MAKE + more + [TESTS] + started, self.path, 3600)
        return "" if code == 0 else text[-600:] or "make: timeout"

    def build_for(self, suite):
        """What one suite needs; '' or make's last words."""
        return self.build(self.needs_programs(suite), [] if suite in SLOW_TO_BUILD else QUICKLY)

    def program_targets(self):
        return ["all", "plugins"]

    def run_suite(self, suite, timeout):
        """'' if it passes, else the test that fails first, or how the suite ended."""
        code, text = run([TESTS], self.path, timeout, CK_RUN_SUITE=self.names[suite])
        if code == 0:
            return ""
        failed = re.findall(r":[FE]:([\w ,.-]+):(\w+):", text)
        return "timeout" if code is None else failed[0][1] if failed else f"exit {code}"

    # ---- which suites can notice what
    def learn(self):
        """Reads suites, their names and what their programs hold, from a copy that is built."""
        needs, defines = symbols(self.path)
        parts = {"attest": closure(["verify/main.o"], needs, defines),
                 "worker": closure(["verify/worker/program/worker_main.o"], needs, defines),
                 "defects": {path for path in needs if path.startswith("kernels/defects/")}}
        for path in sorted(glob.glob(os.path.join(self.path, "tests/**/test_*.c"), recursive=True)):
            text, relative = read(path), os.path.relpath(path, self.path)
            suite = os.path.basename(path)[5:-2]
            name = re.search(r'suite_(?:create|of_cases)\("([^"]*)"', text)
            if not name or suite == "made_up":
                continue
            self.names[suite] = name.group(1)
            held = closure([relative[:-2] + ".o"], needs, defines)
            if re.search(r'/attest[ "\\]|"A"|commands/cases.h"', text):
                held |= parts["attest"]
            if "verify/worker/worker_start.o" in held:
                held |= parts["worker"]
            programs = int("ATTEST_TEST_BUILD" in text or "verify/worker/worker_start.o" in held)
            if "defects" in text or suite in COMMAND_LINE:
                held, programs = held | parts["defects"], 2
            self.reach[suite] = (relative, held, programs)
        self.users = users_of(self.path)

    def suites_for(self, path):
        """Suites that can notice a change of this file, those of its own room first, the quick before the slow."""
        objects = {path[:-2] + ".o"} if path.endswith(".c") else self.users.get(path, set())
        stem, room = os.path.basename(path)[:-2], os.path.dirname(path)
        found = []
        for suite, (test, held, _) in self.reach.items():
            if suite in SLOW_TO_BUILD or (not objects & held and test[:-2] + ".o" not in objects):
                continue
            place = os.path.dirname(test)[len("tests/"):]
            near = 0 if suite == stem else 1 if place == room else 4 if suite in COMMAND_LINE else \
                2 if place.split("/")[0] == room.split("/")[0] else 3
            if suite in self.times and (suite not in TIMED or place.endswith(os.path.basename(room))):
                found.append((near, self.times[suite], suite))
        return [suite for _, _, suite in sorted(found)]

    def needs_programs(self, suite):
        return self.reach[suite][2]

    def measure(self, suites):
        """Seconds of each suite, kept in the work folder; returns suites that fail as they are."""
        kept, broken = os.path.join(self.work, TIMES), {}
        if os.path.exists(kept):
            self.times = json.loads(read(kept))
        for suite in sorted(set(suites) & set(self.reach) - set(self.times)):
            start = time.monotonic()
            failed = self.run_suite(suite, 1200)
            if failed:
                broken[suite] = failed
                continue
            self.times[suite] = round(time.monotonic() - start, 2)
            with open(kept, "w", encoding="utf-8") as out:
                json.dump(self.times, out, indent=1, sort_keys=True)
        return broken

    # ---- breaking and putting back
    def broken(self, path, text):
        """A context in which the file holds another text."""
        return Broken(self, path, text)


class Broken:
    """Writes a file, and at the end puts it back and removes what was built since, so that only that is built again."""

    def __init__(self, copy, path, text):
        self.copy, self.path, self.text = copy, os.path.join(copy.path, path), text

    def __enter__(self):
        self.original, stat = read(self.path), os.stat(self.path)
        self.stamps = (stat.st_atime_ns, stat.st_mtime_ns)
        with open(self.path, "w", encoding="utf-8") as out:
            out.write(self.text)
        self.since = os.stat(self.path).st_mtime_ns

    def __exit__(self, *_):
        with open(self.path, "w", encoding="utf-8") as out:
            out.write(self.original)
        os.utime(self.path, ns=self.stamps)
        for folder, _, names in os.walk(os.path.join(self.copy.path, "build")):
            for name in names:
                built = os.path.join(folder, name)
                if os.lstat(built).st_mtime_ns >= self.since:
                    os.remove(built)


def copies(work, count, suites=None):
    """Copies with everything built; says which suites fail without any mutation: what they kill would say nothing."""
    made = []
    for index in range(count):
        copy = Copy(work, index)
        copy.update()
        problem = copy.build(2, [] if suites and suites & SLOW_TO_BUILD else QUICKLY)
        if problem:
            sys.exit("the sources do not build: " + problem)
        copy.learn()
        for suite, failed in copy.measure(suites or set(copy.reach) - SLOW_TO_BUILD).items():
            print(f"suite {suite} fails as it is: {failed}", flush=True)
        made.append(copy)
    return made


def symbols(copy):
    """What each object of build/ needs (names) and which object defines a name, from nm."""
    build, needs, defines = os.path.join(copy, "build"), {}, {}
    objects = glob.glob(os.path.join(build, "**/*.o"), recursive=True)
    skip = ("made-up/", "stream/", "runner/")
    for start in range(0, len(objects), 100):
        listed = subprocess.run(["nm", "-A"] + objects[start:start + 100], stdout=subprocess.PIPE, text=True,
                                check=True).stdout
        for line in listed.splitlines():
            path, _, rest = line.partition(":")
            path, words = os.path.relpath(path, build), rest.split()
            if path.startswith(skip):
                continue
            needs.setdefault(path, set())
            if words[-2] == "U":
                needs[path].add(words[-1])
            elif words[-2].isupper() and not path.startswith("kernels/defects/"):
                defines[words[-1]] = path
    return needs, defines


def closure(start, needs, defines):
    """Objects that a program of these needs, as a linker takes them from the libraries."""
    found, open_ones = set(), [path for path in start if path in needs]
    while open_ones:
        path = open_ones.pop()
        if path not in found:
            found.add(path)
            open_ones += [defines[name] for name in needs[path] if name in defines]
    return found


def users_of(copy):
    """Objects made of each header, from the lists that the compiler wrote."""
    users, build = {}, os.path.join(copy, "build")
    for path in glob.glob(os.path.join(build, "**/*.d"), recursive=True):
        made = os.path.relpath(path, build)[:-2] + ".o"
        for name in read(path).split():
            if name.endswith(".h"):
                users.setdefault(name, set()).add(made)
    return users
