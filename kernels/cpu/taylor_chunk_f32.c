/* taylor-chunk-f32: attention with a polynomial weight, states between chunks of problem.chunk tokens, pairs inside.
 *
 * Formula    u_i = sum_n c_n <(D_i phi(q_i))^(x n), S_n> + sum_(pairs) D_ij W(s_ij) gin_j v_j,   z_i likewise with Z_n
 *            and without gin and v;   s_ij = scale <phi(q_i), phi(k_j)>;   o_i = gout_i Norm(u_i, z_i)
 *            S_n = h0_n + sum phi(k_j)^(x n) (x) gin_j v_j over the whole chunks before, decayed to their last token;
 *            c_n and the degrees as in degrees.h, D_ij = a_(j+1) .. a_i, with decay=vector inside the product <q,k>.
 * Algorithm  the loop is in heads.h, the chunk in chunk.h: a token enters the open chunk, and a full chunk the states.
 * Errors     chunk.h; features: token.h; the row's end: norms.h.
 */
#include "steps/chunk.h"
#include "steps/norms.h"

static void begin(void *self, const row *r) { chunk_begin((chunk *)self, r); }
static void end(void *self, const row *r) { chunk_end((chunk *)self, r); }

static void take(void *self, const row *r, int64_t t)
{
    chunk *a = (chunk *)self;
    chunk_open(a, r, t);
    heads_copy(a->v + a->count * r->p->e, heads_value(a->u, r, t), r->p->e);
    a->count++;
}

static void read_out(void *self, const row *r)
{
    chunk *a = (chunk *)self;
    real f;
    heads_query(&f, a->x, r);
    const real z = chunk_read(a, a->u, a->x, f, r, r->p->scale);
    norm_finish(r, a->u, z, 0);
}

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
    static const heads_steps steps = { begin, take, read_out, end };
    chunk a;
    chunk_cut(&a, p, chunk_size(p), 1, (real *)call->workspace);
    return heads_run(p, t, &a, &steps);
}

static int supports(const attest_call *call)
{
    static const serve_table table = DEGREES_TABLE(1);
    return serve_check(&table, call) && degrees_fit(call, 0);
}

static const attest_numerics numerics = { STEP_NUMERICS, STEP_STATES, .schedule = ATTEST_SCHEDULE_CHUNK };

const attest_kernel attest_kernel_taylor_chunk_f32 = {
    .struct_size = sizeof attest_kernel_taylor_chunk_f32,
    .form = ATTEST_CHUNK,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_U | ATTEST_GIVES_Z | ATTEST_GIVES_STATE | ATTEST_TAKES_STATE,
    .name = "taylor-chunk-f32",
    .version = "1",
    .source = "kernels/cpu/taylor_chunk_f32.c",
    .summary = "states of all dim^n monomials between chunks of problem.chunk tokens, pairs inside; float",
    .variants = "taylor term quadratic linear linear-elu linear-relu cosformer linear-cos elu-taylor relu-taylor "
                "cos-taylor based retnet gla simple-gla sla sla-retnet sla-gla",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
