"""bench_torch_cuda.py [ATTEST]: scaled_dot_product_attention on a GPU by each backend, beside attest's CUDA kernels.

Times of PyTorch by events, of attest by `attest bench kernels --device=cuda`: both with warm caches, launches that follow
each other, medians.  With the device cpu in place of cuda (ATTEST_BENCH_DEVICE=cpu) it tries itself without a GPU.
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

BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION, "math": SDPBackend.MATH}
DEVICE = os.environ.get("ATTEST_BENCH_DEVICE", "cuda")
LONG = 4096 if DEVICE == "cuda" else 64
PROBLEMS = (  # heads, queries, keys, channels, type
    (32, LONG, LONG, 64, "bf16"), (16, LONG, LONG, 128, "bf16"), (32, LONG, LONG, 64, "f16"), (32, 1, 8 * LONG, 128, "f32"))
RUNS = 20


def seconds(call):
    """Median of RUNS turns of ten calls."""
    times = []
    for _ in range(RUNS):
        if DEVICE == "cuda":
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
        start = time.perf_counter()
        for _ in range(10):
            call()
        if DEVICE == "cuda":
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end) * 1e-4)
        else:
            times.append((time.perf_counter() - start) / 10)
    return statistics.median(times)


def torch_rows(heads, n, m, d, kind):
    types = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
    q, k, v = (torch.randn(1, heads, rows, d, device=DEVICE, dtype=types[kind]) for rows in (n, m, m))
    for name, backend in BACKENDS.items():
        try:
            with sdpa_kernel(backend), torch.inference_mode():
                yield f"torch {name}", seconds(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=n == m))
        except RuntimeError:  # this backend does not serve it
            continue


def attest_rows(attest, line):
    device = "cuda" if DEVICE == "cuda" else "cuda-host"
    answer = subprocess.run([attest, "bench", "kernels", "--device", device, "--format", "json", "--problem", line],
                            stdout=subprocess.PIPE, check=False, text=True)
    for row in map(json.loads, answer.stdout.splitlines()):
        if row.get("device") == device and row["seconds"]:
            yield f"{row['name']} ({row['verdict']})", row["seconds"][0]


def main():
    attest = sys.argv[1] if len(sys.argv) > 1 else "build/attest"
    print("torch", torch.__version__, torch.cuda.get_device_name() if DEVICE == "cuda" else DEVICE)
    for heads, n, m, d, kind in PROBLEMS:
        mask = "mask=causal " if n == m else ""
        stored = "" if kind == "f32" else f" in={kind} p={kind}"
        line = f"variant=softmax {mask}hq={heads} n={n} m={m} d={d}{stored}"
        rows = [*torch_rows(heads, n, m, d, kind), *attest_rows(attest, line)]
        print(line)
        for name, took in rows:
            print(f"  {name:40} {1e6 * took:10.1f} us   {rows[0][1] / took:6.3f} of the speed of {rows[0][0]}")


if __name__ == "__main__":
    main()
