/* linear-parallel-f32: linear attention pair by pair.
 *
 * Formula    u_i = sum_j s_ij v_j, z_i = sum_j s_ij, s_ij = scale <phi(q_i), phi(k_j)>; o = u/z (norm=sum) or u
 *            (norm=none); lse = log z where z > 0.
 * Algorithm  key by key: the score, then z and u.
 * Errors     score gamma_(d+1) and scale's rounding, u gamma_N, z gamma_(N-1), one division; features: poly.h.
 */
#include "poly.h"
#include "serve.h"

static void parallel_row(const row *r)
{
    const attest_problem *p = r->p;
    real *q = r->scratch, *k = q + p->d, *v = k + p->d, *u = v + p->e;
    const real *x = poly_feature_row(q, p, r->t->role[ATTEST_Q], r->b, r->h, r->i);
    real z = 0;
    step_zero(u, p->e);
    for (int64_t j = r->first; j < r->last; j++) {
        const real *y = poly_feature_row(k, p, r->t->role[ATTEST_K], r->b, r->g, j);
        const real s = step_score(r->scale, x, y, p->d);
        z += s;
        step_add_value(u, s, step_row(v, r->t->role[ATTEST_V], r->b, r->g, j, p->e), p->e);
    }
    poly_finish(r, u, z, 0);
}

static size_t workspace(const attest_problem *p) { return (size_t)(2 * p->d + 2 * p->e) * sizeof(real); }

static attest_status run(const attest_problem *p, const attest_tensors *t, void *scratch, void *stream)
{
    (void)stream;
    step_each_row(p, t, scratch, parallel_row);
    return ATTEST_OK;
}

static int supports(const attest_problem *p, char *why, size_t len)
{
    static const serve_table table = {
        .axis = { [ATTEST_AXIS_WEIGHT] = SERVE_BIT(ATTEST_WEIGHT_TERM) | SERVE_BIT(ATTEST_WEIGHT_POWER),
                  [ATTEST_AXIS_FEATURE] = SERVE_FEATURES,
                  [ATTEST_AXIS_MASK] = SERVE_ALL_MASKS,
                  [ATTEST_AXIS_WINDOW] = SERVE_WINDOW,
                  [ATTEST_AXIS_LENS] = SERVE_LENS,
                  [ATTEST_AXIS_NORM] = SERVE_SUM_OR_NONE },
        .in = SERVE_UP_TO_F32,
        .acc = SERVE_BIT(ATTEST_F32),
        .p = SERVE_BIT(ATTEST_F32),
        .out = SERVE_UP_TO_F32,
    };
    return serve_check(&table, p, why, len) && serve_linear(p, why, len);
}

static const attest_numerics numerics = { STEP_NUMERICS, .schedule = ATTEST_SCHEDULE_DIRECT };

const attest_kernel attest_kernel_linear_parallel_f32 = {
    .struct_size = sizeof attest_kernel_linear_parallel_f32,
    .form = ATTEST_PARALLEL,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_U | ATTEST_GIVES_Z | ATTEST_GIVES_LSE,
    .name = "linear-parallel-f32",
    .version = "1",
    .source = "kernels/cpu/linear_parallel_f32.c",
    .summary = "one score per pair, summed key by key; float",
    .variants = "linear linear-elu linear-relu term:1",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
