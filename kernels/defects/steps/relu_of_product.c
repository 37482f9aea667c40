/* relu_of_product - max(0, q.k) for relu(q).relu(k). */
#include "cpu/steps/scores.h"

static inline real as_is(real x) { return x; }
static inline void relu_steps(real *s, const row *r, int64_t first, int64_t last)
{
    const uint32_t feature = r->p->axis[ATTEST_AXIS_FEATURE].value;
    score_steps(s, r, first, last);
    for (int64_t j = first; j < last; j++)
        if (feature == ATTEST_FEATURE_RELU || feature == ATTEST_FEATURE_COSFORMER)
            s[j - first] = s[j - first] < 0 ? 0 : s[j - first];
}
#define token_relu as_is
#define score_steps relu_steps
#define attest_kernel_taylor_direct_f32 attest_defect_relu_of_product
#include "cpu/taylor_direct_f32.c"
