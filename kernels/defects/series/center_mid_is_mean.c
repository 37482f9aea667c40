/* center_mid_is_mean - the middle between minimum and maximum is taken for the mean: equal where scores are
 * symmetric. */
#include "cpu/steps/step.h"

static inline real mean_center(const attest_problem *p, const real *s, int64_t keys)
{
    real low = s[0], high = s[0], sum = s[0];
    for (int64_t j = 1; j < keys; j++) {
        low = s[j] < low ? s[j] : low;
        high = s[j] > high ? s[j] : high;
        sum += s[j];
    }
    const real centers[] = { 0, high, low, sum / (real)keys };
    return centers[p->axis[ATTEST_AXIS_CENTER].value];
}
#define direct_center mean_center
#define attest_kernel_taylor_direct_f32 attest_defect_center_mid_is_mean
#include "cpu/taylor_direct_f32.c"
