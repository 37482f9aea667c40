/* step.h - the single steps that the CPU kernels are made of; what is common to all of them.
 *
 * One small function a step, so that a kernel reads as its formula.  A step in `#ifndef NAME` can be replaced:
 * define NAME as a macro for another function before the kernel's source is included, and the same kernel is
 * compiled with that one step changed.  Arithmetic is in `real`: float, or double where ATTEST_STEP_F64 is
 * defined.  Every sum is serial and no product is contracted into an fma (-ffp-contract=off), so that the
 * counts of rounding errors given here hold; u = 2^-24 (2^-53 for double).
 */
#ifndef ATTEST_CPU_STEP_H
#define ATTEST_CPU_STEP_H

#include "attest.h"
#include "attest_float.h"
#include <math.h>
#include <stddef.h>

#ifdef ATTEST_STEP_F64
typedef double real;
#define REAL_DTYPE ATTEST_F64
static inline real real_exp(real x) { return exp(x); }
static inline real real_exp2(real x) { return exp2(x); }
static inline real real_log(real x) { return log(x); }
static inline real real_tanh(real x) { return tanh(x); }
#else
typedef float real;
#define REAL_DTYPE ATTEST_F32
static inline real real_exp(real x) { return expf(x); }
static inline real real_exp2(real x) { return exp2f(x); }
static inline real real_log(real x) { return logf(x); }
static inline real real_tanh(real x) { return tanhf(x); }
#endif

#ifdef ATTEST_STEP_F64
#define STEP_UNIT 0x1p-53
#else
#define STEP_UNIT 0x1p-24
#endif

/* What all kernels made of these steps declare (attest_numerics); each adds its schedule, and what else it has: casts
 * of weights, states.  The functions are glibc's: the sources of its exp and expf state 0.511 and 0.502 ulp, below 2u;
 * its manual ("Known Maximum Errors in Math Functions") gives tanh and expm1 2 ulp against the rounded value: 5u. */
#define STEP_NUMERICS STEP_ARITHMETIC, .exp_error = 2 * STEP_UNIT
#define STEP_ARITHMETIC                                                                                                \
    .struct_size = sizeof(attest_numerics), .tanh_error = 5 * STEP_UNIT, .expm1_error = 5 * STEP_UNIT,                 \
    .log2_domain = ATTEST_NO, .acc_truncates = ATTEST_NO, .acc_unit = STEP_UNIT, .div_error = STEP_UNIT,               \
    .division = ATTEST_DIVISION_AFTER_SUM, .scale_dtype = 1 + REAL_DTYPE, .decay_products = ATTEST_YES
/* step_round() on weights that the denominator does not see. */
#define STEP_CAST .p_rounding = ATTEST_ROUNDING_NEAREST, .cast_in_sum = ATTEST_NO
#define STEP_STATES .state_dtype = 1 + REAL_DTYPE

/* One output row: query i of batch entry b and query head h, with its keys. */
typedef struct row {
    const attest_problem *p;
    const attest_tensors *t;
    int64_t b, h, g, i;  /* g: the KV head that h reads */
    int64_t rows;        /* queries of a head in the tensors: problem.n, where p's are those of the entry (entries.h) */
    int64_t first, last; /* visible keys [first,last) */
    real scale;          /* problem.scale rounded once */
    real *scratch;       /* the kernel's workspace */
    const real *keys;    /* phi(k_j) [m,dim] of the KV head where made ready (pairs.h), else NULL */
    const real *values;  /* gin_j v_j [m,e] likewise */
    const uint8_t *mask; /* attn_mask of the row: key j is hidden if mask[j mask_step] = 0; NULL: none is */
    int64_t mask_step;
    const uint8_t *keep; /* dropout.h: u leaves key j out if keep[j keep_step] = 0; NULL: none */
    int64_t keep_step;
    real kept; /* 1/(1-R) */
} row;

/* ---- elements ----------------------------------------------------------------------------------------- */

#ifndef step_load
/* Exact, but for a double read as float, which no kernel does. */
static inline real step_load(const attest_tensor *t, int64_t at)
{
    switch (t->dtype) {
    case ATTEST_F32: return ((const float *)t->data)[at];
    case ATTEST_F64: return (real)((const double *)t->data)[at];
    case ATTEST_F16: return attest_f16_to_f32(((const uint16_t *)t->data)[at]);
    case ATTEST_F8_E4M3:
    case ATTEST_F8_E5M2: return attest_f8_to_f32(t->dtype, ((const uint8_t *)t->data)[at]);
    default: return attest_bf16_to_f32(((const uint16_t *)t->data)[at]);
    }
}
#endif

#ifndef step_store
/* One rounding to the tensor's type, to nearest even. */
static inline void step_store(const attest_tensor *t, int64_t at, real x)
{
    switch (t->dtype) {
    case ATTEST_F32: ((float *)t->data)[at] = (float)x; break;
    case ATTEST_F64: ((double *)t->data)[at] = (double)x; break;
    default: ((uint16_t *)t->data)[at] = (uint16_t)attest_from_f64(t->dtype, (double)x); break;
    }
}
#endif

#ifndef step_offset
/* Of channel 0 of row (b,h,i), in elements. */
static inline int64_t step_offset(const attest_tensor *t, int64_t b, int64_t h, int64_t i)
{
    return b * t->stride[0] + h * t->stride[1] + i * t->stride[2];
}
#endif

#ifndef step_key_place
/* Where key j of batch entry b lies in k and v: with pages=T it is token j mod T of page block_table[b,j/T]. */
static inline void step_key_place(const attest_problem *p, const attest_tensors *t, int64_t *b, int64_t *j)
{
    const attest_setting *pages = &p->axis[ATTEST_AXIS_PAGES];
    const attest_tensor *table = t->role[ATTEST_BLOCK_TABLE];
    if (pages->value == ATTEST_PAGES_NONE)
        return;
    *b = ((const int64_t *)table->data)[*b * table->stride[0] + *j / pages->order * table->stride[1]];
    *j %= pages->order;
}
#endif

/* The `count` channels of row (b,h,i): in place when they are stored as `real` one after the other, else
 * converted (exactly) into buffer. */
static inline const real *step_row(real *buffer, const attest_tensor *t, int64_t b, int64_t h, int64_t i, int64_t count)
{
    const int64_t at = step_offset(t, b, h, i);
    if (t->dtype == REAL_DTYPE && t->stride[3] == 1)
        return (const real *)t->data + at;
    for (int64_t c = 0; c < count; c++)
        buffer[c] = step_load(t, at + c * t->stride[3]);
    return buffer;
}

#ifndef step_factor
/* What keys (ATTEST_K_SCALE) or values of 8 bits are multiplied by; 1 where they are of no 8 bits. */
static inline real step_factor(const attest_problem *p, const attest_tensors *t, attest_role role, int64_t b, int64_t g)
{
    const attest_tensor *scale = t->role[role];
    if (p->axis[ATTEST_AXIS_KV].value < ATTEST_KV_E4M3)
        return 1;
    return step_load(scale, b * scale->stride[0] + g * scale->stride[1]);
}
#endif

#ifndef step_scaled
/* factor x, one rounding each; x itself where the factor is 1. */
static inline const real *step_scaled(real *buffer, const real *x, real factor, int64_t count)
{
    if (factor == 1)
        return x;
    for (int64_t c = 0; c < count; c++)
        buffer[c] = factor * x[c];
    return buffer;
}
#endif

#ifndef step_store_row
static inline void step_store_row(const row *r, attest_role role, int64_t c, real x)
{
    const attest_tensor *t = r->t->role[role];
    if (t)
        step_store(t, step_offset(t, r->b, r->h, r->i) + c * t->stride[3], x);
}
#endif

#ifndef step_round
/* x as the type `dtype` keeps it: one rounding to nearest even, unit u of that type. */
static inline real step_round(uint32_t dtype, real x)
{
    return dtype == REAL_DTYPE ? x : (real)attest_to_f64(dtype, attest_from_f64(dtype, (double)x));
}
#endif

/* ---- which keys a query sees ----------------------------------------------------------------------------- */

static inline int64_t step_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t step_max(int64_t a, int64_t b) { return a > b ? a : b; }

#ifndef step_length
/* Keys of batch entry b: len_b, or all m. */
static inline int64_t step_length(const attest_problem *p, const attest_tensors *t, int64_t b)
{
    const attest_tensor *len = t->role[ATTEST_KV_LENS];
    if (p->axis[ATTEST_AXIS_LENS].value == ATTEST_LENS_NONE || !len)
        return p->m;
    return ((const int64_t *)len->data)[b * len->stride[0]];
}
#endif

#ifndef step_position
/* i + off: the position of query i among the keys; off = length - n with causal-br, else 0. */
static inline int64_t step_position(const attest_problem *p, int64_t length, int64_t i)
{
    return p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL_BR ? i + length - p->n : i;
}
#endif

#ifndef step_visible
/* causal: j <= i; causal-br: j <= i + length - n; window W: i+off-j < W, with mask=full also j-i < W. */
static inline void step_visible(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    const uint32_t mask = p->axis[ATTEST_AXIS_MASK].value;
    const attest_setting *window = &p->axis[ATTEST_AXIS_WINDOW];
    const int64_t position = step_position(p, length, i);
    *first = 0;
    *last = mask == ATTEST_MASK_FULL ? length : step_min(length, position + 1);
    if (window->value == ATTEST_WINDOW_W) {
        *first = step_max(0, position - (int64_t)window->order + 1);
        if (mask == ATTEST_MASK_FULL)
            *last = step_min(*last, i + (int64_t)window->order);
    }
}
#endif

#ifndef step_mask
/* The row's bytes of attn_mask.  Batch entries, or query heads, that share it have an axis of length 1. */
static inline const uint8_t *step_mask(const row *r)
{
    const attest_tensor *t = r->t->role[ATTEST_MASK];
    if (r->p->axis[ATTEST_AXIS_ATTN_MASK].value == ATTEST_ATTN_MASK_NONE || !t)
        return NULL;
    return (const uint8_t *)t->data + step_offset(t, t->shape[0] > 1 ? r->b : 0, t->shape[1] > 1 ? r->h : 0, r->i);
}
#endif

#ifndef step_shown
/* Is key j of [first,last) visible? */
static inline int step_shown(const row *r, int64_t j) { return !r->mask || r->mask[j * r->mask_step] != 0; }
#endif

#ifndef step_narrow
/* [first,last) without hidden keys at its ends: the first and the last key are visible, or none is left. */
static inline void step_narrow(row *r)
{
    r->mask = step_mask(r);
    r->mask_step = r->mask ? r->t->role[ATTEST_MASK]->stride[3] : 0;
    while (r->first < r->last && !step_shown(r, r->first))
        r->first++;
    while (r->first < r->last && !step_shown(r, r->last - 1))
        r->last--;
}
#endif

/* ---- arithmetic ------------------------------------------------------------------------------------------- */

#ifndef step_sum
/* What one addition to a sum under way gives: one rounding. */
static inline real step_sum(real sum, real x) { return sum + x; }
#endif

#ifndef step_larger
/* A NaN never is the larger. */
static inline real step_larger(real a, real b) { return b > a ? b : a; }
#endif

#ifndef step_dot
/* Serial: abs(error) <= gamma_count sum abs(x_c y_c). */
static inline real step_dot(const real *x, const real *y, int64_t count)
{
    real sum = 0;
    for (int64_t c = 0; c < count; c++)
        sum += x[c] * y[c];
    return sum;
}
#endif

#ifndef step_score
/* One rounding more than the dot product, and the one of scale itself. */
static inline real step_score(real scale, const real *q, const real *k, int64_t d) { return scale * step_dot(q, k, d); }
#endif

#ifndef step_add_value
/* u += w v: two roundings a channel. */
static inline void step_add_value(real *u, real w, const real *v, int64_t e)
{
    for (int64_t c = 0; c < e; c++)
        u[c] += w * v[c];
}
#endif

#ifndef step_zero
static inline void step_zero(real *x, int64_t count)
{
    for (int64_t c = 0; c < count; c++)
        x[c] = 0;
}
#endif

/* ---- rows -------------------------------------------------------------------------------------------------- */

#ifndef step_row_wanted
/* Is the row computed?  Here all are; who needs some only, as kernels/redrawn does, says which. */
static inline int step_row_wanted(const row *r)
{
    (void)r;
    return 1;
}
#endif

#ifndef step_empty_row
/* A row that sees nothing: o = u = 0, z = 0, lse = -inf, for every norm. */
static inline void step_empty_row(const row *r)
{
    for (int64_t c = 0; c < r->p->e; c++) {
        step_store_row(r, ATTEST_O, c, 0);
        step_store_row(r, ATTEST_U, c, 0);
    }
    step_store_row(r, ATTEST_Z, 0, 0);
    step_store_row(r, ATTEST_LSE, 0, -(real)INFINITY);
}
#endif

#endif
