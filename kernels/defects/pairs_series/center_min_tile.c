/* center_min_tile - the reduction for the maximum runs over all tiles, that for the minimum over one.
 *
 * shows  variant=taylor:2 center=min n=2 m=300 d=4
 * hides  variant=taylor:2 center=min n=2 m=64 d=4
 * hides  variant=taylor:2 center=mid n=2 m=300 d=4
 */
#include "cpu/steps/step.h"

static inline real first_tile(const attest_problem *p, const real *s, int64_t keys)
{
    real low = s[0], low_64 = s[0], high = s[0];
    for (int64_t j = 1; j < keys; j++) {
        low = s[j] < low ? s[j] : low;
        low_64 = j < 64 ? low : low_64;
        high = s[j] > high ? s[j] : high;
    }
    const real centers[] = { 0, high, low_64, low / 2 + high / 2 };
    return centers[p->axis[ATTEST_AXIS_CENTER].value];
}
#define direct_center first_tile
#define attest_kernel_taylor_direct_f32 attest_defect_center_min_tile
#include "cpu/taylor_direct_f32.c"
