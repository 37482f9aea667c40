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
#define SERVE_ALIBI SERVE_THROUGH(ATTEST_ALIBI_DRAW)
/* Rows of a serve_table: what pairs.h does for every kernel that goes pair by pair. */
#define SERVE_PAIRS                                                                                                    \
    [ATTEST_AXIS_FEATURE] = SERVE_ALL_FEATURES, [ATTEST_AXIS_ROPE] = SERVE_ROPE, [ATTEST_AXIS_MASK] = SERVE_ALL_MASKS, \
    [ATTEST_AXIS_WINDOW] = SERVE_WINDOW, [ATTEST_AXIS_LENS] = SERVE_LENS, [ATTEST_AXIS_GATES] = SERVE_ALL_GATES,       \
    [ATTEST_AXIS_EPS] = SERVE_EPS, [ATTEST_AXIS_CLAMP] = SERVE_CLAMP, [ATTEST_AXIS_CAP] = SERVE_CAP,                   \
    [ATTEST_AXIS_ALIBI] = SERVE_ALIBI
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

typedef struct serve_axis_text {
    const char *key;
    const char *value[12];
} serve_axis_text;

static inline const serve_axis_text *serve_axis(uint32_t axis)
{
    static const serve_axis_text text[ATTEST_AXIS_COUNT] = {
        { "weight", { "exp", "taylor", "term", "power" } },
        { "center", { "zero", "max", "min", "mid" } },
        { "filter", { "none", "TAU" } },
        { "feature", { "identity", "elu1", "relu", "unit", "silu", "silu-unit", "cosformer" } },
        { "rope", { "none", "BASE" } },
        { "mask", { "full", "causal", "causal-br" } },
        { "window", { "none", "W" } },
        { "lens", { "none", "draw" } },
        { "decay", { "none", "retnet", "scalar", "vector" } },
        { "gates", { "none", "in", "out", "inout", "pre-out", "heads" } },
        { "norm",
          { "sum", "sink", "floor", "none", "length", "l2", "rms", "layernorm", "length-l2", "length-rms",
            "length-layernorm" } },
        { "affine", { "none", "draw" } },
        { "update", { "add", "delta", "efla" } },
        { "eps", { "0", "EPS" } },
        { "clamp", { "none", "CLAMP" } },
        { "cap", { "none", "CAP" } },
        { "alibi", { "none", "draw" } },
        { "state", { "none", "draw" } },
    };
    return &text[axis];
}

/* Appends the names of the allowed values, separated by spaces. */
static inline void serve_list(char *text, size_t len, const char *const *names, uint32_t count, uint32_t allowed)
{
    size_t used = 0;
    for (uint32_t v = 0; v < count && names[v]; v++)
        if (allowed & SERVE_BIT(v) && used < len) {
            const int written = snprintf(text + used, len - used, "%s%s", used ? " " : "", names[v]);
            used += written > 0 ? (size_t)written : 0;
        }
}

static inline int serve_dtype(const attest_call *call, const char *key, uint32_t dtype, uint32_t allowed)
{
    static const char *const names[] = { "f32", "f64", "f16", "bf16" };
    char served[64] = "";
    if (dtype < 4 && allowed & SERVE_BIT(dtype))
        return 1;
    serve_list(served, sizeof served, names, 4, allowed);
    return serve_refuse(call, "%s=%s is not served (served: %s)", key, dtype < 4 ? names[dtype] : "?", served);
}

/* 1 if every axis and dtype of the problem is in the table; else 0 and the first that is not. */
static inline int serve_check(const serve_table *table, const attest_call *call)
{
    const attest_problem *p = call->problem;
    const int newer = attest_axis_unserved(p, ATTEST_AXES_KNOWN);
    if (newer >= 0)
        return serve_refuse(call, "axis number %d is set, which this kernel does not know", newer);
    for (uint32_t a = 0; a < ATTEST_AXIS_COUNT; a++) {
        const uint32_t allowed = table->axis[a] ? table->axis[a] : SERVE_BIT(0), v = p->axis[a].value;
        const serve_axis_text *text = serve_axis(a);
        char served[160] = "";
        if (v < 12 && allowed & SERVE_BIT(v))
            continue;
        serve_list(served, sizeof served, text->value, 12, allowed);
        if (v >= 12 || !text->value[v])
            return serve_refuse(call, "%s: value %u is not served (served: %s)", text->key, v, served);
        return serve_refuse(call, "%s=%s is not served (served: %s)", text->key, text->value[v], served);
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
