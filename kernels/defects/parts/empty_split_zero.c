/* empty_split_zero - more parts than keys: a quotient of zeros with weight e^0 is merged. */
#include "cpu/steps/softmax.h"

static int64_t every_part(const attest_problem *p, int64_t keys)
{
    (void)keys;
    return p->splits;
}
static int always(const sums *part)
{
    (void)part;
    return 1;
}
static real zero_lse(const row *r, const sums *part)
{
    (void)r;
    return part->l == 0 ? 0 : softmax_lse(part);
}
static real zero_share(const sums *part, int64_t c) { return part->l == 0 ? 0 : part->u[c] / part->l; }
#define split_count every_part
#define split_adds always
#define split_lse zero_lse
#define split_share zero_share
#define attest_kernel_softmax_split_f32 attest_defect_empty_split_zero
#include "cpu/softmax_split_f32.c"
