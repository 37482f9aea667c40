"""mirror.py: tests/ROOM/test_X.c tests ROOM/X.c, or a line of tests/ROOM/README.md says what it tests instead; no
folder has more than 25 entries (suites, planted defects and worst cases apart); and the suites that tests/main.c names
are there.  Prints every breach, exit code 1 if any."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOST = 25
CROWDED = re.compile(r"^(verify/suites|kernels/defects/\w+|tests/worst-cases)$")
TEST = re.compile(r"^tests/((?:kernels|props|reference|reports|verify)(?:/\w+)?)/test_(\w+)\.c$")


def main():
    paths = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                           stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    paths = [path for path in paths if os.path.exists(os.path.join(ROOT, path))]
    said, entries = [], {}
    for path in paths:
        parts = path.split("/")
        for depth in range(1, len(parts)):
            entries.setdefault("/".join(parts[:depth]), set()).add(parts[depth])
        found = TEST.match(path)
        if found and f"{found[1]}/{found[2]}.c" not in paths:
            readme = os.path.join(ROOT, "tests", found[1], "README.md")
            text = open(readme, encoding="utf-8").read() if os.path.exists(readme) else ""
            if f"`test_{found[2]}.c`" not in text:
                said.append(f"{path}: there is no {found[1]}/{found[2]}.c, and tests/{found[1]}/README.md does not name it")
    runner = open(os.path.join(ROOT, "tests/main.c"), encoding="utf-8").read()
    said += [f"tests/main.c: suite_{name}: there is no test_{name}.c" for name in re.findall(r'"suite_(\w+)"', runner)
             if not any(path.startswith("tests/") and path.endswith(f"/test_{name}.c") for path in paths)]
    said += [f"{folder}: {len(names)} entries, at most {MOST}" for folder, names in sorted(entries.items())
             if len(names) > MOST and not CROWDED.match(folder)]
    for line in said:
        print("mirror: " + line)
    if not said:
        print("mirror: ok")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
