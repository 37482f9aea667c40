"""python -m attest.serve FILE NAME: the program behind a Python kernel (door.py); attest starts it."""
from __future__ import annotations

import importlib.util
import os
import sys

from . import run
from .door import Kernel


def find(path: str, name: str) -> Kernel:
    """Imports the file and takes the kernel; what the file does with kernels at its top level is left out."""
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("attest_kernel", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["attest_kernel"] = module
    run.SERVING = True
    try:
        spec.loader.exec_module(module)
    except run.Serving:
        pass  # `attest.audit(mine)` at the end of a script: the kernel is there
    found = module
    for part in name.split("."):
        found = getattr(found, part)
    if not isinstance(found, Kernel):
        raise SystemExit(f"{path}: {name} is no @attest.kernel")
    return found


def main() -> None:
    # The protocol has the real stdout; what a kernel prints goes to stderr.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    kernel = find(sys.argv[1], sys.argv[2])

    def say(line: str) -> None:
        out.write(line + "\n")
        out.flush()

    kernel.serve(sys.stdin, say)


if __name__ == "__main__":
    main()
