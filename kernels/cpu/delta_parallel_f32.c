/* delta-parallel-f32: the delta rule as attention over written values, without any state.
 *
 * Formula    w_t = b_t (gin_t v_t - sum_(j<t) D_tj <phi(k_t), phi(k_j)> w_j)
 *            o_i = gout_i scale sum_(j<=i) D_ij <phi(q_i), phi(k_j)> w_j;   efla: b_t := (1-e^(-b_t r))/r
 * Algorithm  the loop is in heads.h; written values and errors in delta_wy.h: one chunk of all tokens.
 */
#include "steps/delta_wy.h"

static void end(void *self, const row *r) { (void)self, (void)r; }

static size_t workspace(const attest_call *call)
{
    const attest_problem *p = call->problem;
    chunk a;
    return (size_t)chunk_cut(&a, p, p->m, 0, NULL) * sizeof(real);
}

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    static const heads_steps steps = { wy_begin, wy_take, wy_read, end };
    chunk a;
    chunk_cut(&a, p, p->m, 0, (real *)call->workspace);
    return heads_run(p, t, &a, &steps);
}

static int supports(const attest_call *call)
{
    static const serve_table table = DELTA_TABLE(0, 1);
    return serve_check(&table, call);
}

static const attest_numerics numerics = { STEP_NUMERICS, .schedule = ATTEST_SCHEDULE_DIRECT };

const attest_kernel attest_kernel_delta_parallel_f32 = {
    .struct_size = sizeof attest_kernel_delta_parallel_f32,
    .form = ATTEST_PARALLEL,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O,
    .name = "delta-parallel-f32",
    .version = "1",
    .source = "kernels/cpu/delta_parallel_f32.c",
    .summary = "delta rule: forward substitution over all pairs of tokens, no state; float",
    .variants = "deltanet gdn efla sla-deltanet sla-gdn",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
