"""attest from Python: audit a function that computes attention, ask for the truth, judge arrays.

    import attest

    @attest.kernel(axes={"mask": "full,causal"}, schedule="two-pass", exp_error="2^-22", flags="masked-finite")
    def mine(p, q, k, v, *, visible): ...

    report = attest.audit(mine, suite="ci")

The program `attest` judges; this package runs it, and serves functions to it (serve.py).
"""
from . import arrays
from .door import Kernel, Problem, kernel
from .run import (AttestError, Report, Result, Truth, audit, binary, cases, check, compare, inputs, props, reference)
from .timing import Timing, Timings, bench

__all__ = ["AttestError", "Kernel", "Problem", "Report", "Result", "Timing", "Timings", "Truth", "arrays", "audit", "bench", "binary",
           "cases", "check", "compare", "inputs", "kernel", "props", "reference"]
__version__ = "0.1.0"
