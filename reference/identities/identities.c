/* identities.c - the table of identities, and the loop over the heads of a case. */
#include "reference/identities/identities.h"

#include <string.h>

#include "reference/exact/exact.h"
#include "reference/identities/identities_private.h"

/* ---- which variants ---------------------------------------------------------------------------------------------- */

static uint32_t axis_of(const attest_problem *p, attest_axis axis) { return attest_axis_value_of(p, axis); }

static int rational(const attest_problem *p) { return axis_served(p, AXIS_EXACT, EXACT_NO_NORM, NULL); }

static int is_sum(const attest_problem *p) { return axis_of(p, ATTEST_AXIS_UPDATE) == ATTEST_UPDATE_ADD; }

static int recurrent(const attest_problem *p) { return rational(p) && attest_variant_recurrent(p->axis); }

static int sum(const attest_problem *p) { return recurrent(p) && is_sum(p); }

static int delta(const attest_problem *p) { return recurrent(p) && !is_sum(p); }

/* A polynomial in s_ij alone: no steps of the score. */
static int plain(const attest_problem *p)
{
    attest_setting axis[ATTEST_AXIS_COUNT];
    memcpy(axis, p->axis, sizeof axis);
    axis[ATTEST_AXIS_CENTER].value = ATTEST_CENTER_ZERO;
    return rational(p) && is_sum(p) && attest_variant_recurrent(axis);
}

static int centered(const attest_problem *p)
{
    return plain(p) && axis_of(p, ATTEST_AXIS_CENTER) != ATTEST_CENTER_ZERO;
}

static int power(const attest_problem *p) { return sum(p) && axis_of(p, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_POWER; }

static int quadratic(const attest_problem *p) { return power(p) && p->axis[ATTEST_AXIS_WEIGHT].order == 2; }

static int linear(const attest_problem *p) { return power(p) && p->axis[ATTEST_AXIS_WEIGHT].order == 1; }

/* Given states are those of one degree only: not those of the other side. */
static int linear_new(const attest_problem *p)
{
    return linear(p) && axis_of(p, ATTEST_AXIS_STATE) == ATTEST_STATE_NONE;
}

static int taylor(const attest_problem *p) { return sum(p) && axis_of(p, ATTEST_AXIS_WEIGHT) == ATTEST_WEIGHT_TAYLOR; }

static int undecayed_taylor(const attest_problem *p) { return taylor(p) && !axis_decay_width(p); }

static int undecayed(const attest_problem *p) { return sum(p) && !axis_decay_width(p); }

static int maskable(const attest_problem *p)
{
    const uint32_t mask = axis_of(p, ATTEST_AXIS_MASK);
    return plain(p) && !axis_decay_width(p) && axis_of(p, ATTEST_AXIS_AFFINE) == ATTEST_AFFINE_NONE &&
           axis_of(p, ATTEST_AXIS_NORM) <= ATTEST_NORM_LENGTH && axis_of(p, ATTEST_AXIS_NORM) != ATTEST_NORM_SINK &&
           (mask == ATTEST_MASK_CAUSAL_BR || (mask == ATTEST_MASK_CAUSAL && p->n >= p->m));
}

static int gated(const attest_problem *p)
{
    const uint32_t norm = axis_of(p, ATTEST_AXIS_NORM);
    return plain(p) && axis_of(p, ATTEST_AXIS_STATE) == ATTEST_STATE_NONE &&
           (norm == ATTEST_NORM_NONE || norm == ATTEST_NORM_SUM) && axis_of(p, ATTEST_AXIS_GATES) != ATTEST_GATES_NONE;
}

static int length_l2(const attest_problem *p)
{
    return sum(p) && axis_of(p, ATTEST_AXIS_NORM) == ATTEST_NORM_LENGTH_L2 &&
           axis_of(p, ATTEST_AXIS_EPS) == ATTEST_EPS_ZERO;
}

/* ---- the table -----------------------------------------------------------------------------------------------------
 */

#define V(text) "variant=" text
#define TAYLOR V("taylor:0"), V("taylor:1"), V("taylor:2"), V("taylor:3"), V("taylor:4")
#define TERMS V("term:0"), V("term:1"), V("term:2"), V("term:3"), V("term:4")
#define POWERS V("quadratic"), V("linear"), V("linear-elu"), V("linear-relu")
#define FEATURED V("elu-taylor:2"), V("elu-taylor:4"), V("relu-taylor:3"), V("based")
#define UNDECAYED TAYLOR, TERMS, POWERS, FEATURED
#define GATED                                                                                                          \
    V("taylor:2 gates=inout"), V("term:3 gates=inout"), V("quadratic gates=in"), V("linear gates=inout"),              \
        V("linear-elu gates=inout"), V("relu-taylor:2 gates=out")
#define DECAYED                                                                                                        \
    V("retnet"), V("gla"), V("simple-gla"), V("retnet gates=inout"), V("gla gates=inout"),                             \
        V("simple-gla gates=inout"), V("taylor:3 mask=causal decay=scalar"), V("term:2 mask=causal-br decay=retnet")
#define DELTA                                                                                                          \
    V("deltanet"), V("gdn"), V("deltanet decay=retnet"), V("deltanet decay=vector"), V("deltanet gates=inout"),        \
        V("gdn gates=inout")

static const char *const sums[] = { UNDECAYED, GATED, DECAYED, NULL };
static const char *const deltas[] = { DELTA, NULL };
static const char *const sums_and_deltas[] = { UNDECAYED, GATED, DECAYED, DELTA, NULL };
static const char *const scans[] = { UNDECAYED, DECAYED, V("taylor:2 gates=inout"), DELTA, NULL };
static const char *const centers[] = { V("shifted:0"),
                                       V("shifted:1"),
                                       V("shifted:2"),
                                       V("shifted:3"),
                                       V("shifted:4"),
                                       V("shifted:2 gates=inout"),
                                       V("taylor:3 center=min"),
                                       V("taylor:4 center=mid"),
                                       V("elu-taylor:2 center=mid"),
                                       NULL };
static const char *const gates[] = { GATED,
                                     V("shifted:2 gates=inout"),
                                     V("taylor:1 gates=pre-out eps=0.5"),
                                     V("retnet gates=inout"),
                                     V("simple-gla gates=inout"),
                                     V("gla gates=inout"),
                                     NULL };
static const char *const series[] = { TAYLOR, FEATURED, NULL };
static const char *const plain_sums[] = { UNDECAYED, NULL };
static const char *const lengths[] = {
    V("taylor:0 norm=length-l2"), V("taylor:1 norm=length-l2"),   V("taylor:2 norm=length-l2"),
    V("taylor:3 norm=length-l2"), V("taylor:4 norm=length-l2"),   V("term:2 norm=length-l2"),
    V("linear norm=length-l2"),   V("linear-elu norm=length-l2"), V("relu-taylor:3 norm=length-l2 gates=in"),
    V("retnet norm=length-l2"),   V("gla norm=length-l2"),        NULL
};
static const char *const quadratics[] = { V("quadratic"), V("quadratic gates=inout"), V("quadratic feature=relu"),
                                          V("quadratic mask=causal decay=scalar"), NULL };
static const char *const linears[] = { V("linear"), V("linear-elu"), V("linear-relu"), V("linear gates=inout"),
                                       V("retnet"), V("simple-gla"), V("gla"),         NULL };
static const char *const first_orders[] = {
    V("linear"), V("linear-elu"), V("linear-relu"), V("linear gates=inout"), V("retnet"), V("simple-gla"), NULL
};
static const char *const term_sums[] = { TAYLOR, FEATURED, V("taylor:2 gates=inout"),
                                         V("taylor:3 mask=causal decay=scalar"), NULL };
static const char *const last_rows[] = { UNDECAYED, GATED, V("shifted:2"), V("shifted:3 gates=inout"), NULL };

const attest_identity attest_identities[] = {
    { "recurrent", "states kept token by token give u and z of the pairwise form at every prefix", "R-RECURRENT", sums,
      sum, identity_recurrent },
    { "packed", "states of non-decreasing multi-indices, multinomials at the query, give the same u and z", "R-PACKED",
      sums, sum, identity_packed },
    { "chunked", "states of whole chunks and pairs in the last one give the same u and z, for every chunk size 1..m",
      "R-CHUNK", sums, sum, identity_chunked },
    { "split", "two parts of the keys as states of their own, added, give the same u and z, for every cut", "R-SPLIT",
      sums, sum, identity_split },
    { "carried", "two passes, the first one's ht given to the second as h0, give the same u and z, for every cut",
      "R-CARRIED", sums_and_deltas, recurrent, identity_carried },
    { "state", "the final state of the recurrence equals its definition, entry by entry", "R-DECAY-STATE",
      sums_and_deltas, recurrent, identity_state },
    { "scan", "(a,S) o (b,U) = (ab, bS+U), the delta rule's affine maps likewise, is associative: any bracketing",
      "R-SCAN", scans, recurrent, identity_scan },
    { "wy", "the delta rule token by token equals its WY form, for every chunk size up to the whole sequence", "R-WY",
      deltas, delta, identity_chunked },
    { "center-states", "T_P(s-c) = sum_k s^k/k! T_{P-k}(-c): a center per row from the uncentred states",
      "R-CENTER-STATES", centers, centered, identity_recurrent },
    { "gate-matrix", "gates as rows and columns of the weight matrix equal gates on outputs and values (App. E)",
      "R-GATE-MATRIX", gates, gated, identity_gate_matrix },
    { "feature-power", "sum_n 1/n! <phi(q)^(x n), phi(k)^(x n)> = sum_n <phi(q),phi(k)>^n/n! (App. F)", "R-KRONECKER",
      series, undecayed_taylor, identity_feature_power },
    { "kronecker", "<q,k>^n = <q^(x n), k^(x n)>, full and packed, for every degree", "R-KRONECKER", plain_sums,
      undecayed, identity_kronecker },
    { "length-l2", "l2 of u/t equals l2 of u at eps=0", "R-LENGTH-L2", lengths, length_l2, identity_length_l2 },
    { "quadratic-term", "quadratic = 2 term:2", "R-POWER-TERM", quadratics, quadratic, identity_power_term },
    { "linear-term", "linear = term:1", "R-POWER-TERM", linears, linear, identity_power_term },
    { "first-order", "linear attention is what the first order adds: linear = taylor:1 - taylor:0", "R-POWER-TERM",
      first_orders, linear_new, identity_first_order },
    { "taylor-terms", "taylor:P is the sum of the recurrences term:0..term:P", "R-POWER-TERM", term_sums, taylor,
      identity_taylor_terms },
    { "last-row", "the last row under a causal mask is the last row of full attention (one engine, two masks)",
      "R-LAST-ROW", last_rows, maskable, identity_last_row },
};

const size_t attest_identity_count = sizeof attest_identities / sizeof attest_identities[0];

const attest_identity *attest_identity_find(const char *name)
{
    for (size_t k = 0; k < attest_identity_count; k++)
        if (strcmp(attest_identities[k].name, name) == 0)
            return &attest_identities[k];
    return NULL;
}

/* ---- checking ------------------------------------------------------------------------------------------------------
 */

attest_status attest_identity_compare(const attest_identity *identity, const attest_case *left,
                                      const attest_bundle *left_in, const attest_case *right,
                                      const attest_bundle *right_in, int64_t *compared, int64_t *different,
                                      attest_error *err)
{
    const attest_problem *p = &left->problem, *q = &right->problem;
    attest_status status = ATTEST_OK;
    identity_job job = { .compared = 0 };
    if (!identity->applies(p) || attest_kv_scaled(p) || attest_kv_scaled(q))
        return attest_fail(err, ATTEST_UNSUPPORTED, "identity %s does not speak about this variant", identity->name);
    if (p->b != q->b || p->hq != q->hq || p->hkv != q->hkv || p->n != q->n || p->m != q->m || p->d != q->d ||
        p->e != q->e)
        return attest_fail(err, ATTEST_BAD_INPUT, "identity %s: the two sides differ in shape", identity->name);
    identity_side_set(&job.left, p, left_in);
    identity_side_set(&job.right, q, right_in);
    for (job.b = 0; job.b < p->b; job.b++)
        for (job.h = 0; job.h < p->hq; job.h++)
            ATTEST_TRY(identity->check(&job, err));
    *compared += job.compared;
    *different += job.different;
out:
    return status;
}

attest_status attest_identity_check(const attest_identity *identity, const attest_case *c, const attest_bundle *in,
                                    int64_t *compared, int64_t *different, attest_error *err)
{
    return attest_identity_compare(identity, c, in, c, in, compared, different, err);
}

attest_status attest_identity_run(const attest_identity *identity, const char *variant, uint64_t seed, int64_t cases,
                                  int64_t *compared, int64_t *different, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (int64_t k = 0; k < cases; k++) {
        attest_case c;
        attest_bundle *in = NULL;
        ATTEST_TRY(attest_identity_draw(&c, &in, identity, variant, seed + (uint64_t)k, err));
        status = attest_identity_check(identity, &c, in, compared, different, err);
        attest_bundle_free(in);
        ATTEST_TRY(status);
    }
out:
    return status;
}
