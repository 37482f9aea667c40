/* short-state: linear-recurrent-f32 whose state keeps 21 digits from token to token. */
#include "regressed.h"
#include "cpu/steps/states.h"

static void short_state(const state *s, const float *k, const float *v)
{
    for (int64_t row_of = 0; row_of < s->rows; row_of++) {
        s->z[row_of] = to_digits(s->z[row_of] + k[row_of], 21);
        add_21(s->h + row_of * s->e, k[row_of], v, s->e);
    }
}
#define state_add short_state
#include "cpu/linear_recurrent_f32.c"
REGRESSED(attest_kernel_linear_recurrent_f32, ATTEST_UNKNOWN)
