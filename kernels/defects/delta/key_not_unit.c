/* key_not_unit - feature=unit and silu-unit: the erasure then overshoots for long keys. */
#include "cpu/steps/heads.h"

static inline const real *long_key(real *buffer, const row *r, int64_t t)
{
    row s = *r;
    attest_problem p = *r->p;
    attest_setting *feature = &p.axis[ATTEST_AXIS_FEATURE];
    s.p = &p;
    if (feature->value == ATTEST_FEATURE_UNIT)
        feature->value = ATTEST_FEATURE_IDENTITY;
    if (feature->value == ATTEST_FEATURE_SILU_UNIT)
        feature->value = ATTEST_FEATURE_SILU;
    return heads_key(buffer, &s, t);
}
#define heads_key long_key
#define attest_kernel_delta_recurrent_f32 attest_defect_key_not_unit
#include "cpu/delta_recurrent_f32.c"
