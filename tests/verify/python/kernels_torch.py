"""Kernels for checks.py that are torch functions: what a user of torch writes."""
import torch
import torch.nn.functional as F

import attest


def start():
    F.scaled_dot_product_attention(*(torch.zeros(1, 1, 2, 2) for _ in range(3)))


@attest.kernel(axes={"mask": "full,causal"}, types="f32,bf16", p="f32,bf16", framework="torch", flags="masked-finite",
               warm_up=start)
def torch_math(p, q, k, v, *, visible):
    s = (q.float() @ p.repeat(k).float().transpose(2, 3)) * p.scale
    w = s.masked_fill(~visible, float("-inf")).softmax(-1)
    return (w.to(v.dtype) if p.p == "bf16" else w).float() @ p.repeat(v).float()


@attest.kernel(axes={"mask": "full,causal"}, framework="torch", flags="masked-finite")
def torch_fused(p, q, k, v, *, visible):
    return F.scaled_dot_product_attention(q, p.repeat(k), p.repeat(v), attn_mask=visible, scale=p.scale)


@attest.kernel(axes={"mask": "full,causal"}, framework="torch", flags="masked-finite")
def torch_wrong(p, q, k, v, *, visible):
    """The planted bug: the heads' own scale in place of the problem's."""
    return F.scaled_dot_product_attention(q, p.repeat(k), p.repeat(v), attn_mask=visible, scale=1.0)
