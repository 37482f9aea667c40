"""Arrays in and out: .npy files of attest, numpy, and other libraries' arrays through DLPack or their own numpy().

bf16 has no numpy type: attest's files hold its bits as <u2, functions get float32 (or their library's bfloat16), and
what they return is rounded to bf16 once, to nearest, ties to even.  Nor has it fp8: files hold e4m3 and e5m2 as uint8,
functions get the float32 numbers that k and v hold, not multiplied by k_scale and v_scale (or their library's float8).
"""
from __future__ import annotations

from typing import Any

import numpy as np

_DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.uint16, "i64": np.int64}


def from_bf16(bits: np.ndarray) -> np.ndarray:
    """float32 of the bits of bf16: exact."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_bf16(x: np.ndarray) -> np.ndarray:
    """The bits of bf16 nearest to x, ties to even; one rounding, from float64 too; NaN stays NaN."""
    wide = np.ascontiguousarray(x, dtype=np.float64)
    single = wide.astype(np.float32)
    # float32 by rounding to odd: then the second rounding is as if it were the only one
    back = single.astype(np.float64)
    bits = single.view(np.uint32).astype(np.int64)
    with np.errstate(invalid="ignore"):
        inexact, outward = back != wide, np.abs(back) > np.abs(wide)
    finite = np.isfinite(wide)
    bits = np.where(finite & inexact, (bits - (outward & finite)) | 1, bits).astype(np.uint32)
    rounded = ((bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(wide), np.uint16(0x7FC0), rounded).astype(np.uint16)


def _eight(exponent_bits: int) -> np.ndarray:
    fraction_bits, bias = 7 - exponent_bits, 2 ** (exponent_bits - 1) - 1
    byte = np.arange(256)
    power, fraction = byte >> fraction_bits & (2 ** exponent_bits - 1), byte & (2 ** fraction_bits - 1)
    size = np.ldexp((fraction + 2 ** fraction_bits * (power > 0)).astype(np.float32),
                    np.maximum(power, 1) - bias - fraction_bits)
    top = power == 2 ** exponent_bits - 1
    size[top & (fraction > 0) if exponent_bits == 5 else top & (fraction == 7)] = np.nan
    if exponent_bits == 5:
        size[top & (fraction == 0)] = np.inf
    return np.where(byte >> 7, -size, size).astype(np.float32)


_EIGHT = {"e4m3": _eight(4), "e5m2": _eight(5)}
_FLOAT8 = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}


def to_eight(x: np.ndarray, dtype: str) -> np.ndarray:
    """The bits of e4m3 or e5m2 nearest to x, ties to even; beyond the largest number the largest; NaN for what is not finite."""
    values = _EIGHT[dtype][:128]
    values = values[np.isfinite(values)].astype(np.float64)
    wide = np.asarray(x, dtype=np.float64)
    size = np.abs(np.where(np.isfinite(wide), wide, 0))
    above = np.minimum(np.searchsorted(values, size), len(values) - 1)
    below = np.maximum(above - 1, 0)
    middle = (values[below] + values[above]) / 2
    bits = np.where((size > middle) | ((size == middle) & (above % 2 == 0)), above, below)
    bits = np.where(np.isfinite(wide), bits, 0x7f)
    return (bits | np.where(np.signbit(wide), 0x80, 0)).astype(np.uint8)


def to_numpy(x: Any) -> np.ndarray:
    """A numpy array of any array: numpy's own, torch's (detached, from its device), or one with DLPack."""
    if isinstance(x, np.ndarray):
        return x
    if hasattr(x, "detach"):  # torch: numpy has no bfloat16, float32 holds it exactly
        x = x.detach().cpu()
        narrow = str(x.dtype) == "torch.bfloat16" or str(x.dtype).startswith("torch.float8")
        return (x.float() if narrow else x).contiguous().numpy()
    if str(getattr(x, "dtype", "")) == "bfloat16" or str(getattr(x, "dtype", "")).startswith("float8"):  # jax
        x = x.astype("float32")
    if hasattr(x, "__array__"):
        return np.asarray(x)
    return np.from_dlpack(x)


def to_framework(x: np.ndarray, dtype: str, framework: str, device: str | None) -> Any:
    """An array of a problem as its function wants it; `x` holds f32 where dtype is bf16, e4m3 or e5m2."""
    if framework == "numpy":
        return x
    if framework == "torch":
        import torch  # pylint: disable=import-outside-toplevel

        t = torch.from_numpy(np.ascontiguousarray(x))
        t = t.to(torch.bfloat16) if dtype == "bf16" else t
        t = t.to(getattr(torch, _FLOAT8[dtype])) if dtype in _FLOAT8 else t
        return t.to(device) if device else t
    if framework == "jax":
        import jax.numpy as jnp  # pylint: disable=import-outside-toplevel

        narrow = jnp.bfloat16 if dtype == "bf16" else getattr(jnp, _FLOAT8[dtype]) if dtype in _FLOAT8 else None
        return jnp.asarray(x, dtype=narrow)
    raise ValueError(f"framework={framework!r}: numpy, torch or jax")


def load(path: str, dtype: str) -> np.ndarray:
    """A file of attest as numbers: bf16, e4m3 and e5m2 as float32."""
    x = np.load(path, allow_pickle=False)
    if dtype in _EIGHT:
        return _EIGHT[dtype][x]
    return from_bf16(x) if dtype == "bf16" else x


def save(path: str, x: Any, dtype: str) -> None:
    """Writes an array as attest reads it, rounded to its type."""
    array = to_numpy(x)
    if dtype == "bf16":
        array = array if array.dtype == np.uint16 else to_bf16(array)
    elif dtype in _EIGHT:
        array = array if array.dtype == np.uint8 else to_eight(array, dtype)
    else:
        with np.errstate(over="ignore"):
            array = array.astype(_DTYPES[dtype], copy=False)
    np.save(path, np.ascontiguousarray(array), allow_pickle=False)
