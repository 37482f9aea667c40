/* delta-recurrent-f32: the delta rule as a recurrence over tokens.
 *
 * Formula    S' = a_t S_(t-1),   S_t = S' + phi(k_t)^T b_t (gin_t v_t - phi(k_t) S'),   S_(-1) = h0
 *            o_i = gout_i scale phi(q_i) S_i;   efla: b_t := (1-e^(-b_t r))/r, r = norm2(phi(k_t))^2
 *            a_t = 1, gamma, a scalar, or with decay=vector diag(a_t), one factor for each row of S.
 * Algorithm  the loop is in heads.h: for every KV head, token by token, query by query; below: one token, one query.
 * Errors     a token: the decay one rounding an entry, phi(k) S' gamma_dim, the written value two and b_t's own
 *            (delta.h), its product and sum with S' two; an earlier error is multiplied by (I - b k^T k) diag(a).
 *            Readout gamma_dim, the product with scale and scale's rounding; features: token.h; gates: norms.h.
 */
#include "steps/delta.h"

/* Scratch: the state [dim,e], then buffers of one token. */
typedef struct recurrence {
    state s;
    real *x, *v, *w;
} recurrence;

static recurrence cut(const attest_problem *p, real *base)
{
    const int64_t dim = token_dim(p);
    recurrence a = { .s = { .rows = dim, .e = p->e, .h = base } };
    a.x = base + dim * p->e;
    a.v = a.x + dim;
    a.w = a.v + p->e;
    return a;
}

static void begin(void *self, const row *r)
{
    state_load(&((const recurrence *)self)->s, heads_given(r->p) ? r->t->h0[1] : NULL, NULL, r->b, r->g);
}

/* S := a_t S;  w = phi(k_t) S;  w := b_t (gin_t v_t - w);  S := S + phi(k_t)^T w. */
static void take(void *self, const row *r, int64_t t)
{
    const recurrence *a = (const recurrence *)self;
    heads_decay(&a->s, a->x, r, t);
    const real *k = heads_key(a->x, r, t);
    state_read(a->w, &a->s, k);
    delta_write(a->w, a->v, r, k, t);
    state_add(&a->s, k, a->w);
}

/* u = scale phi(q_i) S. */
static void read_out(void *self, const row *r)
{
    const recurrence *a = (const recurrence *)self;
    real f;
    heads_query(&f, a->x, r);
    state_read(a->w, &a->s, a->x);
    for (int64_t c = 0; c < r->p->e; c++)
        a->w[c] *= f * r->scale;
    norm_finish(r, a->w, 0, 0);
}

static void end(void *self, const row *r)
{
    state_store(&((const recurrence *)self)->s, r->t->ht[1], NULL, r->b, r->g);
}

static size_t workspace(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return (size_t)(token_dim(p) * (p->e + 1) + 2 * p->e) * sizeof(real);
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
    static const serve_table table = DELTA_TABLE(SERVE_STATE, 1);
    return serve_check(&table, call);
}

static const attest_numerics numerics = { STEP_NUMERICS, STEP_STATES, .schedule = ATTEST_SCHEDULE_RECURRENT };

const attest_kernel attest_kernel_delta_recurrent_f32 = {
    .struct_size = sizeof attest_kernel_delta_recurrent_f32,
    .form = ATTEST_RECURRENT,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_STATE | ATTEST_TAKES_STATE,
    .name = "delta-recurrent-f32",
    .version = "1",
    .source = "kernels/cpu/delta_recurrent_f32.c",
    .summary = "delta rule: one matrix, corrected token by token; float",
    .variants = "deltanet gdn efla sla-deltanet sla-gdn",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
