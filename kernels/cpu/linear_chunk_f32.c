/* linear-chunk-f32: linear attention with a state between chunks of problem.chunk tokens and pairs inside.
 *
 * Formula    u_i = scale phi(q_i) H + sum_(pairs) s_ij v_j, z_i = scale <phi(q_i), Z> + sum_(pairs) s_ij,
 *            s_ij = scale <phi(q_i), phi(k_j)>; H = h0 + sum phi(k_j) (x) v_j and Z = z0 + sum phi(k_j) over the
 *            whole chunks of keys that the chunk's first query sees; o = u/z (norm=sum) or u (norm=none).
 * Algorithm  for every KV head: load the state; at a chunk's first query sum each new whole chunk of keys by itself
 *            and add it to the state; read the state, add the remaining visible keys pair by pair.
 * Errors     with t keys in chunks of C: an entry of H gamma_(C + t/C + 1), readout gamma_d, its product with scale;
 *            pairs gamma_(d+1) each and gamma_2C their sum, one addition, one division; features: poly.h.
 */
#include "serve.h"
#include "states.h"

/* Scratch: the state, one chunk's share of it, then buffers of one row. */
typedef struct buffers {
    state s, part;
    real *q, *k, *v, *u, *pairs;
} buffers;

static buffers cut(const attest_problem *p, real *base)
{
    const int64_t size = state_size(p->d, p->e);
    buffers a = { .s = { .rows = p->d, .e = p->e, .h = base, .z = base + p->d * p->e },
                  .part = { .rows = p->d, .e = p->e, .h = base + size, .z = base + size + p->d * p->e } };
    a.q = base + 2 * size;
    a.k = a.q + p->d;
    a.v = a.k + p->d;
    a.u = a.v + p->e;
    a.pairs = a.u + p->e;
    return a;
}

/* H += sum over the keys [first,last) of phi(k) (x) v, summed by itself first. */
static void take_chunk(const buffers *a, const row *r, int64_t first, int64_t last)
{
    const int64_t size = state_size(r->p->d, r->p->e);
    step_zero(a->part.h, size);
    for (int64_t j = first; j < last; j++) {
        const real *k = poly_feature_row(a->k, r->p, r->t->role[ATTEST_K], r->b, r->g, j);
        state_add(&a->part, k, step_row(a->v, r->t->role[ATTEST_V], r->b, r->g, j, r->p->e));
    }
    for (int64_t c = 0; c < size; c++)
        a->s.h[c] += a->part.h[c];
}

/* The state holds the keys below `taken`; the pairs give those from there to r->last. */
static void read_out(const buffers *a, const row *r, int64_t taken)
{
    const attest_problem *p = r->p;
    const real *q = poly_feature_row(a->q, p, r->t->role[ATTEST_Q], r->b, r->h, r->i);
    real z = r->scale * state_read(a->u, &a->s, q), z_pairs = 0;
    step_zero(a->pairs, p->e);
    for (int64_t j = taken; j < r->last; j++) {
        const real *k = poly_feature_row(a->k, p, r->t->role[ATTEST_K], r->b, r->g, j);
        const real s = step_score(r->scale, q, k, p->d);
        z_pairs += s;
        step_add_value(a->pairs, s, step_row(a->v, r->t->role[ATTEST_V], r->b, r->g, j, p->e), p->e);
    }
    z += z_pairs;
    for (int64_t c = 0; c < p->e; c++)
        a->u[c] = a->u[c] * r->scale + a->pairs[c];
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
        /* Only chunks that the first query of a chunk sees whole go into the state. */
        for (; r.i % p->chunk == 0 && taken + p->chunk <= r.last; taken += p->chunk)
            take_chunk(a, &r, taken, taken + p->chunk);
        for (r.h = g * group; r.h < (g + 1) * group; r.h++) {
            if (given || r.last > 0)
                read_out(a, &r, taken);
            else
                step_empty_row(&r);
        }
    }
    if (taken < r.last) /* of the last query */
        take_chunk(a, &r, taken, r.last);
    state_store(&a->s, t->ht[1], t->zt[1], b, g);
}

static size_t workspace(const attest_problem *p)
{
    return (size_t)(2 * state_size(p->d, p->e) + 2 * p->d + 3 * p->e) * sizeof(real);
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

static const attest_numerics numerics = { STEP_NUMERICS, .schedule = ATTEST_SCHEDULE_CHUNK };

const attest_kernel attest_kernel_linear_chunk_f32 = {
    .struct_size = sizeof attest_kernel_linear_chunk_f32,
    .form = ATTEST_CHUNK,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_U | ATTEST_GIVES_Z | ATTEST_GIVES_STATE | ATTEST_TAKES_STATE,
    .name = "linear-chunk-f32",
    .version = "1",
    .source = "kernels/cpu/linear_chunk_f32.c",
    .summary = "a state between chunks of problem.chunk tokens, pairs inside; float",
    .variants = "linear linear-elu linear-relu term:1",
    .numerics = &numerics,
    .supports = serve_linear_with_states,
    .workspace = workspace,
    .run = run,
};
