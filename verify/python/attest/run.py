"""Runs the program `attest` and reads what it says: audits, comparisons, the truth, inputs."""
from __future__ import annotations

import html as html_text
import json
import os
import shlex
import shutil
import subprocess
import tempfile
from fractions import Fraction
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy as np

from . import arrays
from .door import Kernel

SERVING = False  # 1 in the process that serves a kernel


class Serving(BaseException):
    """Ends the import of a script whose kernel is all that is wanted of it."""


class AttestError(RuntimeError):
    """The program refused the request (exit code 2, 3 or 70); the message is its own."""


def binary() -> str:
    """The program: $ATTEST, one in this package, build/attest of the sources it was installed from, `attest` in PATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    note = os.path.join(here, "_tree.txt")
    tree = open(note, encoding="utf-8").read().strip() if os.path.exists(note) else os.path.join(here, "..", "..", "..")
    found = [os.environ.get("ATTEST"), os.path.join(here, "bin", "attest"), os.path.join(tree, "build", "attest"),
             shutil.which("attest")]
    for path in found:
        if path and os.access(path, os.X_OK):
            return os.path.abspath(path)
    raise AttestError("no program `attest`: build it (`make` in the sources) or set ATTEST to its path")


def program(*arguments: str, refused: Sequence[int] = (2, 70)) -> "subprocess.CompletedProcess[str]":
    """Runs `attest ARGUMENTS`; AttestError where its exit code is among those refused."""
    if SERVING:
        raise Serving()
    env = dict(os.environ)
    env.pop("GITHUB_ACTIONS", None)  # its words are for this package, not for GitHub's runner
    # The kernel's process must find this package, wherever it was imported from.
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    env["PYTHONPATH"] = os.pathsep.join([here] + [p for p in [env.get("PYTHONPATH")] if p])
    done = subprocess.run([binary(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          env=env)
    if done.returncode in refused:
        raise AttestError(done.stderr.strip() or f"exit code {done.returncode}")
    return done


def _number(value: Any) -> Any:
    """attest's JSON numbers: {"hex", "dec"}, "inf", null."""
    if isinstance(value, dict) and "hex" in value:
        return float.fromhex(value["hex"])
    return float(value) if value in ("inf", "-inf") else value


class Result(Dict[str, Any]):
    """One case: result.verdict, result.problem, result.ratio_lo, .. : every field of a line of results.jsonl by its name.

    verdict is pass, fail, undecided, skip, crash, timeout, illposed, no-evidence or partial; ratio_lo and ratio_hi enclose
    the largest error over its bound, reasons and why say what is wrong, reproduction is the command that shows it again."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def ok(self) -> bool:
        return self["verdict"] in ("pass", "skip", "illposed")

    def __str__(self) -> str:
        reasons = self.get("reasons") or ""
        reasons = reasons if isinstance(reasons, str) else ", ".join(reasons)
        lines = [f"{self['verdict']}{': ' + reasons if reasons else ''}   {self.get('problem')}"]
        if self.get("why"):
            lines.append("    " + self["why"])
        if self.get("worst"):
            lines.append(f"    {self['worst']}: got {self.get('got')}, truth {self.get('truth')}, bound {self.get('bound')}")
        if self.get("reproduction"):
            lines.append("    " + self["reproduction"])
        return "\n".join(lines)

    __repr__ = __str__

    def check(self) -> None:
        """AssertionError unless it passed."""
        if not self.ok:
            raise AssertionError(str(self))


class Report:
    """An audit: .ok, .whole, .results, .failures, .open, .would_pass, .traits, .exit_code; shown by print() and notebooks; .save(path): the page."""

    def __init__(self, target: str, exit_code: int, output: str, said: str, page: Optional[str] = None):
        self.target, self.exit_code, self.said, self._page = target, exit_code, said, page
        rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        self.results = [Result({key: _number(value) for key, value in row.items()}) for row in rows if "verdict" in row
                        and "problem" in row]
        self.traits = [row for row in rows if "trait" in row]
        self.would_pass = [row for row in rows if "would_pass_with" in row]
        self.failures = [result for result in self.results if result.verdict in ("fail", "crash", "timeout")]
        self.open = [result for result in self.results if not result.ok and result not in self.failures]

    @property
    def ok(self) -> bool:
        """Something passed, and nothing failed, crashed or was late."""
        return self.exit_code in (0, 4) and not self.failures and self.counts().get("pass", 0) > 0

    @property
    def whole(self) -> bool:
        """And nothing is open: exit code 0."""
        return self.exit_code == 0

    def counts(self) -> Dict[str, int]:
        found: Dict[str, int] = {}
        for result in self.results:
            found[result.verdict] = found.get(result.verdict, 0) + 1
        return found

    @property
    def worst_ratio(self) -> float:
        ratios = [r.ratio_hi for r in self.results if isinstance(r.get("ratio_hi"), (int, float)) and r.verdict == "pass"]
        return max(ratios, default=float("nan"))

    def __repr__(self) -> str:
        head = (f"{'FAIL' if not self.ok else 'PASS' if self.whole else 'PARTIAL'} {self.target}: " +
                ", ".join(f"{count} {name}" for name, count in sorted(self.counts().items())) +
                f"; largest error/bound of those that pass {self.worst_ratio:.3g}")
        rest = [str(failure) for failure in self.failures[:5]]
        if len(self.failures) > 5:
            rest.append(f"and {len(self.failures) - 5} more (.failures)")
        rest += [f"would pass with {fit['would_pass_with']}: {fit['passed']} of {fit['failures']} failures asked, all pass"
                 for fit in self.would_pass]
        rest += [str(result) for result in self.open[:2]]
        if len(self.open) > 2:
            rest.append(f"and {len(self.open) - 2} more are open (.open)")
        if not self.ok and not self.failures:
            rest.append(self.said.strip())
        return "\n\n".join([head] + rest)

    def _repr_html_(self) -> str:
        return f"<pre>{html_text.escape(repr(self))}</pre>"

    @property
    def html(self) -> str:
        """The whole page, as `attest report` writes it."""
        return self._page or self._repr_html_()

    def save(self, path: str) -> None:
        with open(path, "w", encoding="utf-8") as out:
            out.write(self.html)

    def check(self, strict: bool = False) -> None:
        """AssertionError with the failures; strict: also where something stayed undecided."""
        if not self.ok or (strict and not self.whole):
            raise AssertionError(repr(self))


Target = Union[Kernel, str]


def _target(target: Target) -> str:
    """A kernel's command, or what the command line takes: LIB.so, LIB.so:NAME, a built-in name."""
    return "exec:" + target.command if isinstance(target, Kernel) else target


def _name(target: Target) -> str:
    return target.__name__ if isinstance(target, Kernel) else target


def audit(target: Target, suite: str = "smoke", *, case: Optional[str] = None, timeout: float = 10,
          jobs: Optional[int] = None, sandbox: str = "auto", infer: bool = False) -> Report:
    """Runs a kernel (or a library: "my.so") over a suite and infers its arithmetic; `attest audit`.  infer: what it does
    not declare is proposed by its answers (report.said has the words), and judged by."""
    folder = tempfile.mkdtemp(prefix="attest-audit-")
    try:
        arguments = ["audit", "--suite", suite, "--format", "json", "--timeout", str(timeout), "--sandbox", sandbox, "--out",
                     folder]
        arguments += ["--case", case] if case else []
        arguments += ["--jobs", str(jobs)] if jobs else []
        arguments += ["--infer"] if infer else []
        done = program(*arguments, _target(target))
        page = None
        if program("report", folder, "--quiet", refused=()).returncode == 0:
            with open(os.path.join(folder, "index.html"), encoding="utf-8") as text:
                page = text.read()
        said = "".join(line for line in done.stderr.splitlines(True) if folder not in line)
        return Report(_name(target), done.returncode, done.stdout, said, page)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check(target: Target, suite: str = "smoke", *, strict: bool = False, **options: Any) -> Report:
    """audit(), and AssertionError with the failures unless it passed: for tests."""
    report = audit(target, suite, **options)
    report.check(strict)
    return report


def props(target: Target, cases: int = 200, seed: int = 0, timeout: float = 10) -> str:
    """What must hold for every input (`attest props`); its text, or AssertionError with it."""
    folder = tempfile.mkdtemp(prefix="attest-props-")
    try:
        done = program("props", "--kernel", _target(target), "--cases", str(cases), "--seed", str(seed), "--timeout",
                    str(timeout), "--out", folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout


def cases(suite: str = "smoke") -> List[str]:
    """The problem lines of a suite."""
    return program("gate", "--suite", suite, "--list-cases", "--kernel", "softmax-two-pass-f32").stdout.splitlines()


# ---- arrays ---------------------------------------------------------------------------------------------------------
def _dtype_of(line: str, key: str, default: str) -> str:
    words = dict(word.split("=", 1) for word in line.split() if "=" in word)
    return words.get(key, default)


def _types(line: str) -> Dict[str, str]:
    own = _dtype_of(line, "in", "f32")
    rest = "f64" if _dtype_of(line, "acc", "f64" if own == "f64" else "f32") == "f64" else "f32"
    kv = _dtype_of(line, "kv", "in")
    kv = own if kv == "in" else kv
    return {"q": own, "k": kv, "v": kv, "bias": own, "o": _dtype_of(line, "out", own), "len": "i64",
            "k_scale": "f32", "v_scale": "f32", "": rest}


def _write(folder: str, line: str, tensors: Dict[str, Any]) -> List[str]:
    """-t NAME=FILE for each tensor; h0_1 stands for h0.1."""
    types, options = _types(line), []
    for given, array in tensors.items():
        name = given.replace("_", ".")
        path = os.path.join(folder, name + ".npy")
        arrays.save(path, array, types.get(name, types[""]))
        options += ["-t", f"{name}={path}"]
    return options


class Truth:
    """An output of the reference: .mid and .rad, float64; .text: the decimals; .exact: Fractions where rational."""

    def __init__(self, tensor: Dict[str, Any]):
        shape = tensor["shape"]
        self.text = tensor["mid"]
        self.mid = np.array([float("nan") if x is None else float(x) for x in tensor["mid"]]).reshape(shape)
        self.rad = np.array([float("nan") if x is None else float(x) for x in tensor["rad"]]).reshape(shape)
        self.exact = [None if x is None else Fraction(x) for x in tensor["exact"]] if tensor.get("exact") else None

    def __repr__(self) -> str:
        return f"Truth(mid={self.mid!r}, largest radius {np.nanmax(self.rad):.2g})"


def reference(line: str, *, want: str = "o", draw: Optional[str] = None, digits: int = 40,
              **tensors: Any) -> Dict[str, Truth]:
    """The truth of a problem with proven error: {"o": Truth, ..}.  Without q, k, v the inputs are drawn."""
    folder = tempfile.mkdtemp(prefix="attest-reference-")
    try:
        options = _write(folder, line, tensors) + (["--draw", draw] if draw else [])
        done = program("reference", "--problem", line, "--want", want, "--digits", str(digits), *options, refused=(2, 3, 4, 70))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {name: Truth(tensor) for name, tensor in json.loads(done.stdout)["tensors"].items()}


def compare(line: str, *, declare: Optional[str] = None, draw: Optional[str] = None, **tensors: Any) -> Result:
    """Judges outputs (o=, lse=, ..) on inputs (q=, k=, v=, ..): `attest compare`.  result.check() raises."""
    folder = tempfile.mkdtemp(prefix="attest-compare-")
    try:
        options = _write(folder, line, tensors) + (["--draw", draw] if draw else [])
        options += ["--declare", declare] if declare else []
        done = program("compare", "--problem", line, "--format", "json", *options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    found = json.loads(done.stdout)
    worst = found.pop("worst")
    found.update(worst=worst["index"], got=worst["got"], truth=worst["truth"])
    found["ratio_lo"], found["ratio_hi"] = (_number(x) for x in found.pop("max_ratio"))
    found["ulp_lo"], found["ulp_hi"] = (_number(x) for x in found.pop("max_ulp"))
    found.pop("reproduction")  # its files are gone
    return Result({key: _number(value) for key, value in found.items()})


def export(folder: str, *lines: str) -> List[Dict[str, Any]]:
    """Draws the inputs of problem lines into a folder; what cases.jsonl says of each line (`attest export`)."""
    suite, out = os.path.join(folder, "lines.suite"), os.path.join(folder, "out")
    with open(suite, "w", encoding="utf-8") as text:
        text.write("".join(line + "\n" for line in lines))
    program("export", "--suite", suite, "--out", out, "--quiet")
    with open(os.path.join(out, "cases.jsonl"), encoding="utf-8") as text:
        return [json.loads(line) for line in text]


def inputs(line: str) -> Dict[str, np.ndarray]:
    """The tensors that attest draws for a problem line; bf16, e4m3 and e5m2 as float32."""
    folder = tempfile.mkdtemp(prefix="attest-inputs-")
    try:
        case, out = export(folder, line)[0], os.path.join(folder, "out")
        return {name: arrays.load(os.path.join(out, one["file"]), one["dtype"]) for name, one in case["inputs"].items()}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def command(target: Target) -> str:
    """The command line of an audit, for a terminal."""
    return shlex.join([binary(), "audit", _target(target)])
