"""Kernels for checks.py: honest ones, and one for each way to go wrong."""
import ctypes
import sys
import time

import numpy as np

import attest

DECLARED = dict(schedule="two-pass", exp_error="2^-22", flags="deterministic,masked-finite")


def softmax(p, q, k, v, visible, scale=None):
    k, v = p.repeat(k), p.repeat(v)
    s = np.float32(p.scale if scale is None else scale) * np.einsum("bhnd,bhmd->bhnm", q, k)
    s = np.where(visible, s, np.float32(-np.inf))
    top = s.max(axis=-1, keepdims=True)
    w = np.exp(s - np.where(np.isfinite(top), top, np.float32(0)))
    total = w.sum(axis=-1, keepdims=True)
    o = np.einsum("bhnm,bhme->bhne", w, v) / np.where(total > 0, total, np.float32(1))
    with np.errstate(divide="ignore"):
        return o, (np.log(total) + top)[..., 0]


@attest.kernel(axes={"mask", "window", "lens"}, outputs="o,lse", **DECLARED)
def honest(p, q, k, v, *, visible):
    return softmax(p, q, k, v, visible)


@attest.kernel(axes={"mask": "full,causal"}, flags="masked-finite")
def silent(p, q, k, v, *, visible):
    """It says nothing of its arithmetic."""
    return softmax(p, q, k, v, visible)[0]


@attest.kernel(axes={"mask": "full,causal"}, types={"bf16"}, p="bf16", **DECLARED)
def narrow(p, q, k, v, *, visible):
    k, v = p.repeat(k), p.repeat(v)
    s = np.where(visible, np.float32(p.scale) * np.einsum("bhnd,bhmd->bhnm", q, k), np.float32(-np.inf))
    w = np.exp(s - s.max(axis=-1, keepdims=True))
    cast = attest.arrays.from_bf16(attest.arrays.to_bf16(w))
    return np.einsum("bhnm,bhme->bhne", cast, v) / w.sum(axis=-1, keepdims=True)


@attest.kernel(axes="mask", **DECLARED)
def unscaled(p, q, k, v, *, visible):
    """The planted bug: the scale is forgotten."""
    return softmax(p, q, k, v, visible, scale=1)[0]


def harms(p):
    return True if p["mask"] is None else "only mask=full"


@attest.kernel(axes="mask", supports=harms, **DECLARED)
def harmful(p, q, k, v, *, visible):
    print("a kernel may print")
    if p.n == 3:
        ctypes.string_at(0)
    if p.n == 4:
        sys.exit(7)
    if p.n == 5:
        time.sleep(60)
    if p.n == 6:
        raise ValueError("no head of 6")
    if p.n == 7:
        return q[:, :, :1]
    return softmax(p, q, k, v, visible)[0]


@attest.kernel("softmax1", flags="masked-finite", schedule="two-pass", exp_error="2^-22")
def with_sink(p, q, k, v, *, sink):
    k, v = p.repeat(k), p.repeat(v)
    s = np.float32(p.scale) * np.einsum("bhnd,bhmd->bhnm", q, k)
    extra = np.zeros(p.hq, dtype=np.float32) if sink is None else sink
    extra = np.broadcast_to(extra[None, :, None, None], s.shape[:3] + (1,))
    top = np.maximum(s.max(axis=-1, keepdims=True), extra)
    w = np.exp(s - top)
    return np.einsum("bhnm,bhme->bhne", w, v) / (w.sum(axis=-1, keepdims=True) + np.exp(extra - top))


@attest.kernel("softmax", axes="bias", types="f32,bf16", p="f32", out="f32", flags="masked-finite", schedule="two-pass",
               exp_error="2^-22")
def with_bias(p, q, k, v, *, bias):
    k, v = p.repeat(k), p.repeat(v)
    s = np.float32(p.scale) * np.einsum("bhnd,bhmd->bhnm", q, k)
    s = s if bias is None else s + bias
    w = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.einsum("bhnm,bhme->bhne", w, v) / w.sum(axis=-1, keepdims=True)


@attest.kernel("softmax", axes="mask,attn_mask", flags="masked-finite", schedule="two-pass", exp_error="2^-22")
def with_mask(p, q, k, v, *, visible, attn_mask):
    k, v = p.repeat(k), p.repeat(v)
    s = np.float32(p.scale) * np.einsum("bhnd,bhmd->bhnm", q, k)
    shown = p.visible() if attn_mask is None else p.visible() & attn_mask
    assert attn_mask is None or attn_mask.dtype == bool
    assert np.array_equal(shown, visible)
    top = np.max(s, axis=-1, keepdims=True, initial=-np.inf, where=shown)
    w = np.where(shown, np.exp(s - np.where(np.isfinite(top), top, 0)), np.float32(0))
    total = w.sum(axis=-1, keepdims=True)
    return np.einsum("bhnm,bhme->bhne", w, v) / np.where(total > 0, total, np.float32(1))


@attest.kernel("softmax", axes="mask,packed,lens,lens_q", outputs="o,lse", flags="masked-finite", empty_row="nan",
               schedule="two-pass", exp_error="2^-22")
def packed(p, q, k, v, *, visible, cu_seqlens_q, cu_seqlens_k):
    """One sequence after another, where they are packed; the padding of o holds what happens to be there."""
    rows = (1, p.hq, max(1, cu_seqlens_q[-1])) if p.packed else (p.b, p.hq, p.n)
    o, lse = np.full(rows + (p.e,), np.float32(7)), np.full(rows, np.float32(7))
    for b in range(p.b):
        at = (0, slice(*cu_seqlens_q[b:b + 2]), slice(*cu_seqlens_k[b:b + 2])) if p.packed else (b, slice(0, p.n), slice(0, p.m))
        seen = visible[b, 0, :at[1].stop - at[1].start, :at[2].stop - at[2].start]
        for h in range(p.hq):
            g = h * p.hkv // p.hq
            s = np.where(seen, q[at[0], h, at[1]] @ k[at[0], g, at[2]].T * np.float32(p.scale), -np.inf)
            top = s.max(axis=1, keepdims=True, initial=-np.inf)
            w = np.exp(s - np.where(np.isinf(top), 0, top))
            total = w.sum(axis=1, keepdims=True)
            with np.errstate(divide="ignore", invalid="ignore"):
                o[at[0], h, at[1]] = w @ v[at[0], g, at[2]] / total
                lse[at[0], h, at[1]] = (top + np.log(total))[:, 0]
    return o, lse


@attest.kernel("softmax", axes="mask,pages", flags="masked-finite", empty_row="nan", schedule="two-pass", exp_error="2^-22")
def with_pages(p, q, k, v, *, visible, block_table):
    """Whole pages, tokens behind the last key with weight 0: they are finite for who says so."""
    if block_table is not None:
        assert block_table.dtype == np.int64 and np.isnan(k).any(axis=(1, 2, 3)).sum() == 2  # in no table
        k, v = (np.stack([np.concatenate(list(x[row]), axis=1) for row in block_table]) for x in (k, v))
        visible = np.pad(visible, ((0, 0), (0, 0), (0, 0), (0, k.shape[2] - p.m)))
    k, v = p.repeat(k), p.repeat(v)
    s = np.where(visible, np.float32(p.scale) * np.einsum("bhnd,bhmd->bhnm", q, k), np.float32(-np.inf))
    w = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.einsum("bhnm,bhme->bhne", w, v) / w.sum(axis=-1, keepdims=True)


def cached(p, q, k, v, visible):
    """Softmax of q and a cache: k and v f16, or bf16, which numpy has as float32."""
    k, v = (p.repeat(x.astype(np.float32)) for x in (k, v))
    s = np.where(visible, np.float32(p.scale) * np.einsum("bhnd,bhmd->bhnm", q, k), np.float32(-np.inf))
    w = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.einsum("bhnm,bhme->bhne", w, v) / w.sum(axis=-1, keepdims=True)


@attest.kernel("softmax", axes="mask,kv", flags="masked-finite", empty_row="nan", schedule="two-pass", exp_error="2^-22")
def with_cache(p, q, k, v, *, visible):
    return cached(p, q, k, v, visible)


@attest.kernel("softmax", axes="mask,kv", schedule="two-pass", exp_error="2^-22", supports=lambda p: p.kv in ("e4m3", "e5m2"))
def with_fp8_cache(p, q, k, v, *, visible, k_scale, v_scale):
    """Scales fold into that of the scores, and come with the division."""
    k, v = p.repeat(k), p.repeat(v)
    scale = np.float32(p.scale) * p.repeat(k_scale[..., None, None])
    s = np.where(visible, scale * np.einsum("bhnd,bhmd->bhnm", q, k), np.float32(-np.inf))
    w = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.einsum("bhnm,bhme->bhne", w, v) * (p.repeat(v_scale[..., None, None]) / w.sum(axis=-1, keepdims=True))


@attest.kernel("softmax", axes="mask,kv", flags="masked-finite", empty_row="nan")
def with_narrow_queries(p, q, k, v, *, visible):
    """Declares nothing: q may be taken to the type of its keys."""
    if p.kv == "f16":
        q = q.astype(np.float16).astype(np.float32)
    if p.kv == "bf16":
        bits = q.view(np.uint32)
        q = ((bits + 0x7fff + (bits >> 16 & 1)) & np.uint32(0xffff0000)).astype(np.uint32).view(np.float32)
    return cached(p, q, k, v, visible)


def outer():
    @attest.kernel()
    def inner(p, q, k, v):
        return q
    return inner


if __name__ != "__main__":
    attest.audit(honest)  # in the process that serves a kernel this ends the import: what is below is never reached
    raise SystemExit("imported to the end")
