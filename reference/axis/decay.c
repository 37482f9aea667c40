/* decay.c - the stored factors of D_ij: gamma^(i-j), or the product of a_t over t = j+1..i (R-DECAY). */
#include "reference/axis/rows.h"

#define DECAYED (AXIS_BALL | AXIS_EXACT | AXIS_STATE | AXIS_FORM)

static const axis_decay decays[] = {
    [ATTEST_DECAY_NONE] = { .serves = AXIS_EVERY },
    [ATTEST_DECAY_RETNET] = { .lemma = "R-DECAY", .serves = DECAYED, .set = 1, .role = ATTEST_GAMMA, .a_head = 1 },
    [ATTEST_DECAY_SCALAR] = { .lemma = "R-DECAY", .serves = DECAYED, .set = 1, .role = ATTEST_DECAY },
    [ATTEST_DECAY_VECTOR] = { .lemma = "R-DECAY", .serves = DECAYED, .set = 1, .role = ATTEST_DECAY, .vector = 1 },
};

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

double axis_decay_factor(const ref_inputs *in, int64_t b, int64_t g, int64_t t, int64_t c)
{
    const axis_decay *decay = axis_decay_of(in->p);
    if (!decay->set)
        return 1.0;
    const attest_tensor *a = in->role[decay->role];
    return attest_load(a,
                       decay->a_head ? attest_offset(a, g, 0, 0, 0) : attest_offset(a, b, g, t, decay->vector ? c : 0));
}
