/* new_token_decayed - S := a (S + k v) instead of a S + k v. */
#include "cpu/steps/heads.h"

static inline const real *decayed_key(real *buffer, const row *r, int64_t t)
{
    real f = 1;
    const int64_t dim = token_dim(r->p);
    heads_copy(buffer, heads_key(buffer, r, t), dim);
    if (r->p->axis[ATTEST_AXIS_DECAY].value && heads_before(r, t))
        heads_back(&f, buffer, r, t);
    for (int64_t c = 0; c < dim; c++)
        buffer[c] *= f;
    return buffer;
}
#define heads_key decayed_key
#define attest_kernel_linear_recurrent_f32 attest_defect_new_token_decayed
#include "cpu/linear_recurrent_f32.c"
