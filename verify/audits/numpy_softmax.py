"""Attention as it is written by hand in numpy: softmax(scale q k^T) v."""
import numpy as np

import attest

NUMPY = dict(axes={"mask": "full,causal,causal-br", "window": "any"}, schedule="two-pass", flags="masked-finite",
             empty_row="nan")


def scores(p, q, k, visible):
    s = np.float32(p.scale) * (q @ p.repeat(k).swapaxes(2, 3))
    return np.where(visible, s, np.float32(-np.inf))


@attest.kernel(exp_error="2^-22", division="then-cast", **NUMPY)
def numpy_softmax(p, q, k, v, *, visible):
    s = scores(p, q, k, visible)
    w = np.exp(s - s.max(axis=-1, keepdims=True))
    return w / w.sum(axis=-1, keepdims=True) @ p.repeat(v)


@attest.kernel(division="after-sum", **NUMPY)
def numpy_einsum(p, q, k, v, *, visible):
    s = np.einsum("bhnd,bhmd->bhnm", q * np.float32(p.scale), p.repeat(k), optimize=False)
    s = np.where(visible, s, np.float32(-np.inf))
    w = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.einsum("bhnm,bhme->bhne", w, p.repeat(v)) / w.sum(axis=-1, keepdims=True)
