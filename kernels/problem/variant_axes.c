/* variant_axes.c - the table of axes and their values. */
#include "kernels/problem/variant.h"

#include <math.h>

#define ANY (-INFINITY)
#define PLAIN(name, value, formula)                                                                                    \
    {                                                                                                                  \
        name, value, ATTEST_ARG_NONE, ANY, formula                                                                     \
    }
#define ORDER(name, value, formula)                                                                                    \
    {                                                                                                                  \
        name, value, ATTEST_ARG_ORDER, ANY, formula                                                                    \
    }
#define NUMBER(name, value, above, formula)                                                                            \
    {                                                                                                                  \
        name, value, ATTEST_ARG_NUMBER, above, formula                                                                 \
    }
#define BARE(value, above, formula)                                                                                    \
    {                                                                                                                  \
        NULL, value, ATTEST_ARG_BARE, above, formula                                                                   \
    }

static const attest_axis_value weight[] = {
    PLAIN("exp", ATTEST_WEIGHT_EXP, "W(x) = e^x"),
    ORDER("taylor", ATTEST_WEIGHT_TAYLOR, "W(x) = sum_{n<=P} x^n/n!, x^0 = 1"),
    ORDER("term", ATTEST_WEIGHT_TERM, "W(x) = x^P/P!, x^0 = 1"),
    ORDER("power", ATTEST_WEIGHT_POWER, "W(x) = x^P, x^0 = 1"),
};
static const attest_axis_value center[] = {
    PLAIN("zero", ATTEST_CENTER_ZERO, "c_i = 0"),
    PLAIN("max", ATTEST_CENTER_MAX, "c_i = max of s_ij over the visible keys, before filtering"),
    PLAIN("min", ATTEST_CENTER_MIN, "c_i = min of s_ij over the visible keys, before filtering"),
    PLAIN("mid", ATTEST_CENTER_MID, "c_i = (max + min)/2 of s_ij over the visible keys, before filtering"),
};
static const attest_axis_value filter[] = {
    PLAIN("none", ATTEST_FILTER_NONE, "every visible key counts"),
    BARE(ATTEST_FILTER_TAU, 0.0, "w_ij = 0 unless s_ij > max_j s_ij - TAU"),
};
static const attest_axis_value feature[] = {
    PLAIN("identity", ATTEST_FEATURE_IDENTITY, "phi(x) = x"),
    PLAIN("elu1", ATTEST_FEATURE_ELU1, "phi(x) = x+1 if x >= 0, else e^x"),
    PLAIN("relu", ATTEST_FEATURE_RELU, "phi(x) = max(x, 0)"),
    PLAIN("unit", ATTEST_FEATURE_UNIT, "phi(x) = x/norm2(x), 0 at 0"),
    PLAIN("silu", ATTEST_FEATURE_SILU, "phi(x) = x/(1+e^-x)"),
    PLAIN("silu-unit", ATTEST_FEATURE_SILU_UNIT, "phi(x) = unit(silu(x))"),
    PLAIN("cosformer", ATTEST_FEATURE_COSFORMER,
          "<phi(q_i),phi(k_j)> = relu(q_i).relu(k_j) cos(pi(i+off-j)/(2 max(N,M))), features of size 2d"),
};
static const attest_axis_value rope[] = {
    PLAIN("none", ATTEST_ROPE_NONE, "no rotation"),
    BARE(ATTEST_ROPE_BASE, 0.0,
         "rotates pairs (c, c+d/2) of q at i+off and k at j by pos*BASE^(-2c/d), before phi; even d"),
};
static const attest_axis_value mask[] = {
    PLAIN("full", ATTEST_MASK_FULL, "every key, off = 0"),
    PLAIN("causal", ATTEST_MASK_CAUSAL, "j <= i, off = 0"),
    PLAIN("causal-br", ATTEST_MASK_CAUSAL_BR,
          "j <= i+off, off = M-N, with lens len_b for M, with lens_q len_q_b for N"),
};
static const attest_axis_value window[] = {
    PLAIN("none", ATTEST_WINDOW_NONE, "no window"),
    { NULL, ATTEST_WINDOW_W, ATTEST_ARG_BARE_INT, ANY, "i+off-j < W (mask=full: abs(i-j) < W)" },
};
static const attest_axis_value lens[] = {
    PLAIN("none", ATTEST_LENS_NONE, "all M keys exist"),
    PLAIN("draw", ATTEST_LENS_DRAW, "keys j >= len_b are invisible"),
};
static const attest_axis_value lens_q[] = {
    PLAIN("none", ATTEST_LENS_Q_NONE, "all N queries exist"),
    PLAIN("draw", ATTEST_LENS_Q_DRAW, "rows i >= len_q_b of o u z lse are absent: no kernel is asked for them"),
    PLAIN("len", ATTEST_LENS_Q_LEN, "as draw, but len_q_b = len_b: each entry is a problem n=m=len_b; needs lens=draw"),
};
static const attest_axis_value packed[] = {
    PLAIN("off", ATTEST_PACKED_OFF, "sequences are padded: [B,H,N,..], [B,H,M,..]"),
    PLAIN("on", ATTEST_PACKED_ON, "token i of entry b is token cu_seqlens[b]+i of [1,H,T,..]"),
};
static const attest_axis_value decay[] = {
    PLAIN("none", ATTEST_DECAY_NONE, "D_ij = 1"),
    PLAIN("retnet", ATTEST_DECAY_RETNET, "D_ij = gamma^(i-j)"),
    PLAIN("scalar", ATTEST_DECAY_SCALAR, "D_ij = product of a_t over t=j+1..i"),
    PLAIN("vector", ATTEST_DECAY_VECTOR, "product of a_t over t=j+1..i per key dimension, inside <q,k>"),
};
static const attest_axis_value gates[] = {
    PLAIN("none", ATTEST_GATES_NONE, "gin = gout = 1"),
    PLAIN("in", ATTEST_GATES_IN, "gin_j on values"),
    PLAIN("out", ATTEST_GATES_OUT, "gout_i on rows, after Norm"),
    PLAIN("inout", ATTEST_GATES_INOUT, "gin_j on values and gout_i on rows, after Norm"),
    PLAIN("pre-out", ATTEST_GATES_PRE_OUT, "gout_i on u_i, before Norm"),
    PLAIN("heads", ATTEST_GATES_HEADS, "gin = softmax over KV heads of sk, gout = softmax over query heads of sq"),
};
static const attest_axis_value norm[] = {
    PLAIN("sum", ATTEST_NORM_SUM, "u/(z+eps)"),
    PLAIN("sink", ATTEST_NORM_SINK, "u/(z+e^sink)"),
    NUMBER("floor", ATTEST_NORM_FLOOR, ANY, "u/max(z,F)"),
    PLAIN("none", ATTEST_NORM_NONE, "u"),
    PLAIN("length", ATTEST_NORM_LENGTH, "u/t, t = number of visible keys"),
    PLAIN("l2", ATTEST_NORM_L2, "u/sqrt(sum u^2+eps)"),
    PLAIN("rms", ATTEST_NORM_RMS, "u/sqrt(mean u^2+eps)"),
    PLAIN("layernorm", ATTEST_NORM_LAYERNORM, "(u-mean)/sqrt(biased var+eps)"),
    PLAIN("length-l2", ATTEST_NORM_LENGTH_L2, "l2 of u/t"),
    PLAIN("length-rms", ATTEST_NORM_LENGTH_RMS, "rms of u/t"),
    PLAIN("length-layernorm", ATTEST_NORM_LENGTH_LAYERNORM, "layernorm of u/t"),
};
static const attest_axis_value affine[] = {
    PLAIN("none", ATTEST_AFFINE_NONE, "the norm's result as it is"),
    PLAIN("draw", ATTEST_AFFINE_DRAW, "gain_c * Norm(u,z)_c + shift_c"),
};
static const attest_axis_value update[] = {
    PLAIN("add", ATTEST_UPDATE_ADD, "u_i = sum_j D_ij w_ij gin_j v_j (+ h0)"),
    PLAIN("delta", ATTEST_UPDATE_DELTA,
          "S' = decay(S); S = S' + phi(k_t)^T b_t (gin_t v_t - phi(k_t) S'); o = gout*scale*phi(q) S"),
    PLAIN("efla", ATTEST_UPDATE_EFLA, "delta with b_t := (1-e^(-b_t r))/r, r = norm2(phi(k_t))^2; b_t itself if r = 0"),
};
static const attest_axis_value eps[] = {
    PLAIN("0", ATTEST_EPS_ZERO, "eps = 0"),
    BARE(ATTEST_EPS_SET, 0.0, "eps > 0 inside the norm"),
};
static const attest_axis_value clamp[] = {
    PLAIN("none", ATTEST_CLAMP_NONE, "no clamp"),
    BARE(ATTEST_CLAMP_SET, ANY, "s_ij := min(CLAMP, s_ij)"),
};
static const attest_axis_value cap[] = {
    PLAIN("none", ATTEST_CAP_NONE, "no softcap"),
    BARE(ATTEST_CAP_SET, 0.0, "s_ij := CAP*tanh(s_ij/CAP)"),
};
static const attest_axis_value alibi[] = {
    PLAIN("none", ATTEST_ALIBI_NONE, "no position bias"),
    PLAIN("draw", ATTEST_ALIBI_DRAW, "s_ij := s_ij - slope_h*abs(i+off-j), after the softcap; tensor slope"),
    PLAIN("usual", ATTEST_ALIBI_USUAL,
          "the same, no tensor; P largest power of 2 <= Hq: slope_h = 2^(-8(h+1)/P), h >= P: 2^(-4(2(h-P)+1)/P)"),
};
static const attest_axis_value bias[] = {
    PLAIN("none", ATTEST_BIAS_NONE, "no bias"),
    PLAIN("full", ATTEST_BIAS_FULL, "s_ij := s_ij + bias_bhij, after scale and softcap, before the clamp"),
    PLAIN("head", ATTEST_BIAS_HEAD, "the same of bias_hij: every batch entry reads the same"),
    PLAIN("batch", ATTEST_BIAS_BATCH, "the same of bias_bij: every query head reads the same"),
    PLAIN("shared", ATTEST_BIAS_SHARED, "the same of bias_ij: every batch entry and query head reads the same"),
};
static const attest_axis_value attn_mask[] = {
    PLAIN("none", ATTEST_ATTN_MASK_NONE, "no tensor masks keys"),
    PLAIN("full", ATTEST_ATTN_MASK_FULL, "key j is visible to query i only if attn_mask_bhij = 1"),
    PLAIN("head", ATTEST_ATTN_MASK_HEAD, "the same of attn_mask_hij: every batch entry reads the same"),
    PLAIN("batch", ATTEST_ATTN_MASK_BATCH, "the same of attn_mask_bij: every query head reads the same"),
    PLAIN("shared", ATTEST_ATTN_MASK_SHARED,
          "the same of attn_mask_ij: every batch entry and query head reads the same"),
};
static const attest_axis_value pages[] = {
    PLAIN("none", ATTEST_PAGES_NONE, "k and v are [B,Hkv,M,..]"),
    { NULL, ATTEST_PAGES_T, ATTEST_ARG_BARE_INT, ANY,
      "key j of entry b is token j mod T of page block_table[b,j/T] of k and v [page,Hkv,T,..]" },
};
static const attest_axis_value kv[] = {
    PLAIN("in", ATTEST_KV_IN, "k and v are of type in, as q"),
    PLAIN("f16", ATTEST_KV_F16, "k and v are f16, q is f32"),
    PLAIN("bf16", ATTEST_KV_BF16, "k and v are bf16, q is f32"),
    PLAIN("e4m3", ATTEST_KV_E4M3, "k and v are fp8 e4m3 (to 448, no infinity): keys k_scale_bg k, values v_scale_bg v"),
    PLAIN("e5m2", ATTEST_KV_E5M2, "the same of fp8 e5m2"),
};
static const attest_axis_value decay_input[] = {
    PLAIN("factor", ATTEST_DECAY_INPUT_FACTOR, "the tensor a holds a_t"),
    PLAIN("log", ATTEST_DECAY_INPUT_LOG, "the tensor a holds ln a_t: a_t is e to the power of what it holds"),
};
static const attest_axis_value dropout[] = {
    PLAIN("none", ATTEST_DROPOUT_NONE, "every weight counts"),
    BARE(ATTEST_DROPOUT_R, 0.0, "u_i = sum_j keep_bhij/(1-R) D_ij w_ij gin_j v_j, R below 1; z_i as without"),
};
static const attest_axis_value state[] = {
    PLAIN("none", ATTEST_STATE_NONE, "S_n(-1) = 0"),
    PLAIN("draw", ATTEST_STATE_DRAW, "S_n(-1) = h0.n, z-states z0.n"),
};

#define AXIS(name, index, summary)                                                                                     \
    {                                                                                                                  \
#name, index, sizeof name / sizeof name[0], name, summary                                                      \
    }

const attest_axis_info attest_axes[ATTEST_AXIS_COUNT] = {
    AXIS(weight, ATTEST_AXIS_WEIGHT, "weight of a key as a function of its centred score; P in 0..64"),
    AXIS(center, ATTEST_AXIS_CENTER, "point of expansion; taylor with norm=sum only"),
    AXIS(filter, ATTEST_AXIS_FILTER, "drops keys whose score is TAU or more below the row's maximum"),
    AXIS(feature, ATTEST_AXIS_FEATURE, "feature map of queries and keys"),
    AXIS(rope, ATTEST_AXIS_ROPE, "rotary position embedding with this base"),
    AXIS(mask, ATTEST_AXIS_MASK, "visible keys"),
    AXIS(window, ATTEST_AXIS_WINDOW, "sliding window of W keys"),
    AXIS(lens, ATTEST_AXIS_LENS, "number of keys per batch entry, tensor len"),
    AXIS(decay, ATTEST_AXIS_DECAY, "forgetting between key j and query i; causal, n = m"),
    AXIS(gates, ATTEST_AXIS_GATES, "gates on values and rows, never on z"),
    AXIS(norm, ATTEST_AXIS_NORM, "how the row is normalised"),
    AXIS(affine, ATTEST_AXIS_AFFINE, "gain and shift after rms or layernorm"),
    AXIS(update, ATTEST_AXIS_UPDATE, "how the state is written"),
    AXIS(eps, ATTEST_AXIS_EPS, "regulariser inside sum, l2, rms, layernorm and their length- forms"),
    AXIS(clamp, ATTEST_AXIS_CLAMP, "upper limit of the score, the last step"),
    AXIS(cap, ATTEST_AXIS_CAP, "softcap of the score, the first step"),
    AXIS(alibi, ATTEST_AXIS_ALIBI, "linear position bias of a head's slope"),
    AXIS(state, ATTEST_AXIS_STATE, "given initial states h0.n, z0.n"),
    AXIS(bias, ATTEST_AXIS_BIAS, "numbers added to the scores, tensor bias"),
    AXIS(attn_mask, ATTEST_AXIS_ATTN_MASK,
         "which of the keys that mask, window and lens leave are visible, tensor attn_mask"),
    AXIS(pages, ATTEST_AXIS_PAGES, "how k and v lie in memory: in pages of T tokens; no number is another"),
    AXIS(kv, ATTEST_AXIS_KV, "type of k and v where it is not that of q; of 8 bits with tensors k_scale and v_scale"),
    AXIS(decay_input, ATTEST_AXIS_DECAY_INPUT, "what the tensor a of decay=scalar and decay=vector holds"),
    AXIS(dropout, ATTEST_AXIS_DROPOUT, "weights that are left out of u and not of z, at rate R; tensor keep"),
    AXIS(lens_q, ATTEST_AXIS_LENS_Q, "number of queries per batch entry, tensor len_q"),
    AXIS(packed, ATTEST_AXIS_PACKED,
         "how sequences lie in memory: one after another without gaps; no number is another"),
};
