"""torch.nn.MultiheadAttention with identity projections, and attention as model code writes it (eager)."""
import math

import torch

import attest


def own_scale(p):
    return p.d == p.e and p.hq == p.hkv and p.scale == 1 / math.sqrt(p.d) or "d = e, hq = hkv, scale = 1/sqrt(d)"


@attest.kernel(axes={"mask": "full,causal,causal-br", "window": "any"}, framework="torch", schedule="two-pass",
               empty_row="nan", flags="masked-finite", supports=own_scale)
def torch_mha(p, q, k, v, *, visible):
    width = p.hq * p.d
    module = torch.nn.MultiheadAttention(width, p.hq, bias=False, batch_first=True)
    with torch.inference_mode():
        module.in_proj_weight.copy_(torch.eye(width).repeat(3, 1))
        module.out_proj.weight.copy_(torch.eye(width))
        q, k, v = (x.transpose(1, 2).reshape(p.b, -1, width) for x in (q, k, v))
        o = module(q, k, v, attn_mask=~visible[0, 0], need_weights=True)[0]  # without lens the batch shares a mask
    return o.reshape(p.b, p.n, p.hq, p.e).transpose(1, 2)


def eager(p, q, k, v, visible):
    """Scores in the model's type, softmax in float32, weights cast back; masked scores get the type's lowest number."""
    s = torch.matmul(q, p.repeat(k).transpose(2, 3)) * p.scale
    s = s + torch.where(visible, 0.0, torch.finfo(q.dtype).min).to(q.dtype)
    w = torch.softmax(s, dim=-1, dtype=torch.float32).to(q.dtype)
    return torch.matmul(w, p.repeat(v))


EAGER = dict(axes={"mask": "full,causal,causal-br", "window": "any", "lens": "any"}, framework="torch",
             schedule="two-pass", division="then-cast", empty_row="mean")


@attest.kernel(types="f32", flags="masked-finite", **EAGER)
def torch_eager(p, q, k, v, *, visible):
    return eager(p, q, k, v, visible)


@attest.kernel(types="bf16", p="bf16", score_dtype="bf16", flags="masked-finite,ftz", **EAGER)
def torch_eager_bf16(p, q, k, v, *, visible):
    return eager(p, q, k, v, visible)
