/* decay.c - the factors of D_ij: gamma^(i-j), or the product of a_t over t = j+1..i (R-DECAY); a_t is stored, or its
 * logarithm is. */
#include "reference/axis/rows.h"

#define DECAYED (AXIS_BALL | AXIS_EXACT | AXIS_STATE | AXIS_FORM)

static const axis_decay decays[] = {
    [ATTEST_DECAY_NONE] = { .serves = AXIS_EVERY },
    [ATTEST_DECAY_RETNET] = { .lemma = "R-DECAY", .serves = DECAYED, .set = 1, .role = ATTEST_GAMMA, .a_head = 1 },
    [ATTEST_DECAY_SCALAR] = { .lemma = "R-DECAY", .serves = DECAYED, .set = 1, .role = ATTEST_DECAY },
    [ATTEST_DECAY_VECTOR] = { .lemma = "R-DECAY", .serves = DECAYED, .set = 1, .role = ATTEST_DECAY, .vector = 1 },
};

/* e^g is rational for g = 0 alone. */
static const axis_entry inputs[] = {
    [ATTEST_DECAY_INPUT_FACTOR] = { AXIS_EVERY, NULL },
    [ATTEST_DECAY_INPUT_LOG] = { AXIS_BALL, "R-DECAY" },
};

axis_entry axis_decay_input_entry(uint32_t value) { return AXIS_ENTRY(inputs, value); }

axis_entry axis_decay_entry(uint32_t value)
{
    if (value >= AXIS_ROWS(decays))
        return (axis_entry){ 0, NULL };
    return (axis_entry){ decays[value].serves, decays[value].lemma };
}

const axis_decay *axis_decay_of(const attest_problem *p) { return &decays[p->axis[ATTEST_AXIS_DECAY].value]; }

int64_t axis_decay_width(const attest_problem *p)
{
    const axis_decay *decay = axis_decay_of(p);
    return decay->vector ? p->d : decay->set;
}

double axis_decay_stored(const ref_inputs *in, int64_t b, int64_t g, int64_t t, int64_t c)
{
    const axis_decay *decay = axis_decay_of(in->p);
    if (!decay->set)
        return 1.0;
    const attest_tensor *a = in->role[decay->role];
    return attest_load(a,
                       decay->a_head ? attest_offset(a, g, 0, 0, 0) : attest_offset(a, b, g, t, decay->vector ? c : 0));
}

void axis_decay_ball(arb_t y, const ref_inputs *in, int64_t b, int64_t g, int64_t t, int64_t c, slong prec)
{
    arb_set_d(y, axis_decay_stored(in, b, g, t, c));
    if (!attest_log_decays(in->p))
        return;
    if (arb_is_finite(y))
        arb_exp(y, y, prec);
    else
        arb_indeterminate(y); /* e^-inf would be 0: what was read stays unknown */
}

/* The enclosure is 2^-120 wide, relatively: the double nearest to its middle is within 2^-53 (1 + 2^-60) of a_t; where
 * that is no normal number, within 2^-1075. */
double axis_decay_factor(const ref_inputs *in, int64_t b, int64_t g, int64_t t, int64_t c)
{
    double factor = axis_decay_stored(in, b, g, t, c);
    if (!attest_log_decays(in->p))
        return factor;
    AUTO_ARB(y);
    axis_decay_ball(y, in, b, g, t, c, 128);
    return arb_is_finite(y) ? arf_get_d(arb_midref(y), ARF_RND_NEAR) : NAN;
}

void axis_decay_size(mag_t y, const ref_inputs *in, int64_t b, int64_t g, int64_t t, int64_t c)
{
    AUTO_ARB(a);
    axis_decay_ball(a, in, b, g, t, c, MAG_BITS);
    if (arb_is_finite(a))
        arb_get_mag(y, a);
    else
        mag_zero(y);
}
