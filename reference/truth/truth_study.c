/* truth_study.c - what is asked of whole rows: facts, distances between two truths, the witness's word. */
#include "reference/truth/truth.h"

#include <math.h> /* NAN only: no function of libm */
#include <stdio.h>
#include <string.h>

enum { STUDY_CAP = 2048, STUDY_START = 192 }; /* bits: a truncation error may be 2^-150 of the output */

attest_status attest_truth_facts(attest_row_facts *facts, attest_truth *truth, attest_row at, attest_error *err)
{
    ref_row *row = NULL;
    attest_status status;
    AUTO_ARB(low, high);
    AUTO_MAG(size, largest);
    memset(facts, 0, sizeof *facts);
    ATTEST_TRY(ref_truth_row(&row, truth, at, ATTEST_PRECISION_START, err));
    if (row->has_facts) {
        *facts = row->facts;
        goto out;
    }
    facts->visible = row->keys;
    facts->engine = row->engine;
    facts->bits = row->prec;
    for (int64_t j = 0; j < row->keys; j++) {
        arb_min(low, j ? low : row->s, row->s + j, row->prec);
        arb_max(high, j ? high : row->s, row->s + j, row->prec);
        arb_get_mag(size, row->s + j);
        mag_max(largest, largest, size);
        facts->negative_weight |= arb_is_negative(row->w + j) != 0;
    }
    facts->sum_sign = arb_is_positive(row->z) ? 1 : arb_is_negative(row->z) ? -1 : 0;
    arb_sub(high, high, low, row->prec);
    facts->range_lo = ref_lower(high);
    facts->range_hi = ref_upper(high);
    if (attest_axis_value_of(ref_truth_inputs(truth)->p, ATTEST_AXIS_UPDATE) != ATTEST_UPDATE_ADD) { /* no scores */
        facts->range_lo = facts->range_hi = facts->abs_score = (double)NAN;
    } else {
        if (facts->range_lo < 0) /* a range is never negative: only its enclosure is */
            facts->range_lo = 0;
        facts->abs_score = ref_mag_upper(largest);
    }
    row->facts = *facts;
    row->has_facts = 1;
out:
    return status;
}

/* ---- two truths -------------------------------------------------------------------------------------------------- */
/* Narrow enough to report: relative radius below 2^-30. */
static int narrow(const arb_t x) { return arb_rel_accuracy_bits(x) >= 30; }

static void write_interval(double *lo, double *hi, const arb_t x)
{
    *lo = ref_lower(x);
    *hi = ref_upper(x);
    if (*lo < 0)
        *lo = 0;
}

static int has_o(const ref_row *row) { return !row->no_truth && !row->illposed; }

attest_status attest_truth_distance(double *lo, double *hi, attest_truth *a, attest_truth *b_truth, attest_row at,
                                    attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int64_t e = a->p->e;
    AUTO_ARB(x);
    for (slong prec = STUDY_START, open = 1; open && prec <= STUDY_CAP; prec *= 2) {
        ref_row *r, *s;
        ATTEST_TRY(ref_truth_row(&r, a, at, prec, err));
        ATTEST_TRY(ref_truth_row(&s, b_truth, at, prec, err));
        const int known = has_o(r) && has_o(s);
        open = !known && !r->no_truth && !s->no_truth;
        for (int64_t c = 0; c < e; c++) {
            lo[c] = hi[c] = NAN;
            if (!known)
                continue;
            arb_sub(x, r->o + c, s->o + c, prec);
            arb_abs(x, x);
            write_interval(&lo[c], &hi[c], x);
            open |= !narrow(x) && !arb_is_zero(x);
        }
    }
out:
    return status;
}

/* sum of the weights of a row */
static void total(arb_t sum, const ref_row *row, slong prec)
{
    arb_zero(sum);
    for (int64_t j = 0; j < row->keys; j++)
        arb_add(sum, sum, row->w + j, prec);
}

/* largest = max_j |(w_aj/W_a)/(w_bj/W_b) - 1|; 0 if a divisor may be 0 or there is no key. */
static int weight_error(arb_t largest, const ref_row *r, const ref_row *s, slong prec)
{
    AUTO_ARB(ra, rb, x);
    int known = r->keys > 0 && r->keys == s->keys && !r->no_truth && !s->no_truth;
    total(ra, r, prec);
    total(rb, s, prec);
    arb_div(ra, rb, ra, prec); /* W_b/W_a; not finite if W_a may be 0 */
    arb_zero(largest);
    known = known && arb_is_finite(ra);
    for (int64_t j = 0; known && j < r->keys; j++) {
        arb_div(x, r->w + j, s->w + j, prec);
        arb_mul(x, x, ra, prec);
        arb_sub_ui(x, x, 1, prec);
        arb_abs(x, x);
        known = arb_is_finite(x) != 0;
        arb_max(largest, largest, x, prec);
    }
    return known;
}

attest_status attest_truth_weight_error(double *lo, double *hi, attest_truth *a, attest_truth *b_truth, attest_row at,
                                        attest_error *err)
{
    attest_status status = ATTEST_OK;
    AUTO_ARB(x);
    *lo = *hi = NAN;
    for (slong prec = STUDY_START, open = 1; open && prec <= STUDY_CAP; prec *= 2) {
        ref_row *r, *s;
        ATTEST_TRY(ref_truth_row(&r, a, at, prec, err));
        ATTEST_TRY(ref_truth_row(&s, b_truth, at, prec, err));
        const int known = weight_error(x, r, s, prec);
        if (known)
            write_interval(lo, hi, x);
        open = known ? !narrow(x) && !arb_is_zero(x) : r->keys > 0 && !r->no_truth && !s->no_truth;
    }
out:
    return status;
}

/* ---- cross-examination ------------------------------------------------------------------------------------------- */
enum { WITNESS_BITS = 512 };

/* 1 if the witness's value +- error meets the ball; what the witness does not know meets anything. */
static int meets(const arb_t ball, const mpfr_t value, const mpfr_t error)
{
    AUTO_ARB(x);
    int yes;
    ref_witness_ball(x, value, error);
    yes = !arb_is_finite(x) || !arb_is_finite(ball) || arb_overlaps(x, ball);
    return yes;
}

/* The first element that the two do not share, as text in `where`; 1 if none. */
static int agree(char *where, size_t len, const ref_row *row, const ref_witness *w)
{
    const char *flag = row->no_truth != w->no_truth                          ? "no-truth"
                       : row->empty != w->empty                              ? "empty"
                       : row->lse_absent && !row->no_truth && !w->lse_absent ? "lse-absent"
                                                                             : NULL;
    if (flag) {
        snprintf(where, len, "the %s flag", flag);
        return 0;
    }
    if (row->no_truth)
        return 1;
    for (int64_t c = 0; c < row->e; c++) {
        const int u = meets(row->u + c, w->u[c], w->u_error[c]);
        if (u && (row->illposed || w->illposed || meets(row->o + c, w->o[c], w->o_error[c])))
            continue;
        snprintf(where, len, "%s of channel %lld", u ? "o" : "u", (long long)c);
        return 0;
    }
    snprintf(where, len, "z");
    if (!meets(row->z, w->z, w->z_error))
        return 0;
    snprintf(where, len, "lse");
    return row->empty || row->lse_absent || row->lse_open || w->lse_absent || meets(row->lse, w->lse, w->lse_error);
}

attest_status attest_truth_cross_examine(int *overlap, attest_truth *truth, attest_row at, attest_error *err)
{
    char why[160];
    attest_status status = ATTEST_OK;
    ref_row *row;
    ref_witness witness;
    *overlap = 0;
    if (!ref_witness_serves(truth->p, why, sizeof why))
        return attest_fail(err, ATTEST_UNSUPPORTED, "witness: %s", why);
    ref_witness_init(&witness);
    ATTEST_TRY(ref_truth_row(&row, truth, at, ATTEST_PRECISION_START, err));
    ATTEST_TRY(ref_witness_row(&witness, truth->p, truth->bundle, at, WITNESS_BITS, err));
    *overlap = agree(why, sizeof why, row, &witness);
    if (!*overlap)
        attest_fail(err, ATTEST_INTERNAL, "row [%lld,%lld,%lld]: witness and %s engine disagree in %s", (long long)at.b,
                    (long long)at.h, (long long)at.i, attest_engine_name(row->engine), why);
out:
    ref_witness_clear(&witness);
    return status;
}
