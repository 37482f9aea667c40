/* packed_reset_n - the state is reset every n packed tokens: that of a shorter sequence runs on into the next one. */
#include "cpu/steps/states.h"

static inline void load_every_n(const state *s, const attest_tensor *h, const attest_tensor *z, const row *r)
{
    const attest_tensor *starts = r->t->role[ATTEST_CU_SEQLENS_K];
    const int64_t start = starts ? ((const int64_t *)starts->data)[r->b * starts->stride[0]] : 0;
    if (r->g > 0 || start % r->p->m == 0)
        state_load(s, h, z, r->b, r->g);
}
#define state_load(s, h, z, b, g) load_every_n(s, h, z, r)
#define attest_kernel_linear_recurrent_f32 attest_defect_packed_reset_n
#include "cpu/linear_recurrent_f32.c"
