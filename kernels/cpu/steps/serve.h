/* serve.h - supports() for the CPU kernels: a kernel states what it serves as a table, this checks it. */
#ifndef ATTEST_CPU_SERVE_H
#define ATTEST_CPU_SERVE_H

#include "attest.h"
#include <stdarg.h>
#include <stdio.h>

#define SERVE_BIT(value) (1u << (value))
#define SERVE_ALL_MASKS (SERVE_BIT(ATTEST_MASK_FULL) | SERVE_BIT(ATTEST_MASK_CAUSAL) | SERVE_BIT(ATTEST_MASK_CAUSAL_BR))
#define SERVE_WINDOW (SERVE_BIT(ATTEST_WINDOW_NONE) | SERVE_BIT(ATTEST_WINDOW_W))
#define SERVE_LENS (SERVE_BIT(ATTEST_LENS_NONE) | SERVE_BIT(ATTEST_LENS_DRAW))
#define SERVE_STATE (SERVE_BIT(ATTEST_STATE_NONE) | SERVE_BIT(ATTEST_STATE_DRAW))
#define SERVE_POLYNOMIAL                                                                                               \
    (SERVE_BIT(ATTEST_WEIGHT_TAYLOR) | SERVE_BIT(ATTEST_WEIGHT_TERM) | SERVE_BIT(ATTEST_WEIGHT_POWER))
/* Every value of an axis up to its last one. */
#define SERVE_THROUGH(last) (SERVE_BIT((last) + 1) - 1)
#define SERVE_ALL_CENTERS SERVE_THROUGH(ATTEST_CENTER_MID)
#define SERVE_FILTER SERVE_THROUGH(ATTEST_FILTER_TAU)
#define SERVE_ROPE SERVE_THROUGH(ATTEST_ROPE_BASE)
#define SERVE_SCALAR_DECAYS SERVE_THROUGH(ATTEST_DECAY_SCALAR)
#define SERVE_ALL_DECAYS SERVE_THROUGH(ATTEST_DECAY_VECTOR)
#define SERVE_ALL_GATES SERVE_THROUGH(ATTEST_GATES_HEADS)
#define SERVE_SUM_OR_SINK SERVE_THROUGH(ATTEST_NORM_SINK)
#define SERVE_ALL_NORMS SERVE_THROUGH(ATTEST_NORM_LENGTH_LAYERNORM)
#define SERVE_AFFINE SERVE_THROUGH(ATTEST_AFFINE_DRAW)
#define SERVE_EPS SERVE_THROUGH(ATTEST_EPS_SET)
#define SERVE_CLAMP SERVE_THROUGH(ATTEST_CLAMP_SET)
#define SERVE_CAP SERVE_THROUGH(ATTEST_CAP_SET)
#define SERVE_ALIBI SERVE_THROUGH(ATTEST_ALIBI_USUAL)
#define SERVE_BIAS SERVE_THROUGH(ATTEST_BIAS_SHARED)
#define SERVE_ATTN_MASK SERVE_THROUGH(ATTEST_ATTN_MASK_SHARED)
#define SERVE_PAGES SERVE_THROUGH(ATTEST_PAGES_T)
#define SERVE_KV SERVE_THROUGH(ATTEST_KV_E5M2)
#define SERVE_DROPOUT SERVE_THROUGH(ATTEST_DROPOUT_R)
#define SERVE_DECAY_INPUT SERVE_THROUGH(ATTEST_DECAY_INPUT_LOG)
#define SERVE_LENS_Q SERVE_THROUGH(ATTEST_LENS_Q_LEN)
#define SERVE_PACKED SERVE_THROUGH(ATTEST_PACKED_ON)
/* Rows of a serve_table: what pairs.h and norms.h do for every kernel that goes pair by pair and divides at the end;
 * one that divides first lists its axes itself, without EPS. */
#define SERVE_PAIRS                                                                                                    \
    [ATTEST_AXIS_FEATURE] = SERVE_ALL_FEATURES, [ATTEST_AXIS_ROPE] = SERVE_ROPE, [ATTEST_AXIS_MASK] = SERVE_ALL_MASKS, \
    [ATTEST_AXIS_WINDOW] = SERVE_WINDOW, [ATTEST_AXIS_LENS] = SERVE_LENS, [ATTEST_AXIS_GATES] = SERVE_ALL_GATES,       \
    [ATTEST_AXIS_EPS] = SERVE_EPS, [ATTEST_AXIS_CLAMP] = SERVE_CLAMP, [ATTEST_AXIS_CAP] = SERVE_CAP,                   \
    [ATTEST_AXIS_ALIBI] = SERVE_ALIBI, [ATTEST_AXIS_BIAS] = SERVE_BIAS, [ATTEST_AXIS_PAGES] = SERVE_PAGES,             \
    [ATTEST_AXIS_KV] = SERVE_KV, [ATTEST_AXIS_DECAY_INPUT] = SERVE_DECAY_INPUT, [ATTEST_AXIS_LENS_Q] = SERVE_LENS_Q,   \
    [ATTEST_AXIS_PACKED] = SERVE_PACKED
/* What those of them do that read a pair's own tensors. */
#define SERVE_PAIR_TENSORS [ATTEST_AXIS_ATTN_MASK] = SERVE_ATTN_MASK, [ATTEST_AXIS_DROPOUT] = SERVE_DROPOUT
/* What a kernel with states can take beside its weights; `sequences`: of different lengths and packed. */
#define SERVE_STATEFUL(sequences)                                                                                      \
    [ATTEST_AXIS_FEATURE] = SERVE_ALL_FEATURES, [ATTEST_AXIS_ROPE] = SERVE_ROPE, [ATTEST_AXIS_MASK] = SERVE_ALL_MASKS, \
    [ATTEST_AXIS_LENS] = SERVE_LENS, [ATTEST_AXIS_DECAY] = SERVE_ALL_DECAYS, [ATTEST_AXIS_GATES] = SERVE_ALL_GATES,    \
    [ATTEST_AXIS_NORM] = SERVE_ALL_NORMS, [ATTEST_AXIS_AFFINE] = SERVE_AFFINE, [ATTEST_AXIS_EPS] = SERVE_EPS,          \
    [ATTEST_AXIS_STATE] = SERVE_STATE, [ATTEST_AXIS_DECAY_INPUT] = SERVE_DECAY_INPUT,                                  \
    [ATTEST_AXIS_LENS_Q] = (sequences) ? SERVE_LENS_Q : 0, [ATTEST_AXIS_PACKED] = (sequences) ? SERVE_PACKED : 0
/* Linear attention with everything that a kernel with one state can take; beside it serve_linear(). */
#define SERVE_LINEAR_TABLE(sequences)                                                                                  \
    {                                                                                                                  \
        .axis = { [ATTEST_AXIS_WEIGHT] = SERVE_BIT(ATTEST_WEIGHT_TERM) | SERVE_BIT(ATTEST_WEIGHT_POWER),               \
                  [ATTEST_AXIS_KV] = SERVE_KV,                                                                         \
                  SERVE_STATEFUL(sequences) },                                                                         \
        .in = SERVE_UP_TO_F32, .acc = SERVE_BIT(ATTEST_F32), .p = SERVE_BIT(ATTEST_F32), .out = SERVE_UP_TO_F32        \
    }
#define SERVE_UP_TO_F32 (SERVE_BIT(ATTEST_F32) | SERVE_BIT(ATTEST_F16) | SERVE_BIT(ATTEST_BF16))

typedef struct serve_table {
    uint32_t axis[ATTEST_AXIS_COUNT]; /* bit v: value v is served; 0 means the default only */
    uint32_t in, acc, p, out;         /* bit per attest_dtype */
} serve_table;

/* Writes the reason and returns 0. */
static inline int serve_refuse(const attest_call *call, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (call->why_size > 0)
        vsnprintf(call->why, call->why_size, format, list);
    va_end(list);
    return 0;
}

/* Names the types that are served, if `dtype` is not. */
static inline int serve_dtype(const attest_call *call, const char *key, uint32_t dtype, uint32_t allowed)
{
    static const char *const names[] = { "f32", "f64", "f16", "bf16" };
    char served[64] = "";
    if (dtype < 4 && allowed & SERVE_BIT(dtype))
        return 1;
    for (uint32_t v = 0, used = 0; v < 4; v++)
        if (allowed & SERVE_BIT(v))
            used += (uint32_t)snprintf(served + used, sizeof served - used, "%s%s", used ? " " : "", names[v]);
    return serve_refuse(call, "%s=%s is not served (served: %s)", key, dtype < 4 ? names[dtype] : "?", served);
}

/* 1 if every axis and dtype of the problem is in the table; else 0 and the first that is not, which the host names. */
static inline int serve_check(const serve_table *table, const attest_call *call)
{
    const attest_problem *p = call->problem;
    const int newer = attest_axis_unserved(p, ATTEST_AXES_KNOWN);
    if (newer >= 0)
        return attest_refuse_axis(call, newer);
    for (int a = 0; a < ATTEST_AXIS_COUNT; a++) {
        const uint32_t allowed = table->axis[a] ? table->axis[a] : SERVE_BIT(0), v = p->axis[a].value;
        if (v >= 32 || !(allowed & SERVE_BIT(v)))
            return attest_refuse_axis(call, a);
    }
    return serve_dtype(call, "in", p->in, table->in) && serve_dtype(call, "acc", p->acc, table->acc) &&
           serve_dtype(call, "p", p->p, table->p) && serve_dtype(call, "out", p->out, table->out);
}

/* power:1 and term:1 are linear attention, no other order is. */
static inline int serve_linear(const attest_call *call)
{
    const uint32_t order = call->problem->axis[ATTEST_AXIS_WEIGHT].order;
    return order == 1 ? 1 : serve_refuse(call, "weight of order %u is not served (served: power:1 term:1)", order);
}

#endif
