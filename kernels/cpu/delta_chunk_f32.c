/* delta-chunk-f32: the delta rule with a state between chunks of problem.chunk tokens, forward substitution inside.
 *
 * Formula    w_t = b_t (gin_t v_t - D_t phi(k_t) S - sum_(j<t) D_tj <phi(k_t), phi(k_j)> w_j)
 *            o_i = gout_i scale (D_i phi(q_i) S + sum_(j<=i) D_ij <phi(q_i), phi(k_j)> w_j)
 *            S := D S + sum_j D_j phi(k_j)^T w_j after each whole chunk;   efla: b_t := (1-e^(-b_t r))/r
 * Algorithm  the loop is in heads.h, the chunk in chunk.h, written values and errors in delta_wy.h.
 */
#include "steps/delta_wy.h"

static void end(void *self, const row *r) { chunk_end((chunk *)self, r); }

static size_t workspace(const attest_call *call)
{
    const attest_problem *p = call->problem;
    chunk a;
    return (size_t)chunk_cut(&a, p, chunk_size(p), 1, NULL) * sizeof(real);
}

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    static const heads_steps steps = { wy_begin, wy_take, wy_read, end };
    chunk a;
    chunk_cut(&a, p, chunk_size(p), 1, (real *)call->workspace);
    return heads_run(p, t, &a, &steps);
}

static int supports(const attest_call *call)
{
    static const serve_table table = DELTA_TABLE(SERVE_STATE, 1);
    return serve_check(&table, call) && degrees_fit(call, 0);
}

static const attest_numerics numerics = { STEP_NUMERICS, STEP_STATES, .schedule = ATTEST_SCHEDULE_CHUNK };

const attest_kernel attest_kernel_delta_chunk_f32 = {
    .struct_size = sizeof attest_kernel_delta_chunk_f32,
    .form = ATTEST_CHUNK,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_STATE | ATTEST_TAKES_STATE,
    .name = "delta-chunk-f32",
    .version = "1",
    .source = "kernels/cpu/delta_chunk_f32.c",
    .summary = "delta rule: a matrix between chunks of problem.chunk tokens, forward substitution inside; float",
    .variants = "deltanet gdn efla sla-deltanet sla-gdn",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
