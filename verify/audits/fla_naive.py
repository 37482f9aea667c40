"""flash-linear-attention's naive references (package fla-core), float32 on the CPU."""
from fla.ops.attn.naive import naive_parallel_attn
from fla.ops.based.naive import naive_parallel_based
from fla.ops.delta_rule.naive import delta_rule_recurrence
from fla.ops.forgetting_attn.naive import naive_forgetting_attn
from fla.ops.gated_delta_rule.naive import naive_recurrent_gated_delta_rule
from fla.ops.gla.naive import naive_recurrent_gla
from fla.ops.retention.naive import naive_retention
from fla.ops.simple_gla.naive import naive_recurrent_simple_gla

import attest

RECURRENT = dict(framework="torch", schedule="recurrent", form="recurrent")


def turn(*tensors):
    """[B,H,N,..] to [B,N,H,..] and back."""
    return [x.transpose(1, 2) for x in tensors]


def plain_scale(p):
    return p.hq == p.hkv and p.scale == p.d ** -0.5 and p.n == p.m or "hq = hkv, n = m, scale = 1/sqrt(d)"


@attest.kernel("retnet", framework="torch", supports=plain_scale)
def fla_retention(p, q, k, v):
    return naive_retention(q, k, v)


@attest.kernel("gla", supports=plain_scale, **RECURRENT)
def fla_gla(p, q, k, v, *, a):
    return turn(naive_recurrent_gla(*turn(q, k, v, a.log()))[0])[0]


@attest.kernel("simple-gla", supports=plain_scale, **RECURRENT)
def fla_simple_gla(p, q, k, v, *, a):
    return turn(naive_recurrent_simple_gla(*turn(q, k, v, a.log()))[0])[0]


@attest.kernel("deltanet", supports=plain_scale, **RECURRENT)
def fla_delta(p, q, k, v, *, b):
    return delta_rule_recurrence(q, k, v, b)[0]


@attest.kernel("gdn", supports=plain_scale, **RECURRENT)
def fla_gated_delta(p, q, k, v, *, a, b):
    return turn(naive_recurrent_gated_delta_rule(*turn(q, k, v, b, a.log()))[0])[0]


@attest.kernel("based", {"mask": "causal", "eps": "any"}, framework="torch",
               supports=lambda p: (float(p["eps"] or 0) == 1e-6 and p.hq == p.hkv and p.n == p.m) or "eps=1e-6, n = m")
def fla_based(p, q, k, v):
    return naive_parallel_based(q, k, v, scale=p.scale)


@attest.kernel("fox", framework="torch", schedule="two-pass")
def fla_forgetting(p, q, k, v, *, a):
    return turn(naive_forgetting_attn(*turn(q, k, v, p.repeat(a).log()), scale=p.scale))[0]


@attest.kernel(axes={"mask": "causal", "window": "any"}, framework="torch", schedule="two-pass", flags="masked-finite",
               supports=lambda p: p.n == p.m or "n = m")
def fla_attn(p, q, k, v):
    window = int(p["window"]) if p["window"] else None
    return turn(naive_parallel_attn(*turn(q, k, v), scale=p.scale, window_size=window)[0])[0]
