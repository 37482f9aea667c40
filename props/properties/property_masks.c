/* property_masks.c - what a row does not see does not matter. */
#include "props/properties/property_list.h"

#include "props/properties/relation.h"

#include "kernels/attest_float.h"

#include <math.h>
#include <stdlib.h>

#define BITS_BY_KEYS                                                                                                   \
    "bits if rows are independent and their order of summation is declared (serial sums, online tiles, recurrent, "    \
    "chunk), else both runs' bounds"

/* ---- who sees what ----------------------------------------------------------------------------------------------- */

/* Of batch entry b. */
static attest_lengths lengths_of(const attest_trial *trial, int64_t b)
{
    return attest_bundle_lengths(&trial->c.problem, trial->inputs, b);
}

/* Are a row's bits fixed by the keys that it sees and their order, whatever n and m?  Not by parts,
 * which are made of m, nor where the order of sums is the kernel's own. */
static int follows_keys(const attest_prop_kernel *k)
{
    return prop_rows_independent(k) && prop_order_declared(k) && k->form != ATTEST_SPLIT &&
           k->numerics.schedule != ATTEST_SCHEDULE_SPLIT;
}

/* Does row i of entry b see no key from the cut on, and no decay either? */
static int sees_nothing_from(const attest_trial *trial, int64_t cut, int64_t b, int64_t i)
{
    const attest_problem *p = &trial->c.problem;
    int64_t first, last;
    attest_visible(p, lengths_of(trial, b), i, &first, &last);
    return (first >= last || last <= cut) && (!prop_axis(p, ATTEST_AXIS_DECAY) || i < cut);
}

/* Does attn_mask show key j to query i of entry b in some head? */
static int is_shown(const attest_trial *trial, int64_t b, int64_t i, int64_t j)
{
    const attest_tensor *mask = attest_bundle_role(trial->inputs, ATTEST_MASK);
    for (int64_t h = 0; h < trial->c.problem.hq; h++)
        if (!attest_masks(mask, b, h, i, j))
            return 1;
    return 0;
}

/* Is key j of entry b seen by some query?  b = -1: of any entry that shares the number. */
static int is_seen(const attest_trial *trial, int64_t b, int64_t j)
{
    const attest_problem *p = &trial->c.problem;
    int64_t first, last;
    for (int64_t row = b < 0 ? 0 : b * p->n; row < (b < 0 ? p->b : b + 1) * p->n; row++) {
        attest_visible(p, lengths_of(trial, row / p->n), row % p->n, &first, &last);
        if (j >= first && j < last && is_shown(trial, row / p->n, row % p->n, j))
            return 1;
    }
    for (int64_t entry = b < 0 ? 0 : b; entry < (b < 0 ? p->b : b + 1); entry++) { /* a state of no queries */
        attest_visible(p, lengths_of(trial, entry), lengths_of(trial, entry).queries - 1, &first, &last);
        if (j >= first && j < last && lengths_of(trial, entry).queries == 0)
            return 1;
    }
    return 0;
}

/* A row without a key may hold the mean of all values, or anything, where that is declared: what nobody sees matters to
 * it.  Is this element of none of those? */
static int is_no_empty_row(const attest_relation *r, const attest_trial *trial, const attest_cell *cell)
{
    const int64_t b = cell->index[ATTEST_LETTER_B], h = cell->index[ATTEST_LETTER_H], i = cell->index[ATTEST_LETTER_N];
    const attest_tensor *mask = attest_bundle_role(trial->inputs, ATTEST_MASK);
    int64_t first, last;
    (void)r;
    if (i < 0 || !attest_empty_row_is_free(trial->kernel.numerics.empty_row))
        return 1;
    attest_visible(&trial->c.problem, lengths_of(trial, b), i, &first, &last);
    return !attest_masks_all(mask, b, h, i, first, last);
}

/* Another value, exact in every type: a multiple of 2^-7 in [-1,1); decays in (0,1/2], logarithms in [-4,0); rates
 * below 1/(4d), so that no state of a delta rule grows: what follows from these values stays finite too. */
static uint64_t other_value(const attest_trial *trial, const attest_cell *cell)
{
    uint64_t number = cell->id.index;
    for (int i = 0; i < 4; i++)
        number = number * 1000003 + (uint64_t)cell->at[i];
    const uint32_t byte = attest_trial_word(trial, &attest_property_causal_prefix, number + 1) >> 8 & 0xff;
    double x = ((double)byte - 128) / 128;
    if (cell->id.index == ATTEST_MASK || cell->id.index == ATTEST_KEEP)
        return byte & 1;
    if (cell->id.index == ATTEST_DECAY)
        x = attest_log_decays(&trial->c.problem) ? -(double)(byte + 1) / 64 : (double)(byte + 1) / 512;
    if (cell->id.index == ATTEST_BETA)
        x = ldexp((double)(byte + 1) / 512, -ilogb((double)trial->c.problem.d) - 2);
    return attest_from_f64(cell->dtype, x);
}

static int of_role(const attest_cell *cell) { return cell->id.kind == ATTEST_KIND_ROLE; }

/* ---- violations -------------------------------------------------------------------------------------------------- */

/* As if every query saw every key, a little. */
static void violate_by_leak(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    const attest_tensor *o = attest_bundle_role(outputs, ATTEST_O), *v = attest_bundle_role(inputs, ATTEST_V);
    for (int64_t at = 0; o && at < attest_tensor_count(o); at++) {
        const int64_t c = at % p->e, h = at / (p->e * p->n) % p->hq, b = at / (p->e * p->n * p->hq);
        const double x = attest_load(o, at);
        double sum = 0;
        for (int64_t j = 0; j < p->m; j++)
            sum += (double)(j + 1) * attest_load(v, attest_offset(v, b, attest_kv_head(p, h), j, c));
        attest_store_bits(o, at, attest_from_f64(o->dtype, x + sum * (1 + fabs(x))));
    }
}

/* As if the size of the problem or the name of its mask mattered. */
static void violate_by_shape(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    const attest_tensor *o = attest_bundle_role(outputs, ATTEST_O);
    const int64_t shape = p->n + 3 * p->m + 5 * (int64_t)prop_axis(p, ATTEST_AXIS_WINDOW) +
                          7 * (int64_t)prop_axis(p, ATTEST_AXIS_MASK) + 11 * (int64_t)prop_axis(p, ATTEST_AXIS_LENS);
    (void)inputs;
    for (int64_t at = 0; o && at < attest_tensor_count(o); at++) {
        const double x = attest_load(o, at);
        attest_store_bits(o, at, attest_from_f64(o->dtype, x + (double)shape / 16 * (1 + fabs(x))));
    }
}

/* ---- other values where nobody looks ----------------------------------------------------------------------------- */

static int hides_keys(const attest_problem *p)
{
    return prop_axis(p, ATTEST_AXIS_MASK) || prop_axis(p, ATTEST_AXIS_WINDOW) || prop_axis(p, ATTEST_AXIS_LENS);
}

static int hides_any_keys(const attest_problem *p) { return hides_keys(p) || prop_axis(p, ATTEST_AXIS_ATTN_MASK); }

static uint64_t after_cut(const attest_relation *r, const attest_trial *trial, const attest_cell *cell, uint64_t bits,
                          int *inexact)
{
    const int64_t j = cell->index[ATTEST_LETTER_M], i = cell->index[ATTEST_LETTER_N];
    (void)inexact;
    if (!of_role(cell) || (j < 0 && i < 0))
        return bits;
    const int other = j >= 0 ? j >= r->cut : !sees_nothing_from(trial, r->cut, cell->index[ATTEST_LETTER_B], i);
    return other ? other_value(trial, cell) : bits;
}

static int before_cut(const attest_relation *r, const attest_trial *trial, const attest_cell *cell)
{
    return sees_nothing_from(trial, r->cut, cell->index[ATTEST_LETTER_B], cell->index[ATTEST_LETTER_N]) &&
           is_no_empty_row(r, trial, cell);
}

static int applies_prefix(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return hides_keys(p) && p->m > 1;
}

static attest_status check_prefix(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    attest_relation_init(&r, trial);
    r.bits = prop_rows_independent(&trial->kernel);
    r.cut = 1 +
            (int64_t)(attest_trial_word(trial, &attest_property_causal_prefix, 0) % (uint64_t)(trial->c.problem.m - 1));
    r.value = after_cut;
    r.related = before_cut;
    const attest_status status = attest_relation_check(found, trial, &r, err);
    attest_relation_clear(&r);
    return status;
}

// clang-format off
const attest_property attest_property_causal_prefix = {
    "causal-prefix", "rows that see nothing from a token on do not change when all is changed from it on",
    "all with mask=causal or causal-br, window or lens", PROP_BITS_OR_BOUNDS, ATTEST_NEEDS_NOTHING, applies_prefix,
    check_prefix, violate_by_leak
};
// clang-format on

/* Decays stay: one of a token that nobody sees is still between older keys and later queries.  So does attn_mask, which
 * may be what hides the key. */
static uint64_t where_unseen(const attest_relation *r, const attest_trial *trial, const attest_cell *cell,
                             uint64_t bits, int *inexact)
{
    (void)r;
    (void)inexact;
    const int64_t j = cell->index[ATTEST_LETTER_M];
    if (!of_role(cell) || j < 0 || cell->id.index == ATTEST_DECAY || cell->id.index == ATTEST_MASK ||
        is_seen(trial, cell->index[ATTEST_LETTER_B], j))
        return bits;
    return other_value(trial, cell);
}

static int applies_unseen(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return hides_any_keys(p);
}

static attest_status check_unseen(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_problem *p = &trial->c.problem;
    attest_relation r;
    int64_t unseen = 0;
    for (int64_t b = 0; b < p->b; b++)
        for (int64_t j = 0; j < p->m; j++)
            unseen += !is_seen(trial, b, j);
    if (unseen == 0)
        return ATTEST_OK;
    attest_relation_init(&r, trial);
    r.bits = (trial->kernel.flags & ATTEST_DETERMINISTIC) != 0;
    r.outputs |= ATTEST_GIVES_STATE;
    r.value = where_unseen;
    r.related = is_no_empty_row;
    const attest_status status = attest_relation_check(found, trial, &r, err);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_unseen_keys = {
    "unseen-keys",
    "keys that no query sees may be any finite numbers: nothing changes",
    "all with mask=causal or causal-br, window, lens or attn_mask, where some key is seen by nobody",
    "bits of deterministic kernels, else both runs' bounds",
    ATTEST_NEEDS_NOTHING,
    applies_unseen,
    check_unseen,
    violate_by_leak
};

/* ---- less of the same problem ------------------------------------------------------------------------------------ */

/* Lengths are cut too. */
static uint64_t cut_length(const attest_relation *r, const attest_trial *trial, const attest_cell *cell, uint64_t bits,
                           int *inexact)
{
    (void)trial;
    (void)inexact;
    const int length = of_role(cell) && (cell->id.index == ATTEST_KV_LENS || cell->id.index == ATTEST_Q_LENS);
    return length && (int64_t)bits > r->cut ? (uint64_t)r->cut : bits;
}

static int is_cosformer(const attest_problem *p)
{
    return prop_axis(p, ATTEST_AXIS_FEATURE) == ATTEST_FEATURE_COSFORMER;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static int applies_prefix_alone(const attest_problem *p, const attest_prop_kernel *k)
{
    const uint32_t mask = prop_axis(p, ATTEST_AXIS_MASK);
    (void)k;
    const int lengths = prop_axis(p, ATTEST_AXIS_LENS) || prop_axis(p, ATTEST_AXIS_LENS_Q);
    return (mask == ATTEST_MASK_CAUSAL || (mask == ATTEST_MASK_CAUSAL_BR && !lengths)) && p->n == p->m && p->n > 1 &&
           !is_cosformer(p);
}

static attest_status check_prefix_alone(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    attest_relation_init(&r, trial);
    r.cut = 1 +
            (int64_t)(attest_trial_word(trial, &attest_property_prefix_alone, 0) % (uint64_t)(trial->c.problem.n - 1));
    r.c.problem.n = r.c.problem.m = r.cut;
    r.bits = follows_keys(&trial->kernel);
    r.value = cut_length;
    r.related = is_no_empty_row;
    const attest_status status = attest_relation_check(found, trial, &r, err);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_prefix_alone = {
    "prefix-alone",
    "the first tokens alone have the outputs that they have with the tokens after them",
    "mask=causal, or causal-br without lens and lens_q, with n=m; not cosformer, which reads the length",
    BITS_BY_KEYS,
    ATTEST_NEEDS_NOTHING,
    applies_prefix_alone,
    check_prefix_alone,
    violate_by_shape
};

static int applies_length_alone(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return prop_axis(p, ATTEST_AXIS_LENS) == ATTEST_LENS_DRAW || prop_axis(p, ATTEST_AXIS_LENS_Q);
}

static attest_status check_length_alone(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_problem *p = &trial->c.problem;
    const int64_t b = attest_trial_word(trial, &attest_property_length_alone, 0) % p->b,
                  keys = lengths_of(trial, b).keys, queries = lengths_of(trial, b).queries;
    attest_relation r;
    int64_t *from = NULL;
    attest_status status = ATTEST_OK;
    if (keys == 0 || queries == 0 || (is_cosformer(p) && larger(p->n, keys) != larger(p->n, p->m)))
        return ATTEST_OK;
    attest_relation_init(&r, trial);
    r.bits = 0; /* see wide-window */
    r.outputs |= ATTEST_GIVES_STATE;
    r.c.problem.b = 1;
    r.c.problem.m = keys;
    r.c.problem.n = queries;
    r.c.problem.axis[ATTEST_AXIS_LENS] = (attest_setting){ ATTEST_LENS_NONE, 0, 0 };
    r.c.problem.axis[ATTEST_AXIS_LENS_Q] = (attest_setting){ ATTEST_LENS_Q_NONE, 0, 0 };
    ATTEST_TRY(attest_relation_map(&from, &r, ATTEST_LETTER_B, 1, err));
    from[0] = b;
    ATTEST_TRY(attest_relation_check(found, trial, &r, err));
out:
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_length_alone = {
    "length-alone",
    "a batch entry with lengths has the outputs of a problem with so many keys and queries and no lengths",
    "lens=draw or lens_q; not with decays unless the lengths are equal (they need n=m), nor cosformer where it "
    "shortens max(n,m)",
    PROP_BOUNDS,
    ATTEST_NEEDS_BOUNDS,
    applies_length_alone,
    check_length_alone,
    violate_by_shape
};

/* The last `rows` queries alone, aligned to the last key. */
static attest_status check_last(attest_finding *found, attest_trial *trial, int64_t rows, attest_error *err)
{
    const attest_problem *p = &trial->c.problem;
    const int aligned = prop_axis(p, ATTEST_AXIS_MASK) == ATTEST_MASK_CAUSAL_BR;
    attest_relation r;
    int64_t *from = NULL;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.bits = aligned && prop_rows_independent(&trial->kernel);
    r.outputs |= ATTEST_GIVES_STATE;
    r.c.problem.n = rows;
    r.c.problem.axis[ATTEST_AXIS_MASK].value = ATTEST_MASK_CAUSAL_BR;
    ATTEST_TRY(attest_relation_map(&from, &r, ATTEST_LETTER_N, rows, err));
    for (int64_t i = 0; i < rows; i++)
        from[i] = p->n - rows + i;
    ATTEST_TRY(attest_relation_check(found, trial, &r, err));
out:
    attest_relation_clear(&r);
    return status;
}

/* Is the last query at the last key?  And cosformer's max(n,m) is m. */
static int ends_together(const attest_problem *p)
{
    const uint32_t mask = prop_axis(p, ATTEST_AXIS_MASK);
    const int square = mask == ATTEST_MASK_CAUSAL && p->n == p->m && !prop_axis(p, ATTEST_AXIS_LENS);
    return (square || mask == ATTEST_MASK_CAUSAL_BR) && (!is_cosformer(p) || p->n <= p->m) &&
           !prop_axis(p, ATTEST_AXIS_LENS_Q);
}

static int applies_last_row(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return ends_together(p) && p->n > 1;
}

static attest_status check_last_row(attest_finding *found, attest_trial *trial, attest_error *err)
{
    return check_last(found, trial, 1, err);
}

const attest_property attest_property_last_row = {
    "last-row",
    "the last query alone (decode: n=1 mask=causal-br) has the row that it has among all queries",
    "causal-br, or causal with n=m and without lens; not with lens_q, nor with decays, which need n=m",
    "bits from mask=causal-br if rows are independent (batch-invariant), else both runs' bounds",
    ATTEST_NEEDS_NOTHING,
    applies_last_row,
    check_last_row,
    violate_by_shape
};

static int applies_last_rows(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return ends_together(p) && p->n > 2;
}

static attest_status check_last_rows(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const int64_t rows = 2 + (int64_t)(attest_trial_word(trial, &attest_property_last_rows, 0) %
                                       (uint64_t)(trial->c.problem.n - 2));
    return check_last(found, trial, rows, err);
}

const attest_property attest_property_last_rows = {
    "last-rows",
    "the last few queries alone (prefill in pieces: mask=causal-br) have the rows they have among all",
    "causal-br, or causal with n=m and without lens; not with lens_q, nor with decays, which need n=m",
    "bits from mask=causal-br if rows are independent (batch-invariant), else both runs' bounds",
    ATTEST_NEEDS_NOTHING,
    applies_last_rows,
    check_last_rows,
    violate_by_shape
};

/* ---- other names of the same mask -------------------------------------------------------------------------------- */

static int applies_wide_window(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)k;
    return !prop_axis(p, ATTEST_AXIS_WINDOW) && !prop_axis(p, ATTEST_AXIS_STATE) && !prop_axis(p, ATTEST_AXIS_UPDATE);
}

/* No bits: nothing promises that another value of an axis, code of its own maybe, fuses the same products into sums. */
static attest_status check_wide_window(attest_finding *found, attest_trial *trial, attest_error *err)
{
    const attest_problem *p = &trial->c.problem;
    attest_relation r;
    attest_relation_init(&r, trial);
    r.bits = 0;
    r.c.problem.axis[ATTEST_AXIS_WINDOW] = (attest_setting){ ATTEST_WINDOW_W, (uint32_t)larger(p->n, p->m), 0 };
    const attest_status status = attest_relation_check(found, trial, &r, err);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_wide_window = { "wide-window",
                                                      "a window as wide as the whole problem, max(n,m), is none",
                                                      "all without window, state and update",
                                                      PROP_BOUNDS,
                                                      ATTEST_NEEDS_BOUNDS,
                                                      applies_wide_window,
                                                      check_wide_window,
                                                      violate_by_shape };

static int applies_square(const attest_problem *p, const attest_prop_kernel *k)
{
    const uint32_t lens_q = prop_axis(p, ATTEST_AXIS_LENS_Q);
    (void)k;
    return prop_axis(p, ATTEST_AXIS_MASK) && p->n == p->m &&
           (lens_q == ATTEST_LENS_Q_LEN || (!lens_q && !prop_axis(p, ATTEST_AXIS_LENS)));
}

static attest_status check_square(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    attest_relation_init(&r, trial);
    r.bits = 0; /* see wide-window */
    r.outputs |= ATTEST_GIVES_STATE;
    r.c.problem.axis[ATTEST_AXIS_MASK].value = ATTEST_MASK_CAUSAL + ATTEST_MASK_CAUSAL_BR -
                                               prop_axis(&trial->c.problem, ATTEST_AXIS_MASK);
    const attest_status status = attest_relation_check(found, trial, &r, err);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_square_mask = { "square-mask",
                                                      "mask=causal and mask=causal-br are the same where n=m",
                                                      "causal and causal-br with n=m, without lens or with lens_q=len",
                                                      PROP_BOUNDS,
                                                      ATTEST_NEEDS_BOUNDS,
                                                      applies_square,
                                                      check_square,
                                                      violate_by_shape };
