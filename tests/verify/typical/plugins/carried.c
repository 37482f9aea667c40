/* carried: softmax-two-pass-f32 whose sums are compensated, and declared so: right.  With DROPPED (library `dropped`)
 * nothing is carried. */
#include "regressed.h"
#include "cpu/steps/rows.h"

/* Kahan's: what an addition loses is taken off the next term. */
static void carry(float *sum, float *lost, float x)
{
#ifdef DROPPED
    (void)lost;
    *sum += x;
#else
    const float y = x - *lost, next = *sum + y;
    *lost = (next - *sum) - y;
    *sum = next;
#endif
}

static float lost_weight, lost_value[512]; /* e of any case at most */

static float carried_score(float scale, const float *q, const float *k, int64_t d)
{
    float sum = 0, lost = 0;
    for (int64_t c = 0; c < d; c++)
        carry(&sum, &lost, q[c] * k[c]);
    return scale * sum;
}

static void carried_add(float *u, float w, const float *v, int64_t e)
{
    for (int64_t c = 0; c < e; c++)
        carry(&u[c], &lost_value[c], w * v[c]);
}

static float carried_sum(float sum, float x)
{
    carry(&sum, &lost_weight, x);
    return sum;
}

static void carried_begin(float *l, float *u, int64_t e)
{
    lost_weight = *l = 0;
    for (int64_t c = 0; c < e; c++)
        lost_value[c] = u[c] = 0;
}

#define step_score carried_score
#define step_add_value carried_add
#define step_sum carried_sum
#define softmax_begin carried_begin
#include "cpu/softmax_two_pass_f32.c"
REGRESSED(attest_kernel_softmax_two_pass_f32, ATTEST_YES)
