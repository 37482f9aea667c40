/* rows.h - how the fast kernels read rows of q, k and v, and whether rows of o need more than a division.
 *
 * Features with an exponential (elu1, silu, silu-unit) make it by exp.h; behind a rotation (rope) by the C library,
 * whose expf is nearer than FAST_EXP_ERROR.
 */
#ifndef ATTEST_FAST_ROWS_H
#define ATTEST_FAST_ROWS_H

#include "cpu/steps/gates.h"
#include "cpu/steps/token.h"
#include "fast/exp.h"

/* size rounded up to whole units. */
static inline int64_t fast_up(int64_t size, int64_t unit) { return (size + unit - 1) / unit * unit; }

/* `count` numbers of row (b,h,i) as floats, in place where they are stored so. */
static inline const float *fast_row(float *buffer, const attest_tensor *t, int64_t b, int64_t h, int64_t i,
                                    int64_t count)
{
    if (t->stride[3] != 1 || (t->dtype != ATTEST_BF16 && t->dtype != ATTEST_F16))
        return step_row(buffer, t, b, h, i, count);
    const uint16_t *stored = (const uint16_t *)t->data + step_offset(t, b, h, i);
    for (int64_t c = 0; c < count && t->dtype == ATTEST_BF16; c++)
        buffer[c] = attest_bf16_to_f32(stored[c]);
    for (int64_t c = 0; c < count && t->dtype == ATTEST_F16; c++)
        buffer[c] = fast_f16(stored[c]);
    return buffer;
}

/* Is one of x[count] an infinity or a NaN? */
static inline int fast_rough(const float *x, int64_t count)
{
    uint32_t most = 0;
    for (int64_t c = 0; c < count; c++) {
        const uint32_t size = attest_f32_bits(x[c]) & 0x7fffffffu;
        most = size > most ? size : most;
    }
    return most >= 0x7f800000u;
}

/* ---- features with an exponential, by exp.h ---------------------------------------------------------------------- */

#ifndef fast_elu1
/* x+1 for x >= 0 (one rounding), else e^x.  A NaN stays one. */
static inline vec fast_elu1(vec x)
{
    const ivec right = x >= vec_of(0);
    return vec_select(right, x + vec_of(1), fast_exp(vec_masked(~right, x)));
}
#endif

#ifndef fast_silu
/* x/(1+e^-x), below 0 as x e^x/(1+e^x) so that nothing overflows: e^-|x| and three roundings. */
static inline vec fast_silu(vec x)
{
    const ivec left = x < vec_of(0);
    const vec y = fast_exp(vec_select(left, x, -x));
    return vec_select(left, x * y, x) / (vec_of(1) + y);
}
#endif

#ifndef fast_map
/* y[count] = f(x[count]), nothing behind them; y may be x. */
static inline __attribute__((always_inline)) void fast_map(float *y, const float *x, int64_t count, vec (*f)(vec))
{
    float part[LANES] = { 0 };
    int64_t c = 0;
    for (; c + LANES <= count; c += LANES)
        vec_store(y + c, f(vec_load(x + c)));
    memcpy(part, x + c, sizeof *x * (size_t)(count - c));
    vec_store(part, f(vec_load(part)));
    memcpy(y + c, part, sizeof *y * (size_t)(count - c));
}
#endif

/* phi(factor row (b,h,i) of t) of a token at `position`: token_dim entries, as token_scaled(). */
static inline const float *fast_scaled(float *buffer, const attest_problem *p, const attest_tensor *t, float factor,
                                       int64_t b, int64_t h, int64_t i, int64_t position)
{
    const uint32_t feature = p->axis[ATTEST_AXIS_FEATURE].value;
    if (token_plain(p))
        return step_scaled(buffer, fast_row(buffer, t, b, h, i, p->d), factor, p->d);
    const int silu = feature == ATTEST_FEATURE_SILU || feature == ATTEST_FEATURE_SILU_UNIT;
    if (p->axis[ATTEST_AXIS_ROPE].value != ATTEST_ROPE_NONE || (!silu && feature != ATTEST_FEATURE_ELU1))
        return token_scaled(buffer, p, t, factor, b, h, i, position);
    const float *x = step_scaled(buffer, fast_row(buffer, t, b, h, i, p->d), factor, p->d);
    if (!silu)
        fast_map(buffer, x, p->d, fast_elu1);
    else
        fast_map(buffer, x, p->d, fast_silu);
    if (feature == ATTEST_FEATURE_SILU_UNIT)
        token_map_unit(buffer, buffer, p, position);
    return buffer;
}

static inline const float *fast_token(float *buffer, const attest_problem *p, const attest_tensor *t, int64_t b,
                                      int64_t h, int64_t i, int64_t position)
{
    return fast_scaled(buffer, p, t, 1, b, h, i, position);
}

/* phi(k_j) of KV head g, wherever it lies. */
static inline const float *fast_key(float *buffer, const attest_problem *p, const attest_tensors *t, int64_t b,
                                    int64_t g, int64_t j)
{
    const float factor = step_factor(p, t, ATTEST_K_SCALE, b, g);
    int64_t at = j;
    step_key_place(p, t, &b, &at);
    return fast_scaled(buffer, p, t->role[ATTEST_K], factor, b, g, at, j);
}

/* gin_j v_j of KV head g: e entries, as gate_value_row(). */
static inline const float *fast_value(float *buffer, const attest_problem *p, const attest_tensors *t, int64_t b,
                                      int64_t g, int64_t j)
{
    if (gate_values(p))
        return gate_value_row(buffer, p, t, b, g, j);
    const float factor = step_factor(p, t, ATTEST_V_SCALE, b, g);
    step_key_place(p, t, &b, &j);
    return step_scaled(buffer, fast_row(buffer, t->role[ATTEST_V], b, g, j, p->e), factor, p->e);
}

/* Is o nothing but u/l, stored one after the other in this type? */
static inline int fast_plain_rows(const attest_problem *p, const attest_tensors *t, attest_dtype dtype)
{
    const attest_tensor *o = t->role[ATTEST_O];
    return o && o->dtype == dtype && o->stride[3] == 1 && p->axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_SUM &&
           !p->axis[ATTEST_AXIS_EPS].value && !p->axis[ATTEST_AXIS_AFFINE].value && !gate_rows(p);
}

#endif
