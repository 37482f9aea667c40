"""Softmax with dropout, for checks.py: a kernel for each place where 1/(1-R) may multiply, and one that is wrong."""
import numpy as np

import attest


def dropped(p, q, k, v, visible, keep, way):
    """Softmax with dropout; `way`: what 1/(1-R) multiplies.  bf16 is float32 here, rounded where it is stored."""
    narrow = (lambda x: to_bf16(x)) if p.dtype == "bf16" else (lambda x: x)
    k, v = p.repeat(k), p.repeat(v)
    share = np.float32(1) - np.float32(p["dropout"] or 0)
    scale = np.float32(1) / share
    keep = np.ones((p.b, p.hq, p.n, p.m), bool) if keep is None else keep
    s = np.where(visible, np.float32(p.scale) * np.einsum("bhnd,bhmd->bhnm", q, k), np.float32(-np.inf))
    w = np.exp(s - s.max(axis=-1, keepdims=True))
    l = w.sum(axis=-1, keepdims=True)
    if way == "before":
        return np.einsum("bhnm,bhme->bhne", narrow(np.where(keep, w * scale, np.float32(0))), v) / l
    if way == "divided":
        return np.einsum("bhnm,bhme->bhne", narrow(np.where(keep, w / share, np.float32(0))), v) / l
    if way == "values":  # PyTorch's math SDPA, and FlashAttention's reference
        return np.einsum("bhnm,bhme->bhne", np.where(keep, narrow(w / l), np.float32(0)), narrow(v * scale))
    if way == "twice":  # softmax, then F.dropout, each in the type of q
        return np.einsum("bhnm,bhme->bhne", np.where(keep, narrow(narrow(w / l) * scale), np.float32(0)), v)
    u = np.einsum("bhnm,bhme->bhne", np.where(keep, narrow(w), np.float32(0)), v)
    if way == "after":
        return np.einsum("bhnm,bhme->bhne", np.where(keep, narrow(w) * scale, np.float32(0)), v) / l
    if way == "sum":
        return u * scale / l
    if way == "reciprocal":  # FlashAttention
        return u * (np.float32(1) / l * scale)
    if way == "denominator":
        return u / (l * share)
    return u / l * scale


def to_bf16(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) & np.uint32(0xffff0000)).view(np.float32)


DROP = {"axes": "mask,dropout,window,lens,attn_mask", "types": "f32,bf16", "p": "f32,bf16", "empty_row": "nan", "flags": "masked-finite"}
ONCE = {"schedule": "two-pass", "exp_error": "2^-22", "acc_truncates": "no", "p_rounding": "nearest", **DROP}


@attest.kernel("softmax", **ONCE)
def drop_before(p, q, k, v, *, visible, keep):
    return dropped(p, q, k, v, visible, keep, "before")


@attest.kernel("softmax", **ONCE)
def drop_divided(p, q, k, v, *, visible, keep):
    return dropped(p, q, k, v, visible, keep, "divided")


@attest.kernel("softmax", **ONCE)
def drop_after(p, q, k, v, *, visible, keep):
    return dropped(p, q, k, v, visible, keep, "after")


@attest.kernel("softmax", division="then-cast", scaled_dtype="bf16", **ONCE)
def drop_values(p, q, k, v, *, visible, keep):
    return dropped(p, q, k, v, visible, keep, "values")


@attest.kernel("softmax", **DROP)
def drop_values_undeclared(p, q, k, v, *, visible, keep):
    return dropped(p, q, k, v, visible, keep, "values")


@attest.kernel("softmax", **DROP)
def drop_twice(p, q, k, v, *, visible, keep):
    return dropped(p, q, k, v, visible, keep, "twice")


@attest.kernel("softmax", **ONCE)
def drop_sum(p, q, k, v, *, visible, keep):
    return dropped(p, q, k, v, visible, keep, "sum")


@attest.kernel("softmax", **ONCE)
def drop_reciprocal(p, q, k, v, *, visible, keep):
    return dropped(p, q, k, v, visible, keep, "reciprocal")


@attest.kernel("softmax", **ONCE)
def drop_denominator(p, q, k, v, *, visible, keep):
    return dropped(p, q, k, v, visible, keep, "denominator")


@attest.kernel("softmax", **ONCE)
def drop_quotient(p, q, k, v, *, visible, keep):
    return dropped(p, q, k, v, visible, keep, "quotient")


DROPPING = [drop_before, drop_divided, drop_after, drop_values, drop_values_undeclared, drop_twice, drop_sum, drop_reciprocal,
            drop_denominator, drop_quotient]


@attest.kernel("softmax", **ONCE)
def drop_by_kv_head(p, q, k, v, *, visible, keep):
    heads = [h * p.hkv // p.hq for h in range(p.hq)]
    return dropped(p, q, k, v, visible, keep[:, heads] if keep is not None else None, "before")
