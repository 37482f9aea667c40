"""run.py [--suite NAME] [SUBJECT..]: audits subjects, prints verdicts, and keeps them in reports/docs/findings.json.

--table writes the table of reports/docs/findings.md from that file and runs nothing.
"""
import argparse
import datetime
import importlib
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "verify", "python")]
DOCS = os.path.join(ROOT, "reports", "docs")
FILE, PAGE = os.path.join(DOCS, "findings.json"), os.path.join(DOCS, "findings.md")
VERDICTS = {0: "pass", 1: "fail", 3: "crash", 4: "partial", 77: "nothing judged"}


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:  # a library of the system
        return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], stdout=subprocess.PIPE, text=True,
                              check=True).stdout


def cpu():
    with open("/proc/cpuinfo", encoding="utf-8") as text:
        found = dict(re.findall(r"^(model name|cpu family|model|flags)\s*: (.*)$", text.read(), re.M))
    wide = "AVX-512" if "avx512f" in found["flags"].split() else "AVX2" if "avx2" in found["flags"].split() else "SSE"
    return f"{found['model name']}, family {found['cpu family']} model {found['model']}, {wide}"


def audit(name, package, target, suite):
    import attest

    if target.endswith(".so"):
        target = os.path.join(ROOT, target)
    else:
        module, function = target.split(".")
        target = getattr(importlib.import_module(module), function)
    report = attest.audit(target, os.path.join(HERE, "audits.suite") if suite == "audits" else suite, timeout=60)
    judged = [r for r in report.results if r.verdict == "pass" and isinstance(r.get("ratio_hi"), (int, float))]
    seen = [r.noticed for r in judged if isinstance(r.get("noticed"), (int, float)) and r.noticed > 0]
    short = lambda r: dict(problem=r.problem, reasons=r.get("reasons"), why=(r.get("why") or "").split(" (in the")[0])
    wrong = sorted((r for r in report.failures if r.problem), key=lambda r: len(r.problem))
    return dict(
        name=name, package=package, version=version(package), suite=suite, date=datetime.date.today().isoformat(),
        cpu=cpu(), python=platform.python_version(), verdict=VERDICTS.get(report.exit_code, str(report.exit_code)),
        counts=report.counts(), worst_ratio=report.worst_ratio if judged else None,
        smallest_noticed=min(seen, default=None),
        failures=[short(r) for r in wrong[:5]],
        traits={t["trait"]: [t["verdict"], t["declared"], t["inferred"]] for t in report.traits
                if t["verdict"] in ("FAIL", "remark", "finding")},
        said=[line for line in report.said.splitlines() if "properties broken" in line or "property broken" in line],
        declaration=" ".join(target.declared[1:]) if not isinstance(target, str) else "nothing (kernels/vendor)")


def table(found):
    """The rows of findings.md, in the order of subjects.py."""
    yield "| subject | version | declaration | suite | verdict | pass, fail, other | worst ratio | smallest noticed |"
    yield "|---|---|---|---|---|---|---|---|"
    for one in found:
        number = lambda x: "-" if x is None else f"{x:.2g}"
        counts = dict(one["counts"])
        passed, failed = counts.pop("pass", 0), counts.pop("fail", 0)
        rest = ", ".join(f"{n} {what}" for what, n in sorted(counts.items())) or "0"
        said = f"`{one['declaration']}`" if "=" in one["declaration"] else one["declaration"]
        yield (f"| {one['name']} | {one['package']} {one['version']} | {said} | {one['suite']} | {one['verdict']} | "
               f"{passed}, {failed}, {rest} | {number(one['worst_ratio'])} | {number(one['smallest_noticed'])} |")


def write_page(found):
    with open(PAGE, encoding="utf-8") as text:
        page = text.read()
    rows = "\n".join(table(found))
    page = re.sub(r"(?s)(<!-- table -->\n).*?(<!-- /table -->)", lambda m: m[1] + rows + "\n" + m[2], page)
    with open(PAGE, "w", encoding="utf-8") as text:
        text.write(page)


def known():
    """What the file holds, by name."""
    if not os.path.exists(FILE):
        return {}
    with open(FILE, encoding="utf-8") as text:
        return {one["name"]: one for one in json.load(text)}


def main():
    from subjects import SUBJECTS

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--suite", help="in place of the subject's own; `audits` is audits.suite")
    options.add_argument("--table", action="store_true")
    options.add_argument("subjects", nargs="*", metavar="SUBJECT", help=", ".join(s[0] for s in SUBJECTS))
    chosen = options.parse_args()
    if unknown := set(chosen.subjects) - {s[0] for s in SUBJECTS}:
        options.error(f"no subject {', '.join(sorted(unknown))}")
    for name, package, target, *suite in [] if chosen.table else SUBJECTS:
        if chosen.subjects and name not in chosen.subjects:
            continue
        one = audit(name, package, target, chosen.suite or (suite or ["smoke"])[0])
        print(f"{name}: {one['verdict']}  {one['counts']}  worst ratio {one['worst_ratio']}", flush=True)
        for failure in one["failures"]:
            print(f"    {failure['reasons']}  {failure['problem']}  {failure['why']}")
        found = {**known(), name: one}
        ordered = [found[s[0]] for s in SUBJECTS if s[0] in found]
        with open(FILE, "w", encoding="utf-8") as out:
            json.dump(ordered, out, indent=1, sort_keys=True)
            out.write("\n")
    found = known()
    if os.path.exists(PAGE):
        write_page([found[s[0]] for s in SUBJECTS if s[0] in found])


if __name__ == "__main__":
    main()
