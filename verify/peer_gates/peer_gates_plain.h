/* peer_gates_plain.h - the unfused low-precision attention that FlashAttention's tests call `pt`. */
#ifndef ATTEST_PEER_PLAIN_H
#define ATTEST_PEER_PLAIN_H

#include "kernels/tensor/tensor.h"

/* o of attention_ref(upcast=False, reorder_ops=True) of FlashAttention's tests, as doubles [b,h,n,e]: every operation
 * on whole tensors, each result rounded to the input type T, sums of products in float.
 *     k' = T(scale k); s = T(q k'); with cap C: s = T(C T(tanh(T(s/C)))); s -= slope |i+off-j| in float;
 *     p = T(softmax(s)), computed in float; o = T(sum p v); a row without a key is 0.
 * Serves softmax with mask, window, lens, cap, alibi and grouped heads; ATTEST_UNSUPPORTED names any other axis that
 * is set, and in=f64.  NaN and infinities go through as in float. */
attest_status attest_peer_plain(double *o, const attest_problem *p, const attest_bundle *inputs, attest_error *err);

#endif
