"""guard.py record DIR [--build BUILD] [--quick] | guard.py compare OLD NEW: did a change of shape change a number?

record   runs BUILD/attest (default: build) and writes what it says into DIR, one file a section:
             gate-smoke.json, gate-ci.json  every result of the suite: verdict, reasons, errors, bounds, output hash
             reference.json                 what `attest reference` prints for 300 lines of suite ci
             claims.json                    the ledger: every verdict and figure
             list.json                      what `attest list` prints of each kind
             defects.json                   the kill matrix (minutes; --quick leaves it out)
compare  prints, section by section, how many entries are equal and which are not; exit code 1 if one differs or is
         missing.  A section that is missing on one side is said to be missing, and counts as a difference.

Times, dates, paths and what a compiler says of itself are left out: a record is of one machine, and OLD and NEW are made
on the same one.  RENAMED holds the keys of a result that have another name now; add a row there with the change.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KINDS = ["kernels", "variants", "properties", "families", "claims", "defects"]
LINES = 300
WANTS = ["o,u,z,lse", "o,u,z", "o"]
# of one run, one machine or one file: no statement about a kernel
VARYING = {"schema", "run", "tool", "file", "file_hash", "kernel_version", "flags", "device", "seconds_kernel", "seconds_truth"}
RENAMED = {"line": "problem", "gauge_ratio": "abs_scale_ratio", "drift": "outward_bias",
           "probable_ratio": "probabilistic_ratio", "live": "differs"}  # old key of a result -> new key
VALUES = {"verdict": {"mistrusted": "no-evidence"}}  # key -> old value -> new value


def call(attest, *words):
    """Exit code, stdout and stderr of one command."""
    done = subprocess.run([attest, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def results_of(folder):
    """The results of a run, by kernel and problem line; a case that stands twice gets a number."""
    path = os.path.join(folder, "results.jsonl")
    if not os.path.exists(path):
        path = os.path.join(folder, "rows.jsonl")  # schema 1
    found = {}
    with open(path, encoding="utf-8") as lines:
        for text in lines:
            result = json.loads(text)
            if "kernel" not in result:
                continue  # the end marker
            line = result.get("problem", result.get("line"))
            key, number = f"{result['kernel']} | {line}", 1
            while key in found:
                number += 1
                key = f"{result['kernel']} | {line} | {number}"
            found[key] = {name: value for name, value in result.items() if name not in VARYING}
    return found


def gate(attest, suite):
    with tempfile.TemporaryDirectory() as folder:
        code, _, _ = call(attest, "gate", "--suite", suite, "--quiet", "--out", folder)
        found = results_of(folder)
    found["exit code"] = code
    return found


def reference(attest):
    """300 lines of suite ci, evenly apart, each with the outputs that its variant has."""
    _, text, _ = call(attest, "gate", "--suite", "ci", "--list-cases")
    lines = [line for line in dict.fromkeys(text.splitlines()) if "variant=" in line]
    found = {}
    for number in range(LINES):
        line = lines[number * len(lines) // LINES]
        for want in WANTS:
            code, out, _ = call(attest, "reference", "--problem", line, "--want", want)
            if code == 0:
                break
        found[f"{line} | {want}"] = [code, out]
    return found


def claims(attest):
    with tempfile.TemporaryDirectory() as folder:
        code, _, _ = call(attest, "claims", "--quiet", "--out", folder)
        with open(os.path.join(folder, "claims.json"), encoding="utf-8") as text:
            found = {row["claim"]: row for row in json.load(text)}
    found["exit code"] = code
    return found


def lists(attest):
    return {kind: call(attest, "list", kind)[:2] for kind in KINDS}


def defects(attest):
    with tempfile.TemporaryDirectory() as folder:
        code, _, _ = call(attest, "defects", "--matrix", "--quiet", "--out", folder)
        with open(os.path.join(folder, "defects.json"), encoding="utf-8") as text:
            found = {row["defect"]: row for row in map(json.loads, text)}
    found["exit code"] = code
    return found


SECTIONS = {"gate-smoke": lambda attest: gate(attest, "smoke"), "gate-ci": lambda attest: gate(attest, "ci"),
            "reference": reference, "claims": claims, "list": lists, "defects": defects}


def record(options):
    attest = os.path.join(os.path.abspath(options.build), "attest")
    os.makedirs(options.folder, exist_ok=True)
    for name, section in SECTIONS.items():
        if name == "defects" and options.quick:
            continue
        found = section(attest)
        text = json.dumps(found, indent=0, sort_keys=True).replace(os.path.dirname(attest) + "/", "")
        with open(os.path.join(options.folder, name + ".json"), "w", encoding="utf-8") as out:
            out.write(text)
        print(f"{name}: {len(found)} entries", flush=True)
    return 0


def load(folder, name):
    path = os.path.join(folder, name + ".json")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as text:
        return json.load(text)


def differences(old, new):
    """Lines that say which entries of a section differ, and in what."""
    said = []
    for key in sorted(set(old) | set(new)):
        if key not in old or key not in new:
            said.append(f"{key}: only in the {'old' if key in old else 'new'} record")
        elif isinstance(old[key], dict):
            was = {RENAMED.get(name, name): value for name, value in old[key].items() if name not in VARYING}
            was = {name: VALUES.get(name, {}).get(value, value) if isinstance(value, str) else value
                   for name, value in was.items()}
            apart = [name for name in was if was[name] != new[key].get(name)]
            if apart:
                name = apart[0]
                said.append(f"{key}: {', '.join(apart)} ({name}: {was[name]} -> {new[key].get(name)})")
        elif old[key] != new[key]:
            said.append(f"{key}: {str(old[key])[:60]} -> {str(new[key])[:60]}")
    return said


def compare(options):
    bad = 0
    for name in SECTIONS:
        old, new = load(options.old, name), load(options.new, name)
        if old is None and new is None:
            print(f"{name}: not recorded")
            continue
        if old is None or new is None:
            bad += 1
            print(f"{name}: missing in {options.old if old is None else options.new}")
            continue
        said = differences(old, new)
        bad += len(said)
        print(f"{name}: {len(old)} entries, {len(said)} differ")
        for line in said[:options.most]:
            print("    " + line[:300])
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description="did a change of shape change a number?")
    verbs = parser.add_subparsers(dest="verb", required=True)
    made = verbs.add_parser("record")
    made.add_argument("folder")
    made.add_argument("--build", default=os.path.join(ROOT, "build"))
    made.add_argument("--quick", action="store_true")
    met = verbs.add_parser("compare")
    met.add_argument("old")
    met.add_argument("new")
    met.add_argument("--most", type=int, default=20)
    options = parser.parse_args()
    return record(options) if options.verb == "record" else compare(options)


if __name__ == "__main__":
    sys.exit(main())
