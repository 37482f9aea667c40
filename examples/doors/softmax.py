"""A kernel behind `attest audit --exec 'python3 examples/doors/softmax.py'`: softmax attention by numpy."""
import sys

import numpy as np

# What it is, what it serves beside plain softmax, and what is known of its arithmetic.
print("attest 1 name=numpy-softmax mask=full,causal schedule=two-pass exp_error=2^-22 "
      "flags=deterministic,masked-finite", flush=True)

for line in sys.stdin:  # run dir=DIR outputs=o b=1 hq=2 hkv=1 n=9 .. mask=causal
    p = dict(word.split("=", 1) for word in line.split()[1:])
    q, k, v = (np.load(f"{p['dir']}/{name}.npy") for name in "qkv")
    k, v = (np.repeat(x, int(p["hq"]) // int(p["hkv"]), axis=1) for x in (k, v))
    s = np.float32(p["scale"]) * np.einsum("bhnd,bhmd->bhnm", q, k)
    if p.get("mask") == "causal":
        s = np.where(np.tri(int(p["n"]), int(p["m"]), dtype=bool), s, np.float32(-np.inf))
    w = np.exp(s - s.max(axis=-1, keepdims=True))
    np.save(f"{p['dir']}/o.npy", np.einsum("bhnm,bhme->bhne", w / w.sum(axis=-1, keepdims=True), v))
    print("ok", flush=True)
