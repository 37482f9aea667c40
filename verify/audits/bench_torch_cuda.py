"""bench_torch_cuda.py [ATTEST]: scaled_dot_product_attention on a GPU by each backend, beside attest's CUDA kernels.

Both by the clock on the wall, from the first of many calls to the end of the last, caches warm, medians: of attest by
`attest bench kernels --device=cuda`, which takes as long a turn.  With the device cpu in place of cuda
(ATTEST_BENCH_DEVICE=cpu) it tries itself without a GPU.  Exit code 1: a problem without a time of attest, or a verdict
that is not pass (problems whose truth takes long have none: `attest gate --device cuda` judges).
"""
import json
import os
import statistics
import subprocess
import sys
import time

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

BACKENDS = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "math": "MATH"}
DEVICE = os.environ.get("ATTEST_BENCH_DEVICE", "cuda")
LONG = 4096 if DEVICE == "cuda" else 64
PROBLEMS = (  # heads, queries, keys, channels, type, splits
    (32, LONG, LONG, 64, "bf16", 1), (16, LONG, LONG, 128, "bf16", 1), (32, LONG, LONG, 64, "f16", 1),
    (32, 1, 8 * LONG, 128, "f32", 16))
TURNS, TURN = 7, 0.02  # and the seconds of one


def turn(call, calls):
    """Seconds of a call."""
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - begin) / calls


def seconds(call):
    """Median of TURNS turns, each behind one that is not measured."""
    turn(call, 1)
    calls = max(1, round(TURN / turn(call, 3)))
    calls = max(1, round(TURN / turn(call, calls)))
    times = []
    for _ in range(TURNS):
        turn(call, calls)
        times.append(turn(call, calls))
    return statistics.median(times)


def torch_rows(heads, n, m, d, kind):
    types = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
    q, k, v = (torch.randn(1, heads, rows, d, device=DEVICE, dtype=types[kind]) for rows in (n, m, m))
    rows = []
    for name, backend in BACKENDS.items():
        if not hasattr(SDPBackend, backend):
            continue
        try:
            with sdpa_kernel(getattr(SDPBackend, backend)), torch.inference_mode():
                rows.append((f"torch {name}", seconds(
                    lambda: F.scaled_dot_product_attention(q, k, v, is_causal=n == m))))
        except RuntimeError as error:
            print(f"  torch {name}: {str(error).splitlines()[0]}")
    return rows


def attest_rows(attest, line):
    """(name and verdict, seconds); the verdict is empty where nothing was judged."""
    device = "cuda" if DEVICE == "cuda" else "cuda-host"
    answer = subprocess.run([attest, "bench", "kernels", "--device", device, "--format", "json", "--problem", line],
                            stdout=subprocess.PIPE, check=False, text=True)
    rows = [row for row in map(json.loads, answer.stdout.splitlines()) if row.get("device") == device]
    good = bool(rows) and all(row["seconds"] and row["verdict"] in ("pass", "") for row in rows)
    return [(f"{row['name']} {row['verdict']}", row["seconds"][0]) for row in rows if row["seconds"]], good


def main():
    attest = sys.argv[1] if len(sys.argv) > 1 else "build/attest"
    code = 0
    print("torch", torch.__version__, torch.cuda.get_device_name() if DEVICE == "cuda" else DEVICE)
    for heads, n, m, d, kind, splits in PROBLEMS:
        mask = "mask=causal " if n == m else ""
        stored = "" if kind == "f32" else f" in={kind} p={kind}"
        cut = f" splits={splits}" if splits > 1 else ""
        line = f"variant=softmax {mask}hq={heads} n={n} m={m} d={d}{stored}{cut}"
        print(line)
        rows = torch_rows(heads, n, m, d, kind)
        ours, good = attest_rows(attest, line)
        code = code if good else 1
        for name, took in rows + ours:
            print(f"  {name:40} {1e6 * took:10.1f} us" + (f"   {rows[0][1] / took:6.3f} of the speed of {rows[0][0]}"
                                                          if rows else ""))
    return code


if __name__ == "__main__":
    sys.exit(main())
