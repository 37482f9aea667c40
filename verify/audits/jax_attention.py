"""jax.nn.dot_product_attention on the CPU: its own causal mask, window, lengths and grouped heads."""
import jax
import jax.numpy as jnp

import attest

jax.config.update("jax_platforms", "cpu")
JAX = dict(axes={"mask": "full,causal", "window": "any", "lens": "any"}, framework="jax", schedule="two-pass",
           empty_row="mean", flags="masked-finite,ftz")


def attention(p, q, k, v, lens):
    w = int(p["window"]) - 1 if p["window"] else None
    o = jax.nn.dot_product_attention(*(x.swapaxes(1, 2) for x in (q, k, v)), scale=p.scale,
                                     is_causal=p["mask"] == "causal",
                                     local_window_size=None if w is None else (w, 0 if p["mask"] == "causal" else w),
                                     key_value_seq_lengths=None if lens is None else jnp.asarray(lens, jnp.int32))
    return o.swapaxes(1, 2)


@attest.kernel(types="f32", supports=lambda p: p.d == p.e or "d = e only", **JAX)
def jax_f32(p, q, k, v, *, len):
    return attention(p, q, k, v, len)


@attest.kernel(types="bf16", p="bf16", supports=lambda p: p.d == p.e or "d = e only", division="then-cast", **JAX)
def jax_bf16(p, q, k, v, *, len):
    return attention(p, q, k, v, len)
