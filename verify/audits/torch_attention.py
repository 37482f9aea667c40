"""torch.nn.functional.scaled_dot_product_attention by each backend of the CPU."""
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import attest

SDPA = dict(axes={"mask": "full,causal,causal-br", "window": "any", "lens": "any"}, framework="torch", empty_row="nan",
            flags="masked-finite")


def sdpa(p, q, k, v, visible, backend):
    """is_causal where it says the same as the mask, else the mask; enable_gqa for grouped heads."""
    plain = p["window"] is None and p["lens"] is None
    mask = None if plain and p["mask"] in (None, "causal") else visible
    with sdpa_kernel(backend), torch.inference_mode():
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=plain and p["mask"] == "causal",
                                              scale=p.scale, enable_gqa=p.hq != p.hkv)


@attest.kernel(types="f32", schedule="two-pass", **SDPA)
def torch_math(p, q, k, v, *, visible):
    return sdpa(p, q, k, v, visible, SDPBackend.MATH)


@attest.kernel(types="bf16", p="f32", schedule="two-pass", **SDPA)
def torch_math_bf16(p, q, k, v, *, visible):
    return sdpa(p, q, k, v, visible, SDPBackend.MATH)


@attest.kernel(types="f32", schedule="online", supports=lambda p: p.d == p.e or "d = e only", **SDPA)
def torch_flash(p, q, k, v, *, visible):
    return sdpa(p, q, k, v, visible, SDPBackend.FLASH_ATTENTION)


@attest.kernel(types="bf16", p="bf16", schedule="online", supports=lambda p: p.d == p.e or "d = e only", **SDPA)
def torch_flash_bf16(p, q, k, v, *, visible):
    return sdpa(p, q, k, v, visible, SDPBackend.FLASH_ATTENTION)
