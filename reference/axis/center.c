/* center.c - c_i over the scores of the visible keys: zero, max, min, mid (R-CENTER). */
#include "reference/axis/rows.h"

static void ball_zero(arb_t c, arb_srcptr s, slong keys, slong prec)
{
    (void)s;
    (void)keys;
    (void)prec;
    arb_zero(c);
}

static void ball_max(arb_t c, arb_srcptr s, slong keys, slong prec)
{
    arb_set(c, s);
    for (slong j = 1; j < keys; j++)
        arb_max(c, c, s + j, prec);
}

static void ball_min(arb_t c, arb_srcptr s, slong keys, slong prec)
{
    arb_set(c, s);
    for (slong j = 1; j < keys; j++)
        arb_min(c, c, s + j, prec);
}

static void ball_mid(arb_t c, arb_srcptr s, slong keys, slong prec)
{
    AUTO_ARB(low);
    ball_min(low, s, keys, prec);
    ball_max(c, s, keys, prec);
    arb_add(c, c, low, prec);
    arb_mul_2exp_si(c, c, -1);
}

/* Who else takes a center other than 0; states do not know it. */
#define CENTERED (AXIS_EXACT | AXIS_WORDS | AXIS_FORM | AXIS_DD)

static const axis_center centers[] = {
    [ATTEST_CENTER_ZERO] = { .serves = AXIS_EVERY, .ball = ball_zero },
    [ATTEST_CENTER_MAX] = { .lemma = "R-CENTER", .serves = CENTERED, .ball = ball_max, .greatest = 1 },
    [ATTEST_CENTER_MIN] = { .lemma = "R-CENTER", .serves = CENTERED, .ball = ball_min, .least = 1 },
    [ATTEST_CENTER_MID] = { .lemma = "R-CENTER",
                            .serves = CENTERED,
                            .ball = ball_mid,
                            .least = 1,
                            .greatest = 1,
                            .roundings = 2 },
};

axis_entry axis_center_entry(uint32_t value)
{
    if (value >= AXIS_ROWS(centers))
        return (axis_entry){ 0, NULL };
    const axis_center *c = &centers[value];
    return (axis_entry){ c->serves | (c->ball ? AXIS_BALL : 0), c->lemma };
}

const axis_center *axis_center_of(const attest_problem *p) { return &centers[p->axis[ATTEST_AXIS_CENTER].value]; }
