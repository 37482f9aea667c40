/* softmax-mma-bf16: softmax attention as a tensor core of Hopper computes it, modelled bit for bit on the CPU.
 *
 * Formula    as softmax_online.h, where q, k and v reach the tensor core as bf16 numbers: features identity and relu,
 *            no gates on values.
 * Algorithm  per tile of 64 keys: scores by chains of steps over d, m' = max(m, scores), a = e^(m-m'),
 *            l = a l + sum e^(s-m') in float, u = a u, then u += cast(e^(s-m')) v by a step for 16 keys, u itself
 *            being the accumulator; at the end o = u/l, rounded once to bf16, or left in float.  Keys and values are
 *            packed once a KV head (mma_lanes.h).
 * Errors     R-TENSOR for scores and u; the rest as softmax_online.h.
 * It shows what a float accumulator that truncates does: sums are biased toward zero, more so the longer the chain.
 */
#include "mma_lanes.h"

#include "cpu/steps/serve.h"
#include "cpu/steps/softmax.h"

#define TILE 64

#ifndef mma_channels
/* Channels that the products of a score take. */
#define mma_channels(dim) (dim)
#endif

/* The rule: h100, bf16, f32. */
static mma_rule mma_own(void) { return mma_rule_of(&mma_cores[5], MMA_BF16, MMA_TO_F32); }

/* Where things lie in `rest`, in reals: k turned around [dim][keys], v [m][e], with room for eight more at the end. */
typedef struct mma_layout {
    int64_t k_exponents, v, v_exponents, q, q_exponents, scores, u, end;
    int64_t keys, channels; /* strides */
} mma_layout;

static int64_t mma_room(int64_t count) { return (count + 2 * MMA_LANES - 1) / MMA_LANES * MMA_LANES; }

static mma_layout mma_lay_out(const attest_problem *p)
{
    const int64_t dim = token_dim(p);
    mma_layout at = { .keys = mma_room(p->m), .channels = mma_room(p->e) };
    at.k_exponents = dim * at.keys;
    at.v = at.k_exponents + dim * at.keys / 2; /* exponents are half as wide */
    at.v_exponents = at.v + p->m * at.channels;
    at.q = at.v_exponents + p->m * at.channels / 2;
    at.q_exponents = at.q + dim;
    at.scores = at.q_exponents + dim * MMA_LANES / 2;
    at.u = at.scores + TILE + MMA_LANES;
    at.end = at.u + at.channels;
    return at;
}

/* The KV head's keys and values, packed; what is beyond them is zero. */
static void mma_head(row *r)
{
    pairs_head(r);
    const attest_problem *p = r->p;
    const pairs_layout base = pairs_lay_out(p);
    const mma_layout at = mma_lay_out(p);
    const mma_rule rule = mma_own();
    const int64_t dim = token_dim(p), keys = step_length(p, r->t, r->b);
    const pairs x = { .r = r, .k = r->scratch + base.k, .v = r->scratch + base.v };
    real *rest = r->scratch + base.rest, *k = rest, *v = rest + at.v;
    int16_t *k_exponent = (int16_t *)(rest + at.k_exponents), *v_exponent = (int16_t *)(rest + at.v_exponents);
    for (int64_t n = 0; n < dim * at.keys; n++)
        mma_pack(&rule, 0, &k[n], &k_exponent[n]);
    for (int64_t n = 0; n < p->m * at.channels; n++)
        mma_pack(&rule, 0, &v[n], &v_exponent[n]);
    for (int64_t j = 0; j < keys; j++) {
        const real *key = pairs_key(&x, j);
        for (int64_t c = 0; c < dim; c++)
            mma_pack(&rule, key[c], &k[c * at.keys + j], &k_exponent[c * at.keys + j]);
        const real *value = pairs_value(&x, j);
        for (int64_t c = 0; c < p->e; c++)
            mma_pack(&rule, value[c], &v[j * at.channels + c], &v_exponent[j * at.channels + c]);
    }
}

/* A row under way: the packed tensors, the query among them. */
typedef struct mma_tensors {
    mma_rule rule;
    mma_left q;
    mma_right k, v; /* of key 0 */
} mma_tensors;

static mma_tensors mma_begin(const pairs *x, const mma_layout *at)
{
    const int64_t dim = token_dim(x->r->p);
    real *q = x->rest + at->q;
    int16_t *exponent = (int16_t *)(x->rest + at->q_exponents);
    mma_tensors all = { .rule = mma_own(),
                        .q = { q, exponent },
                        .k = { x->rest, (int16_t *)(x->rest + at->k_exponents), at->keys },
                        .v = { x->rest + at->v, (int16_t *)(x->rest + at->v_exponents), at->channels } };
    for (int64_t c = 0; c < dim; c++)
        mma_pack_left(&all.rule, x->q[c], &q[c], &exponent[c * MMA_LANES]);
    return all;
}

/* s[last-first) = s_ij of the keys [first,last), eight at a time. */
static void mma_scores(real *s, const pairs *x, const mma_tensors *all, int64_t first, int64_t last)
{
    const row *r = x->r;
    for (int64_t j = first; j < last; j += MMA_LANES) {
        const mma_right keys = { all->k.value + j, all->k.exponent + j, all->k.stride };
        real *product = s + (j - first);
        step_zero(product, MMA_LANES);
        mma_lanes(&all->rule, product, all->q, keys, mma_channels(token_dim(r->p)));
        for (int n = 0; n < MMA_LANES; n++)
            product[n] *= r->scale;
    }
    score_steps(s, r, first, last);
}

/* The row's largest score: what a filter has to know before the first weight. */
static real mma_highest(real *s, const pairs *x, const mma_tensors *all)
{
    const row *r = x->r;
    real highest = -(real)INFINITY;
    for (int64_t j = r->first; j < r->last; j += TILE) {
        const int64_t end = step_min(j + TILE, r->last);
        mma_scores(s, x, all, j, end);
        highest = step_larger(highest, score_highest(s, end - j));
    }
    return highest;
}

/* u += sum_j w_j v_j over keys [first,last), at most MMA_K of them; l adds the uncast weights. */
static void mma_values(sums *out, const real *s, real highest, const pairs *x, const mma_tensors *all, int64_t first,
                       int64_t last)
{
    const attest_problem *p = x->r->p;
    float w[MMA_K];
    int16_t exponent[MMA_K][MMA_LANES];
    for (int64_t j = first; j < last; j++) {
        const int kept = score_kept(p, s[j - first], highest);
        const real weight = pairs_decay(x, j, kept ? softmax_weight(s[j - first] - out->m) : 0);
        out->l += weight;
        mma_pack_left(&all->rule, step_round(p->p, weight), &w[j - first], exponent[j - first]);
    }
    const mma_left weights = { w, exponent[0] };
    for (int64_t c = 0; c < p->e; c += MMA_LANES) {
        const int64_t from = first * all->v.stride + c;
        const mma_right values = { all->v.value + from, all->v.exponent + from, all->v.stride };
        mma_lanes(&all->rule, out->u + c, weights, values, last - first);
    }
}

static void mma_row(const row *r)
{
    const mma_layout at = mma_lay_out(r->p);
    const pairs x = pairs_begin(r);
    const mma_tensors all = mma_begin(&x, &at);
    const int filter = r->p->axis[ATTEST_AXIS_FILTER].value == ATTEST_FILTER_TAU;
    real *s = x.rest + at.scores;
    const real highest = filter ? mma_highest(s, &x, &all) : 0;
    sums out = { .m = -(real)INFINITY, .l = 0, .u = x.rest + at.u };
    step_zero(out.u, at.channels);
    for (int64_t j = r->first; j < r->last; j += TILE) {
        const int64_t end = step_min(j + TILE, r->last);
        mma_scores(s, &x, &all, j, end);
        const real m = step_larger(out.m, score_highest(s, end - j)), alpha = softmax_rescale(out.m, m);
        out.m = m;
        out.l *= alpha;
        for (int64_t c = 0; c < r->p->e; c++)
            out.u[c] *= alpha;
        for (int64_t k = j; k < end; k += MMA_K)
            mma_values(&out, s + (k - j), highest, &x, &all, k, step_min(k + MMA_K, end));
    }
    softmax_finish(r, &out);
}

static int supports(const attest_call *call)
{
    static const serve_table table = {
        .axis = { [ATTEST_AXIS_FILTER] = SERVE_FILTER,
                  [ATTEST_AXIS_MASK] = SERVE_ALL_MASKS,
                  [ATTEST_AXIS_WINDOW] = SERVE_WINDOW,
                  [ATTEST_AXIS_LENS] = SERVE_LENS,
                  [ATTEST_AXIS_FEATURE] = SERVE_BIT(ATTEST_FEATURE_IDENTITY) | SERVE_BIT(ATTEST_FEATURE_RELU),
                  [ATTEST_AXIS_DECAY] = SERVE_SCALAR_DECAYS,
                  [ATTEST_AXIS_GATES] = SERVE_BIT(ATTEST_GATES_NONE) | SERVE_BIT(ATTEST_GATES_OUT) |
                                        SERVE_BIT(ATTEST_GATES_PRE_OUT),
                  [ATTEST_AXIS_NORM] = SERVE_SUM_OR_SINK,
                  [ATTEST_AXIS_EPS] = SERVE_EPS,
                  [ATTEST_AXIS_CLAMP] = SERVE_CLAMP,
                  [ATTEST_AXIS_CAP] = SERVE_CAP,
                  [ATTEST_AXIS_ALIBI] = SERVE_ALIBI,
                  [ATTEST_AXIS_BIAS] = SERVE_BIAS },
        .in = SERVE_BIT(ATTEST_BF16),
        .acc = SERVE_BIT(ATTEST_F32),
        .p = SERVE_BIT(ATTEST_BF16),
        .out = SERVE_BIT(ATTEST_BF16) | SERVE_BIT(ATTEST_F32),
    };
    return serve_check(&table, call);
}

static size_t workspace(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return pairs_workspace(p, mma_lay_out(p).end);
}

static attest_status run(const attest_call *call)
{
    step_each_row(call, mma_head, mma_row);
    return ATTEST_OK;
}

static const attest_numerics numerics = {
    .struct_size = sizeof numerics,
    STEP_CAST,
    .schedule = ATTEST_SCHEDULE_ONLINE,
    .tile = TILE,
    .exp_error = 2 * STEP_UNIT,
    .tanh_error = 5 * STEP_UNIT,
    .log2_domain = ATTEST_NO,
    .acc_truncates = ATTEST_YES,
    .acc_unit = STEP_UNIT,
    .div_error = STEP_UNIT,
    .division = ATTEST_DIVISION_AFTER_SUM,
    .scale_dtype = 1 + REAL_DTYPE,
};

const attest_kernel attest_kernel_softmax_mma_bf16 = {
    .struct_size = sizeof attest_kernel_softmax_mma_bf16,
    .form = ATTEST_TILED,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_LSE,
    .name = "softmax-mma-bf16",
    .version = "1",
    .source = "kernels/model/softmax_mma_bf16.c",
    .summary = "online softmax over tiles of 64 keys on a modelled tensor core: sums truncated as on Hopper",
    .variants = "softmax softmax1 fox",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
