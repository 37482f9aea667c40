"""emulate.py SUBJECT LINE..: what the subject answers, beside its formula in float64, written here without attest.

Only the inputs come from attest.  Prints the largest error relative to the size of what is summed, and which elements
are NaN; for a float32 subject some 1e-7 is rounding, 1 is a wrong answer.
"""
import importlib
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "python")]


def visible(p, lens):
    """[B,1,N,M] by loops over pairs."""
    seen = np.zeros((p.b, 1, p.n, p.m), dtype=bool)
    for b in range(p.b):
        keys = p.m if lens is None else int(lens[b])
        for i in range(p.n):
            for j in range(keys):
                ahead = i - j + (keys - p.n if p["mask"] == "causal-br" else 0)
                seen[b, 0, i, j] = (p["mask"] is None or ahead >= 0) and \
                    (not p["window"] or (abs(ahead) if p["mask"] is None else ahead) < int(p["window"]))
    return seen


def softmax(p, q, k, v, seen, decay=None):
    s = p.scale * np.einsum("bhnd,bhmd->bhnm", q, k)
    if p["cap"]:
        s = float(p["cap"]) * np.tanh(s / float(p["cap"]))
    s = np.where(seen, s if decay is None else s + decay, -np.inf)
    top = s.max(axis=-1, keepdims=True)
    w = np.exp(s - np.where(np.isfinite(top), top, 0))
    with np.errstate(invalid="ignore"):
        return np.einsum("bhnm,bhme->bhne", w / w.sum(axis=-1, keepdims=True), v)


def recurrent(p, q, k, v, a, beta):
    """S = diag(a) S + k (v - [beta] k S); o = scale q S."""
    o, state = np.zeros(v.shape), np.zeros(q.shape[:2] + (p.d, p.e))
    for t in range(p.n):
        state = state * (np.ones(p.d) if a is None else a[:, :, t] if a.ndim == 4 else a[:, :, t, None])[..., None]
        new = v[:, :, t]
        if beta is not None:
            new = beta[:, :, t, None] * (new - np.einsum("bhd,bhde->bhe", k[:, :, t], state))
        state = state + k[:, :, t, :, None] * new[:, :, None, :]
        o[:, :, t] = p.scale * np.einsum("bhd,bhde->bhe", q[:, :, t], state)
    return o


def truth(p, variant, t):
    q, k, v = t["q"], p.repeat(t["k"]), p.repeat(t["v"])
    seen = visible(p, t.get("len"))
    if variant == "softmax":
        return softmax(p, q, k, v, seen)
    if variant == "fox":
        logs = np.cumsum(np.log(p.repeat(t["a"])), axis=2)
        return softmax(p, q, k, v, np.tri(p.n, p.m, dtype=bool), logs[..., :, None] - logs[..., None, :])
    if variant in ("linear-elu", "based"):
        phi = (lambda x: np.where(x >= 0, x + 1, np.exp(x))) if variant == "linear-elu" else (lambda x: x)
        s = p.scale * np.einsum("bhnd,bhmd->bhnm", phi(q), phi(k))
        w = np.where(seen, s if variant == "linear-elu" else 1 + s + s * s / 2, 0)
        return np.einsum("bhnm,bhme->bhne", w, v) / (w.sum(axis=-1, keepdims=True) + float(p["eps"] or 0))
    gamma = t.get("gamma")
    a = t.get("a") if gamma is None else np.broadcast_to(gamma[None, :, None], k.shape[:3])
    return recurrent(p, q, k, v, a, t.get("b"))


def main():
    import attest
    from attest import arrays
    from subjects import SUBJECTS

    module, function = {s[0]: s[2] for s in SUBJECTS}[sys.argv[1]].split(".")
    kernel = getattr(importlib.import_module(module), function)
    for line in sys.argv[2:]:
        words = dict(w.split("=", 1) for w in line.split())
        given = attest.inputs(line)
        (b, hq, n, d), (_, hkv, m, _), e = given["q"].shape, given["k"].shape, given["v"].shape[3]
        own = dict(b=b, hq=hq, hkv=hkv, n=n, m=m, d=d, e=e, chunk=64, splits=1, scale=1 / np.sqrt(d), acc="f32",
                   p="f32", out=words.get("in", "f32"))
        p = attest.Problem({"in": "f32", **{key: str(x) for key, x in own.items()}, **words,
                            "scale": repr(float(words.get("scale", 1 / np.sqrt(d))))})
        named = {name: given.get(name) for name in kernel.wants if name != "visible"}
        if "visible" in kernel.wants:
            named["visible"] = visible(p, given.get("len"))
        change = lambda x: x if x is None else arrays.to_framework(
            x, "bool" if x.dtype == bool else "i64" if x.dtype == np.int64 else p.dtype, kernel.framework, None)
        got = kernel.function(p, *(change(given[x]) for x in "qkv"), **{x: change(y) for x, y in named.items()})
        got = arrays.to_numpy(got).astype(np.float64)
        wide = {x: y.astype(np.float64) if y.dtype == np.float32 else y for x, y in given.items()}
        want = truth(p, words.get("variant", "softmax"), wide)
        size = np.maximum(np.abs(want).max(), np.abs(wide["v"]).max() * (words.get("variant", "softmax") == "softmax"))
        same = np.isnan(got) == np.isnan(want)
        error = np.nanmax(np.abs(got - want), initial=0) / size
        print(f"{error:9.2e}  NaN in {np.isnan(got).sum()}, of the formula in {np.isnan(want).sum()} of {got.size}"
              f"{'' if same.all() else '  DIFFERENT'}  {line}")


if __name__ == "__main__":
    main()
