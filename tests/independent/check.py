"""check.py: `attest reference` against the formulas written a second time in formula.py.

    check.py --attest PATH [--presets N] [--axes N] [--only GLOB] [--jobs N] [--keep DIR]
    check.py --attest PATH --break NAME | --break all | --list-breaks

Prints one row a preset, an axis value and a pair of axis values (problems, elements, those compared with an exact
p/q, differences, null elements), then `total`, then how to reproduce what failed (its files are kept).
Exit 0: no difference; 1: some; 2: attest lists a preset or axis value that tables.py lacks, or bad usage.
A difference is: a mid farther from the formula than rad; a rad too wide to say anything; an exact p/q that is not the
formula's fraction; null, inf or a shape where the formula has another; an exit code other than 0.
--break NAME alters one formula on our side (breaks.py) and is expected to exit 1: differences in every group of its
own; --break all tries each of them and exits 0 when every one was noticed.
"""
import argparse
import collections
import fnmatch
import json
import multiprocessing
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from fractions import Fraction

from mpmath import mp

import breaks
import formula
import numeric
import problems
import tables

SECONDS = 60
OWN_ERROR = mp.mpf(10) ** -100   # of the absolute terms: far above the rounding of the formula's own value
WIDEST = mp.mpf(2) ** -90         # of the absolute terms: attest stops at 2^-100 of its abs_scale
AT_THE_CAP = mp.mpf(2) ** -7900   # what is left at attest's last precision where the value is 0 but no step shows it


# ---- what attest lists --------------------------------------------------------------------------------------
def listed(attest):
    """(presets, {axis: values}) of `attest list variants`."""
    done = subprocess.run([attest, "list", "variants"], capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        sys.exit("check.py: %s list variants: exit code %d: %s" % (attest, done.returncode, done.stderr.strip()))
    text = done.stdout
    presets = [line.split()[0] for line in text.partition("\n\n")[0].splitlines()[1:] if not line[0].isspace()]
    axes, key = {}, None
    for line in text.partition("\naxes ")[2].partition("\ntensors ")[0].splitlines()[1:]:
        if line[:4] == "    " and key:
            axes[key].append(line.split()[0])
        elif line.strip():
            key = line.split(":")[0]
            axes[key] = []
    return presets, axes


def unknown(attest):
    """What attest and formula.py do not both list, as lines."""
    presets, axes = listed(attest)
    ours = set(tables.PRESETS) | {"%s=%s" % (k, v) for k, values in tables.AXES.items() for v in values}
    theirs = set(presets) | {"%s=%s" % (k, v) for k, values in axes.items() for v in values}
    return (["attest lists %s, which tables.py and formula.py have no formula for" % x for x in sorted(theirs - ours)]
            + ["tables.py has %s, which attest does not list" % x for x in sorted(ours - theirs)])


# ---- one problem ----------------------------------------------------------------------------------------------
def command(attest, problem, arguments):
    return [attest, "reference", "--problem", problem.line, *arguments, "--want", ",".join(problem.want),
            "--digits", str(problem.digits), "--format", "json", "--quiet"]


def number(text):
    """The printed decimal, exactly as far as it matters: as an mpf of numeric.DIGITS digits."""
    return mp.mpf(text)


def element(ours, size, mid, rad, exact, digits):
    """What is wrong with one printed element, or None."""
    if ours is None:
        return None if mid is None and rad is None and exact is None else "printed, but ill-posed or absent"
    if ours == "-inf":
        return None if (mid, rad, exact) == ("-inf", "0", None) else "expected -inf"
    if mid is None or rad is None:
        return "null, expected a number"
    if mid in ("inf", "-inf", "nan"):
        return "not finite"
    if exact is not None and not (isinstance(ours, Fraction) and Fraction(exact) == ours):
        return "exact is not the formula's fraction"
    value, radius = numeric.real(ours), number(rad)
    if rad == "0" and isinstance(ours, Fraction):
        return None if Fraction(mid) == ours else "rad is 0 but mid is not the value"
    if not abs(number(mid) - value) <= radius + OWN_ERROR * max(abs(value), size):
        return "outside: off by %s, rad %s" % (mp.nstr(abs(number(mid) - value), 5), rad)
    if not radius <= 2 * mp.mpf(10) ** (1 - digits) * abs(value) + WIDEST * size + AT_THE_CAP:
        return "rad %s is too wide" % rad
    return None


def tensor(name, shape, ours, got, digits):
    """({what: count}, differences) of one tensor."""
    counts, bad = {"elements": len(ours), "exact": 0, "null": 0}, []
    if got is None or got["shape"] != list(shape):
        return counts, ["%s: shape %s, expected %s" % (name, got and got["shape"], list(shape))]
    if any(got[k] is not None and len(got[k]) != len(ours) for k in ("mid", "rad", "exact")):
        return counts, ["%s: wrong number of elements" % name]
    exact = got["exact"] or [None] * len(ours)
    for at, (value, size) in enumerate(ours):
        what = element(value, size, got["mid"][at], got["rad"][at], exact[at], digits)
        if what:
            text = value if value is None or value == "-inf" else mp.nstr(numeric.real(value), 40)
            bad.append("%s[%d] = %s, formula %s: %s" % (name, at, got["mid"][at], text, what))
    counts["exact"] = sum(x is not None for x in exact)
    counts["null"] = sum(value is None for value, _ in ours)
    return counts, bad


def compare(problem, rules, printed):
    """({what: count}, differences) of a problem against what attest printed."""
    ours, counts = problem.results(rules), collections.Counter()
    bad = ["%s printed, not asked for" % x for x in printed["tensors"] if x not in ours]
    for name, (shape, values) in ours.items():
        more, wrong = tensor(name, shape, values, printed["tensors"].get(name), problem.digits)
        counts.update(more)
        bad += wrong
    return counts, bad


Outcome = collections.namedtuple("Outcome", "group counts bad folder line")


def run(job):
    """One problem's Outcome; folder and line are of a failed one, whose files stay."""
    attest, kind, name, index, rule, keep = job
    problem, counts = problems.Problem(kind, name, index), {}
    folder = tempfile.mkdtemp(prefix="attest-independent-", dir=keep)
    line = command(attest, problem, problem.save(folder))
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=SECONDS)
        if done.returncode != 0:
            bad = ["exit code %d: %s" % (done.returncode, done.stderr.strip())]
        else:
            counts, bad = compare(problem, breaks.RULES.get(rule, formula.Formula), json.loads(done.stdout))
    except subprocess.TimeoutExpired:
        bad = ["no answer in %d s" % SECONDS]
    if not bad or rule:
        shutil.rmtree(folder)
    return Outcome(name, counts, bad, folder, shlex.join(line))


# ---- all of them ------------------------------------------------------------------------------------------------
def jobs_of(options, groups, rule):
    return [(options.attest, kind, name, index, rule, options.keep)
            for kind, name, count in groups for index in range(count)]


COLUMNS = ("problems", "elements", "exact", "differences", "null")
HEADING, ROW = "%-34s %9s %9s %9s %12s %9s", "%-34s %9d %9d %9d %12d %9d"


def table(pool, options, groups):
    """Runs the groups, prints the table; the number of differences, or 1 where nothing was run."""
    rows, failures = {name: collections.Counter() for _, name, _ in groups}, []
    for outcome in pool.imap_unordered(run, jobs_of(options, groups, None), 8):
        rows[outcome.group].update(outcome.counts, problems=1, differences=len(outcome.bad))
        if outcome.bad:
            failures.append(outcome)
    total = sum(rows.values(), collections.Counter())
    print(HEADING % ("preset or axis value", *COLUMNS))
    for name, row in [*rows.items(), ("total", total)]:
        print(ROW % (name, *(row[x] for x in COLUMNS)))
    failures.sort(key=lambda x: (x.group, x.line))
    for x in failures[:options.show]:
        print("%s: %s\n    reproduce: %s" % (x.group, "\n    ".join(x.bad[:3] + ["..."] * (len(x.bad) > 3)), x.line))
    for x in failures[options.show:]:
        shutil.rmtree(x.folder)
    return total["differences"] or total["elements"] == 0


def broken(pool, options, name):
    """Runs the groups of one break against the altered formula; whether each of them has differing elements."""
    groups = [("axis" if "=" in x else "preset", x, breaks.PROBLEMS) for x in breaks.GROUPS[name]]
    elements, differences = 0, collections.Counter()
    for outcome in pool.imap_unordered(run, jobs_of(options, groups, name), 4):
        if outcome.counts:
            elements += outcome.counts["elements"]
            differences[outcome.group] += len(outcome.bad)
    unseen = [group for _, group, _ in groups if not differences[group]]
    print("%-28s %9d %9d %12d   %s%s" % (name, breaks.PROBLEMS * len(groups), elements, sum(differences.values()),
                                         breaks.RULES[name].__doc__, "".join("; NOT SEEN in " + x for x in unseen)))
    return not unseen


def parsed():
    parser = argparse.ArgumentParser(description="attest reference against formulas written a second time")
    parser.add_argument("--attest", default="build/attest")
    parser.add_argument("--presets", type=int, default=20, help="problems a preset")
    parser.add_argument("--axes", type=int, default=12, help="problems an axis value")
    parser.add_argument("--only", default="*", help="names of presets or KEY=VALUE to run")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", type=int, default=10, help="failures to print in full")
    parser.add_argument("--keep", help="folder for the files of failed problems")
    parser.add_argument("--break", dest="rule", help="alter one formula: a name of --list-breaks, or all")
    parser.add_argument("--list-breaks", action="store_true")
    return parser.parse_args()


def main():
    options = parsed()
    if options.list_breaks:
        print("\n".join(breaks.RULES))
        return 0
    if options.rule and options.rule != "all" and options.rule not in breaks.RULES:
        print("check.py: no break %s" % options.rule, file=sys.stderr)
        return 2
    options.attest = os.path.abspath(options.attest)
    lacking = unknown(options.attest)
    if lacking:
        print("\n".join(lacking))
        return 2
    with multiprocessing.Pool(options.jobs) as pool:
        if options.rule:
            print("%-28s %9s %9s %12s" % ("break", "problems", "elements", "differences"))
        if options.rule == "all":
            unseen = [name for name in breaks.RULES if not broken(pool, options, name)]
            print("%d of %d breaks noticed" % (len(breaks.RULES) - len(unseen), len(breaks.RULES)))
            return 1 if unseen else 0
        if options.rule:
            return 1 if broken(pool, options, options.rule) else 0
        groups = [x for x in problems.groups(options.presets, options.axes) if fnmatch.fnmatch(x[1], options.only)]
        return 1 if table(pool, options, groups) else 0


if __name__ == "__main__":
    sys.exit(main())
