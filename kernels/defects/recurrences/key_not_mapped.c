/* key_not_mapped - keys enter the state as they are. */
#include "cpu/steps/heads.h"

static inline const real *raw_key(real *buffer, const row *r, int64_t t)
{
    row plain = *r;
    attest_problem p = *r->p;
    if (p.axis[ATTEST_AXIS_FEATURE].value != ATTEST_FEATURE_COSFORMER)
        p.axis[ATTEST_AXIS_FEATURE].value = ATTEST_FEATURE_IDENTITY;
    plain.p = &p;
    return heads_key(buffer, &plain, t);
}
#define heads_key raw_key
#define attest_kernel_linear_recurrent_f32 attest_defect_key_not_mapped
#include "cpu/linear_recurrent_f32.c"
