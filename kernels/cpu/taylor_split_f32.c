/* taylor-split-f32: attention with a polynomial weight over problem.splits parts of the keys, whose sums are added.
 *
 * Formula    u_i = sum_parts u_s, z_i = sum_parts z_s, o_i = gout_i Norm(u_i, z_i); u_s = sum_j D_ij W(s_ij) gin_j v_j
 *            and z_s = sum_j D_ij W(s_ij) over the part's keys; all else as in direct.h.
 * Algorithm  every part by itself, then added to the row's sums one after the other; the row's end.
 * Errors     each part as in direct.h, then one addition a part.
 */
#include "steps/direct.h"

#ifndef split_first
/* The first of `keys` keys that is in part n of `splits`; n = splits: their end. */
static inline int64_t split_first(int64_t keys, int64_t n, int64_t splits) { return keys * n / splits; }
#endif

static void split_row(const row *r)
{
    const pairs x = pairs_begin(r);
    const int64_t e = r->p->e, keys = r->last - r->first, splits = step_min(r->p->splits, keys);
    real *u = x.rest, *part = u + e, *s = part + e, z = 0;
    step_zero(u, e);
    for (int64_t n = 0; n < splits; n++) {
        const int64_t first = r->first + split_first(keys, n, splits);
        const int64_t last = r->first + split_first(keys, n + 1, splits);
        real z_part = 0;
        step_zero(part, e);
        pairs_scores(s, &x, first, last);
        direct_add(part, &z_part, s, 0, 0, &x, first, last);
        z += z_part;
        step_add_value(u, 1, part, e);
    }
    norm_finish(r, u, z, 0);
}

static size_t workspace(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return pairs_workspace(p, 2 * p->e + p->m);
}

static attest_status run(const attest_call *call)
{
    step_each_row(call, pairs_head, split_row);
    return ATTEST_OK;
}

static int supports(const attest_call *call)
{
    static const serve_table table = {
        .axis = { SERVE_PAIRS,
                  SERVE_PAIR_TENSORS, [ATTEST_AXIS_WEIGHT] = SERVE_POLYNOMIAL, [ATTEST_AXIS_DECAY] = SERVE_ALL_DECAYS,
                  [ATTEST_AXIS_NORM] = SERVE_ALL_NORMS, [ATTEST_AXIS_AFFINE] = SERVE_AFFINE },
        .in = SERVE_UP_TO_F32,
        .acc = SERVE_BIT(ATTEST_F32),
        .p = SERVE_BIT(ATTEST_F32),
        .out = SERVE_UP_TO_F32,
    };
    return serve_check(&table, call);
}

static const attest_numerics numerics = { STEP_NUMERICS, .schedule = ATTEST_SCHEDULE_DIRECT };

const attest_kernel attest_kernel_taylor_split_f32 = {
    .struct_size = sizeof attest_kernel_taylor_split_f32,
    .form = ATTEST_SPLIT,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_U | ATTEST_GIVES_Z | ATTEST_GIVES_LSE,
    .name = "taylor-split-f32",
    .version = "1",
    .source = "kernels/cpu/taylor_split_f32.c",
    .summary = "polynomial weight by Horner per pair in problem.splits parts of the keys, their sums added; float",
    .variants = "taylor term quadratic linear linear-elu linear-relu cosformer linear-cos elu-taylor relu-taylor "
                "cos-taylor retnet gla simple-gla sla sla-retnet sla-gla based",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
