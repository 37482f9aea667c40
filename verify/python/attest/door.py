"""A Python function as a kernel: what it declares, what it is called with, and the protocol of `attest audit --exec`: one
line in and one out a run, tensors in .npy files."""
from __future__ import annotations

import functools
import inspect
import os
import shlex
import sys
import traceback
from typing import Any, Callable, Dict, Iterable, List, Optional, Union

import numpy as np

from . import arrays

Words = Union[str, Iterable[str], Dict[str, Any], None]

_SIZES = ("b", "hq", "hkv", "n", "m", "d", "e", "chunk", "splits")
_COUNTS = ("len", "len_q", "block_table", "cu_seqlens_q", "cu_seqlens_k")
_OUTPUTS = ("o", "u", "z", "lse")
_F32_INPUTS = ("gout", "sq", "gin", "sk", "b", "a", "sink", "slope", "gamma", "gain", "shift")


class Problem:
    """What a function is to compute: p.b, p.hq, p.hkv, p.n, p.m, p.d, p.e (ints), p.scale (float), p.dtype (of q),
    p.kv (of k and v), p.packed (bool), p.acc, p.p, p.out (names of types); p["mask"] and the like: the text of an axis that is not at
    its default, else None.
    """

    def __init__(self, words: Dict[str, str]):
        self.words = words
        self.b, self.hq, self.hkv, self.n, self.m, self.d, self.e, self.chunk, self.splits = (int(words[s]) for s in _SIZES)
        self.scale = float(words["scale"])
        self.dtype, self.acc, self.p, self.out = (words[t] for t in ("in", "acc", "p", "out"))
        self.kv = self["kv"] or self.dtype
        self.packed = self["packed"] == "on"

    def __getitem__(self, axis: str) -> Optional[str]:
        return self.words.get(axis)

    def repeat(self, x: Any) -> Any:
        """k or v with one head a query head: [B,Hkv,..] to [B,Hq,..]."""
        times = self.hq // self.hkv
        if times == 1:
            return x
        if isinstance(x, np.ndarray):
            return np.repeat(x, times, axis=1)
        if hasattr(x, "repeat_interleave"):  # torch
            return x.repeat_interleave(times, dim=1)
        return x.repeat(times, axis=1)  # jax

    def visible(self, lens: Optional[np.ndarray] = None, attn_mask: Optional[np.ndarray] = None,
                lens_q: Optional[np.ndarray] = None) -> np.ndarray:
        """[B,1,N,M], bool: which keys each query sees, by mask, window, lens, lens_q and attn_mask, which may make it
        [B,Hq,N,M].  Of packed problems, too: padded."""
        keys = np.full(self.b, self.m) if lens is None else np.asarray(lens)
        queries = np.full(self.b, self.n) if lens_q is None else np.asarray(lens_q)
        i, j = np.arange(self.n)[:, None], np.arange(self.m)[None, :]
        seen = np.empty((self.b, 1, self.n, self.m), dtype=bool)
        mask, window = self["mask"], self["window"]
        for b in range(self.b):
            off = int(keys[b]) - int(queries[b])
            row = (j < keys[b]) & (i < queries[b])
            if mask == "causal":
                row = row & (j <= i)
            elif mask == "causal-br":
                row = row & (j <= i + off)
            if window:
                apart = np.abs(i - j) if mask is None else (i + off - j if mask == "causal-br" else i - j)
                row = row & (apart < int(window))
            seen[b, 0] = row
        return seen if attn_mask is None else seen & attn_mask


def _list(words: Words) -> str:
    return words if isinstance(words, str) else ",".join(sorted(str(w) for w in words or ()))


class Kernel:
    """A function and what it declares; called, it is the function."""

    def __init__(self, function: Callable[..., Any], declared: List[str], framework: str, device: Optional[str],
                 supports: Optional[Callable[[Problem], Any]], warm_up: Optional[Callable[[], Any]] = None):
        self.function, self.declared, self.warm_up = function, declared, warm_up
        self.framework, self.device, self.supports = framework, device, supports
        self.__name__ = getattr(function, "__name__", "kernel")
        self.__doc__ = function.__doc__
        self.wants = [name for name, one in inspect.signature(function).parameters.items()
                      if one.kind is inspect.Parameter.KEYWORD_ONLY]

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.function(*arguments, **named)

    @property
    def file(self) -> str:
        path = inspect.getsourcefile(self.function)
        name = self.function.__qualname__
        if not path or not os.path.exists(path) or "<locals>" in name:
            raise ValueError(f"{name}: a kernel runs in a process of its own, which imports it: define it at the top level "
                             "of a .py file")
        return os.path.abspath(path)

    @property
    def command(self) -> str:
        """The program for `attest audit --exec`."""
        return shlex.join([sys.executable, "-m", "attest.serve", self.file, self.function.__qualname__])

    # ---- one call
    def _tensor(self, folder: str, name: str, dtype: str) -> Any:
        return arrays.to_framework(arrays.load(os.path.join(folder, name + ".npy"), dtype), dtype, self.framework,
                                   self.device)

    def _keyword(self, p: Problem, folder: str, name: str) -> Any:
        if name == "visible":
            paths = [os.path.join(folder, x + ".npy") for x in ("len", "attn_mask", "len_q")]
            seen = p.visible(*(np.load(path) if os.path.exists(path) else None for path in paths))
            return arrays.to_framework(seen, "bool", self.framework, self.device)
        if not os.path.exists(os.path.join(folder, name + ".npy")):
            return None  # this problem has none
        wide = "f64" if p.acc == "f64" else "f32"
        own = {"attn_mask": "bool", "keep": "bool", "bias": p.dtype, "k_scale": "f32", "v_scale": "f32"}
        return self._tensor(folder, name, own.get(name, "i64" if name in _COUNTS else wide))

    def call(self, folder: str, p: Problem) -> Callable[[], Any]:
        """Reads the tensors of a problem; the function with them, to be called any number of times."""
        q, k, v = (self._tensor(folder, name, p.dtype if name == "q" else p.kv) for name in "qkv")
        return functools.partial(self.function, p, q, k, v, **{name: self._keyword(p, folder, name) for name in self.wants})

    def answer(self, folder: str, outputs: List[str], p: Problem) -> None:
        """Reads the tensors of a problem, calls the function and writes what it returns."""
        returned = self.call(folder, p)()
        if not isinstance(returned, dict):
            returned = dict(zip(outputs, returned if isinstance(returned, (tuple, list)) else (returned,)))
        rows = (p.b, p.hq, p.n)
        if p.packed:
            rows = (1, p.hq, max(1, int(np.load(os.path.join(folder, "cu_seqlens_q.npy"))[-1])))
        shapes = {"o": rows + (p.e,), "u": rows + (p.e,), "z": rows, "lse": rows}
        for name in outputs:
            if name not in returned:
                raise ValueError(f"the function returned no {name}")
            array = arrays.to_numpy(returned[name])
            if name in shapes and array.shape != shapes[name]:
                raise ValueError(f"{name} has the shape {array.shape}, the problem's is {shapes[name]}")
            arrays.save(os.path.join(folder, name + ".npy"), array,
                        p.out if name == "o" else "f64" if p.acc == "f64" else "f32")

    def serve(self, lines: Iterable[str], say: Callable[[str], None]) -> None:
        """The protocol, until the lines end."""
        if self.warm_up:
            self.warm_up()
        say("attest 1 " + " ".join(self.declared + (["asks=yes"] if self.supports else [])))
        for line in lines:
            verb, *rest = line.split()
            words = dict(word.split("=", 1) for word in rest)
            try:
                if verb == "supports" and self.supports:
                    served = self.supports(Problem(words))
                    say("yes" if served is True or served is None else f"no {served or 'not served'}")
                else:
                    self.answer(words["dir"], words["outputs"].split(","), Problem(words))
                    say("ok")
            except Exception as error:  # pylint: disable=broad-except
                traceback.print_exc()
                text = " ".join(str(error).split())
                say(f"{'no' if verb == 'supports' else 'error'} {type(error).__name__}: {text[:300]}")


def kernel(variants: Words = "softmax", axes: Words = None, types: Words = "f32", *, p: Words = None, out: Words = None,
           acc: Words = None, framework: str = "numpy", device: Optional[str] = None,
           supports: Optional[Callable[[Problem], Any]] = None, name: Optional[str] = None, flags: Words = None,
           outputs: Words = None, warm_up: Optional[Callable[[], Any]] = None,
           **numerics: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Declares a function `f(p, q, k, v, *, visible, len, sink, bias, attn_mask, keep, block_table, cu_seqlens_q, ..)` as a kernel.

    variants   presets (`attest list variants`); axes: those that may be not at their default, {"mask", "lens"} (any
               value, but alibi=usual, whose slopes the function makes: {"alibi": "none,draw,usual"}) or {"mask": "full,causal"}; types: of q, k, v (k, v: also kv); p, out, acc: types as in a problem line
    framework  "numpy", "torch" or "jax": what the arrays are; bf16, e4m3 and e5m2 are float32 in numpy
    supports   f(problem): True, or why not
    warm_up    called once in the kernel's process before the first case, outside of every time limit of a case
    outputs    what it gives, o (default), u, z, lse: "o,lse"
    flags      promises and conventions: "deterministic", "batch-invariant" (the bits of a row depend on nothing else),
               "ftz" (subnormal numbers may count as 0), "lse-base2", "lse-with-sink", "masked-finite" (masked tokens take
               part with weight 0), "serial-sums" (each sum adds its terms one after another)

    What else is said of the arithmetic is given by name, as schedule="online", tile=64, exp_error="2^-22"; the bound of a
    case follows from it, and what is not said is unknown and gets the loosest bound. Errors are relative, and like units
    (unit roundoffs) numbers or "2^-K"; a dtype is "f64", "f32", "f16" or "bf16"; a question is "yes" or "no":

    schedule       "two-pass" (maximum first), "online" (running maximum), "split", "direct" (no maximum), "recurrent",
                   "chunk"
    tile, splits   keys between two rescalings (online, split); parts of a split kernel
    exp_error, div_error, tanh_error, log_error, sigmoid_error, expm1_error    errors of these functions
    log2_domain    question: exponents are multiplied by log2(e) first
    cast_in_sum    question: the denominator adds the weights as they were cast to p
    p_rounding     of that cast: "nearest" or "truncate"
    division       where weights are divided by their sum: "after-sum", "then-cast", "after-cast", "running"
    acc_unit, acc_truncates     unit of accumulation; question: it rounds toward zero
    score_unit, value_unit      units of the sums of q and k, of weights and v; 0: acc_unit
    score_acc, value_acc        dtypes whose range these accumulators have
    score_dtype, scale_dtype, scaled_dtype, state_dtype    dtypes of stored scores, of the scale, of scaled or turned q and k, features and gated v, of states and of the parts of a split kernel
    block, score_block          keys, channels that are summed by themselves before they join the rest
    compensated, decay_products    questions: sums carry their errors along (Kahan); decays are multiplied
    empty_row      what a row without visible keys holds: "zero" (default), "nan", "mean", "any"
    form           "parallel" (default), "tiled", "split", "recurrent", "chunk"

    q [B,Hq,N,d], k [B,Hkv,M,d], v [B,Hkv,M,e]; with pages=T k and v are [page,Hkv,T,..], found by `block_table`; packed, all
    are [1,H,T,..], and entry b has the tokens cu_seqlens_q[b]..cu_seqlens_q[b+1]-1, of keys cu_seqlens_k.  Returns o [B,Hq,N,e]; with outputs="o,lse" a tuple in that order, or a
    dict.  Keyword-only parameters get `visible` (bool, [B,1,N,M], [B,Hq,N,M] with an attn_mask of heads) and the tensors
    of these names, or None.
    """
    def declare(function: Callable[..., Any]) -> Kernel:
        own = (name or function.__name__).lower().replace("_", "-")
        words = ["name=" + "".join(c for c in own if c.isascii() and (c.isalnum() or c == "-")),
                 "variants=" + _list(variants), "in=" + _list(types)]
        words += [f"{key}={_list(value)}" for key, value in (("p", p), ("out", out), ("acc", acc), ("flags", flags),
                                                             ("outputs", outputs)) if value]
        chosen = {axis: "any" for axis in _list(axes).split(",") if axis} if not isinstance(axes, dict) else axes
        words += [f"{axis}={_list(value)}" for axis, value in chosen.items()]
        words += [f"{key}={value}" for key, value in numerics.items()]
        return Kernel(function, words, framework, device, supports, warm_up)

    return declare
