/* score.c - the steps of a score, in the order of the formula: softcap, position bias or bias, clamp; and the filter on
 * scores (R-STEP, R-FILTER-BOUND). */
#include "reference/axis/rows.h"

#include "kernels/attest_float.h"

#include <math.h>

enum { SIZE_BITS = 64 }; /* of a slope whose size alone matters */

/* ---- softcap: s = cap tanh(s/cap) -------------------------------------------------------------------------------- */
static void ball_cap(arb_t s, const arb_t number, int64_t distance, slong prec)
{
    (void)distance;
    arb_div(s, s, number, prec);
    arb_tanh(s, s, prec);
    arb_mul(s, s, number, prec);
}

static void start_cap(axis_step_error *e, const axis_step_set *step)
{
    (void)step;
    bound_compose(e->first, e->a->u_div, e->a->u); /* of s/cap */
    if (e->a->tanh_error > 0) {                    /* declared; the product, cap itself */
        bound_gamma(e->second, 2, e->a->u);
        mag_set_d(e->third, e->a->tanh_error);
        bound_compose(e->second, e->second, e->third);
        mag_zero(e->third);
    } else { /* of a library, 9u, or of exponentials: absolute */
        mag_add(e->third, e->a->u_exp, e->a->u_div);
        mag_mul_2exp_si(e->third, e->third, 1);
        bound_gamma(e->second, 11, e->a->u);
        mag_add(e->third, e->third, e->second);
        mag_zero(e->second);
    }
}

static void error_cap(mag_t delta, mag_t size, const axis_step_error *e, int64_t distance, const mag_t after)
{
    AUTO_MAG(x, y);
    (void)distance;
    (void)after;
    mag_mul_ui(x, e->number, 15); /* x sech^2(x) < 0.448 < 15/32 */
    mag_mul_2exp_si(x, x, -5);
    mag_min(x, x, size);
    mag_addmul(delta, x, e->first);
    mag_min(y, e->number, size);
    mag_set(size, y);
    mag_addmul(delta, y, e->second);
    mag_addmul(delta, e->number, e->third);
    mag_add_ui(x, e->number, 1);
    mag_mul_2exp_si(x, x, 2);
    mag_addmul(delta, x, e->a->tiny);
}

/* ---- position bias: s -= slope distance -------------------------------------------------------------------------- */
static void ball_alibi(arb_t s, const arb_t number, int64_t distance, slong prec)
{
    arb_submul_si(s, number, (slong)distance, prec);
}

static void exact_alibi(mpz_t s, const mpz_t number, int64_t distance)
{
    mpz_submul_ui(s, number, (unsigned long)distance);
}

static void start_alibi(axis_step_error *e, const axis_step_set *step)
{
    (void)step;
    bound_gamma(e->first, e->a->log2_domain ? 4 : 3, e->a->u); /* the distance above 2^24, the product, bases */
    bound_compose(e->first, e->first, e->a->bias);             /* R-ALIBI */
}

/* R-SLOPE: and, one for all keys of the row, of the slope itself. */
static void start_usual(axis_step_error *e, const axis_step_set *step)
{
    start_alibi(e, step);
    bound_gamma(e->second, 10 * step->root.power + 26, e->a->u);
}

static void error_alibi(mag_t delta, mag_t size, const axis_step_error *e, int64_t distance, const mag_t after)
{
    AUTO_MAG(bias, x);
    (void)after;
    mag_mul_ui(bias, e->number, (ulong)distance);
    mag_mul_ui(x, e->number, (ulong)e->back);
    mag_addmul(delta, x, e->second);
    mag_mul(x, bias, e->second);
    mag_add(bias, bias, x); /* of the computed slope */
    mag_addmul(delta, bias, e->first);
    mag_add(delta, delta, e->a->bias_tiny);
    mag_add(size, size, bias);
    mag_add(x, size, delta);
    if (e->a->folds) /* the product has one addition more */
        mag_addmul(delta, x, e->a->u_most);
    mag_addmul(delta, x, e->a->u);                  /* the subtraction */
    mag_mul_ui(x, e->a->tiny, 2 + (ulong)distance); /* a flushed slope */
    mag_add(delta, delta, x);
}

/* ---- bias: s += bias_ij ------------------------------------------------------------------------------------------ */
static void ball_bias(arb_t s, const arb_t number, int64_t distance, slong prec)
{
    (void)distance;
    arb_add(s, s, number, prec);
}

static void exact_bias(mpz_t s, const mpz_t number, int64_t distance)
{
    (void)distance;
    mpz_add(s, s, number);
}

/* Of the number itself: narrowed to acc, multiplied by log2(e), and what is not declared. */
static void start_bias(axis_step_error *e, const axis_step_set *step)
{
    (void)step;
    bound_gamma(e->first, (e->a->narrows ? 1 : 0) + (e->a->log2_domain ? 2 : 0), e->a->u);
    bound_compose(e->first, e->first, e->a->bias);
}

static void error_bias(mag_t delta, mag_t size, const axis_step_error *e, int64_t distance, const mag_t after)
{
    AUTO_MAG(x);
    (void)distance;
    mag_addmul(delta, e->number, e->first);
    mag_add(size, size, e->number);
    mag_add(delta, delta, e->a->bias_tiny);
    if (e->a->folds) { /* the product has one addition more */
        mag_add(x, size, delta);
        mag_addmul(delta, x, e->a->u_most);
    }
    mag_add(x, after, delta);
    mag_min(size, size, x); /* |s^| <= |s| + delta */
    mag_add(x, size, delta);
    mag_addmul(delta, x, e->a->u); /* the addition */
    mag_mul_ui(x, e->a->tiny, 3);  /* a bias that is flushed, its product, the sum */
    mag_add(delta, delta, x);
}

/* ---- clamp: s = min(clamp, s) ------------------------------------------------------------------------------------ */
static void ball_clamp(arb_t s, const arb_t number, int64_t distance, slong prec)
{
    (void)distance;
    arb_min(s, s, number, prec);
}

static void exact_clamp(mpz_t s, const mpz_t number, int64_t distance)
{
    (void)distance;
    if (mpz_cmp(s, number) > 0)
        mpz_set(s, number);
}

/* Of the number itself, where acc does not hold it. */
static void start_clamp(axis_step_error *e, const axis_step_set *step)
{
    const uint32_t acc = e->a->p->acc;
    if (!e->a->log2_domain && attest_to_f64(acc, attest_from_f64(acc, step->number)) == step->number)
        return;
    bound_gamma(e->first, 2, e->a->u);
    mag_mul(e->first, e->first, e->number);
}

static void error_clamp(mag_t delta, mag_t size, const axis_step_error *e, int64_t distance, const mag_t after)
{
    (void)size;
    (void)distance;
    (void)after;
    mag_add(delta, delta, e->first);
}

/* ---- the rows ---------------------------------------------------------------------------------------------------- */
static const axis_step caps[] = {
    [ATTEST_CAP_NONE] = { .serves = AXIS_EVERY },
    [ATTEST_CAP_SET] = { .lemma = "R-STEP", .ball = ball_cap, .start = start_cap, .error = error_cap },
};

static const axis_step alibis[] = {
    [ATTEST_ALIBI_NONE] = { .serves = AXIS_EVERY },
    [ATTEST_ALIBI_DRAW] = { .lemma = "R-STEP",
                            .a_head = 1,
                            .ball = ball_alibi,
                            .exact = exact_alibi,
                            .start = start_alibi,
                            .error = error_alibi },
    [ATTEST_ALIBI_USUAL] = { .lemma = "R-SLOPE",
                             .a_head = 1,
                             .ball = ball_alibi,
                             .exact = exact_alibi,
                             .start = start_usual,
                             .error = error_alibi },
};

#define BIAS_STEP                                                                                                      \
    {                                                                                                                  \
        .lemma = "R-STEP", .a_key = 1, .ball = ball_bias, .exact = exact_bias, .start = start_bias,                    \
        .error = error_bias                                                                                            \
    }

static const axis_step biases[] = {
    [ATTEST_BIAS_NONE] = { .serves = AXIS_EVERY },
    [ATTEST_BIAS_FULL] = BIAS_STEP,
    [ATTEST_BIAS_HEAD] = BIAS_STEP,
    [ATTEST_BIAS_BATCH] = BIAS_STEP,
    [ATTEST_BIAS_SHARED] = BIAS_STEP,
};

static const axis_step clamps[] = {
    [ATTEST_CLAMP_NONE] = { .serves = AXIS_EVERY },
    [ATTEST_CLAMP_SET] = { .lemma = "R-STEP",
                           .serves = AXIS_DD,
                           .ball = ball_clamp,
                           .exact = exact_clamp,
                           .start = start_clamp,
                           .error = error_clamp },
};

static const axis_entry filters[] = {
    [ATTEST_FILTER_NONE] = { AXIS_EVERY, NULL },
    [ATTEST_FILTER_TAU] = { AXIS_BALL | AXIS_EXACT, "R-FILTER-BOUND" },
};

static axis_entry step_entry(const axis_step *s)
{
    return (axis_entry){ s->serves | (s->ball ? AXIS_BALL : 0) | (s->exact ? AXIS_EXACT : 0), s->lemma };
}

axis_entry axis_cap_entry(uint32_t value)
{
    return value < AXIS_ROWS(caps) ? step_entry(&caps[value]) : (axis_entry){ 0, NULL };
}

axis_entry axis_alibi_entry(uint32_t value)
{
    return value < AXIS_ROWS(alibis) ? step_entry(&alibis[value]) : (axis_entry){ 0, NULL };
}

axis_entry axis_bias_entry(uint32_t value)
{
    return value < AXIS_ROWS(biases) ? step_entry(&biases[value]) : (axis_entry){ 0, NULL };
}

axis_entry axis_clamp_entry(uint32_t value)
{
    return value < AXIS_ROWS(clamps) ? step_entry(&clamps[value]) : (axis_entry){ 0, NULL };
}

axis_entry axis_filter_entry(uint32_t value) { return AXIS_ENTRY(filters, value); }

/* ---- the steps of a problem -------------------------------------------------------------------------------------- */
/* Of key 0: batch entries, or query heads, that share a bias have an axis of length 1. */
static int64_t bias_offset(const ref_inputs *in, attest_row at)
{
    const attest_tensor *t = in->role[ATTEST_BIAS];
    return attest_offset(t, t->shape[0] > 1 ? at.b : 0, t->shape[1] > 1 ? at.h : 0, at.i, 0);
}

double axis_bias(const ref_inputs *in, attest_row at, int64_t j)
{
    const attest_tensor *t = in->role[ATTEST_BIAS];
    return attest_load(t, bias_offset(in, at) + j * t->stride[3]);
}

/* ---- slopes ------------------------------------------------------------------------------------------------------ */
static int is_usual(const ref_inputs *in)
{
    return attest_axis_value_of(in->p, ATTEST_AXIS_ALIBI) == ATTEST_ALIBI_USUAL;
}

double axis_slope(const ref_inputs *in, int64_t h)
{
    const attest_tensor *slope = in->role[ATTEST_SLOPE];
    if (!is_usual(in))
        return attest_load(slope, attest_offset(slope, h, 0, 0, 0));
    const attest_usual root = attest_usual_slope(in->p, h);
    const int64_t down = root.step * root.power; /* at most 8 heads */
    return down % root.heads ? (double)NAN : 1.0 / (double)(1 << down / root.heads);
}

/* 2^-(step power/heads): the whole part shifts, the rest is a root of a power of two. */
static void root_ball(arb_t x, attest_usual root, slong prec)
{
    const int64_t down = root.step * root.power, rest = down % root.heads;
    arb_one(x);
    arb_mul_2exp_si(x, x, (slong)-rest);
    if (rest)
        arb_root_ui(x, x, (ulong)root.heads, prec);
    arb_mul_2exp_si(x, x, (slong) - (down / root.heads));
}

void axis_slope_ball(arb_t slope, const ref_inputs *in, int64_t h, slong prec)
{
    if (is_usual(in))
        root_ball(slope, attest_usual_slope(in->p, h), prec);
    else
        arb_set_d(slope, axis_slope(in, h));
}

void axis_slope_size(mag_t size, const ref_inputs *in, int64_t h)
{
    AUTO_ARB(slope);
    axis_slope_ball(slope, in, h, SIZE_BITS);
    arb_get_mag(size, slope);
}

void axis_step_ball(arb_t number, const axis_step_set *step, slong prec)
{
    if (step->root.power)
        root_ball(number, step->root, prec);
    else
        arb_set_d(number, step->number);
}

int axis_steps(axis_step_set steps[AXIS_STEPS], const ref_inputs *in, attest_row at)
{
    static const struct {
        attest_axis axis;
        const axis_step *rows;
    } order[AXIS_STEPS] = { { ATTEST_AXIS_CAP, caps },
                            { ATTEST_AXIS_ALIBI, alibis },
                            { ATTEST_AXIS_BIAS, biases },
                            { ATTEST_AXIS_CLAMP, clamps } };
    int count = 0;
    for (size_t k = 0; k < AXIS_STEPS; k++) {
        const attest_setting *setting = &in->p->axis[order[k].axis];
        const axis_step *row = &order[k].rows[setting->value];
        if (!row->ball)
            continue;
        steps[count] = (axis_step_set){ .row = row, .number = setting->number };
        if (row->a_head)
            steps[count].number = axis_slope(in, at.h);
        if (row->a_head && is_usual(in))
            steps[count].root = attest_usual_slope(in->p, at.h);
        if (row->a_key) {
            steps[count].bias = in->role[ATTEST_BIAS];
            steps[count].offset = bias_offset(in, at);
        }
        count++;
    }
    return count;
}

int axis_step_at(axis_step_set *step, int64_t j)
{
    if (!step->bias)
        return 0;
    step->number = attest_load(step->bias, step->offset + j * step->bias->stride[3]);
    return 1;
}

void axis_step_error_key(axis_step_error *e, axis_step_set *step, int64_t j)
{
    if (axis_step_at(step, j))
        mag_set_d(e->number, step->number);
}

void axis_step_error_start(axis_step_error *e, const axis_step_set *step, const axis_arithmetic *a)
{
    AUTO_ARB(number);
    e->a = a;
    mag_init(e->number);
    mag_init(e->first);
    mag_init(e->second);
    mag_init(e->third);
    e->back = 0;
    axis_step_ball(number, step, SIZE_BITS);
    arb_get_mag(e->number, number);
    step->row->start(e, step);
}

void axis_step_error_stop(axis_step_error *e)
{
    mag_clear(e->third);
    mag_clear(e->second);
    mag_clear(e->first);
    mag_clear(e->number);
}
