/* evidence_rows.c - what rows of a truth show: values, weights, equality of two rows, moments, the filter. */
#include <math.h> /* NAN and isfinite only: no function of libm */

#include "reference/evidence/evidence_private.h"
#include "reference/truth/truth.h"

enum { BITS = 256 };

attest_span ref_span_of(const arb_t x)
{
    return arb_is_finite(x) ? (attest_span){ ref_lower(x), ref_upper(x) } : (attest_span){ NAN, NAN };
}

void ref_match_add(attest_match *match, const arb_t difference, int different, int rational)
{
    const double lo = ref_lower(difference), hi = ref_upper(difference);
    match->compared++;
    match->different += different != 0;
    match->rational += rational != 0;
    if (!(hi <= match->distance)) /* NaN and infinity stay */
        match->distance = hi;
    if (lo > match->apart)
        match->apart = lo;
}

void ref_match_balls(attest_match *match, const arb_t x, const arb_t y)
{
    AUTO_ARB(d);
    arb_sub(d, x, y, BITS);
    arb_abs(d, d);
    ref_match_add(match, d, !arb_overlaps(x, y) || !arb_is_finite(d), 0);
}

/* A row whose scores and weights exist. */
static attest_status known_row(ref_row **row, attest_truth *truth, attest_row at, attest_error *err)
{
    const attest_status status = ref_truth_row(row, truth, at, BITS, err);
    if (status == ATTEST_OK && (*row)->no_truth)
        return attest_fail(err, ATTEST_BAD_INPUT, "row (%lld,%lld,%lld) reads an input that is not finite",
                           (long long)at.b, (long long)at.h, (long long)at.i);
    return status;
}

/* The values of one output in a row: a ball each, and a rational where the row has them. */
typedef struct row_values {
    arb_srcptr ball;
    mpq_t *rational;
    int64_t count;
    int known;
} row_values;

static row_values values_of(ref_row *row, uint32_t role, const attest_problem *p)
{
    if (role == ATTEST_O)
        ref_row_reduce(row);
    row_values v = { row->o, row->rational && !row->illposed ? row->oq : NULL, row->e, !row->no_truth };
    if (role == ATTEST_O)
        v.known = v.known && !row->illposed;
    if (role == ATTEST_U)
        v.ball = row->u, v.rational = row->rational ? row->uq : NULL;
    if (role == ATTEST_Z)
        v.ball = row->z, v.rational = row->rational ? &row->zq : NULL, v.count = 1;
    if (role == ATTEST_LSE)
        v.ball = row->lse, v.rational = NULL, v.count = 1, v.known = v.known && !row->lse_absent && !row->empty;
    if (role != ATTEST_O && !attest_problem_has(p, (attest_tensor_id){ ATTEST_KIND_ROLE, role }, NULL, 0))
        v.known = 0;
    return v;
}

static attest_status output_role(uint32_t role, attest_error *err)
{
    if (role == ATTEST_O || role == ATTEST_U || role == ATTEST_Z || role == ATTEST_LSE)
        return ATTEST_OK;
    return attest_fail(err, ATTEST_BAD_INPUT, "role %u is no output of a row", (unsigned)role);
}

attest_status attest_evidence_row(attest_span *value, attest_truth *truth, uint32_t role, attest_row at,
                                  attest_error *err)
{
    ref_row *row;
    attest_status status;
    ATTEST_TRY(output_role(role, err));
    ATTEST_TRY(ref_truth_row(&row, truth, at, BITS, err));
    const row_values v = values_of(row, role, ref_truth_inputs(truth)->p);
    for (int64_t c = 0; c < v.count; c++)
        value[c] = v.known ? ref_span_of(v.ball + c) : (attest_span){ NAN, NAN };
out:
    return status;
}

attest_status attest_evidence_weights(attest_span *weight, attest_span *score, int64_t room, int64_t *count,
                                      attest_truth *truth, attest_row at, attest_error *err)
{
    ref_row *row;
    attest_status status;
    AUTO_ARB(sum, x);
    *count = 0;
    ATTEST_TRY(known_row(&row, truth, at, err));
    if (row->keys > room)
        ATTEST_TRY(
            attest_fail(err, ATTEST_INTERNAL, "%lld keys, room for %lld", (long long)row->keys, (long long)room));
    for (int64_t j = 0; j < row->keys; j++)
        arb_add(sum, sum, row->w + j, BITS);
    for (int64_t j = 0; j < row->keys; j++) {
        arb_div(x, row->w + j, sum, BITS);
        if (weight)
            weight[j] = ref_span_of(x);
        if (score)
            score[j] = ref_span_of(row->s + j);
    }
    *count = row->keys;
out:
    return status;
}

/* ---- equality ---------------------------------------------------------------------------------------------------- */
static void count_pair(attest_match *match, const arb_t x, const arb_t y, const mpq_t *a, const mpq_t *b)
{
    AUTO_ARB(d);
    arb_sub(d, x, y, BITS);
    arb_abs(d, d);
    const int different = a && b ? !mpq_equal(*a, *b) : !arb_overlaps(x, y);
    if (a && b && !different)
        arb_zero(d);
    ref_match_add(match, d, different, a && b);
}

attest_status attest_evidence_same(attest_match *match, uint32_t role, attest_truth *one, attest_row at,
                                   attest_truth *two, attest_row there, attest_error *err)
{
    ref_row *first, *second;
    attest_status status;
    arb_ptr copy = NULL;
    int64_t count = 0;
    mpq_t *rational = NULL;
    ATTEST_TRY(output_role(role, err));
    ATTEST_TRY(ref_truth_row(&first, one, at, BITS, err));
    const row_values x = values_of(first, role, ref_truth_inputs(one)->p);
    count = x.count;
    copy = _arb_vec_init(count); /* of one truth, the second row may take the first one's place */
    _arb_vec_set(copy, x.ball, count);
    const int known = x.known;
    if (x.rational) {
        rational = malloc((size_t)count * sizeof *rational);
        if (!rational)
            ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "%lld rationals", (long long)count));
        for (int64_t c = 0; c < count; c++) {
            mpq_init(rational[c]);
            mpq_set(rational[c], x.rational[c]);
        }
    }
    ATTEST_TRY(ref_truth_row(&second, two, there, BITS, err));
    const row_values y = values_of(second, role, ref_truth_inputs(two)->p);
    if (!known || !y.known || y.count != count)
        ATTEST_TRY(attest_fail(err, ATTEST_INTERNAL, "row (%lld,%lld,%lld) has no value to compare", (long long)at.b,
                               (long long)at.h, (long long)at.i));
    for (int64_t c = 0; c < count; c++)
        count_pair(match, copy + c, y.ball + c, rational ? &rational[c] : NULL, y.rational ? &y.rational[c] : NULL);
out:
    if (copy)
        _arb_vec_clear(copy, count);
    for (int64_t c = 0; rational && c < count; c++)
        mpq_clear(rational[c]);
    free(rational);
    return status;
}

/* The same row of two truths, of one width. */
static attest_status known_rows(ref_row **x, ref_row **y, attest_truth *one, attest_truth *two, attest_row at,
                                attest_error *err)
{
    attest_status status;
    ATTEST_TRY(known_row(x, one, at, err));
    ATTEST_TRY(known_row(y, two, at, err));
    if ((*x)->e != (*y)->e)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "rows of %lld and of %lld values", (long long)(*x)->e,
                               (long long)(*y)->e));
out:
    return status;
}

attest_status attest_evidence_cosine(attest_span *cosine, attest_truth *one, attest_truth *two, attest_row at,
                                     attest_error *err)
{
    ref_row *x, *y;
    attest_status status;
    AUTO_ARB(dot, xx, yy);
    *cosine = (attest_span){ NAN, NAN };
    ATTEST_TRY(known_rows(&x, &y, one, two, at, err));
    if (x->illposed || y->illposed) /* stays NaN */
        goto out;
    arb_dot(dot, NULL, 0, x->o, 1, y->o, 1, (slong)x->e, BITS);
    arb_dot(xx, NULL, 0, x->o, 1, x->o, 1, (slong)x->e, BITS);
    arb_dot(yy, NULL, 0, y->o, 1, y->o, 1, (slong)y->e, BITS);
    arb_mul(xx, xx, yy, BITS);
    arb_sqrt(xx, xx, BITS);
    arb_div(dot, dot, xx, BITS);
    *cosine = ref_span_of(dot);
out:
    return status;
}

attest_status attest_evidence_distance(attest_span *distance, attest_truth *one, attest_truth *two, attest_row at,
                                       attest_error *err)
{
    ref_row *x, *y;
    attest_status status;
    AUTO_ARB(d, dd, yy);
    *distance = (attest_span){ NAN, NAN };
    ATTEST_TRY(known_rows(&x, &y, one, two, at, err));
    if (x->illposed || y->illposed) /* stays NaN */
        goto out;
    for (int64_t c = 0; c < x->e; c++) {
        arb_sub(d, x->o + c, y->o + c, BITS);
        arb_addmul(dd, d, d, BITS);
        arb_addmul(yy, y->o + c, y->o + c, BITS);
    }
    arb_div(dd, dd, yy, BITS);
    arb_sqrtpos(dd, dd, BITS);
    *distance = ref_span_of(dd);
out:
    return status;
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */
static void add_range(arb_t total, const ref_row *row)
{
    AUTO_ARB(low, high);
    for (int64_t j = 0; j < row->keys; j++) {
        arb_min(low, j ? low : row->s, row->s + j, BITS);
        arb_max(high, j ? high : row->s, row->s + j, BITS);
    }
    arb_sub(high, high, low, BITS);
    arb_add(total, total, high, BITS);
}

attest_status attest_evidence_moments(attest_span *mean, attest_span *variance, attest_span *range, attest_truth *truth,
                                      attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_problem *p = ref_truth_inputs(truth)->p;
    const int64_t rows = p->b * p->hq * p->n;
    int64_t count = 0;
    AUTO_ARB(sum, squares, ranges);
    for (int64_t r = 0; r < rows; r++) {
        ref_row *row;
        ATTEST_TRY(known_row(&row, truth, (attest_row){ r / p->n / p->hq, r / p->n % p->hq, r % p->n }, err));
        for (int64_t j = 0; j < row->keys; j++, count++) {
            arb_add(sum, sum, row->s + j, BITS);
            arb_addmul(squares, row->s + j, row->s + j, BITS);
        }
        add_range(ranges, row);
    }
    arb_div_ui(sum, sum, (ulong)count, BITS);
    arb_div_ui(squares, squares, (ulong)count, BITS);
    arb_submul(squares, sum, sum, BITS);
    arb_div_ui(ranges, ranges, (ulong)rows, BITS);
    *mean = ref_span_of(sum); /* no key at all: 0/0, NaN */
    *variance = ref_span_of(squares);
    *range = ref_span_of(ranges);
out:
    return status;
}

attest_status attest_evidence_filter(int64_t *kept, attest_span *range, attest_span *dropped, attest_truth *truth,
                                     double tau, attest_row at, attest_error *err)
{
    ref_row *row;
    attest_status status;
    AUTO_ARB(top, limit, low, mass, all);
    *kept = 0;
    *range = *dropped = (attest_span){ NAN, NAN };
    if (!(tau > 0) || !isfinite(tau))
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "a threshold of %g: it is above 0 and finite", tau));
    ATTEST_TRY(known_row(&row, truth, at, err));
    if (row->keys < 1)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "row (%lld,%lld,%lld) sees no key", (long long)at.b,
                               (long long)at.h, (long long)at.i));
    for (int64_t j = 0; j < row->keys; j++)
        arb_max(top, j ? top : row->s, row->s + j, BITS);
    arb_set_d(limit, tau);
    arb_sub(limit, top, limit, BITS);
    for (int64_t j = 0; j < row->keys; j++) {
        arb_add(all, all, row->w + j, BITS);
        if (arb_gt(row->s + j, limit)) {
            arb_min(low, *kept ? low : row->s + j, row->s + j, BITS);
            ++*kept;
        } else if (arb_le(row->s + j, limit)) {
            arb_add(mass, mass, row->w + j, BITS);
        } else {
            ATTEST_TRY(attest_fail(err, ATTEST_INTERNAL, "score %lld is too near the threshold", (long long)j));
        }
    }
    arb_sub(low, top, low, BITS);
    arb_div(mass, mass, all, BITS);
    *range = ref_span_of(low);
    *dropped = ref_span_of(mass);
out:
    return status;
}
