/* scale_negative_center - the center is found before the scale is applied: maximum and minimum change places below 0.
 *
 * shows  variant=taylor:2 center=max scale=-0.5 n=9 d=4
 * hides  variant=taylor:2 center=max scale=0.5 n=9 d=4
 * hides  variant=taylor:2 scale=-0.5 n=9 d=4
 * hides  variant=taylor:2 center=mid scale=-0.5 n=9 d=4
 */
#include "cpu/steps/step.h"

static inline real of_products(const attest_problem *p, const real *s, int64_t keys)
{
    real low = s[0], high = s[0];
    for (int64_t j = 1; j < keys; j++) {
        low = s[j] < low ? s[j] : low;
        high = s[j] > high ? s[j] : high;
    }
    const real first = p->scale < 0 ? low : high, second = p->scale < 0 ? high : low;
    const real centers[] = { 0, first, second, low / 2 + high / 2 };
    return centers[p->axis[ATTEST_AXIS_CENTER].value];
}
#define direct_center of_products
#define attest_kernel_taylor_direct_f32 attest_defect_scale_negative_center
#include "cpu/taylor_direct_f32.c"
