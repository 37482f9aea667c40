"""ends.py BUILD: runs that lack what they like to have, or end badly. Each must keep what it judged and say by its exit
code how it ended; a line each, exit code 1 if one does not.

    no gnuplot, no browser   an empty PATH: a study ends with all its points, only the picture is missing, and says so
    no HOME                  an empty environment: a gate, its page
    two in one folder        the second ends with 2 and one line, the first is whole
    | head                   nobody reads the output: the folder is whole, and the exit code is not that of a pass
    ^C                       130, the results so far, shown as unfinished, resumed to the run of one piece
    SIGHUP                   129, likewise; of a terminal that is closed, which takes no output any more
    SIGTERM twice            within half a second, as timeout(1) sends it: as one
    SIGKILL                  the same, without a word
    SIGSTOP of all           (as a container that is frozen) for longer than --timeout: no kernel is late
    a full disk              (disk.c: after 40,000 bytes) not a pass, what was written can be read and resumed
"""
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import time

BUILD = os.path.abspath(sys.argv[1])
ATTEST = os.path.join(BUILD, "attest")
SUITE = ["--suite", "smoke", "--kernel", "*-recurrent-f32", "--device", "cpu"]
DATED = dict(os.environ, SOURCE_DATE_EPOCH="7")
SAID = []
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # attest leaves alone what its caller ignores, as nohup does


def check(what, good, seen=""):
    print("%s %s %s" % ("ok    " if good else "BROKEN", what, "" if good else "| " + str(seen)[:300]))
    SAID.append(good)


def run(*arguments, env=None, **more):
    return subprocess.run([ATTEST, *arguments], env=DATED if env is None else env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, **more)


def results(folder):
    """(kernel, problem) -> what was judged of cases, without times; a last line that was cut is left out."""
    found = {}
    with open(os.path.join(folder, "results.jsonl"), encoding="utf-8") as lines:
        for line in lines:
            if line.endswith("\n"):
                r = json.loads(line)
                if r["problem"]:
                    found[r["kernel"], r["problem"]] = (r["verdict"], r["outputs"], json.dumps(r["ratio"]))
    return found


def info(folder):
    with open(os.path.join(folder, "run.json"), encoding="utf-8") as text:
        return json.load(text)


def has(folder, lines):
    path = os.path.join(folder, "results.jsonl")
    if not os.path.exists(path):
        return False
    with open(path, "rb") as text:
        return text.read().count(b"\n") >= lines


def begun(folder, lines=5, **more):
    """A gate that has written some results."""
    gate = subprocess.Popen([ATTEST, "gate", *SUITE, "--jobs", "1", "--quiet", "--out", folder], env=DATED,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **more)
    while gate.poll() is None and not has(folder, lines):
        time.sleep(0.005)
    return gate


def goes_on(what, folder, whole):
    """What is there is of the whole run, is shown as unfinished, and goes on to it."""
    part = results(folder)
    check(what + ": keeps what was judged", 0 < len(part) < len(whole) and all(whole[k] == v for k, v in part.items()),
          "%d of %d" % (len(part), len(whole)))
    report = run("report", folder, "--quiet")
    with open(os.path.join(folder, "index.html"), encoding="utf-8") as page:
        check(what + ": the page says that it is unfinished", report.returncode == 0 and "unfinished:" in page.read(),
              report.stderr)
    again = run("gate", *SUITE, "--quiet", "--resume", "--out", folder)
    check(what + ": goes on to the run of one piece", again.returncode == 0 and results(folder) == whole and
          info(folder)["finished"] == 1, again.stderr)


def ends_by(signal_number, code, scratch, whole):
    name = signal.Signals(signal_number).name
    folder = os.path.join(scratch, name)
    gate = begun(folder)
    gate.send_signal(signal_number)
    gate.communicate()
    check("%s: exit code %d" % (name, code), gate.returncode == code, gate.returncode)
    check(name + ": not finished", info(folder)["finished"] == 0, info(folder))
    goes_on(name, folder, whole)


def terminal_closed(scratch, whole):
    folder = os.path.join(scratch, "terminal")
    gate, terminal = pty.fork()
    if gate == 0:
        os.execve(ATTEST, [ATTEST, "gate", *SUITE, "--jobs", "1", "--out", folder], DATED)
    while not has(folder, 5):
        time.sleep(0.005)
    os.close(terminal)
    code = os.waitstatus_to_exitcode(os.waitpid(gate, 0)[1])
    check("a closed terminal: exit code 129", code == 129, code)
    goes_on("a closed terminal", folder, whole)


def without_programs(scratch):
    study = ["study", "order", "--orders", "0..2", "--ranges", "1,2", "--centers", "mid", "--out"]
    seen = run(*study, os.path.join(scratch, "seen"))
    blind = run(*study, os.path.join(scratch, "blind"), env={"PATH": scratch, "SOURCE_DATE_EPOCH": "7"})
    files = [os.path.join(scratch, d, "study-order.jsonl") for d in ("seen", "blind")]
    lines = [sum(1 for _ in open(f, encoding="utf-8")) for f in files]
    check("no gnuplot: every point", blind.returncode == seen.returncode == 0 and lines[0] == lines[1] > 0,
          (seen.returncode, blind.returncode, lines, blind.stderr))
    check("no gnuplot: said, and no picture", b"gnuplot" in blind.stderr and b"gnuplot" not in seen.stderr and
          not os.path.exists(os.path.join(scratch, "blind", "study-order.svg")), blind.stderr)
    page = run("report", os.path.join(scratch, "blind"), "--quiet", env={})
    check("no gnuplot, browser, HOME: the page", page.returncode == 0 and
          os.path.getsize(os.path.join(scratch, "blind", "index.html")) > 1000, page.stderr)


def two_in_one(scratch, whole):
    folder = os.path.join(scratch, "two")
    first = begun(folder, 1)
    first.send_signal(signal.SIGSTOP)  # else a second that starts late finds it finished
    second = run("gate", *SUITE, "--quiet", "--out", folder)
    first.send_signal(signal.SIGCONT)
    check("two in one folder: the second ends with 2 and one line",
          second.returncode == 2 and second.stderr.count(b"\n") == 1 and b"another run" in second.stderr,
          (second.returncode, second.stderr))
    first.communicate()
    check("two in one folder: the first is whole", first.returncode == 0 and results(folder) == whole, first.returncode)


def nobody_reads(scratch, whole):
    folder = os.path.join(scratch, "head")
    read, write = os.pipe()
    os.close(read)
    gate = subprocess.run([ATTEST, "gate", *SUITE, "--out", folder], env=DATED, stdout=write, stderr=subprocess.PIPE,
                          check=False)
    os.close(write)
    check("| head: the folder is whole", info(folder)["finished"] == 1 and results(folder) == whole, gate.stderr)
    check("| head: not the exit code of a pass", gate.returncode != 0, gate.returncode)


def full_disk(scratch, whole):
    folder = os.path.join(scratch, "full")
    disk = os.path.join(scratch, "disk.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", disk, os.path.join(os.path.dirname(__file__), "disk.c"), "-ldl"],
                   check=True)
    gate = run("gate", *SUITE, "--jobs", "1", "--quiet", "--out", folder,
               env=dict(DATED, LD_PRELOAD=disk, DISK_BYTES="40000")) # some ten results
    check("a full disk: not a pass, and says so", gate.returncode not in (0, 1, 77) and gate.stderr.count(b"\n") >= 1,
          (gate.returncode, gate.stderr))
    print("       exit code %d: %s" % (gate.returncode, gate.stderr.decode().strip()[:160]))
    goes_on("a full disk", folder, whole)


def twice(scratch, whole):
    folder = os.path.join(scratch, "sent-twice")
    gate = begun(folder, 5)
    for _ in range(2):
        gate.send_signal(signal.SIGTERM)
        time.sleep(0.05)
    gate.communicate()
    check("SIGTERM twice at once: exit code 143", gate.returncode == 143, gate.returncode)
    goes_on("SIGTERM twice at once", folder, whole)


def descendants(pid):
    found = [pid]
    for thread in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/children" % (pid, thread), encoding="ascii") as children:
            for child in children.read().split():
                found += descendants(int(child))
    return found


def frozen(scratch):
    """Of a kernel that sleeps for most of the time, so that the stops fall into its calls."""
    folder = os.path.join(scratch, "frozen")
    gate = subprocess.Popen([ATTEST, "gate", "--library", os.path.join(BUILD, "plugins", "notices.so"), "--kernel",
                             "*slow-calls", "--suite", "smoke", "--jobs", "1", "--timeout", "1", "--quiet", "--out",
                             folder], env=DATED, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for _ in range(4):
        while not has(folder, 1):
            time.sleep(0.01)
        tree = descendants(gate.pid)
        for stop in (signal.SIGSTOP, signal.SIGCONT):
            for pid in tree:
                os.kill(pid, stop)
            time.sleep(1.6 if stop == signal.SIGSTOP else 0.03)
    lived = gate.poll() is None
    errors = gate.communicate()[1]
    check("SIGSTOP of all: no kernel is late", lived and gate.returncode == 0, (lived, gate.returncode, errors))


def main():
    with tempfile.TemporaryDirectory() as scratch:
        plain = os.path.join(scratch, "whole")
        gate = run("gate", *SUITE, "--quiet", "--out", plain, env={"SOURCE_DATE_EPOCH": "7"})
        whole = results(plain)
        check("no HOME, an empty environment: a gate", gate.returncode == 0 and len(whole) > 20, gate.stderr)
        without_programs(scratch)
        two_in_one(scratch, whole)
        nobody_reads(scratch, whole)
        ends_by(signal.SIGINT, 130, scratch, whole)
        ends_by(signal.SIGTERM, 143, scratch, whole)
        ends_by(signal.SIGHUP, 129, scratch, whole)
        twice(scratch, whole)
        terminal_closed(scratch, whole)
        ends_by(signal.SIGKILL, -9, scratch, whole)
        full_disk(scratch, whole)
        frozen(scratch)
    print("ends: %d of %d" % (sum(SAID), len(SAID)))
    return 0 if all(SAID) else 1


sys.exit(main())
