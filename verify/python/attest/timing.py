"""How long a Python function takes beside kernels of attest."""
from __future__ import annotations

import json
import os
import shutil
import statistics
import tempfile
import time
from typing import Any, Callable, Dict, List, NamedTuple

from . import run
from .door import Kernel, Problem

_ROUND = 0.02  # seconds of a round, at least


class Timing(NamedTuple):
    """Seconds of one call: the median of all rounds, the least and the most; over: the function's time over this one."""

    name: str
    median: float
    least: float
    most: float
    ns_per_pair: float
    over: float


class Timings(List[Timing]):
    """A row for the function, and one for each kernel beside it; printed, a table."""

    def __repr__(self) -> str:
        width = max(len(one.name) for one in self)
        head = f"{'':{width}}  {'time':>10}  {'ns/pair':>8}  times as fast as {self[0].name}"
        rows = [f"{one.name:{width}}  {one.median * 1e3:7.3f} ms  {one.ns_per_pair:8.3f}  {one.over:.2f}" for one in self]
        return "\n".join([head] + rows)


def _problem(folder: str, line: str) -> Problem:
    """As the protocol of `--exec` words it: axes at their defaults are left out."""
    case, plain = (one["keys"] for one in run.export(folder, line, "variant=softmax n=1 d=1"))
    sizes = ("b", "hq", "hkv", "n", "m", "d", "e", "chunk", "splits", "scale", "in", "acc", "p", "out", "variant")
    return Problem({key: str(value) for key, value in case.items() if key in sizes or value != plain[key]})


def _repeats(call: Callable[[], Any]) -> int:
    """Calls that take a round, after two that warm up."""
    call()
    call()
    start = time.process_time()
    call()
    return max(1, int(_ROUND / max(time.process_time() - start, 1e-6)))


def _rounds(call: Callable[[], Any], rounds: int, repeats: int) -> List[float]:
    samples = []
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(repeats):
            call()
        samples.append((time.process_time() - start) / repeats)
    return samples


def bench(target: Kernel, line: str, *, kernels: str = "softmax-flash-*", turns: int = 3, rounds: int = 5) -> Timings:
    """Times a function and attest's kernels on the same inputs, in turns: rounds of the one, rounds of the others, again.

    target   a function declared by @attest.kernel; it runs in this process and is not judged (attest.audit() does that)
    line     the problem line; kernels: a glob over `attest list kernels`.  The peers of `attest bench kernels` that serve
             the line come with them: naive-f32, and vendor-openblas and vendor-onednn where they are installed
    rounds   of a turn, at least 5; a round calls the function as often as fills 20 ms

    Times are processor time of all threads: give a framework one thread (torch.set_num_threads(1)), as attest's kernels
    have.  A GPU's time is not in it.
    """
    if turns < 1 or rounds < 5:
        raise ValueError(f"bench: turns={turns} rounds={rounds}: at least 1 turn of 5 rounds")
    folder = tempfile.mkdtemp(prefix="attest-bench-")
    try:
        call = target.call(os.path.join(folder, "out", "0001"), _problem(folder, line))
        if target.warm_up:
            target.warm_up()
        repeats, pairs, why = _repeats(call), 0, ""
        samples: Dict[str, List[float]] = {target.__name__: []}
        for _ in range(turns):
            samples[target.__name__] += _rounds(call, rounds, repeats)
            done = run.program("bench", "kernels", "--quiet", "--format", "json", "--rounds", str(rounds), "--kernel", kernels,
                            "--problem", line)
            for row in map(json.loads, done.stdout.splitlines()):
                if row.get("samples") and row.get("threads") == 1:
                    samples.setdefault(row["name"], []).extend(row["samples"])
                    pairs = row["pairs"]
                why = row.get("not_timed") or why
        if not pairs:
            raise run.AttestError(f"bench: no kernel that matches {kernels} was timed on {line}: {why}")
        own = statistics.median(samples[target.__name__])
        return Timings(Timing(name, middle, min(some), max(some), middle / pairs * 1e9, own / middle)
                       for name, some in samples.items() for middle in [statistics.median(some)])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
