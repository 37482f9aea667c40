"""stopped.py ATTEST LIBRARY SUITE: a gate is killed while the processes of its load rest, stopped, five times; counts
those that are still there a second later."""
import os
import signal
import subprocess
import sys
import time
import uuid

TIMES = 5


def marked(mark):
    """(pid, state) of all processes with the mark in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as environ, open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
                if mark.encode() in environ.read():
                    found.append((int(pid), stat.read().rsplit(")", 1)[1].split()[0]))
        except OSError:
            pass
    return found


def run(attest, library, suite):
    """1: the gate was killed while a process of it was stopped; how many it left."""
    mark = f"STOPPED_MARK={uuid.uuid4()}"
    name, value = mark.split("=")
    gate = subprocess.Popen([attest, "gate", "--library", library, "--kernel", "*beside", "--suite", suite, "--jobs",
                             "1", "--quiet"], env=dict(os.environ, **{name: value}), stdout=subprocess.DEVNULL)
    while gate.poll() is None and not any(state == "T" for _, state in marked(mark)):
        pass
    gate.send_signal(signal.SIGKILL)
    killed = gate.wait() == -signal.SIGKILL
    time.sleep(1)
    left = [pid for pid, _ in marked(mark)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return killed, len(left)


def main():
    ends = [run(*sys.argv[1:4]) for _ in range(TIMES)]
    print(f"killed {sum(killed for killed, _ in ends)} times while the load rested, {sum(n for _, n in ends)} processes left")


if __name__ == "__main__":
    main()
