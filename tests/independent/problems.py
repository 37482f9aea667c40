"""problems.py: random problems for tests/independent/check.py.  Fixed seeds; every tensor is given from a file, none is
drawn, so that no draw code of attest takes part.  Sizes are small: n, m <= 6, d <= 4, e <= 3."""
import random
from fractions import Fraction

import numpy as np
from mpmath import mp

import formula
import numeric
import tables

ROWS_NORMS = ("rms", "layernorm", "length-rms", "length-layernorm")
EPS_NORMS = ("sum", "l2", "length-l2") + ROWS_NORMS
HEADS = ((1, 1), (2, 1), (2, 2), (4, 2), (3, 1), (4, 4))
USUAL_HEADS = ((3, 1), (3, 3), (6, 2), (5, 1), (12, 4), (12, 2), (16, 2), (7, 1), (9, 3), (2, 1), (1, 1))  # of alibi=usual
SCENES = ("normal", "dyadic", "repeat", "zeros", "large", "negative", "subnormal", "cancel")
NUMBERS = {"filter": ("0.5", "1", "2", "0.1", "3"), "rope": ("10000", "10", "2", "0.5", "500000"),
           "window": ("1", "2", "3", "4"), "pages": ("1", "2", "4", "16"),
           "dropout": ("0.5", "0.1", "0.25", "0.9", "0.3"), "eps": ("1e-5", "0.01", "1", "0.3"), "clamp": ("5", "0.5", "-1", "2"),
           "cap": ("2", "30", "0.7", "1"), "P": ("0", "1", "2", "3", "4", "5", "8"), "TAU": ("0.5", "1", "2", "0.3"),
           "F": ("1", "0.25", "3", "0", "-1", "20")}
# Values of two axes whose formulas meet: which comes first, which position, which keys count.
PAIRS = ("filter=NUMBER norm=length", "filter=NUMBER center=min", "clamp=NUMBER alibi=draw", "cap=NUMBER alibi=draw",
         "cap=NUMBER clamp=NUMBER", "mask=causal-br lens=draw", "rope=NUMBER mask=causal-br",
         "alibi=draw mask=causal-br", "alibi=usual mask=causal-br", "alibi=usual lens=draw", "cap=NUMBER alibi=usual",
         "clamp=NUMBER alibi=usual", "alibi=usual window=NUMBER", "alibi=usual weight=taylor:P", "alibi=usual packed=on", "clamp=NUMBER bias=full", "cap=NUMBER bias=head", "bias=batch mask=causal-br",
         "bias=shared lens=draw", "attn_mask=full center=max", "attn_mask=shared norm=length",
         "attn_mask=head bias=full", "attn_mask=batch mask=causal-br", "attn_mask=full window=NUMBER", "pages=NUMBER lens=draw",
         "dropout=NUMBER mask=causal", "dropout=NUMBER window=NUMBER", "dropout=NUMBER norm=sink",
         "dropout=NUMBER attn_mask=full", "dropout=NUMBER lens=draw", "dropout=NUMBER gates=heads",
         "dropout=NUMBER decay=scalar", "dropout=NUMBER filter=NUMBER", "dropout=NUMBER weight=taylor:P",
         "dropout=NUMBER norm=layernorm",
         "kv=f16 rope=NUMBER", "kv=bf16 gates=heads", "kv=f16 state=draw",
         "kv=e4m3 pages=NUMBER", "kv=e5m2 pages=NUMBER", "kv=e4m3 packed=on", "kv=e5m2 packed=on", "kv=e4m3 mask=causal",
         "kv=e5m2 mask=causal", "kv=e4m3 rope=NUMBER", "kv=e5m2 update=delta", "kv=e4m3 state=draw", "kv=e5m2 dropout=NUMBER",
         "pages=NUMBER decay=vector", "pages=NUMBER update=delta", "window=NUMBER lens=draw", "window=NUMBER mask=causal-br",
         "feature=cosformer rope=NUMBER",
         "feature=cosformer state=draw", "feature=cosformer mask=causal-br", "rope=NUMBER state=draw",
         "decay=retnet state=draw", "decay=scalar state=draw", "decay=vector state=draw", "decay=scalar lens=draw",
         "decay=vector lens=draw", "decay_input=log decay=scalar", "decay_input=log decay=vector",
         "lens_q=draw lens=draw", "lens_q=draw mask=causal-br", "lens_q=draw packed=on lens=draw", "lens_q=draw decay=scalar",
         "lens_q=draw rope=NUMBER mask=causal-br", "lens_q=draw alibi=draw mask=causal-br", "lens_q=draw weight=taylor:P mask=causal-br",
         "lens_q=len lens=draw", "lens_q=len lens=draw packed=on decay=scalar", "lens_q=len lens=draw packed=on decay=vector",
         "lens_q=len lens=draw packed=on update=delta", "lens_q=len lens=draw decay=scalar mask=causal-br",
         "packed=on pages=NUMBER", "packed=on update=delta", "packed=on state=draw",
         "decay_input=log state=draw", "decay_input=log update=delta", "decay_input=log weight=taylor:P", "decay=vector norm=sum", "decay=scalar weight=taylor:P", "gates=heads norm=rms",
         "gates=heads decay=vector", "gates=pre-out norm=floor:F", "affine=draw gates=out", "update=delta decay=vector",
         "update=delta state=draw", "update=delta gates=inout", "update=efla gates=heads", "update=efla decay=retnet",
         "update=efla feature=cosformer", "update=delta rope=NUMBER", "update=delta mask=causal-br")
LATER = ("bias", "attn_mask", "pages", "kv", "decay_input", "dropout", "lens_q", "packed")
# How often a problem of a preset leaves these axes' defaults.
BESIDE = {"mask": 0.6, "window": 0.15, "lens": 0.3, "rope": 0.15, "eps": 0.25, "cap": 0.08, "alibi": 0.12, "bias": 0.05,
          "attn_mask": 0.05, "pages": 0.05, "kv": 0.05, "decay_input": 0.2, "dropout": 0.05, "lens_q": 0.05, "packed": 0.05,
          "state": 0.35, "affine": 0.4, "clamp": 0.05, "filter": 0.05}


def filled(rng, axis, value):
    """The value with its number written out: taylor:P -> taylor:3, NUMBER -> one of the axis's."""
    if value == "NUMBER":
        return rng.choice(NUMBERS[axis])
    for mark in ("TAU", "P", "F"):
        if value == mark or value.endswith(":" + mark):
            return value[:len(value) - len(mark)] + rng.choice(NUMBERS[mark])
    return value


def polynomial(axes):
    return axes["weight"] != "exp"


def recurrent(axes):
    """A recurrence exists: a polynomial of the bare score around 0, and no window over the keys."""
    return (polynomial(axes) and axes["center"] == "zero" and axes["window"] == "none"
            and all(axes[k] == "none" for k in ("cap", "clamp", "filter", "alibi", "bias", "attn_mask", "dropout")))


def contradicts(axes, sizes):
    """Whether the rules of kernels/problem/variant_rules.c, written once more, rule the combination out."""
    update = axes["update"] != "add"
    return ((axes["center"] != "zero" and not (axes["weight"].startswith("taylor") and axes["norm"] == "sum"))
            or (axes["affine"] != "none" and axes["norm"] not in ROWS_NORMS)
            or (axes["eps"] != "0" and axes["norm"] not in EPS_NORMS)
            or (axes["decay"] != "none" and (axes["mask"] == "full" or sizes["n"] != sizes["m"]))
            or (axes["decay"] == "vector" and (axes["feature"] == "cosformer"
                                               or axes["weight"] not in ("power:1", "term:1")))
            or (update and (axes["weight"] != "power:1" or axes["norm"] != "none" or axes["mask"] == "full"
                            or (axes["lens"] != "none" and axes["lens_q"] != "len") or axes["gates"] == "pre-out" or not recurrent(axes)))
            or (axes["state"] != "none" and not recurrent(axes))
            or (axes["bias"] != "none" and axes["alibi"] != "none")
            or (axes["attn_mask"] != "none" and axes["decay"] != "none")
            or (axes["decay_input"] == "log" and axes["decay"] not in ("scalar", "vector"))
            or (axes["lens_q"] == "len" and (axes["lens"] == "none" or sizes["n"] != sizes["m"]))
            or (axes["lens_q"] == "draw" and (update or (axes["decay"] != "none" and axes["mask"] == "causal-br")))
            or (axes["lens_q"] != "none" and (axes["state"] != "none" or axes["feature"] == "cosformer"))
            or (axes["packed"] == "on" and axes["lens"] != "none" and axes["decay"] in ("scalar", "vector")
                and axes["lens_q"] != "len")
            or (axes["rope"] != "none" and sizes["d"] % 2))


def states_fit(axes, sizes):
    """Whether degree and dimension give states of a printable size."""
    dim = 2 * sizes["d"] if axes["feature"] == "cosformer" else sizes["d"]
    return dim ** int(axes["weight"].partition(":")[2] or 0) <= 64


def draw_sizes(rng):
    hq, hkv = rng.choice(HEADS)
    n = rng.randint(1, 6)
    m = n if rng.random() < 0.6 else rng.randint(1, 6)
    return {"b": rng.choice((1, 1, 2)), "hq": hq, "hkv": hkv, "n": n, "m": m, "d": rng.choice((1, 2, 2, 3, 4)),
            "e": rng.randint(1, 3)}


def usual_heads(rng, axes, sizes):
    """Other numbers of heads for alibi=usual, whose slopes go by them; the problems of the others stay as they were."""
    if axes["alibi"] == "usual":
        sizes["hq"], sizes["hkv"] = random.Random("heads" + repr(rng.getstate())).choice(USUAL_HEADS)
    return sizes


def resolved(preset, rng):
    """(name with its number, all axes) of a preset."""
    name = filled(rng, "", preset)
    axes = {key: values[0] for key, values in tables.AXES.items()}
    mark = name.partition(":")[2]
    for key, value in tables.PRESETS[preset].items():
        axes[key] = value.replace("P", mark).replace("TAU", mark) if value.endswith(("P", "TAU")) else value
    return name, axes


def stray(rng, axes, chances, fixed):
    """Moves axes off their values at random; `fixed` stay."""
    for key, chance in chances.items():
        # an axis that came later has a generator of its own: the problems of the others stay as they were
        dice = random.Random(key + repr(rng.getstate())) if key in LATER else rng
        if key == "decay_input" and axes["decay"] not in ("scalar", "vector"):
            continue
        if key not in fixed and dice.random() < chance:
            axes[key] = filled(dice, key, dice.choice(tables.AXES[key][1:]))


def of_preset(rng, preset):
    for _ in range(10000):
        name, axes = resolved(preset, rng)
        base = dict(axes)
        stray(rng, axes, BESIDE, tables.PRESETS[preset])
        sizes = usual_heads(rng, axes, draw_sizes(rng))
        if not contradicts(axes, sizes) and (axes["state"] == "none" or states_fit(axes, sizes)):
            return name, base, axes, sizes
    raise RuntimeError("no legal problem of preset " + preset)


def of_axes(rng, forced):
    """A random preset with these values of axes, (axis, value)..., and other axes moved here and there."""
    names = list(tables.PRESETS)
    for _ in range(100000):
        name, axes = resolved(rng.choice(names), rng)
        base = dict(axes)
        stray(rng, axes, {key: BESIDE.get(key, 0.12) for key in axes}, ())
        for axis, value in forced:
            axes[axis] = filled(rng, axis, value)
        sizes = usual_heads(rng, axes, draw_sizes(rng))
        if not contradicts(axes, sizes) and (axes["state"] == "none" or states_fit(axes, sizes)):
            return name, base, axes, sizes
    raise RuntimeError("no legal problem with %s" % forced)


# ---- tensors --------------------------------------------------------------------------------------------------
def eight_bits(exponent_bits):
    """The number of each of 256 bytes: sign, exponent, fraction.  OCP e4m3 has no infinity: only 1111 111 is no number."""
    fraction_bits, bias, values = 7 - exponent_bits, 2 ** (exponent_bits - 1) - 1, []
    for byte in range(256):
        power, fraction = byte >> fraction_bits & (2 ** exponent_bits - 1), byte & (2 ** fraction_bits - 1)
        size = ((fraction + 2 ** fraction_bits * (power > 0)) * 2.0 ** (max(power, 1) - bias - fraction_bits))
        if power == 2 ** exponent_bits - 1 and (exponent_bits == 5 or fraction == 7):
            size = np.nan if fraction else np.inf
        values.append(-size if byte >> 7 else size)
    return np.array(values)


EIGHT = {"e4m3": eight_bits(4), "e5m2": eight_bits(5)}


def to_eight(x, dtype):
    """The nearest number (ties: any), what is too large the largest; NaN and infinities are NaN."""
    table = EIGHT[dtype]
    finite = np.flatnonzero(np.isfinite(table) & ~((table == 0) & np.signbit(table)))
    x = np.asarray(x, np.float64)
    at = np.abs(np.nan_to_num(x, posinf=0, neginf=0)[..., None] - table[finite]).argmin(axis=-1)
    out = np.where(np.isfinite(x), finite[at], 0x7f).astype(np.uint8)
    return out, table[out]


def to_dtype(x, dtype):
    """float64 array -> (array as it is stored, its exact values as float64)."""
    if dtype == "bool":
        return np.asarray(x, bool), np.asarray(x, np.float64)
    if dtype in EIGHT:
        return to_eight(x, dtype)
    if dtype == "bf16":
        top = (np.asarray(x, np.float32).view(np.uint32) >> 16).astype("<u2")
        return top, (top.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    out = np.asarray(x).astype({"f64": "<f8", "f32": "<f4", "f16": "<f2"}[dtype])
    return out, out.astype(np.float64)


SMALLEST = {"f64": 5e-324, "f32": 2.0 ** -149, "f16": 2.0 ** -24, "bf16": 2.0 ** -133,
            "e4m3": 2.0 ** -9, "e5m2": 2.0 ** -16}


class Tensors:
    """Draws the tensors of one problem in its scene."""

    def __init__(self, seed, scene, axes, sizes, dtypes):
        self.rng = np.random.default_rng(seed)
        self.scene, self.axes, self.sizes, self.dtypes = scene, axes, sizes, dtypes
        self.stored, self.exact = {}, {}

    def put(self, name, x, dtype):
        self.stored[name], exact = to_dtype(x, dtype)
        self.exact[name] = nested(exact)

    def normal(self, *shape):
        if self.scene == "dyadic":
            return self.rng.integers(-2, 3, shape) / 2.0
        x = self.rng.standard_normal(shape)
        if self.scene == "zeros":
            x[self.rng.random(shape) < 0.4] = 0
        return x

    def factor(self, *shape):
        """Gates and decays: mostly in (0,1), some 0, 1, negative or above 1."""
        if self.scene == "dyadic":
            return self.rng.choice([0.5, 1.0, 0.25, 0.75], shape)
        x = self.rng.random(shape)
        odd = self.rng.random(shape)
        x[odd < 0.06] = 0
        x[(odd >= 0.06) & (odd < 0.1)] = 1
        x[odd > 0.96] *= -1.5
        return x

    def tiny(self, shape):
        return self.rng.integers(-9, 10, shape) * SMALLEST[self.dtypes["kv"]]

    def queries_and_keys(self, q_shape, k_shape):
        q, k = self.normal(*q_shape), self.normal(*k_shape)
        if self.scene == "repeat":
            k = np.ascontiguousarray(k[:, :, self.rng.integers(0, min(2, k_shape[2]), k_shape[2])])
        elif self.scene == "cancel":
            k[:, :, 1::2] = k[:, :, :k_shape[2] - k_shape[2] % 2:2]
        elif self.scene == "zeros":
            k[self.rng.random(k_shape[:3]) < 0.3] = 0
            q[self.rng.random(q_shape[:3]) < 0.3] = 0
        elif self.scene == "large":
            q, k = q * 30, k * 30
        elif self.scene == "negative":
            q, k = abs(q) * 3, -abs(k) * 3
        elif self.scene == "subnormal":
            k[:, :, ::2] = self.tiny(k[:, :, ::2].shape)
        return q, k

    def values(self, shape):
        v = self.normal(*shape)
        if self.scene == "cancel":
            v[:, :, 1::2] = -v[:, :, :shape[2] - shape[2] % 2:2]
        elif self.scene == "subnormal":
            v[self.rng.random(shape) < 0.5] = 0
            v = v + self.tiny(shape)
        return v

    def main(self):
        z, kv = self.sizes, self.dtypes["kv"]
        q, k = self.queries_and_keys((z["b"], z["hq"], z["n"], z["d"]), (z["b"], z["hkv"], z["m"], z["d"]))
        v = self.values((z["b"], z["hkv"], z["m"], z["e"]))
        if self.axes["lens"] == "draw":
            lens = self.rng.integers(0, z["m"] + 1, z["b"])
            self.stored["len"], self.exact["len"] = lens.astype(self.rng.choice(["<i4", "<i8"])), [int(x) for x in lens]
            if self.rng.random() < 0.5:   # what no row reads must not matter
                for b, length in enumerate(lens):
                    k[b, :, length:], v[b, :, length:] = np.nan, np.inf
        if self.axes["lens_q"] != "none":
            lens = self.rng.integers(0, z["n"] + 1, z["b"]) if self.axes["lens_q"] == "draw" else lens
            self.stored["len_q"], self.exact["len_q"] = lens.astype(self.rng.choice(["<i4", "<i8"])), [int(x) for x in lens]
            if self.rng.random() < 0.5:   # what is no row must not matter
                for b, length in enumerate(lens):
                    q[b, :, length:] = np.nan
        for name, x in (("k", k), ("v", v)):
            if kv in EIGHT:
                scales = self.rng.choice([1.0, 0.3, 0.01, 1.7, 2.0 ** -5, 40.0], (z["b"], z["hkv"]))
                self.put(name + "_scale", scales, "f32")
                x = x / np.array(self.stored[name + "_scale"], np.float64)[:, :, None, None]
            self.put(name, x, kv)
        self.put("q", q, self.dtypes["in"])

    def gates_and_decays(self):
        z, f, axes = self.sizes, self.dtypes["other"], self.axes
        rows, keys = (z["b"], z["hq"], z["n"]), (z["b"], z["hkv"], z["m"])
        if axes["gates"] in ("out", "inout", "pre-out"):
            self.put("gout", self.factor(*rows), f)
        if axes["gates"] in ("in", "inout"):
            self.put("gin", self.factor(*keys), f)
        if axes["gates"] == "heads":
            self.put("sq", self.normal(*rows) * 3, f)
            self.put("sk", self.normal(*keys) * 3, f)
        if axes["decay"] == "retnet":
            self.put("gamma", abs(self.factor(z["hkv"])), f)
        elif axes["decay"] != "none":
            a = self.factor(*keys, *([z["d"]] if axes["decay"] == "vector" else []))
            self.put("a", a if axes["decay_input"] == "factor" else -3 * a, f)
        if axes["update"] != "add":
            self.put("b", 2 * self.factor(*keys), f)

    def bias(self):
        """Some of small numbers, some a mask of finite numbers, some with large steps."""
        z, kind = self.sizes, self.axes["bias"]
        shape = (z["b"] if kind in ("full", "batch") else 1, z["hq"] if kind in ("full", "head") else 1, z["n"], z["m"])
        x = self.normal(*shape)
        if self.scene == "large":
            x[self.rng.random(shape) < 0.3] = -1000
        elif self.scene == "negative":
            x = 8 * x
        return x

    def mask(self):
        """Half of the keys, of some rows one or none; in one scene all but a few rows."""
        z, kind = self.sizes, self.axes["attn_mask"]
        shape = (z["b"] if kind in ("full", "batch") else 1, z["hq"] if kind in ("full", "head") else 1, z["n"], z["m"])
        x = self.rng.random(shape) < (0.85 if self.scene == "normal" else 0.5)
        row = self.rng.random(shape[:3])
        x[row < 0.1] = False
        x[row > 0.8, self.rng.integers(z["m"])] = True
        return x

    def kept(self):
        """As a kernel draws it; of some rows all or none."""
        z = self.sizes
        x = self.rng.random((z["b"], z["hq"], z["n"], z["m"])) >= float(self.axes["dropout"])
        row = self.rng.random(x.shape[:3])
        x[row < 0.1] = False
        x[row > 0.9] = True
        return x

    def rest(self):
        z, f, axes = self.sizes, self.dtypes["other"], self.axes
        if axes["norm"] == "sink":
            self.put("sink", self.normal(z["hq"]) * (20 if self.scene == "large" else 1), f)
        if axes["alibi"] == "draw":
            self.put("slope", abs(self.normal(z["hq"])), f)
        if axes["bias"] != "none":
            self.put("bias", self.bias(), self.dtypes["in"])
        if axes["affine"] == "draw":
            self.put("gain", self.normal(z["e"]), f)
            self.put("shift", self.normal(z["e"]), f)
        if axes["state"] == "draw":
            dim = 2 * z["d"] if axes["feature"] == "cosformer" else z["d"]
            top = int(axes["weight"].partition(":")[2])
            for n in range(top + 1) if axes["weight"].startswith("taylor") else [top]:
                self.put("h0.%d" % n, self.normal(z["b"], z["hkv"], dim ** n, z["e"]), f)
                if axes["update"] == "add":
                    self.put("z0.%d" % n, self.factor(z["b"], z["hkv"], dim ** n), f)
        if axes["attn_mask"] != "none":
            self.put("attn_mask", self.mask(), "bool")
        if axes["dropout"] != "none":
            self.put("keep", self.kept(), "bool")

    def draw(self):
        self.main()
        self.gates_and_decays()
        self.rest()


def nested(x):
    """Nested lists of Fractions; what is not finite is None, so that reading it is an error."""
    if np.ndim(x) == 0:
        return Fraction(float(x)) if np.isfinite(x) else None
    return [nested(part) for part in x]


# ---- one problem ------------------------------------------------------------------------------------------------
class Problem:
    """Problem number `index` of a group, ("preset", NAME) or ("axis", "KEY=VALUE [KEY=VALUE]")."""

    def __init__(self, kind, name, index):
        self.kind, self.name, self.index = kind, name, index
        rng = random.Random("attest %s %s %d" % (kind, name, index))
        if kind == "preset":
            preset, base, self.axes, self.sizes = of_preset(rng, name)
        else:
            preset, base, self.axes, self.sizes = of_axes(rng, [x.split("=") for x in name.split()])
        self.scene = SCENES[(index + len(name)) % len(SCENES)]
        self.draw_numbers(rng)
        self.want = self.outputs()
        self.line = self.written(rng, preset, base)
        drawn = Tensors(rng.randrange(2 ** 32), self.scene, self.axes, self.sizes,
                        {"in": self.dtype, "kv": self.dtype if self.axes["kv"] == "in" else self.axes["kv"],
                         "other": "f64" if self.acc == "f64" else "f32"})
        drawn.draw()
        self.stored, self.exact = drawn.stored, drawn.exact
        self.bshd = [x for x in ("q", "k", "v") if rng.random() < 0.1]
        self.digits = rng.choice((40, 40, 40, 25, 60))

    def draw_numbers(self, rng):
        self.dtype = rng.choice(("f32", "f32", "f32", "f64", "f64", "f16", "bf16"))
        if self.axes["kv"] in EIGHT:
            self.dtype = rng.choice(("f32", "f16", "bf16"))
        elif self.axes["kv"] != "in":
            self.dtype = "f32"
        default = "f64" if self.dtype == "f64" else "f32"
        self.acc = rng.choice(("f32", "f64")) if rng.random() < 0.25 else default
        self.acc_text = None if self.acc == default else self.acc
        if self.scene == "dyadic":
            self.scale_text = rng.choice(("1", "0.5", "2", "1"))
        else:
            self.scale_text = rng.choice((None, None, None, "1", "0.5", "-0.7", "0.3", "1e-3", "0"))
        with mp.workdps(60):
            nearest = Fraction(float(1 / mp.sqrt(self.sizes["d"])))
        self.scale = numeric.number(self.scale_text) if self.scale_text else nearest

    def outputs(self):
        want = ["o"]
        if self.axes["update"] == "add":
            want += ["u", "z"]
            if self.axes["weight"] == "exp" or self.axes["norm"] != "none":
                want.append("lse")
        if recurrent(self.axes) and states_fit(self.axes, self.sizes):
            want.append("ht")
        return want

    def written(self, rng, preset, base):
        """The problem line: the preset, the axes that differ from it, now and then also some that do not."""
        parts = ["%s=%s" % (k, v) for k, v in self.axes.items()
                 if k not in LATER and (v != base[k] or rng.random() < 0.05)]
        if preset != "softmax" or rng.random() < 0.5:
            parts.append("variant=" + preset)
        parts += ["%s=%d" % (k, v) for k, v in self.sizes.items() if rng.random() < 0.5]
        parts += ["%s=%s" % (k, v) for k, v in (("scale", self.scale_text), ("acc", self.acc_text)) if v]
        parts += ["in=" + self.dtype] if self.dtype != "f32" else []
        rng.shuffle(parts)
        return " ".join(parts + ["%s=%s" % (k, self.axes[k]) for k in LATER if self.axes[k] != base[k]])

    def save(self, folder):
        """Writes the tensors; the -t arguments that name them."""
        out = []
        for name, x in self.stored.items():
            path = "%s/%s.npy" % (folder, name)
            np.save(path, np.ascontiguousarray(x.transpose(0, 2, 1, 3)) if name in self.bshd else x)
            out += ["-t", "%s=%s%s" % (name, path, ":BSHD" if name in self.bshd else "")]
        return out

    def results(self, rules=formula.Formula):
        return rules(self.axes, self.sizes, self.scale, self.exact).results(self.want)


def groups(per_preset, per_axis):
    """Every (kind, name, count)."""
    out = [("preset", name, per_preset) for name in tables.PRESETS]
    for key, values in tables.AXES.items():
        out += [("axis", "%s=%s" % (key, value), per_axis) for value in values]
    return out + [("axis", name, per_axis) for name in PAIRS]
