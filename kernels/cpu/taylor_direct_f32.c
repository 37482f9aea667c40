/* taylor-direct-f32: attention with a polynomial weight, evaluated pair by pair.
 *
 * Formula    u_i = sum_j W(s_ij - c_i) v_j, z_i = sum_j W(s_ij - c_i), s_ij = scale <phi(q_i), phi(k_j)>,
 *            W = T_P (taylor), x^P/P! (term), x^P (power); c_i = 0, or the maximum, minimum or middle of the
 *            row's scores; o = u/z (norm=sum) or u (norm=none); lse = c + log z where z > 0.
 * Algorithm  1. all scores of the row; 2. their center; 3. weights by Horner, u and z key by key.
 * Errors     score gamma_(d+1) and scale's rounding, s-c one rounding, weight gamma_(3P) T_P(abs x) (term
 *            gamma_(2P), power gamma_(P-1)), u gamma_N, z gamma_(N-1), one division; features as in poly.h.
 */
#include "poly.h"
#include "serve.h"

/* Over the visible keys.  mid has one rounding (halving is exact). */
static real direct_center(uint32_t center, const real *s, int64_t keys)
{
    real low = s[0], high = s[0];
    for (int64_t j = 1; j < keys; j++) {
        low = s[j] < low ? s[j] : low;
        high = s[j] > high ? s[j] : high;
    }
    const real centers[] = { 0, high, low, low / 2 + high / 2 };
    return centers[center];
}

static void direct_row(const row *r)
{
    const attest_problem *p = r->p;
    real *q = r->scratch, *k = q + p->d, *v = k + p->d, *u = v + p->e, *s = u + p->e;
    const real *x = poly_feature_row(q, p, r->t->role[ATTEST_Q], r->b, r->h, r->i);
    poly_scores(s, k, x, r, r->first, r->last);
    const real c = direct_center(p->axis[ATTEST_AXIS_CENTER].value, s, r->last - r->first);
    real z = 0;
    step_zero(u, p->e);
    poly_add_pairs(u, &z, s, c, v, r, r->first, r->last);
    poly_finish(r, u, z, c);
}

static size_t workspace(const attest_problem *p) { return (size_t)(2 * p->d + 2 * p->e + p->m) * sizeof(real); }

static attest_status run(const attest_problem *p, const attest_tensors *t, void *scratch, void *stream)
{
    (void)stream;
    step_each_row(p, t, scratch, direct_row);
    return ATTEST_OK;
}

static int supports(const attest_problem *p, char *why, size_t len)
{
    static const serve_table table = {
        .axis = { [ATTEST_AXIS_WEIGHT] = SERVE_POLYNOMIAL,
                  [ATTEST_AXIS_CENTER] = SERVE_BIT(ATTEST_CENTER_ZERO) | SERVE_BIT(ATTEST_CENTER_MAX) |
                                         SERVE_BIT(ATTEST_CENTER_MIN) | SERVE_BIT(ATTEST_CENTER_MID),
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
    return serve_check(&table, p, why, len);
}

static const attest_numerics numerics = { STEP_NUMERICS, .schedule = ATTEST_SCHEDULE_DIRECT };

const attest_kernel attest_kernel_taylor_direct_f32 = {
    .struct_size = sizeof attest_kernel_taylor_direct_f32,
    .form = ATTEST_PARALLEL,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_U | ATTEST_GIVES_Z | ATTEST_GIVES_LSE,
    .name = "taylor-direct-f32",
    .version = "1",
    .source = "kernels/cpu/taylor_direct_f32.c",
    .summary = "polynomial weight by Horner per pair, around zero or the row's max, min or middle; float",
    .variants = "taylor term quadratic linear linear-elu linear-relu elu-taylor relu-taylor shifted based",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
