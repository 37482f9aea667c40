"""table.py BUILD PAGE: the table of cheats between the marks of PAGE, from what `attest judge` and public.c say.

Exit code 1 if a cheat is not refused, or an honest kernel is."""
import json
import re
import subprocess
import sys

BUILD, PAGE = sys.argv[1:3]
LIBRARY = f"{BUILD}/plugins/cheats.so"
SUITE = "tests/verify/contest/cheats/cheats.suite"
BEGIN, END = "<!-- table -->\n", "<!-- end -->\n"


def judged():
    """kernel -> judgement"""
    said = subprocess.run([f"{BUILD}/attest", "judge", LIBRARY, "--suite", SUITE, "--format", "json"],
                          stdout=subprocess.PIPE, text=True).stdout
    return {j["kernel"].split(":")[-1]: j for j in map(json.loads, said.splitlines())}


def main():
    found = judged()
    public = [line.split() for line in
              subprocess.run([f"{BUILD}/public", LIBRARY], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()]
    what = dict(re.findall(r'\{ "([\w-]+)", \w+, "([^"]*)" \}', open("tests/verify/contest/cheats/cheats.c").read()))
    passed, rows, bad = [0, 0, 0, 0], [], 0
    for name, *columns in public:
        columns = [int(x) for x in columns] + [int(found[name]["verdict"] == "pass")]
        if name.startswith("honest"):
            bad += columns[3] != 1
        else:
            bad += columns[3] != 0
            passed = [a + b for a, b in zip(passed, columns)]
        reasons = ", ".join(sorted(found[name]["reasons"])) or "-"
        rows.append(f"| {name} | {what[name]} | " + " | ".join("passes" if x else "-" for x in columns) + f" | {reasons} |")
    cheats = sum(not row[0].startswith("honest") for row in public)
    head = ["| kernel | what it does | one input | five inputs | five, normal | `attest judge` | reasons there |",
            "|---|---|---|---|---|---|---|"]
    last = ["| **cheats that pass** | of " + str(cheats) + " | " + " | ".join(f"**{n}**" for n in passed) + " | |"]
    page = open(PAGE, encoding="utf-8").read()
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    with open(PAGE, "w", encoding="utf-8") as out:
        out.write(before + BEGIN + "\n".join(head + rows + last) + "\n" + END + after)
    print(f"{cheats} cheats; pass one input {passed[0]}, five {passed[1]}, five normal {passed[2]}, attest judge {passed[3]}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
