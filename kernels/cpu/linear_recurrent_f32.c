/* linear-recurrent-f32: linear attention as a recurrence over tokens.
 *
 * Formula    H = h0 + sum_j phi(k_j) (x) v_j, Z = z0 + sum_j phi(k_j) over the keys seen so far;
 *            u_i = scale phi(q_i) H, z_i = scale <phi(q_i), Z>; o = u/z (norm=sum) or u (norm=none).
 * Algorithm  for every KV head: load the state; for every query in order: take in the keys that it sees and its
 *            predecessor did not (mask=full: all at once), then read the state with all its query heads.
 * Errors     with t keys: an entry of H gamma_(t+1), of Z gamma_t, readout gamma_d, the product with scale one and
 *            scale's rounding, one division; features: poly.h.
 */
#include "serve.h"
#include "states.h"

/* Scratch: the state, then buffers of one token. */
typedef struct buffers {
    state s;
    real *q, *k, *v, *u;
} buffers;

static buffers cut(const attest_problem *p, real *base)
{
    buffers a = { .s = { .rows = p->d, .e = p->e, .h = base, .z = base + p->d * p->e } };
    a.q = base + state_size(p->d, p->e);
    a.k = a.q + p->d;
    a.v = a.k + p->d;
    a.u = a.v + p->e;
    return a;
}

static void take(const buffers *a, const row *r, int64_t j)
{
    const real *k = poly_feature_row(a->k, r->p, r->t->role[ATTEST_K], r->b, r->g, j);
    state_add(&a->s, k, step_row(a->v, r->t->role[ATTEST_V], r->b, r->g, j, r->p->e));
}

static void read_out(const buffers *a, const row *r)
{
    const real *q = poly_feature_row(a->q, r->p, r->t->role[ATTEST_Q], r->b, r->h, r->i);
    const real z = r->scale * state_read(a->u, &a->s, q);
    for (int64_t c = 0; c < r->p->e; c++)
        a->u[c] *= r->scale;
    poly_finish(r, a->u, z, 0);
}

static void one_head(const attest_problem *p, const attest_tensors *t, const buffers *a, int64_t b, int64_t g)
{
    const int given = p->axis[ATTEST_AXIS_STATE].value == ATTEST_STATE_DRAW;
    const int64_t group = p->hq / p->hkv, length = step_length(p, t, b);
    row r = { .p = p, .t = t, .b = b, .g = g, .scale = (real)p->scale };
    int64_t taken = 0;
    state_load(&a->s, given ? t->h0[1] : NULL, given ? t->z0[1] : NULL, b, g);
    for (r.i = 0; r.i < p->n; r.i++) {
        step_visible(p, length, r.i, &r.first, &r.last);
        while (taken < r.last)
            take(a, &r, taken++);
        for (r.h = g * group; r.h < (g + 1) * group; r.h++) {
            if (given || taken > 0)
                read_out(a, &r);
            else
                step_empty_row(&r);
        }
    }
    state_store(&a->s, t->ht[1], t->zt[1], b, g);
}

static size_t workspace(const attest_problem *p)
{
    return (size_t)(state_size(p->d, p->e) + 2 * p->d + 2 * p->e) * sizeof(real);
}

static attest_status run(const attest_problem *p, const attest_tensors *t, void *scratch, void *stream)
{
    const buffers a = cut(p, (real *)scratch);
    (void)stream;
    for (int64_t b = 0; b < p->b; b++)
        for (int64_t g = 0; g < p->hkv; g++)
            one_head(p, t, &a, b, g);
    return ATTEST_OK;
}

static const attest_numerics numerics = { STEP_NUMERICS, .schedule = ATTEST_SCHEDULE_RECURRENT };

const attest_kernel attest_kernel_linear_recurrent_f32 = {
    .struct_size = sizeof attest_kernel_linear_recurrent_f32,
    .form = ATTEST_RECURRENT,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_U | ATTEST_GIVES_Z | ATTEST_GIVES_STATE | ATTEST_TAKES_STATE,
    .name = "linear-recurrent-f32",
    .version = "1",
    .source = "kernels/cpu/linear_recurrent_f32.c",
    .summary = "one d x e state, updated token by token; float",
    .variants = "linear linear-elu linear-relu term:1",
    .numerics = &numerics,
    .supports = serve_linear_with_states,
    .workspace = workspace,
    .run = run,
};
