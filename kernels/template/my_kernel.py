"""A kernel in Python, to change: softmax attention by numpy.

Audit  python3 my_kernel.py        Tests  pytest my_kernel.py
"""
import numpy as np

import attest


# What it serves beside plain softmax, and what you know of its arithmetic: help(attest.kernel).
@attest.kernel(name="my-kernel", axes={"mask": "full,causal"}, schedule="two-pass", flags="masked-finite")
def my_kernel(p, q, k, v, *, visible):
    """q [B,Hq,N,d], k [B,Hkv,M,d], v [B,Hkv,M,e] in float32; visible [B,1,N,M]; returns o [B,Hq,N,e]."""
    k, v = p.repeat(k), p.repeat(v)  # one KV head a query head
    s = np.float32(p.scale) * np.einsum("bhnd,bhmd->bhnm", q, k)
    s = np.where(visible, s, np.float32(-np.inf))
    w = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.einsum("bhnm,bhme->bhne", w / w.sum(axis=-1, keepdims=True), v)


def test_my_kernel():
    attest.check(my_kernel)


if __name__ == "__main__":
    print(attest.audit(my_kernel))
