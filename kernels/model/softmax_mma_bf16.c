/* softmax-mma-bf16: softmax attention as a tensor core of Hopper computes it, modelled bit for bit on the CPU.
 *
 * Formula    as softmax_online.h, where q, k and v reach the tensor core as bf16 numbers: features identity and relu,
 *            no gates on values.
 * Algorithm  per tile of 64 keys: scores by chains of mma_add over d, m' = max(m, scores), a = e^(m-m'),
 *            l = a l + sum e^(s-m') in float, u = a u, then u += cast(e^(s-m')) v by mma_add, 16 keys at a time, u
 *            itself being the accumulator; at the end o = u/l, rounded once to bf16, or left in float.
 * Errors     R-TENSOR for scores and u; the rest as softmax_online.h.
 * It shows what a float accumulator that truncates does: sums are biased toward zero, more so the longer the chain.
 */
#include "mma.h"

#define step_dot mma_dot

#include "cpu/steps/serve.h"
#include "cpu/steps/softmax.h"

#define TILE 64

/* u += sum_j w_j v_j over keys [first,last), at most MMA_K of them; l adds the uncast weights. */
static void mma_values(sums *all, const real *s, real highest, const pairs *x, int64_t first, int64_t last)
{
    const attest_problem *p = x->r->p;
    const attest_tensor *v = x->r->t->role[ATTEST_V];
    float w[MMA_K], column[MMA_K];
    for (int64_t j = first; j < last; j++) {
        const int kept = score_kept(p, s[j - first], highest);
        const real weight = pairs_decay(x, j, kept ? softmax_weight(s[j - first] - all->m) : 0);
        all->l += weight;
        w[j - first] = step_round(p->p, weight);
    }
    for (int64_t c = 0; c < p->e; c++) {
        for (int64_t j = first; j < last; j++)
            column[j - first] = step_load(v, step_offset(v, x->r->b, x->r->g, j) + c * v->stride[3]);
        all->u[c] = mma_add(all->u[c], w, column, last - first);
    }
}

static void mma_row(const row *r)
{
    const pairs x = pairs_begin(r);
    const int filter = r->p->axis[ATTEST_AXIS_FILTER].value == ATTEST_FILTER_TAU;
    real *s = x.rest;
    const real highest = filter ? softmax_highest(s, TILE, &x) : 0;
    sums all = { .m = -(real)INFINITY, .l = 0, .u = s + TILE };
    step_zero(all.u, r->p->e);
    for (int64_t j = r->first; j < r->last; j += TILE) {
        const int64_t end = step_min(j + TILE, r->last);
        pairs_scores(s, &x, j, end);
        const real m = step_larger(all.m, score_highest(s, end - j)), alpha = softmax_rescale(all.m, m);
        all.m = m;
        all.l *= alpha;
        for (int64_t c = 0; c < r->p->e; c++)
            all.u[c] *= alpha;
        for (int64_t k = j; k < end; k += MMA_K)
            mma_values(&all, s + (k - j), highest, &x, k, step_min(k + MMA_K, end));
    }
    softmax_finish(r, &all);
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
                  [ATTEST_AXIS_ALIBI] = SERVE_ALIBI },
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
    return pairs_workspace(p, TILE + p->e);
}

static attest_status run(const attest_call *call)
{
    step_each_row(call, pairs_head, mma_row);
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
