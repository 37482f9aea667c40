"""bench_torch.py: PyTorch's scaled_dot_product_attention on one thread beside attest's kernels, problem by problem."""
import os
import sys

os.environ["OMP_NUM_THREADS"] = "1"
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "python")]

import attest  # noqa: E402  pylint: disable=wrong-import-position
import torch  # noqa: E402  pylint: disable=wrong-import-position
import torch_attention as ours  # noqa: E402  pylint: disable=wrong-import-position

PROBLEMS = (
    (ours.torch_flash, "softmax-flash-f32", "variant=softmax mask=causal n=512 d=64"),
    (ours.torch_flash, "softmax-flash-f32", "variant=softmax mask=causal n=2048 d=64"),
    (ours.torch_math, "softmax-flash-f32", "variant=softmax mask=causal n=2048 d=64"),
    (ours.torch_flash_bf16, "softmax-[fa]*-bf16", "variant=softmax mask=causal n=2048 d=64 in=bf16 p=bf16"),
    (ours.torch_flash, "softmax-decode-f32", "variant=softmax n=1 m=65536 d=64"),
)

if __name__ == "__main__":
    torch.set_num_threads(1)
    print("torch", torch.__version__, torch.backends.cpu.get_cpu_capability())
    for function, kernels, line in PROBLEMS:
        print(line, attest.bench(function, line, kernels=kernels), sep="\n", end="\n\n", flush=True)
