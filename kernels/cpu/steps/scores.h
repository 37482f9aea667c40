/* scores.h - what happens to a score between the product and the weight, in this order.
 *
 *     s := cap tanh(s/cap);   s := s - slope_h abs(i+off-j), or s + bias_ij;   s := min(clamp, s);   each only if set
 *     filter: w = 0 unless s > (the row's largest score) - TAU;   attn_mask: a key that it hides is none of the row
 */
#ifndef ATTEST_CPU_SCORES_H
#define ATTEST_CPU_SCORES_H

#include "step.h"

#ifndef score_cap
/* cap rounded to `real`, a quotient, tanh (glibc: at most 2 ulp), a product: below 8u relative, for |tanh' x| <=
 * |tanh x|. */
static inline real score_cap(real s, real cap) { return cap * real_tanh(s / cap); }
#endif

#ifndef score_alibi
/* Two roundings; the distance is exact below 2^24. */
static inline real score_alibi(real s, real slope, int64_t distance)
{
    return s - slope * (real)(distance < 0 ? -distance : distance);
}
#endif

#ifndef score_bias
/* bias_ij of the row and key j: exact.  Batch entries, or query heads, that share it have an axis of length 1. */
static inline real score_bias(const row *r, int64_t j)
{
    const attest_tensor *t = r->t->role[ATTEST_BIAS];
    const int64_t b = t->shape[0] > 1 ? r->b : 0, h = t->shape[1] > 1 ? r->h : 0;
    return step_load(t, step_offset(t, b, h, r->i) + j * t->stride[3]);
}
#endif

#ifndef score_biased
/* One rounding. */
static inline real score_biased(const row *r, real s, real bias)
{
    (void)r;
    return s + bias;
}
#endif

#ifndef score_clamp
/* clamp rounded to `real`, else exact.  A NaN stays one. */
static inline real score_clamp(real s, real clamp) { return s > clamp ? clamp : s; }
#endif

#ifndef score_has_steps
/* Is any of the four set? */
static inline int score_has_steps(const attest_problem *p)
{
    return p->axis[ATTEST_AXIS_CAP].value || p->axis[ATTEST_AXIS_ALIBI].value || p->axis[ATTEST_AXIS_BIAS].value ||
           p->axis[ATTEST_AXIS_CLAMP].value;
}
#endif

#ifndef score_usual
/* alibi=usual: 2^(-8(h+1)/P), P the largest power of two up to `heads`; of heads h >= P 2^(-4(2(h-P)+1)/P).  The
 * exponent is exact, exp2 (glibc) within an ulp. */
static inline real score_usual(int64_t h, int64_t heads)
{
    int64_t powers = 1;
    while (2 * powers <= heads)
        powers *= 2;
    return real_exp2(h < powers ? -8 * (real)(h + 1) / (real)powers : -4 * (real)(2 * (h - powers) + 1) / (real)powers);
}
#endif

#ifndef score_slope
/* Of the row's query head; 0 without alibi. */
static inline real score_slope(const row *r)
{
    const attest_tensor *slopes = r->t->role[ATTEST_SLOPE];
    switch (r->p->axis[ATTEST_AXIS_ALIBI].value) {
    case ATTEST_ALIBI_DRAW: return step_load(slopes, r->h * slopes->stride[0]);
    case ATTEST_ALIBI_USUAL: return score_usual(r->h, r->p->hq);
    default: return 0;
    }
}
#endif

#ifndef score_chain
/* The steps on the product x of key j, `distance` tokens before the query. */
static inline real score_chain(const row *r, real x, real slope, int64_t distance, int64_t j)
{
    const attest_problem *p = r->p;
    if (p->axis[ATTEST_AXIS_CAP].value == ATTEST_CAP_SET)
        x = score_cap(x, (real)p->axis[ATTEST_AXIS_CAP].number);
    if (p->axis[ATTEST_AXIS_ALIBI].value != ATTEST_ALIBI_NONE)
        x = score_alibi(x, slope, distance);
    if (p->axis[ATTEST_AXIS_BIAS].value != ATTEST_BIAS_NONE)
        x = score_biased(r, x, score_bias(r, j));
    if (p->axis[ATTEST_AXIS_CLAMP].value == ATTEST_CLAMP_SET)
        x = score_clamp(x, (real)p->axis[ATTEST_AXIS_CLAMP].number);
    return x;
}
#endif

/* s[last-first): products of the keys [first,last) in, scores out; those of hidden keys mean nothing. */
static inline void score_steps(real *s, const row *r, int64_t first, int64_t last)
{
    const attest_problem *p = r->p;
    const int64_t position = step_position(p, step_length(p, r->t, r->b), r->i);
    const real slope = score_slope(r);
    if (!score_has_steps(p))
        return;
    for (int64_t j = first; j < last; j++)
        s[j - first] = score_chain(r, s[j - first], slope, position - j, j);
}

#ifndef score_hide
/* s[last-first): a hidden key gets the score of a visible one, -inf where there is none: it is neither the largest nor
 * the smallest, and no weight is taken of it. */
static inline void score_hide(real *s, const row *r, int64_t first, int64_t last)
{
    real other = -(real)INFINITY;
    if (!r->mask)
        return;
    for (int64_t j = first; j < last; j++)
        if (step_shown(r, j))
            other = s[j - first];
    for (int64_t j = first; j < last; j++)
        if (!step_shown(r, j))
            s[j - first] = other;
}
#endif

#ifndef score_highest
/* The largest score; -inf of none.  A NaN never is the maximum. */
static inline real score_highest(const real *s, int64_t count)
{
    real highest = -(real)INFINITY;
    for (int64_t j = 0; j < count; j++)
        highest = step_larger(highest, s[j]);
    return highest;
}
#endif

#ifndef score_kept
/* Does the filter keep a key?  TAU and the difference one rounding each.  A NaN is kept, to be seen. */
static inline int score_kept(const attest_problem *p, real s, real highest)
{
    return p->axis[ATTEST_AXIS_FILTER].value == ATTEST_FILTER_NONE ||
           !(s <= highest - (real)p->axis[ATTEST_AXIS_FILTER].number);
}
#endif

#endif
