"""formula.py: the formulas of reference/derivations.md, section 0, once more, in Python, for tests/independent/check.py.

Written from the printed formulas alone: own presets, masks, head map, positions, norms, gates, decays, delta rule and
states; it shares no code and no table with attest.  Numbers are Fractions as long as every step is rational and turn
into mpf of DIGITS digits at the first irrational step; a Fraction result is the exact value.  With inputs of moderate
size the error of an mpf result is below 10^(20 - DIGITS) times the sum of the absolute terms it was added from
(`size` below), far under any radius that attest prints.
"""
import itertools
import math
from fractions import Fraction

from mpmath import mp

from numeric import (ONE, ZERO, Sum, cosine, exp, largest, less, ln, number, over, power, real, root, settled, sine,
                     smallest, softmax_at, tanh, total)


class Formula:
    """One problem: axes (every key, as text), sizes b hq hkv n m d e, scale, tensors as nested lists of Fractions."""

    def __init__(self, axes, sizes, scale, tensors):
        self.axes, self.t, self.scale = axes, tensors, scale
        self.B, self.hq, self.hkv, self.n, self.m, self.d, self.e = (
            sizes[k] for k in ("b", "hq", "hkv", "n", "m", "d", "e"))
        self.weight_name, _, degree = axes["weight"].partition(":")
        self.degree = int(degree) if degree else None
        self.delta = axes["update"] != "add"
        self.given_state = axes["state"] == "draw"
        self.dim = 2 * self.d if axes["feature"] == "cosformer" else self.d
        self.remembered = {}

    # ---- which keys -----------------------------------------------------------------------------------------
    def kv_head(self, h):
        return h * self.hkv // self.hq

    # ---- k and v of 8 bits ------------------------------------------------------------------------------------
    def scale_of(self, name, b, g):
        return self.t[name][b][g] if self.axes["kv"] in ("e4m3", "e5m2") else ONE

    def key(self, b, g, j):
        scale = self.scale_of("k_scale", b, g)
        return [scale * x for x in self.t["k"][b][g][j]]

    def value(self, b, g, j, col):
        return self.scale_of("v_scale", b, g) * self.t["v"][b][g][j][col]

    def length(self, b):
        return self.t["len"][b] if self.axes["lens"] == "draw" else self.m

    def queries(self, b):
        return {"draw": lambda: self.t["len_q"][b], "len": lambda: self.length(b),
                "none": lambda: self.n}[self.axes["lens_q"]]()

    def off(self, b):
        return self.length(b) - self.queries(b) if self.axes["mask"] == "causal-br" else 0

    def in_mask(self, b, i, j):
        mask = self.axes["mask"]
        return mask == "full" or j <= (i + self.off(b) if mask == "causal-br" else i)

    def in_window(self, b, i, j):
        if self.axes["window"] == "none":
            return True
        back = i + self.off(b) - j
        return (abs(back) if self.axes["mask"] == "full" else back) < int(self.axes["window"])

    def shown(self, b, h, i, j):
        """Who shares the mask tensor has an axis of length 1."""
        kind = self.axes["attn_mask"]
        return kind == "none" or self.t["attn_mask"][b if kind in ("full", "batch") else 0][
            h if kind in ("full", "head") else 0][i][j] == 1

    def visible(self, b, h, i):
        if i >= self.queries(b):
            return []  # the row is absent: attest holds an empty row there
        return [j for j in range(self.m) if j < self.length(b) and self.in_mask(b, i, j) and self.in_window(b, i, j)
                and self.shown(b, h, i, j)]

    # ---- features -------------------------------------------------------------------------------------------
    def rotate(self, x, pos):
        if self.axes["rope"] == "none":
            return x
        half, out = self.d // 2, list(x)
        for c in range(half):
            angle = ZERO if pos == 0 else pos * self.frequency(c)
            cs, sn = cosine(angle), sine(angle)
            out[c], out[c + half] = self.turned(x[c], x[c + half], cs, sn)
        return out

    def frequency(self, c):
        exponent = Fraction(-2 * c, self.d)
        return mp.power(real(number(self.axes["rope"])), real(exponent))

    def turned(self, x, y, cs, sn):
        return x * cs + -(y * sn), x * sn + y * cs

    def unit(self, x):
        norm = root(total([c * c for c in x]))
        return list(x) if norm == 0 else [over(c, norm) for c in x]

    def silu(self, x):
        return ZERO if x == 0 else over(x, ONE + exp(-x))

    def elu1(self, x):
        return exp(x) if less(x, ZERO) else x + 1

    def relu(self, x):
        return ZERO if less(x, ZERO) else x

    def quarter_turns(self, pos):
        """The cosformer angle pi pos/(2 max(N,M))."""
        return ZERO if pos == 0 else mp.pi * pos / (2 * max(self.n, self.m))

    def feature(self, x, pos):
        name = self.axes["feature"]
        if name == "identity":
            return x
        if name == "elu1":
            return [self.elu1(c) for c in x]
        if name == "unit":
            return self.unit(x)
        if name == "silu":
            return [self.silu(c) for c in x]
        if name == "silu-unit":
            return self.unit([self.silu(c) for c in x])
        x = [self.relu(c) for c in x]
        if name == "relu":
            return x
        angle = self.quarter_turns(pos)
        return [c * cosine(angle) for c in x] + [c * sine(angle) for c in x]

    def remember(self, key, make):
        if key not in self.remembered:
            self.remembered[key] = make()
        return self.remembered[key]

    def query_at(self, b, i):
        return i + self.off(b)

    def phi_q(self, b, h, i):
        return self.remember(("q", b, h, i), lambda: self.feature(
            self.rotate(self.t["q"][b][h][i], self.query_at(b, i)), self.query_at(b, i)))

    def phi_k(self, b, g, j):
        return self.remember(("k", b, g, j), lambda: self.feature(self.rotate(self.key(b, g, j), j), j))

    # ---- scores ---------------------------------------------------------------------------------------------
    def product(self, b, h, i, j):
        """<phi(q_i), phi(k_j)>, with the vector decay inside it."""
        g = self.kv_head(h)
        if self.axes["feature"] == "cosformer":
            q = self.rotate(self.t["q"][b][h][i], self.query_at(b, i))
            k = self.rotate(self.key(b, g, j), j)
            dot = total([self.relu(x) * self.relu(y) for x, y in zip(q, k)])
            return dot * cosine(self.quarter_turns(self.query_at(b, i) - j))
        terms = [x * y for x, y in zip(self.phi_q(b, h, i), self.phi_k(b, g, j))]
        if self.axes["decay"] == "vector":
            terms = [x * f for x, f in zip(terms, self.vector_decay(b, g, i, j))]
        return total(terms)

    def soft_cap(self, s):
        if self.axes["cap"] == "none":
            return s
        cap = number(self.axes["cap"])
        return cap * tanh(over(s, cap))

    def bias(self, b, h, i, j):
        """Who shares it has an axis of length 1."""
        kind = self.axes["bias"]
        return self.t["bias"][b if kind in ("full", "batch") else 0][h if kind in ("full", "head") else 0][i][j]

    def usual_exponents(self, heads):
        """As get_slopes() of the ALiBi paper's code: the slopes are 2 to these."""
        near = 1 << heads.bit_length() - 1
        if near == heads:
            return [Fraction(-8 * (h + 1), heads) for h in range(heads)]
        return self.usual_exponents(near) + self.usual_exponents(2 * near)[0::2][:heads - near]

    def slope(self, h):
        if self.axes["alibi"] == "draw":
            return self.t["slope"][h]
        exponent = self.usual_exponents(self.hq)[h]
        return Fraction(1, 2 ** -exponent) if exponent.denominator == 1 else mp.power(2, real(exponent))

    def position_bias(self, s, b, h, i, j):
        if self.axes["bias"] != "none":
            return s + self.bias(b, h, i, j)
        if self.axes["alibi"] == "none":
            return s
        return s + -(self.slope(h) * abs(self.query_at(b, i) - j))

    def clamped(self, s):
        return s if self.axes["clamp"] == "none" else smallest([number(self.axes["clamp"]), s])

    def score(self, b, h, i, j):
        s = self.soft_cap(self.scale * self.product(b, h, i, j))
        return self.clamped(self.position_bias(s, b, h, i, j))

    def center(self, scores):
        name = self.axes["center"]
        if name == "zero" or not scores:
            return ZERO
        top, bottom = largest(scores), smallest(scores)
        return {"max": top, "min": bottom, "mid": (top + bottom) * Fraction(1, 2)}[name]

    def passes_filter(self, s, scores):
        if self.axes["filter"] == "none":
            return True
        return less(largest(scores) + -number(self.axes["filter"]), s)

    def weight(self, x):
        """W(x)."""
        if self.weight_name == "exp":
            return exp(x)
        if self.weight_name == "taylor":
            return total([self.coefficient(k) * power(x, k) for k in range(self.degree + 1)])
        return self.coefficient(self.degree) * power(x, self.degree)

    def score_size(self, s, b, h, i, j):
        """The absolute terms that s = s_ij was added from; at least abs(s), which may be the clamp."""
        g = self.kv_head(h)
        terms = [x * y for x, y in zip(self.phi_q(b, h, i), self.phi_k(b, g, j))]
        if self.axes["decay"] == "vector":
            terms = [x * f for x, f in zip(terms, self.vector_decay(b, g, i, j))]
        size = sum(abs(real(x)) for x in terms) * abs(real(self.scale))
        if self.axes["alibi"] != "none":
            size += abs(real(self.slope(h) * (self.query_at(b, i) - j)))
        if self.axes["bias"] != "none":
            size += abs(real(self.bias(b, h, i, j)))
        return max(size, abs(real(s)))

    def weight_size(self, w, size):
        """The absolute terms of W(x), x of absolute terms `size`."""
        if self.weight_name == "exp":
            return abs(real(w)) * (1 + size)
        return sum(real(self.coefficient(k)) * power(size, k) for k in self.degrees())

    def coefficient(self, k):
        return ONE if self.weight_name == "power" else Fraction(1, math.factorial(k))

    # ---- decay and gates ------------------------------------------------------------------------------------
    def span(self, j, i):
        """The tokens whose decay acts on key j at row i; j = -1 stands for the given state."""
        return range(j + 1, i + 1)

    def factor_of(self, stored):
        return exp(stored) if self.axes["decay_input"] == "log" else stored

    def decay(self, b, g, i, j):
        kind = self.axes["decay"]
        if kind == "retnet":
            return power(self.t["gamma"][g], len(self.span(j, i)))
        out = ONE
        if kind == "scalar":
            for t in self.span(j, i):
                out *= self.factor_of(self.t["a"][b][g][t])
        return out

    def vector_decay(self, b, g, i, j):
        out = [ONE] * self.d
        for t in self.span(j, i):
            out = [x * self.factor_of(y) for x, y in zip(out, self.t["a"][b][g][t])]
        return out

    def row_decay(self, b, g, i, j):
        """The decay from j to i of each row of a state of degree n, as a function of its multi-index."""
        if self.axes["decay"] != "vector":
            one = self.decay(b, g, i, j)
            return lambda index: one
        rows = self.vector_decay(b, g, i, j)
        return lambda index: rows[index[0]] if index else ONE

    def gate_in(self, b, g, j):
        if self.axes["gates"] == "heads":
            return softmax_at([self.t["sk"][b][x][j] for x in range(self.hkv)], g)
        return self.t["gin"][b][g][j] if self.axes["gates"] in ("in", "inout") else ONE

    def gate_out(self, b, h, i):
        if self.axes["gates"] == "heads":
            return softmax_at([self.t["sq"][b][x][i] for x in range(self.hq)], h)
        return self.t["gout"][b][h][i] if self.axes["gates"] in ("out", "inout") else ONE

    def gate_before(self, b, h, i):
        return self.t["gout"][b][h][i] if self.axes["gates"] == "pre-out" else ONE

    # ---- rows of the additive update --------------------------------------------------------------------------
    def degrees(self):
        return range(self.degree + 1) if self.weight_name == "taylor" else [self.degree]

    def indices(self, n):
        return itertools.product(range(self.dim), repeat=n)

    def from_state(self, b, h, i, u, z):
        """What the given states add to u and z at row i."""
        g, phi = self.kv_head(h), self.phi_q(b, h, i)
        for n in self.degrees():
            decay = self.row_decay(b, g, i, -1)
            for at, index in enumerate(self.indices(n)):
                f = self.coefficient(n) * power(self.scale, n) * decay(index)
                for c in index:
                    f = f * phi[c]
                for c in range(self.e):
                    u[c].add(f * self.t["h0.%d" % n][b][g][at][c])
                z.add(f * self.t["z0.%d" % n][b][g][at])

    def value_gate_of_z(self, gin):
        """Gates act on values, never on z."""
        return ONE

    def kept(self, b, h, i, j):
        """What dropout leaves of a weight in u."""
        if self.axes["dropout"] == "none":
            return ONE
        return over(self.t["keep"][b][h][i][j], ONE + -number(self.axes["dropout"]))

    def row(self, b, h, i):
        g, keys = self.kv_head(h), self.visible(b, h, i)
        if not keys and not self.given_state:
            return self.empty_row()
        scores = [self.score(b, h, i, j) for j in keys]
        c = self.center(scores)
        sizes = [self.score_size(s, b, h, i, j) for j, s in zip(keys, scores)]
        of_center = ZERO if self.axes["center"] == "zero" else max(sizes)
        u, z = [Sum() for _ in range(self.e)], Sum()
        for j, s, size in zip(keys, scores, sizes):
            if not self.passes_filter(s, scores):
                continue
            decay, w, gin = self.decay(b, g, i, j), self.weight(s + -c), self.gate_in(b, g, j) * self.kept(b, h, i, j)
            dw, size = decay * w, abs(real(decay)) * self.weight_size(w, size + of_center)
            z.add(dw * self.value_gate_of_z(gin), size)
            for col in range(self.e):
                gv = gin * self.value(b, g, j, col)
                u[col].add(dw * gv, size * abs(real(gv)))
        if self.given_state:
            self.from_state(b, h, i, u, z)
        counted = self.counted(keys, scores)
        return {"o": self.output(b, h, i, u, z, counted), "u": [(x.value, x.size) for x in u],
                "z": (z.value, z.size), "lse": self.log_sum(c, z)}

    def empty_row(self):
        nothing = [(ZERO, mp.mpf(0))] * self.e
        return {"o": nothing, "u": nothing, "z": nothing[0], "lse": ("-inf", mp.mpf(0))}

    def counted(self, keys, scores):
        """t_i of the length norms: every visible key, dropped by the filter or not."""
        return len(keys)

    def log_sum(self, c, z):
        if z.vanishes() or less(z.value, ZERO):
            return None, mp.mpf(0)
        return c + ln(z.value), abs(real(c)) + abs(real(ln(z.value))) + z.size / abs(real(z.value))

    # ---- norms ------------------------------------------------------------------------------------------------
    def output(self, b, h, i, u, z, counted):
        """o_i as (value, size) a channel; value None where the divisor is 0."""
        name, before, after = self.axes["norm"], self.gate_before(b, h, i), self.gate_out(b, h, i)
        x = [(before * s.settled(), abs(real(before)) * s.size) for s in u]
        if name.startswith("length"):
            x = [(None, s) if counted == 0 else (over(v, Fraction(counted)), s / counted) for v, s in x]
            name = name[len("length-"):] or "none"
            if counted == 0:
                return x
        if name != "none":
            by = {"sum": self.by_sum, "sink": self.by_sink, "floor": self.by_floor, "l2": self.by_l2,
                  "rms": self.by_rms, "layernorm": self.by_layernorm}[name.partition(":")[0]]
            x = self.divided(*by(h, x, z))
        x = self.gained(x)
        return [(None if v is None else after * v, abs(real(after)) * s) for v, s in x]

    def divided(self, x, divisor, zero):
        if zero:
            return [(None, s) for _, s in x]
        return [(over(v, divisor), s / abs(real(divisor))) for v, s in x]

    def eps(self):
        return number(self.axes["eps"])

    def plus(self, z, term):
        """z + term, and whether that is 0."""
        both = Sum()
        both.add(z.settled())
        both.add(term)
        return both.value, both.vanishes()

    def by_sum(self, h, x, z):
        return (x, *self.plus(z, self.eps()))

    def by_sink(self, h, x, z):
        return (x, *self.plus(z, exp(self.t["sink"][h])))

    def by_floor(self, h, x, z):
        divisor = largest([z.settled(), number(self.axes["norm"].partition(":")[2])])
        return x, divisor, divisor == 0

    def root_of_squares(self, parts, count):
        """sqrt(sum parts^2/count + eps), and whether it is 0."""
        square = self.eps() + over(total([v * v for v, _ in parts]), Fraction(count))
        return (ONE if square == 0 else root(square)), square == 0

    def by_l2(self, h, x, z):
        return (x, *self.root_of_squares(x, 1))

    def by_rms(self, h, x, z):
        return (x, *self.root_of_squares(x, self.e))

    def variance_count(self):
        return self.e

    def by_layernorm(self, h, x, z):
        mean = over(total([v for v, _ in x]), Fraction(self.e))
        size = sum(s for _, s in x)
        parts = [(settled(v + -mean, s + size), s + size) for v, s in x]
        return (parts, *self.root_of_squares(parts, self.variance_count()))

    def gained(self, x):
        if self.axes["affine"] == "none":
            return x
        gain, shift = self.t["gain"], self.t["shift"]
        return [(None if v is None else gain[c] * v + shift[c], abs(real(gain[c])) * s + abs(real(shift[c])))
                for c, (v, s) in enumerate(x)]

    # ---- the delta rule -----------------------------------------------------------------------------------------
    def strength(self, b, g, t):
        """b_t of the write."""
        beta = self.t["b"][b][g][t]
        r = total([x * x for x in self.phi_k(b, g, t)])
        if self.axes["update"] == "delta" or r == 0:
            return beta
        return over(ONE + -exp(-(beta * r)), r) if beta * r == 0 else -mp.expm1(real(-(beta * r))) / real(r)

    def decayed(self, state, b, g, t):
        """decay(S) at token t; each entry is (value, size)."""
        keep = self.row_decay(b, g, t, t - 1)
        return [[(v * keep((c,)), s * abs(real(keep((c,))))) for v, s in row] for c, row in enumerate(state)]

    def written(self, state, b, g, t):
        """S' + phi(k_t)^T b_t (gin_t v_t - phi(k_t) S')."""
        phi, beta, gin = self.phi_k(b, g, t), self.strength(b, g, t), self.gate_in(b, g, t)
        out = [list(row) for row in state]
        for col in range(self.e):
            v = gin * self.value(b, g, t, col)
            read = total([p * state[c][col][0] for c, p in enumerate(phi)])
            size = sum(abs(real(p)) * state[c][col][1] for c, p in enumerate(phi)) + abs(real(v))
            for c, p in enumerate(phi):
                out[c][col] = (state[c][col][0] + p * beta * (v + -read),
                               state[c][col][1] + abs(real(p * beta)) * size)
        return out

    def step(self, state, b, g, t):
        return self.written(self.decayed(state, b, g, t), b, g, t)

    def delta_state(self, b, g, last):
        """S after token `last`; last < 0: the given state, or zeros."""
        if last >= 0:
            return self.remember(("S", b, g, last), lambda: self.step(self.delta_state(b, g, last - 1), b, g, last))
        if not self.given_state:
            return [[(ZERO, mp.mpf(0))] * self.e for _ in range(self.dim)]
        return [[(x, abs(real(x))) for x in row] for row in self.t["h0.1"][b][g]]

    def delta_row(self, b, h, i):
        keys, g = self.visible(b, h, i), self.kv_head(h)
        if not keys and not self.given_state:
            return {"o": self.empty_row()["o"]}
        state, phi = self.delta_state(b, g, max(keys, default=-1)), self.phi_q(b, h, i)
        f, out = self.gate_out(b, h, i) * self.scale, []
        for col in range(self.e):
            out.append((f * total([p * state[c][col][0] for c, p in enumerate(phi)]),
                        abs(real(f)) * sum(abs(real(p)) * state[c][col][1] for c, p in enumerate(phi))))
        return {"o": out}

    # ---- states out ---------------------------------------------------------------------------------------------
    def z_gate(self, b, g, j):
        return ONE

    def final_state(self, b, g, n):
        """ht.n and zt.n of one KV head: lists of (value, size) over the multi-indices."""
        last = max((j for j in range(self.m) if j < self.length(b) and self.in_mask(b, self.queries(b) - 1, j)), default=-1)
        h = [[Sum() for _ in range(self.e)] for _ in range(self.dim ** n)]
        z = [Sum() for _ in range(self.dim ** n)]
        for at, index in enumerate(self.indices(n)):
            for j in range(last + 1):
                f = self.row_decay(b, g, last, j)(index)
                for c in index:
                    f = f * self.phi_k(b, g, j)[c]
                for col in range(self.e):
                    h[at][col].add(f * self.gate_in(b, g, j) * self.value(b, g, j, col))
                z[at].add(f * self.z_gate(b, g, j))
            if self.given_state:
                f = self.row_decay(b, g, last, -1)(index) if last >= 0 else ONE
                for col in range(self.e):
                    h[at][col].add(f * self.t["h0.%d" % n][b][g][at][col])
                z[at].add(f * self.t["z0.%d" % n][b][g][at])
        return [[(s.value, s.size) for s in row] for row in h], [(s.value, s.size) for s in z]

    # ---- everything ---------------------------------------------------------------------------------------------
    def results(self, want):
        """{name: (shape, [(value, size)...] row-major)} of the tensors that `want` names; value None: null."""
        out, flat = {}, {"o": [], "u": [], "z": [], "lse": []}
        for b, h, i in itertools.product(range(self.B), range(self.hq), range(self.n)):
            row = self.delta_row(b, h, i) if self.delta else self.row(b, h, i)
            for name in want:
                if name in ("o", "u"):
                    flat[name].extend(row[name])
                elif name != "ht":
                    flat[name].append(row[name])
        rows = [self.B, self.hq, self.n]
        for name in want:
            if name != "ht":
                out[name] = (rows + [self.e] if name in ("o", "u") else rows, flat[name])
        if "ht" in want:
            out.update(self.delta_states_out() if self.delta else self.states_out())
        return out

    def delta_states_out(self):
        flat = []
        for b, g in itertools.product(range(self.B), range(self.hkv)):
            for row in self.delta_state(b, g, max(self.visible(b, 0, self.queries(b) - 1), default=-1)):
                flat.extend(row)
        return {"ht.1": ([self.B, self.hkv, self.dim, self.e], flat)}

    def states_out(self):
        out = {}
        for n in self.degrees():
            flat_h, flat_z = [], []
            for b, g in itertools.product(range(self.B), range(self.hkv)):
                h, z = self.final_state(b, g, n)
                flat_h.extend(x for row in h for x in row)
                flat_z.extend(z)
            shape = [self.B, self.hkv, self.dim ** n]
            out["ht.%d" % n] = (shape + [self.e], flat_h)
            out["zt.%d" % n] = (shape, flat_z)
        return out
