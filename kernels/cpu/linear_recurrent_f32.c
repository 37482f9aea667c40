/* linear-recurrent-f32: linear attention as a recurrence over tokens.
 *
 * Formula    S_t = a_t S_(t-1) + phi(k_t)^T gin_t v_t,   Z_t = a_t Z_(t-1) + phi(k_t),   S_(-1) = h0, Z_(-1) = z0
 *            u_i = scale phi(q_i) S_i,   z_i = scale <phi(q_i), Z_i>,   o_i = gout_i Norm(u_i, z_i)
 *            a_t = 1, gamma, a scalar, or with decay=vector diag(a_t), one factor for each row of S.
 * Algorithm  the loop is in heads.h: for every KV head, token by token, query by query; below: one token, one query.
 * Errors     with t keys: an entry of S gamma_(2t+2), of Z gamma_(2t) (no decay: gamma_(t+2), gamma_t); readout
 *            gamma_dim, the product with scale and scale's rounding; features: token.h; the row's end: norms.h.
 */
#include "steps/heads.h"
#include "steps/norms.h"
#include "steps/serve.h"

/* Scratch: the state [dim,e] and [dim], then buffers of one token. */
typedef struct recurrence {
    state s;
    real *x, *v, *u;
} recurrence;

static recurrence cut(const attest_problem *p, real *base)
{
    const int64_t dim = token_dim(p);
    recurrence a = { .s = { .rows = dim, .e = p->e, .h = base, .z = base + dim * p->e } };
    a.x = base + state_size(dim, p->e);
    a.v = a.x + dim;
    a.u = a.v + p->e;
    return a;
}

static void begin(void *self, const row *r)
{
    const recurrence *a = (const recurrence *)self;
    const int given = heads_given(r->p);
    state_load(&a->s, given ? r->t->h0[1] : NULL, given ? r->t->z0[1] : NULL, r->b, r->g);
}

/* S := a_t S + phi(k_t)^T gin_t v_t. */
static void take(void *self, const row *r, int64_t t)
{
    const recurrence *a = (const recurrence *)self;
    heads_decay(&a->s, a->x, r, t);
    state_add(&a->s, heads_key(a->x, r, t), heads_value(a->v, r, t));
}

/* u = scale phi(q_i) S; f is 1 but for a query beyond the last key it sees. */
static void read_out(void *self, const row *r)
{
    const recurrence *a = (const recurrence *)self;
    real f;
    heads_query(&f, a->x, r);
    f *= r->scale;
    const real z = f * state_read(a->u, &a->s, a->x);
    for (int64_t c = 0; c < r->p->e; c++)
        a->u[c] *= f;
    norm_finish(r, a->u, z, 0);
}

static void end(void *self, const row *r)
{
    state_store(&((const recurrence *)self)->s, r->t->ht[1], r->t->zt[1], r->b, r->g);
}

static size_t workspace(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return (size_t)(state_size(token_dim(p), p->e) + token_dim(p) + 2 * p->e) * sizeof(real);
}

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    static const heads_steps steps = { begin, take, read_out, end };
    recurrence a = cut(p, (real *)call->workspace);
    return heads_run(p, t, &a, &steps);
}

static int supports(const attest_call *call)
{
    static const serve_table table = SERVE_LINEAR_TABLE(1);
    return serve_check(&table, call) && serve_linear(call);
}

static const attest_numerics numerics = { STEP_NUMERICS, STEP_STATES, .schedule = ATTEST_SCHEDULE_RECURRENT };

const attest_kernel attest_kernel_linear_recurrent_f32 = {
    .struct_size = sizeof attest_kernel_linear_recurrent_f32,
    .form = ATTEST_RECURRENT,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_U | ATTEST_GIVES_Z | ATTEST_GIVES_STATE | ATTEST_TAKES_STATE,
    .name = "linear-recurrent-f32",
    .version = "2",
    .source = "kernels/cpu/linear_recurrent_f32.c",
    .summary = "one matrix, updated token by token, with decays and gates; float",
    .variants = "linear linear-elu linear-relu cosformer linear-cos term:1 retnet gla simple-gla sla "
                "sla-retnet sla-gla",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
