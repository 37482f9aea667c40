"""performer-pytorch's linear attention under the feature map elu+1, with and without a causal mask."""
import torch.nn.functional as F
from performer_pytorch.performer_pytorch import causal_linear_attention_noncuda, linear_attention

import attest


@attest.kernel("linear-elu", framework="torch", supports=lambda p: p.hq == p.hkv or "hq = hkv")
def performer(p, q, k, v):
    return linear_attention(F.elu(q) + 1, F.elu(k) + 1, v)


@attest.kernel("linear-elu", {"mask": "causal"}, framework="torch", 
               supports=lambda p: p.hq == p.hkv and p.n == p.m or "hq = hkv, n = m")
def performer_causal(p, q, k, v):
    return causal_linear_attention_noncuda(F.elu(q) + 1, F.elu(k) + 1, v, eps=0.0)
