/* property_writes.c - tokens that leave nothing of what was before, and writes that change nothing.
 *
 * Both runs are on changed inputs: the first on `base`, the second a relation of it. */
#include "props/properties/property_list.h"

#include "props/properties/range.h"
#include "props/properties/relation.h"

#include "kernels/attest_float.h"

#include <math.h>

typedef uint64_t (*element_value)(const attest_relation *r, const attest_trial *trial, const attest_cell *cell,
                                  uint64_t bits, int *inexact);

/* The same problem with elements changed by `value`, run: *base, whose inputs are in *inputs (both the caller's). */
static attest_status run_base(attest_trial *base, attest_bundle **inputs, int *usable, attest_finding *found,
                              const attest_trial *trial, element_value value, int64_t cut, attest_error *err)
{
    attest_relation r;
    attest_status status = ATTEST_OK;
    int inexact;
    attest_relation_init(&r, trial);
    r.value = value;
    r.cut = cut;
    *base = (attest_trial){ .host = trial->host,
                            .kernel = trial->kernel,
                            .c = trial->c,
                            .number = trial->number,
                            .violated = trial->violated };
    ATTEST_TRY(attest_relation_inputs(inputs, &inexact, &r, trial, err));
    base->inputs = *inputs;
    ATTEST_TRY(attest_trial_run(&base->outputs, usable, found, trial, &trial->c, *inputs, UINT32_MAX, 0, err));
out:
    attest_relation_clear(&r);
    return status;
}

static int is_role(const attest_cell *cell, attest_role role)
{
    return cell->id.kind == ATTEST_KIND_ROLE && cell->id.index == role;
}

/* ---- a decay of 0 ----------------------------------------------------------------------------------------------- */

static int decays_by_tensor(const attest_problem *p) { return prop_axis(p, ATTEST_AXIS_DECAY) >= ATTEST_DECAY_SCALAR; }

/* decay=vector is inside <q,k>: what comes after it, a bias or a clamp below 0, makes a score of 0 count. */
static int applies_zero_decay(const attest_problem *p, const attest_prop_kernel *k)
{
    const int inside = prop_axis(p, ATTEST_AXIS_DECAY) == ATTEST_DECAY_VECTOR;
    (void)k;
    return decays_by_tensor(p) && p->n > 1 && !(inside && !attest_variant_recurrent(p->axis)) &&
           !prop_axis(p, ATTEST_AXIS_CENTER) && !prop_axis(p, ATTEST_AXIS_FILTER);
}

static uint64_t no_decay(const attest_relation *r, const attest_trial *trial, const attest_cell *cell, uint64_t bits,
                         int *inexact)
{
    const double none = attest_log_decays(&trial->c.problem) ? -1024 : 0; /* e^-1024 is below the normal numbers */
    (void)r;
    (void)inexact;
    return is_role(cell, ATTEST_DECAY) ? attest_from_f64(cell->dtype, none) : bits;
}

/* Keys and values before the cut, and given states, change sign, and the tokens their places. */
static uint64_t other_past(const attest_relation *r, const attest_trial *trial, const attest_cell *cell, uint64_t bits,
                           int *inexact)
{
    const int past = (is_role(cell, ATTEST_K) || is_role(cell, ATTEST_V)) && cell->index[ATTEST_LETTER_M] < r->cut;
    const int given = cell->id.kind == ATTEST_KIND_H0 || cell->id.kind == ATTEST_KIND_Z0;
    (void)trial;
    (void)inexact;
    return past || given ? bits ^ (uint64_t)1 << (8 * attest_dtype_bytes(cell->dtype) - 1) : bits;
}

static int behind_the_cut(const attest_relation *r, const attest_trial *trial, const attest_cell *cell)
{
    const int64_t i = cell->index[ATTEST_LETTER_N];
    const attest_problem *p = &trial->c.problem;
    return i < 0 ? !prop_axis(p, ATTEST_AXIS_LENS) && !prop_axis(p, ATTEST_AXIS_LENS_Q) : i >= r->cut;
}

static attest_status check_zero_decay(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_problem *p = &trial->c.problem;
    attest_relation r;
    attest_trial base = { .host = NULL };
    attest_bundle *inputs = NULL;
    attest_status status = ATTEST_OK;
    int64_t *from = NULL;
    int usable = 0;
    const int bits = attest_variant_recurrent(p->axis) && (trial->kernel.flags & ATTEST_DETERMINISTIC) &&
                     prop_decays_multiplied(&trial->kernel) && /* e^(ln 0) may leave 2^emin of the past */
                     !attest_log_decays(p);
    attest_relation_init(&r, trial);
    if (!attest_range_finite(trial, 4)) /* 0 times what overflows is NaN */
        return ATTEST_OK;
    ATTEST_TRY(run_base(&base, &inputs, &usable, found, trial, no_decay, 0, err));
    if (!usable)
        goto out;
    r.outputs |= ATTEST_GIVES_STATE;
    r.cut = 1 + attest_trial_word(trial, &attest_property_zero_decay, 0) % (p->n - 1);
    r.value = other_past;
    r.related = behind_the_cut;
    ATTEST_TRY(attest_relation_map(&from, &r, ATTEST_LETTER_M, p->m, err));
    for (int64_t j = 0; j < r.cut; j++)
        from[j] = r.cut - 1 - j;
    for (r.bits = 0; r.bits <= bits && !found->broken; r.bits++) /* NaN in both has no bits that differ */
        ATTEST_TRY(attest_relation_check(found, &base, &r, err));
out:
    attest_trial_clear(&base);
    attest_bundle_free(inputs);
    attest_relation_clear(&r);
    return status;
}

/* The first token reaches every row. */
static void violate_by_first_value(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    const attest_tensor *v = attest_bundle_role(inputs, ATTEST_V);
    (void)p;
    prop_violate_by(outputs, 4 * attest_load(v, 0));
}

const attest_property attest_property_zero_decay = {
    "zero-decay",
    "a decay of 0 (scalar or vector) leaves of a row what its own token gives: the past does not matter",
    "decay=scalar and vector (the latter where recurrent), but centers and filters, which look at all scores",
    "both runs' bounds (R-JUDGE); polynomial weights of deterministic kernels that multiply decays: bits too, as 0 is "
    "added in any order",
    ATTEST_NEEDS_NOTHING,
    applies_zero_decay,
    check_zero_decay,
    violate_by_first_value
};

/* ---- a write of 0 ----------------------------------------------------------------------------------------------- */

/* The last key of the final state, and without it: one query, one key or both fewer. */
static int64_t last_token(const attest_problem *p)
{
    const int beyond = prop_axis(p, ATTEST_AXIS_MASK) == ATTEST_MASK_CAUSAL && p->m > p->n;
    return beyond ? p->n - 1 : p->m - 1;
}

static void drop_last(attest_problem *p)
{
    const int beyond = prop_axis(p, ATTEST_AXIS_MASK) == ATTEST_MASK_CAUSAL && p->m > p->n;
    const int square = p->m == p->n;
    p->n -= beyond || square;
    p->m -= !beyond;
}

static int applies_zero_write(const attest_problem *p, const attest_prop_kernel *k)
{
    return prop_axis(p, ATTEST_AXIS_UPDATE) && prop_axis(p, ATTEST_AXIS_DECAY) != ATTEST_DECAY_RETNET &&
           prop_axis(p, ATTEST_AXIS_FEATURE) != ATTEST_FEATURE_COSFORMER && (k->outputs & ATTEST_GIVES_STATE) &&
           last_token(p) > 0;
}

/* Token `cut` writes nothing and forgets nothing. */
static uint64_t idle_token(const attest_relation *r, const attest_trial *trial, const attest_cell *cell, uint64_t bits,
                           int *inexact)
{
    (void)inexact;
    if (cell->index[ATTEST_LETTER_M] != r->cut)
        return bits;
    if (is_role(cell, ATTEST_DECAY))
        return attest_from_f64(cell->dtype, prop_unit_decay(&trial->c.problem));
    return is_role(cell, ATTEST_BETA) ? 0 : bits;
}

/* A state that has not overflowed: 0 times an infinite product with it is NaN. */
static int finite_state(const attest_relation *r, const attest_trial *trial, const attest_cell *cell)
{
    const attest_tensor *t = attest_bundle_get(trial->outputs, cell->id);
    (void)r;
    return cell->id.kind != ATTEST_KIND_ROLE &&
           isfinite(attest_load(t, attest_offset(t, cell->at[0], cell->at[1], cell->at[2], cell->at[3])));
}

/* Per token S + k (0 (v - k S)) = S in any order; an approximate exponential may make something of 1 - e^-0 (efla), or
 * of a decay of 1. */
static int writes_exact_zero(const attest_trial *trial)
{
    const attest_problem *p = &trial->c.problem;
    return trial->kernel.numerics.schedule == ATTEST_SCHEDULE_RECURRENT && prop_rows_independent(&trial->kernel) &&
           prop_axis(p, ATTEST_AXIS_UPDATE) == ATTEST_UPDATE_DELTA && !prop_axis(p, ATTEST_AXIS_DECAY);
}

static attest_status check_zero_write(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    attest_trial base = { .host = NULL };
    attest_bundle *inputs = NULL;
    attest_status status = ATTEST_OK;
    int usable = 0;
    attest_relation_init(&r, trial);
    ATTEST_TRY(run_base(&base, &inputs, &usable, found, trial, idle_token, last_token(&trial->c.problem), err));
    if (!usable)
        goto out;
    r.outputs = ATTEST_GIVES_O | ATTEST_GIVES_STATE;
    drop_last(&r.c.problem);
    r.bits = writes_exact_zero(trial);
    r.related = finite_state;
    ATTEST_TRY(attest_relation_check(found, &base, &r, err));
out:
    attest_trial_clear(&base);
    attest_bundle_free(inputs);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_zero_write = {
    "zero-write",
    "a last token with b = 0 (and a = 1) leaves the final state as it was without it",
    "update=delta and efla, but decay=retnet (no token can switch it off) and cosformer (which reads n and m)",
    "bits if the schedule is recurrent, rows are independent, update=delta, decay=none; else both runs' bounds",
    ATTEST_NEEDS_NOTHING,
    applies_zero_write,
    check_zero_write,
    prop_violate_by_tokens
};

/* ---- the same write again --------------------------------------------------------------------------------------- */

static int applies_repeated(const attest_problem *p, const attest_prop_kernel *k)
{
    const uint32_t kept = 1u << ATTEST_FEATURE_IDENTITY | 1u << ATTEST_FEATURE_RELU | 1u << ATTEST_FEATURE_UNIT;
    (void)k;
    return prop_axis(p, ATTEST_AXIS_UPDATE) == ATTEST_UPDATE_DELTA && p->n == p->m && prop_feature_in(p, kept) &&
           !prop_axis(p, ATTEST_AXIS_ROPE) && prop_axis(p, ATTEST_AXIS_DECAY) != ATTEST_DECAY_RETNET;
}

/* The last token has a key of one channel, 1, and b = 1: norm2(phi(k))^2 b = 1 without rounding. */
static uint64_t one_hot_token(const attest_relation *r, const attest_trial *trial, const attest_cell *cell,
                              uint64_t bits, int *inexact)
{
    (void)trial;
    (void)inexact;
    if (cell->index[ATTEST_LETTER_M] != trial->c.problem.m - 1)
        return bits;
    if (is_role(cell, ATTEST_K))
        return attest_from_f64(cell->dtype, cell->index[ATTEST_LETTER_D] == r->cut);
    return is_role(cell, ATTEST_BETA) ? attest_from_f64(cell->dtype, 1) : bits;
}

/* The repeat forgets nothing; with lens_q=len it is a token of those that have all. */
static uint64_t undecayed_repeat(const attest_relation *r, const attest_trial *trial, const attest_cell *cell,
                                 uint64_t bits, int *inexact)
{
    (void)r;
    (void)inexact;
    if (is_role(cell, ATTEST_KV_LENS) || is_role(cell, ATTEST_Q_LENS))
        return bits + ((int64_t)bits == trial->c.problem.m);
    return is_role(cell, ATTEST_DECAY) && cell->index[ATTEST_LETTER_M] == trial->c.problem.m
               ? attest_from_f64(cell->dtype, prop_unit_decay(&trial->c.problem))
               : bits;
}

static attest_status check_repeated(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_problem *p = &trial->c.problem;
    const int64_t channel = attest_trial_word(trial, &attest_property_repeated_write, 0) % p->d;
    attest_relation r;
    attest_trial base = { .host = NULL };
    attest_bundle *inputs = NULL;
    attest_status status = ATTEST_OK;
    int64_t *from = NULL;
    int usable = 0;
    attest_relation_init(&r, trial);
    ATTEST_TRY(run_base(&base, &inputs, &usable, found, trial, one_hot_token, channel, err));
    if (!usable)
        goto out;
    r.outputs |= ATTEST_GIVES_STATE;
    r.bits = 0;
    r.c.problem.n = r.c.problem.m = p->m + 1;
    r.value = undecayed_repeat;
    ATTEST_TRY(attest_relation_map(&from, &r, ATTEST_LETTER_M, p->m + 1, err));
    from[p->m] = p->m - 1;
    ATTEST_TRY(attest_relation_map(&from, &r, ATTEST_LETTER_N, p->m + 1, err));
    from[p->m] = p->m - 1;
    ATTEST_TRY(attest_relation_check(found, &base, &r, err));
out:
    attest_trial_clear(&base);
    attest_bundle_free(inputs);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_repeated_write = {
    "repeated-write",
    "a token written twice with b norm2(phi(k))^2 = 1 is there as if written once",
    "update=delta, n = m, feature identity, relu or unit, without rope (a repeat has another place) and decay=retnet",
    PROP_BOUNDS,
    ATTEST_NEEDS_BOUNDS,
    applies_repeated,
    check_repeated,
    prop_violate_by_tokens
};
