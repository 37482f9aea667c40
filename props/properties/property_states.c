/* property_states.c - states handed over, and the parameters of a form. */
#include "props/properties/property_list.h"

#include "props/properties/relation.h"

#include "kernels/attest_float.h"

#include <math.h>
#include <stdlib.h>

#define STATES (ATTEST_GIVES_STATE | ATTEST_TAKES_STATE)

/* ---- a state from ht to h0 -------------------------------------------------------------------------------------- */

/* row[r] = the packed row of full row r: that of its sorted multi-index.  Malloc'd, the caller's. */
static attest_status packed_rows(int64_t **rows, int64_t dim, int degree, int64_t full, attest_error *err)
{
    int64_t *row = malloc((size_t)full * sizeof *row), next = 0;
    if (!row)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %lld rows of a state", (long long)full);
    for (int64_t r = 0; r < full; r++) {
        int64_t digit[ATTEST_MAX_ORDER] = { 0 }, rest = r, sorted = 0;
        for (int k = degree - 1; k >= 0; k--, rest /= dim) { /* by insertion, from the last digit */
            int at = k;
            for (; at < degree - 1 && digit[at + 1] < rest % dim; at++)
                digit[at] = digit[at + 1];
            digit[at] = rest % dim;
        }
        for (int k = 0; k < degree; k++)
            sorted = sorted * dim + digit[k];
        row[r] = sorted == r ? next++ : row[sorted]; /* sorted <= r: lexicographic order is that of the numbers */
    }
    *rows = row;
    return ATTEST_OK;
}

/* The given state `to`, full, is the final state `from` of another run. */
static attest_status hand_over(const attest_tensor *to, const attest_tensor *from, int degree, int packed,
                               const attest_problem *p, attest_error *err)
{
    const int64_t rows = to->shape[2], width = to->rank == 4 ? to->shape[3] : 1;
    int64_t *row = NULL;
    attest_status status = ATTEST_OK;
    if (packed)
        ATTEST_TRY(packed_rows(&row, attest_feature_dim(p), degree, rows, err));
    for (int64_t x = 0; x < attest_tensor_count(to); x++) {
        const int64_t head = x / (rows * width), r = x / width % rows;
        const int64_t at = (head * from->shape[2] + (row ? row[r] : r)) * width + x % width;
        attest_store_bits(to, x, attest_load_bits(from, at));
    }
out:
    free(row);
    return status;
}

/* All h0 and z0 of `inputs`; *given = 0 if an output is missing. */
static attest_status hand_over_all(int *given, const attest_bundle *inputs, const attest_bundle *outputs,
                                   const attest_problem *p, int packed, attest_error *err)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(p, ids, ATTEST_MAX_TENSORS);
    attest_status status = ATTEST_OK;
    *given = 1;
    for (size_t k = 0; k < count && *given; k++) {
        if (ids[k].kind == ATTEST_KIND_ROLE)
            continue;
        const uint32_t kind = ids[k].kind == ATTEST_KIND_H0 ? ATTEST_KIND_HT : ATTEST_KIND_ZT;
        const attest_tensor *from = attest_bundle_get(outputs, (attest_tensor_id){ kind, ids[k].index });
        *given = from != NULL;
        if (from)
            ATTEST_TRY(hand_over(attest_bundle_get(inputs, ids[k]), from, (int)ids[k].index, packed, p, err));
    }
out:
    return status;
}

/* ---- composition ------------------------------------------------------------------------------------------------ */

/* The state survives being handed over, and the same operations follow: then the bits are the same.  Chunks lie as they
 * did; with lengths a row behind the last key may be one of the chunk of that key, pair by pair, or find it in the
 * state. */
static int same_order(const attest_problem *p, const attest_prop_kernel *k)
{
    const uint32_t kept = 1 + (p->acc == ATTEST_F64 ? (uint32_t)ATTEST_F64 : (uint32_t)ATTEST_F32);
    const int chunk = k->numerics.schedule == ATTEST_SCHEDULE_CHUNK && !prop_axis(p, ATTEST_AXIS_LENS) &&
                      prop_axis(p, ATTEST_AXIS_MASK) == ATTEST_MASK_CAUSAL;
    return prop_rows_independent(k) && k->numerics.state_dtype == kept &&
           (k->numerics.schedule == ATTEST_SCHEDULE_RECURRENT || chunk);
}

/* Positions are relative, and a key before the cut is seen by every row behind it, with its decay up to there. */
static int can_be_cut(const attest_problem *p)
{
    const uint32_t norm = prop_axis(p, ATTEST_AXIS_NORM);
    const int lens = prop_axis(p, ATTEST_AXIS_LENS) != 0;
    const int below = prop_axis(p, ATTEST_AXIS_MASK) == ATTEST_MASK_CAUSAL_BR && (p->m < p->n || lens);
    return !prop_axis(p, ATTEST_AXIS_ROPE) && prop_axis(p, ATTEST_AXIS_FEATURE) != ATTEST_FEATURE_COSFORMER &&
           norm != ATTEST_NORM_LENGTH && norm < ATTEST_NORM_LENGTH_L2 && !below &&
           !(lens && prop_axis(p, ATTEST_AXIS_DECAY)) && !prop_axis(p, ATTEST_AXIS_LENS_Q);
}

static int64_t first_of(const attest_problem *p, const attest_prop_kernel *k)
{
    return k->numerics.schedule == ATTEST_SCHEDULE_CHUNK ? p->chunk : 1;
}

/* One more than the longest first part: queries without a key of their own are left to the rest. */
static int64_t tokens(const attest_problem *p) { return prop_axis(p, ATTEST_AXIS_MASK) && p->n < p->m ? p->n : p->m; }

static int applies_composition(const attest_problem *p, const attest_prop_kernel *k)
{
    return (k->outputs & STATES) == STATES && attest_variant_recurrent(p->axis) && can_be_cut(p) && same_order(p, k) &&
           tokens(p) > first_of(p, k);
}

/* len of the first `cut` tokens (negative), or of the rest. */
static uint64_t part_length(const attest_relation *r, const attest_trial *trial, const attest_cell *cell, uint64_t bits,
                            int *inexact)
{
    const int64_t len = (int64_t)bits, cut = r->cut < 0 ? -r->cut : r->cut;
    (void)trial;
    (void)inexact;
    if (cell->id.kind != ATTEST_KIND_ROLE || cell->id.index != ATTEST_KV_LENS)
        return bits;
    if (r->cut < 0)
        return (uint64_t)(len < cut ? len : cut);
    return (uint64_t)(len < cut ? 0 : len - cut);
}

/* A row of the first problem without a visible key: o = 0 by definition, which no formula with a given state knows. */
static int has_keys(const attest_trial *trial, int64_t b, int64_t i)
{
    const attest_problem *p = &trial->c.problem;
    int64_t first, last;
    attest_visible(p, attest_bundle_lengths(p, trial->inputs, b), i, &first, &last);
    return first < last;
}

static int row_has_keys(const attest_relation *r, const attest_trial *trial, const attest_cell *cell)
{
    const int64_t i = cell->index[ATTEST_LETTER_N];
    return i < 0 ||
           has_keys(trial, cell->index[ATTEST_LETTER_B], r->from[ATTEST_LETTER_N] ? r->from[ATTEST_LETTER_N][i] : i);
}

/* The first `t` tokens alone: with mask=full all queries, of whose outputs nothing is asked. */
static attest_status run_first(attest_bundle **outputs, int *usable, attest_finding *found, const attest_trial *trial,
                               int64_t t, attest_error *err)
{
    attest_relation r;
    attest_bundle *inputs = NULL;
    attest_status status = ATTEST_OK;
    int inexact;
    attest_relation_init(&r, trial);
    r.c.problem.m = t;
    r.c.problem.n = prop_axis(&trial->c.problem, ATTEST_AXIS_MASK) ? t : trial->c.problem.n;
    r.value = part_length;
    r.cut = -t;
    *usable = 0;
    if (!trial->host->supports(trial->host->context, &r.c.problem))
        return ATTEST_OK;
    ATTEST_TRY(attest_relation_inputs(&inputs, &inexact, &r, trial, err));
    ATTEST_TRY(
        attest_trial_run(outputs, usable, found, trial, &r.c, inputs, ATTEST_GIVES_O | ATTEST_GIVES_STATE, 0, err));
out:
    attest_bundle_free(inputs);
    attest_relation_clear(&r);
    return status;
}

static attest_status describe_rest(attest_relation *r, const attest_trial *trial, int64_t t, attest_error *err)
{
    const attest_problem *p = &trial->c.problem;
    int64_t *query = NULL, *key = NULL;
    attest_status status = ATTEST_OK;
    attest_relation_init(r, trial);
    r->outputs |= ATTEST_GIVES_STATE;
    r->c.problem.axis[ATTEST_AXIS_STATE] = (attest_setting){ .value = ATTEST_STATE_DRAW };
    r->c.problem.m = p->m - t;
    r->value = part_length;
    r->related = row_has_keys;
    r->cut = t;
    ATTEST_TRY(attest_relation_map(&key, r, ATTEST_LETTER_M, p->m - t, err));
    for (int64_t j = 0; j < p->m - t; j++)
        key[j] = j + t;
    if (prop_axis(p, ATTEST_AXIS_MASK)) {
        r->c.problem.n = p->n - t;
        ATTEST_TRY(attest_relation_map(&query, r, ATTEST_LETTER_N, p->n - t, err));
        for (int64_t i = 0; i < p->n - t; i++)
            query[i] = i + t;
    }
out:
    return status;
}

static attest_status check_composition(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_problem *p = &trial->c.problem;
    const int64_t least = first_of(p, &trial->kernel), most = (tokens(p) - 1) / least;
    const int64_t t = least * (1 + attest_trial_word(trial, &attest_property_state_composition, 0) % most);
    const int packed = (trial->kernel.flags & ATTEST_PACKED_STATE) != 0;
    attest_relation r;
    attest_bundle *outputs = NULL, *inputs = NULL;
    attest_status status = ATTEST_OK;
    int usable, given, inexact;
    ATTEST_TRY(describe_rest(&r, trial, t, err));
    ATTEST_TRY(run_first(&outputs, &usable, found, trial, t, err));
    if (!usable)
        goto out;
    ATTEST_TRY(attest_relation_inputs(&inputs, &inexact, &r, trial, err));
    ATTEST_TRY(hand_over_all(&given, inputs, outputs, &r.c.problem, packed, err));
    if (given)
        ATTEST_TRY(attest_relation_run(found, trial, &r, inputs, err));
out:
    attest_bundle_free(outputs);
    attest_bundle_free(inputs);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_state_composition = {
    "state-composition",
    "the rest of the tokens, given the final state of the first ones, has the outputs of the whole",
    "recurrent ones, but rope and cosformer (absolute positions), length norms, lens_q, lens with decay or causal-br",
    "bits: schedule recurrent, or chunk cut between chunks (causal, no lens), states kept as ht is; else nothing",
    ATTEST_NEEDS_NOTHING,
    applies_composition,
    check_composition,
    prop_violate_by_tokens
};

/* ---- a given state of zeros ------------------------------------------------------------------------------------- */

static int applies_zero_state(const attest_problem *p, const attest_prop_kernel *k)
{
    return (k->outputs & ATTEST_TAKES_STATE) && attest_variant_recurrent(p->axis) && !prop_axis(p, ATTEST_AXIS_STATE);
}

static attest_status check_zero_state(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.outputs |= ATTEST_GIVES_STATE;
    r.bits = trial->kernel.numerics.schedule == ATTEST_SCHEDULE_RECURRENT &&
             (trial->kernel.flags & ATTEST_DETERMINISTIC) != 0;
    r.c.problem.axis[ATTEST_AXIS_STATE] = (attest_setting){ .value = ATTEST_STATE_DRAW };
    r.related = row_has_keys;
    ATTEST_TRY(attest_relation_check(found, trial, &r, err));
out:
    attest_relation_clear(&r);
    return status;
}

static void violate_by_state(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    (void)inputs;
    prop_violate_by(outputs, prop_axis(p, ATTEST_AXIS_STATE));
}

const attest_property attest_property_zero_state = { "zero-state",
                                                     "given states of zeros are no given states",
                                                     "recurrent ones with state=none",
                                                     "bits if the schedule is recurrent, else both runs' bounds",
                                                     ATTEST_NEEDS_NOTHING,
                                                     applies_zero_state,
                                                     check_zero_state,
                                                     violate_by_state };

/* ---- chunk and splits ------------------------------------------------------------------------------------------- */

static int promises_order(const attest_prop_kernel *k)
{
    return (k->flags & ATTEST_DETERMINISTIC) && k->numerics.schedule != ATTEST_SCHEDULE_UNKNOWN;
}

/* Only chunk forms go by chunk, only split forms by splits (attest.h), if they do not declare a number of their own. */
static int reads_chunk(const attest_prop_kernel *k)
{
    return k->form == ATTEST_CHUNK || k->numerics.schedule == ATTEST_SCHEDULE_CHUNK;
}

static int reads_splits(const attest_prop_kernel *k)
{
    return (k->form == ATTEST_SPLIT || k->numerics.schedule == ATTEST_SCHEDULE_SPLIT) && k->numerics.splits == 0;
}

static int applies_always(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)p;
    (void)k;
    return 1;
}

/* Another number than `number`, 1..most. */
static int64_t another(int64_t number, int64_t most, const attest_trial *trial, const attest_property *property)
{
    const int64_t other = 1 + (int64_t)(attest_trial_word(trial, property, 0) % (uint64_t)most);
    return other != number ? other : number + 1;
}

static attest_status check_parameter(attest_finding *found, attest_trial *trial, int64_t chunk, int64_t splits,
                                     int bits, attest_error *err)
{
    attest_relation r;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.outputs |= ATTEST_GIVES_STATE;
    r.bits = bits;
    r.c.problem.chunk = chunk;
    r.c.problem.splits = splits;
    ATTEST_TRY(attest_relation_check(found, trial, &r, err));
out:
    attest_relation_clear(&r);
    return status;
}

static attest_status check_chunk(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_problem *p = &trial->c.problem;
    const int64_t chunk = another(p->chunk, p->m + 1, trial, &attest_property_chunk_size);
    const int bits = promises_order(&trial->kernel) && !reads_chunk(&trial->kernel);
    return check_parameter(found, trial, chunk, p->splits, bits, err);
}

static void violate_by_chunk(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    (void)inputs;
    prop_violate_by(outputs, (double)p->chunk);
}

const attest_property attest_property_chunk_size = {
    "chunk-size",
    "the chunk is no part of the formula",
    "all",
    "bits if form and schedule do not read chunk, else both runs' bounds",
    ATTEST_NEEDS_NOTHING,
    applies_always,
    check_chunk,
    violate_by_chunk
};

static attest_status check_splits(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_problem *p = &trial->c.problem;
    const int64_t splits = another(p->splits, p->m + 1, trial, &attest_property_split_count);
    const int bits = promises_order(&trial->kernel) && !reads_splits(&trial->kernel);
    return check_parameter(found, trial, p->chunk, splits, bits, err);
}

static void violate_by_splits(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    (void)inputs;
    prop_violate_by(outputs, (double)p->splits);
}

const attest_property attest_property_split_count = {
    "split-count",
    "the number of splits is no part of the formula",
    "all",
    "bits if form and schedule do not read splits, else both runs' bounds",
    ATTEST_NEEDS_NOTHING,
    applies_always,
    check_splits,
    violate_by_splits
};
