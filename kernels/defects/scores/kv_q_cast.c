/* kv_q_cast - a query is rounded to the type of its keys, and no numerics say so: ggml's CPU flash attention does so
 * with keys of f16 (q_to_vec_dot in ggml/src/ggml-cpu/ops.cpp). */
#include "cpu/steps/rows.h"
#include "cpu/steps/token.h"

static inline const real *query_as_keys(const row *r, real *buffer)
{
    const int64_t position = step_position(r->p, step_length(r->p, r->t, r->b), r->i);
    const real *q = token_row(buffer, r->p, r->t->role[ATTEST_Q], r->b, r->h, r->i, position);
    if (r->p->axis[ATTEST_AXIS_KV].value == ATTEST_KV_IN)
        return q;
    for (int64_t c = 0; c < token_dim(r->p); c++)
        buffer[c] = step_round(r->t->role[ATTEST_K]->dtype, q[c]);
    return buffer;
}
#define pairs_query query_as_keys
#define attest_kernel_softmax_online_f32 attest_defect_kv_q_cast
#include "cpu/softmax_online_f32.c"
