"""breaks.py: formula.py with one formula altered at a time, to see that check.py can fail.

A rule is a class over Formula whose doc says what is wrong in it; GROUPS names the presets and axis values where that
must show, in every one; PROBLEMS how many problems of each are tried, no more than check.py compares."""
from fractions import Fraction

from formula import Formula
from numeric import ONE, ZERO, exp, largest, less, number, over, softmax_at, total

PROBLEMS = 12
RULES, GROUPS = {}, {}


def rule(name, *groups):
    def take(kind):
        RULES[name], GROUPS[name] = kind, groups
        return kind
    return take


@rule("decay-off-by-one", "simple-gla", "retnet")
class DecayOffByOne(Formula):
    "the newly written token decays too"

    def span(self, j, i):
        return range(max(j, 0), i + 1)


@rule("vector-decay-off-by-one", "gla")
class VectorDecayOffByOne(Formula):
    "the last token's decay is left out"

    def vector_decay(self, b, g, i, j):
        return Formula.vector_decay(self, b, g, i - 1, j)


@rule("state-not-decayed", "decay=retnet state=draw", "decay=vector state=draw")
class StateNotDecayed(Formula):
    "h0 and z0 do not decay"

    def span(self, j, i):
        return range(0) if j < 0 else range(j + 1, i + 1)


@rule("input-gate-missing", "gates=in", "sla")
class InputGateMissing(Formula):
    "gin = 1"

    def gate_in(self, b, g, j):
        return ONE


@rule("input-gate-on-z", "gates=inout")
class InputGateOnZ(Formula):
    "the input gate multiplies z too"

    def value_gate_of_z(self, gin):
        return gin


@rule("gate-on-zt", "gates=in", "sla")
class GateOnZState(Formula):
    "the z-state takes the input gate"

    def z_gate(self, b, g, j):
        return self.gate_in(b, g, j)


@rule("output-gate-before-norm", "gates=out")
class OutputGateBeforeNorm(Formula):
    "gates=out before the norm and pre-out after it"

    def gate_before(self, b, h, i):
        return Formula.gate_out(self, b, h, i)

    def gate_out(self, b, h, i):
        return Formula.gate_before(self, b, h, i)


@rule("heads-over-tokens", "sla")
class HeadsOverTokens(Formula):
    "the gates of heads: softmax over the tokens"

    def gate_in(self, b, g, j):
        return softmax_at(self.t["sk"][b][g], j)


@rule("rope-sign", "rope=NUMBER")
class RopeSign(Formula):
    "rope turns the other way"

    def turned(self, x, y, cs, sn):
        return Formula.turned(self, x, y, cs, -sn)


@rule("rope-exponent", "rope=NUMBER")
class RopeExponent(Formula):
    "BASE^(-c/d) for BASE^(-2c/d)"

    def frequency(self, c):
        return Formula.frequency(self, c) ** 0.5


@rule("query-position", "rope=NUMBER mask=causal-br", "alibi=draw mask=causal-br")
class QueryPosition(Formula):
    "the query's position without off"

    def query_at(self, b, i):
        return i


@rule("causal-br-off", "mask=causal-br lens=draw")
class CausalBottomRight(Formula):
    "off = M-N with lens too"

    def off(self, b):
        return self.m - self.n if self.axes["mask"] == "causal-br" else 0


@rule("queries-off", "lens_q=draw mask=causal-br")
class QueriesOff(Formula):
    "off = len_b-N with lens_q too"

    def off(self, b):
        return self.length(b) - self.n if self.axes["mask"] == "causal-br" else 0


@rule("queries-short", "lens_q=draw")
class QueriesShort(Formula):
    "rows i >= len_q_b - 1 are absent"

    def queries(self, b):
        return max(0, Formula.queries(self, b) - 1)


@rule("lengths-apart", "lens_q=len lens=draw", "lens_q=len lens=draw packed=on update=delta")
class LengthsApart(Formula):
    "lens_q=len: an entry has one query less than keys"

    def queries(self, b):
        of = Formula.queries(self, b)
        return of - 1 if self.axes["lens_q"] == "len" and of > 0 else of


@rule("window-end", "window=NUMBER")
class WindowEnd(Formula):
    "one more key at the far end: i+off-j <= W"

    def in_window(self, b, i, j):
        return Formula.in_window(self, b, i, j) or Formula.in_window(self, b, i, j + 1)


@rule("head-map", "softmax", "taylor:P", "retnet")
class HeadMap(Formula):
    "g = h mod Hkv"

    def kv_head(self, h):
        return h % self.hkv


@rule("eps-outside-root", "eps=NUMBER", "rmsnorm", "l2norm")
class EpsOutsideRoot(Formula):
    "sqrt(...) + eps"

    def root_of_squares(self, parts, count):
        saved, self.axes = self.axes, dict(self.axes, eps="0")
        divisor, zero = Formula.root_of_squares(self, parts, count)
        self.axes = saved
        return (self.eps() if zero else divisor + self.eps()), zero and self.eps() == 0


@rule("unbiased-variance", "layernorm", "norm=length-layernorm")
class UnbiasedVariance(Formula):
    "layernorm divides by e-1"

    def variance_count(self):
        return max(1, self.e - 1)


@rule("filter-closed", "filtered:TAU", "filter=NUMBER norm=length", "filter=NUMBER center=min")
class FilterClosed(Formula):
    "s >= rowmax - TAU"

    def passes_filter(self, s, scores):
        return self.axes["filter"] == "none" or not less(s, largest(scores) + -number(self.axes["filter"]))


@rule("filtered-length", "filter=NUMBER norm=length")
class FilteredLength(Formula):
    "t counts the keys that the filter keeps"

    def counted(self, keys, scores):
        return sum(self.passes_filter(s, scores) for s in scores)


@rule("length-of-all", "divlen", "gate")
class LengthOfAll(Formula):
    "t = M"

    def counted(self, keys, scores):
        return self.m


@rule("center-after-filter", "filter=NUMBER center=min")
class CenterAfterFilter(Formula):
    "min and mid over the kept keys"

    def center(self, scores):
        return Formula.center(self, [s for s in scores if self.passes_filter(s, scores)])


@rule("lse-without-center", "shifted:P", "center=mid")
class LseWithoutCenter(Formula):
    "lse = ln z"

    def log_sum(self, c, z):
        return Formula.log_sum(self, ZERO, z)


@rule("sink-in-z", "softmax1", "norm=sink")
class SinkInZ(Formula):
    "z includes the sink"

    def row(self, b, h, i):
        row = Formula.row(self, b, h, i)
        if self.axes["norm"] == "sink":
            row["z"] = (row["z"][0] + exp(self.t["sink"][h]), row["z"][1])
        return row


@rule("clamp-before-alibi", "clamp=NUMBER alibi=draw")
class ClampBeforeAlibi(Formula):
    "the clamp first, then the softcap and alibi"

    def soft_cap(self, s):
        return Formula.soft_cap(self, Formula.clamped(self, s))

    def clamped(self, s):
        return s


@rule("usual-slopes-of-all-heads", "alibi=usual")
class UsualOfAllHeads(Formula):
    "slopes 2^(-8(h+1)/Hq) whatever Hq"

    def usual_exponents(self, heads):
        return [Fraction(-8 * (h + 1), heads) for h in range(heads)]


@rule("usual-slopes-of-kv-heads", "alibi=usual")
class UsualOfKVHeads(Formula):
    "the slope of the KV head"

    def slope(self, h):
        return Formula.slope(self, self.kv_head(h) if self.axes["alibi"] == "usual" else h)


@rule("bias-of-first-head", "bias=head", "bias=full")
class BiasOfFirstHead(Formula):
    "the bias of query head 0 for all"

    def bias(self, b, h, i, j):
        return Formula.bias(self, b, 0, i, j)


@rule("bias-before-cap", "cap=NUMBER bias=head")
class BiasBeforeCap(Formula):
    "the bias before the softcap"

    def position_bias(self, s, b, h, i, j):
        return s

    def score(self, b, h, i, j):
        s = Formula.position_bias(self, self.scale * self.product(b, h, i, j), b, h, i, j)
        return self.clamped(self.soft_cap(s))


@rule("mask-of-first-head", "attn_mask=head", "attn_mask=full")
class MaskOfFirstHead(Formula):
    "the mask tensor of query head 0 for all"

    def shown(self, b, h, i, j):
        return Formula.shown(self, b, 0, i, j)


@rule("mask-after-center", "attn_mask=full center=max")
class MaskAfterCenter(Formula):
    "the center counts masked keys too"

    def row(self, b, h, i):
        keys = [j for j in range(self.m) if self.in_mask(b, i, j)]
        self.every = [self.score(b, h, i, j) for j in keys]
        return Formula.row(self, b, h, i)

    def center(self, scores):
        return Formula.center(self, self.every if scores else scores)


@rule("keep-unscaled", "dropout=NUMBER", "dropout=NUMBER norm=sink")
class KeepUnscaled(Formula):
    "weights that dropout keeps are not divided by 1-R"

    def kept(self, b, h, i, j):
        return ONE if Formula.kept(self, b, h, i, j) != 0 else ZERO


@rule("keep-of-kv-head", "dropout=NUMBER", "dropout=NUMBER attn_mask=full")
class KeepOfKvHead(Formula):
    "dropout goes by the KV head"

    def kept(self, b, h, i, j):
        return Formula.kept(self, b, self.kv_head(h), i, j)


@rule("scales-swapped", "kv=e4m3", "kv=e5m2 mask=causal")
class ScalesSwapped(Formula):
    "keys are multiplied by v_scale, values by k_scale"

    def scale_of(self, name, b, g):
        return Formula.scale_of(self, {"k_scale": "v_scale", "v_scale": "k_scale"}[name], b, g)


@rule("scale-of-head", "kv=e4m3 pages=NUMBER", "kv=e5m2 packed=on")
class ScaleOfHead(Formula):
    "the scales of KV head 0 are those of all heads"

    def scale_of(self, name, b, g):
        return Formula.scale_of(self, name, b, 0)


@rule("mask-counted", "attn_mask=shared norm=length")
class MaskCounted(Formula):
    "t counts masked keys too"

    def row(self, b, h, i):
        self.seen = [j for j in range(self.m) if self.in_mask(b, i, j)]
        return Formula.row(self, b, h, i)

    def counted(self, keys, scores):
        return len(self.seen)


@rule("cap-last", "cap=NUMBER alibi=draw")
class CapLast(Formula):
    "the softcap after alibi"

    def soft_cap(self, s):
        return s

    def clamped(self, s):
        return Formula.clamped(self, Formula.soft_cap(self, s))


@rule("delta-reads-before-decay", "gdn")
class DeltaReadsBeforeDecay(Formula):
    "S = decay(S + phi(k)^T b (v - phi(k) S))"

    def step(self, state, b, g, t):
        return self.decayed(self.written(state, b, g, t), b, g, t)


@rule("efla-as-delta", "efla", "update=efla")
class EflaAsDelta(Formula):
    "b_t as it is"

    def strength(self, b, g, t):
        return self.t["b"][b][g][t]


@rule("efla-norm", "efla")
class EflaNorm(Formula):
    "r = norm1(phi(k))"

    def strength(self, b, g, t):
        r = total([abs(x) for x in self.phi_k(b, g, t)])
        beta = self.t["b"][b][g][t]
        return beta if r == 0 else over(ONE + -exp(-(beta * r)), r)


@rule("cosformer-by-m", "feature=cosformer")
class CosformerByM(Formula):
    "angles over M for max(N,M)"

    def quarter_turns(self, pos):
        return Formula.quarter_turns(self, pos) * max(self.n, self.m) * over(ONE, ONE * self.m)


@rule("unit-by-norm1", "linear-cos", "cos-taylor:P")
class UnitByNorm1(Formula):
    "unit(x) = x/norm1(x)"

    def unit(self, x):
        norm = total([abs(c) for c in x])
        return list(x) if norm == 0 else [over(c, norm) for c in x]


@rule("taylor-short", "taylor:P", "shifted:P", "based")
class TaylorShort(Formula):
    "the series ends one term early"

    def coefficient(self, k):
        return ZERO if k == self.degree and k else Formula.coefficient(self, k)


@rule("gain-missing", "affine=draw")
class GainMissing(Formula):
    "gain is left out"

    def gained(self, x):
        return [(None if v is None else v + (self.t["shift"][c] if self.axes["affine"] == "draw" else ZERO), s)
                for c, (v, s) in enumerate(x)]


@rule("length-short", "lens=draw")
class LengthShort(Formula):
    "keys j >= len_b - 1 are invisible"

    def length(self, b):
        return max(0, Formula.length(self, b) - 1)
