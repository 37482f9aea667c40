/* softmax-split-f32: attention with weight=exp over problem.splits parts of the keys, merged by their lse.
 *
 * Formula    u_i = sum_j D_ij e^(s_ij) gin_j v_j, z_i = sum_j D_ij e^(s_ij), o_i = gout_i Norm(u_i, z_i): u/z for
 *            softmax; lse_i = log z_i; s_ij and D_ij: pairs.h, Norm: norms.h.
 * Algorithm  every part of the visible keys by two passes: o_s = u_s/l_s, lse_s = m_s + log l_s.  Merged one
 *            after the other: m' = max(m, lse_s), a = e^(m-m'), w = e^(lse_s-m'), l = a l + w, u = a u + w o_s;
 *            a part whose decays all vanished has l_s = 0 and adds nothing; at the end Norm of
 *            (e^m u, e^m l) and lse = m + log l.
 * Errors     each part as two-pass; then per part the rounding of lse_s (u abs(lse_s), and logf's below 1 ulp),
 *            two exponentials, the roundings of m-m' and lse_s-m', and 2 or 3 roundings of each sum.
 */
#include "steps/serve.h"
#include "steps/softmax.h"

#ifndef split_count
/* Parts that have a key. */
static inline int64_t split_count(const attest_problem *p, int64_t keys) { return step_min(p->splits, keys); }
#endif

#ifndef split_edge
/* The first key of part n, counted from the row's first. */
static inline int64_t split_edge(int64_t keys, int64_t n, int64_t splits) { return keys * n / splits; }
#endif

#ifndef split_lse
/* A part's log-sum. */
static inline real split_lse(const row *r, const sums *part)
{
    (void)r;
    return softmax_lse(part);
}
#endif

#ifndef split_share
/* Channel c of a part's quotient: one division. */
static inline real split_share(const sums *part, int64_t c) { return part->u[c] / part->l; }
#endif

#ifndef split_adds
/* Has the part any weight? */
static inline int split_adds(const sums *part) { return part->l != 0; }
#endif

#ifndef split_merge
/* Adds a part to the sums so far: m their largest lse, l = sum e^(lse_s-m), u = sum e^(lse_s-m) o_s. */
static inline void split_merge(const row *r, sums *all, const sums *part)
{
    const real lse = split_lse(r, part), m = step_larger(all->m, lse);
    const real old = softmax_rescale(all->m, m), weight = softmax_weight(lse - m);
    all->l = all->l * old + weight;
    for (int64_t c = 0; c < r->p->e; c++)
        all->u[c] = all->u[c] * old + weight * split_share(part, c);
    all->m = m;
}
#endif

static void split_row(const row *r)
{
    const pairs x = pairs_begin(r);
    const int64_t keys = r->last - r->first, splits = split_count(r->p, keys);
    real *s = x.rest;
    sums part = { .m = 0, .l = 0, .u = s + r->p->m };
    sums all = { .m = -(real)INFINITY, .l = 0, .u = part.u + r->p->e };
    step_zero(all.u, r->p->e);
    for (int64_t n = 0; n < splits; n++) {
        const int64_t first = r->first + split_edge(keys, n, splits);
        const int64_t last = r->first + split_edge(keys, n + 1, splits);
        softmax_two_pass(&part, s, &x, first, last);
        if (split_adds(&part))
            split_merge(r, &all, &part);
    }
    softmax_finish(r, &all);
}

static size_t workspace(const attest_call *call)
{
    const attest_problem *p = call->problem;
    return pairs_workspace(p, p->m + 2 * p->e);
}

static attest_status run(const attest_call *call)
{
    step_each_row(call, pairs_head, split_row);
    return ATTEST_OK;
}

static int supports(const attest_call *call)
{
    static const serve_table table = {
        .axis = { SERVE_PAIRS, SERVE_PAIR_TENSORS, [ATTEST_AXIS_DECAY] = SERVE_SCALAR_DECAYS,
                  [ATTEST_AXIS_NORM] = SERVE_ALL_NORMS, [ATTEST_AXIS_AFFINE] = SERVE_AFFINE },
        .in = SERVE_UP_TO_F32,
        .acc = SERVE_BIT(ATTEST_F32),
        .p = SERVE_BIT(ATTEST_F32),
        .out = SERVE_UP_TO_F32,
    };
    return serve_check(&table, call);
}

/* No rescaling inside a part: its maximum is known before its sums, so a tile is as long as any part. */
static const attest_numerics numerics = { STEP_NUMERICS, .schedule = ATTEST_SCHEDULE_SPLIT, .tile = 1 << 24 };

const attest_kernel attest_kernel_softmax_split_f32 = {
    .struct_size = sizeof attest_kernel_softmax_split_f32,
    .form = ATTEST_SPLIT,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT | ATTEST_SERIAL_SUMS,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_LSE,
    .name = "softmax-split-f32",
    .version = "1",
    .source = "kernels/cpu/softmax_split_f32.c",
    .summary = "problem.splits parts of the keys by two passes each, merged by their lse, then any norm; float",
    .variants = "softmax softmax1 fox gate divlen no-denominator floor-denominator l2norm rmsnorm layernorm "
                "gated-softmax",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
