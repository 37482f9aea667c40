/* evidence_series.c - the truncated exponential: root, reach and order per center, the error identities of theory
 * A1.1; and softmax over a list as a function of its scale. */
#include <math.h> /* NAN and isfinite only: no function of libm */
#include <string.h>

#include "reference/evidence/evidence_private.h"
#if defined(__has_include) && __has_include(<flint/arb_poly.h>)
#include <flint/arb_poly.h>
#else
#include <arb_poly.h>
#endif

enum { BITS = 256, MOST_BITS = 8192, STEPS = 60 };

void ref_taylor_sum(arb_t t, ulong p, const arb_t x, slong prec)
{
    AUTO_ARB(sum);
    arb_one(sum);
    for (ulong n = p; n > 0; n--) {
        arb_mul(sum, sum, x, prec);
        arb_div_ui(sum, sum, n, prec);
        arb_add_ui(sum, sum, 1, prec);
    }
    arb_swap(t, sum);
}

/* P_p(x) = 1 - e^-x T_p(x) */
static void tail(arb_t value, int p, const arb_t x, slong prec)
{
    AUTO_ARB(e);
    arb_neg(e, x);
    arb_exp(e, e, prec);
    ref_taylor_sum(value, (ulong)p, x, prec);
    arb_mul(value, value, e, prec);
    arb_sub_ui(value, value, 1, prec);
    arb_neg(value, value);
}

/* R-TAIL: T_p, p odd, grows (T_p' = T_{p-1} > 0) from below 0 at -p-1 to 1 at 0: halving keeps the root inside, at the
 * ends where the sign is certain. */
attest_status attest_evidence_root(attest_span *root, int p, attest_error *err)
{
    attest_status status = ATTEST_OK;
    double lo = -p - 1.0, hi = 0;
    AUTO_ARB(x, t);
    *root = (attest_span){ NAN, NAN };
    if (p < 1 || p % 2 == 0 || p > 10000)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "T_%d: a root is found for odd p from 1 to 9999", p));
    for (int step = 0; step < STEPS; step++) {
        const double mid = lo + (hi - lo) / 2;
        if (mid <= lo || mid >= hi)
            break;
        arb_set_d(x, mid);
        ref_taylor_sum(t, (ulong)p, x, BITS);
        if (arb_is_zero(t))
            lo = hi = mid;
        else if (arb_is_negative(t))
            lo = mid;
        else if (arb_is_positive(t))
            hi = mid;
        else
            break;
    }
    *root = (attest_span){ lo, hi };
out:
    return status;
}

/* Ends of x for a row of range R: x in [R*from, R*to]. */
static const struct {
    const char *center;
    double from, to;
} intervals[] = { { "max", -1, 0 }, { "min", 0, 1 }, { "mid", -0.5, 0.5 }, { "zero", -1, 1 } };

/* R-TAIL: osc(P)/(1 - max P) over the interval, or infinite where max P >= 1.  P' = x^p e^-x/p!: P grows for p even;
 * for p odd it falls to P(0) = 0 and grows again. */
static void relative_error(arb_t worst, int p, double from, double to, slong prec)
{
    AUTO_ARB(x, a, b, low, high);
    arb_set_d(x, from);
    tail(a, p, x, 2 * prec);
    arb_set_d(x, to);
    tail(b, p, x, 2 * prec);
    arb_max(high, a, b, prec);
    arb_min(low, a, b, prec);
    if (p % 2 && from <= 0 && to >= 0)
        arb_zero(low);
    arb_sub(low, high, low, prec);
    arb_sub_ui(high, high, 1, prec);
    arb_neg(high, high);
    if (arb_is_positive(high))
        arb_div(worst, low, high, prec);
    else if (arb_is_nonpositive(high))
        arb_pos_inf(worst);
    else
        arb_zero_pm_inf(worst); /* not decided at this precision */
}

static attest_status interval_of(size_t *index, const char *center, attest_error *err)
{
    for (*index = 0; *index < sizeof intervals / sizeof intervals[0]; ++*index)
        if (strcmp(intervals[*index].center, center) == 0)
            return ATTEST_OK;
    return attest_fail(err, ATTEST_BAD_INPUT, "'%s' is no center", center);
}

static attest_status tolerance_of(double tolerance, attest_error *err)
{
    return tolerance > 0 && isfinite(tolerance) ? ATTEST_OK
                                                : attest_fail(err, ATTEST_BAD_INPUT, "a tolerance of %g", tolerance);
}

/* 1 if range is surely within the tolerance. */
static int within(int p, size_t interval, double range, double tolerance)
{
    AUTO_ARB(worst, limit);
    relative_error(worst, p, intervals[interval].from * range, intervals[interval].to * range, BITS);
    arb_set_d(limit, tolerance);
    const int yes = arb_le(worst, limit);
    return yes;
}

attest_status attest_evidence_weight_error(attest_span *error, int p, const char *center, double range,
                                           attest_error *err)
{
    attest_status status = ATTEST_OK;
    size_t interval;
    AUTO_ARB(worst);
    *error = (attest_span){ NAN, NAN };
    if (p < 0 || p > 100000)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%d is no order", p));
    if (!(range >= 0) || !isfinite(range))
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "a range of %g", range));
    ATTEST_TRY(interval_of(&interval, center, err));
    for (slong prec = BITS; prec <= MOST_BITS; prec *= 2) {
        relative_error(worst, p, intervals[interval].from * range, intervals[interval].to * range, prec);
        if (arf_is_pos_inf(arb_midref(worst))) {
            *error = (attest_span){ INFINITY, INFINITY };
            goto out;
        }
        if (arb_is_zero(worst) || (arb_is_finite(worst) && arb_rel_accuracy_bits(worst) >= 20)) {
            *error = ref_span_of(worst);
            goto out;
        }
    }
    status = attest_fail(err, ATTEST_BAD_INPUT, "order %d, range %g: not decided at %d bits", p, range, MOST_BITS);
out:
    return status;
}

/* The error grows with the range: halving between a range surely within and one that is not. */
attest_status attest_evidence_reach(attest_span *range, int p, const char *center, double tolerance, attest_error *err)
{
    attest_status status;
    size_t interval;
    double lo = 0, hi = 1;
    *range = (attest_span){ NAN, NAN };
    if (p < 0)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%d is no order", p));
    ATTEST_TRY(tolerance_of(tolerance, err));
    ATTEST_TRY(interval_of(&interval, center, err));
    while (within(p, interval, hi, tolerance) && hi < 1024)
        lo = hi, hi *= 2;
    for (int step = 0; step < STEPS && hi - lo > 1e-9 * hi; step++) {
        const double mid = lo + (hi - lo) / 2;
        if (within(p, interval, mid, tolerance))
            lo = mid;
        else
            hi = mid;
    }
    *range = (attest_span){ lo, hi };
out:
    return status;
}

attest_status attest_evidence_order(int64_t *p, double range, const char *center, double tolerance, attest_error *err)
{
    attest_status status;
    size_t interval;
    *p = -1;
    ATTEST_TRY(tolerance_of(tolerance, err));
    if (!(range >= 0) || !isfinite(range))
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "a range of %g", range));
    ATTEST_TRY(interval_of(&interval, center, err));
    for (int order = 0; order < 512 && *p < 0; order++)
        if (within(order, interval, range, tolerance))
            *p = order;
    if (*p < 0)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "no order below 512 reaches a range of %g", range));
out:
    return status;
}

/* ---- the error identities ---------------------------------------------------------------------------------------- */
typedef struct identity_row {
    const ref_row *t, *s;     /* taylor, softmax */
    arb_ptr tail, weight;     /* P_p(x_j), softmax weights */
    arb_t sum_t, sum_e, mean; /* sum T, sum e^x, Pbar */
} identity_row;

/* I1: w^T_j/w_j - 1 = (Pbar - P_j)/(1 - Pbar) */
static void identity_weights(attest_match *match, const identity_row *r)
{
    AUTO_ARB(left, right, rest);
    arb_sub_ui(rest, r->mean, 1, BITS);
    arb_neg(rest, rest);
    for (int64_t j = 0; j < r->t->keys; j++) {
        arb_div(left, r->t->w + j, r->sum_t, BITS);
        arb_div(left, left, r->weight + j, BITS);
        arb_sub_ui(left, left, 1, BITS);
        arb_sub(right, r->mean, r->tail + j, BITS);
        arb_div(right, right, rest, BITS);
        ref_match_balls(match, left, right);
    }
}

/* I2: o^T - o = -Cov_w(P, v)/(1 - Pbar), Cov = sum w P v - Pbar o */
static void identity_output(attest_match *match, const identity_row *r, const ref_inputs *in, int64_t b, int64_t g)
{
    const attest_tensor *v = in->role[ATTEST_V];
    AUTO_ARB(left, right, x);
    for (int64_t c = 0; c < r->t->e; c++) {
        arb_mul(right, r->mean, r->s->o + c, BITS);
        for (int64_t j = 0; j < r->t->keys; j++) {
            arb_set_d(x, attest_load(v, attest_offset(v, b, g, r->t->key[j], c)));
            arb_mul(x, x, r->tail + j, BITS);
            arb_submul(right, x, r->weight + j, BITS);
        }
        arb_sub_ui(x, r->mean, 1, BITS);
        arb_neg(x, x);
        arb_div(right, right, x, BITS);
        arb_sub(left, r->t->o + c, r->s->o + c, BITS);
        ref_match_balls(match, left, right);
    }
}

/* I3: w^T_i/w^T_j = e^(s_i - s_j) (1 - P_i)/(1 - P_j), the logarithm undone, so that signs are no matter */
static void identity_ratio(attest_match *match, const identity_row *r)
{
    AUTO_ARB(left, right, x);
    for (int64_t j = 0; j + 1 < r->t->keys; j++) {
        arb_div(left, r->t->w + j, r->t->w + j + 1, BITS);
        arb_sub(right, r->s->s + j, r->s->s + j + 1, BITS);
        arb_exp(right, right, BITS);
        arb_sub_ui(x, r->tail + j, 1, BITS);
        arb_mul(right, right, x, BITS);
        arb_sub_ui(x, r->tail + j + 1, 1, BITS);
        arb_div(right, right, x, BITS);
        ref_match_balls(match, left, right);
    }
}

/* I4: 1 - Pbar = sum T / sum e */
static void identity_sum(attest_match *match, const identity_row *r)
{
    AUTO_ARB(left, right);
    arb_sub_ui(left, r->mean, 1, BITS);
    arb_neg(left, left);
    arb_div(right, r->sum_t, r->sum_e, BITS);
    ref_match_balls(match, left, right);
}

/* x = s - c of the Taylor row; weights of e^x. */
static void identity_fill(identity_row *r, int p)
{
    AUTO_ARB(x);
    for (int64_t j = 0; j < r->t->keys; j++) {
        arb_sub(x, r->t->s + j, r->t->c, BITS);
        tail(r->tail + j, p, x, BITS);
        arb_exp(r->weight + j, x, BITS);
        arb_add(r->sum_e, r->sum_e, r->weight + j, BITS);
        arb_add(r->sum_t, r->sum_t, r->t->w + j, BITS);
    }
    for (int64_t j = 0; j < r->t->keys; j++) {
        arb_div(r->weight + j, r->weight + j, r->sum_e, BITS);
        arb_addmul(r->mean, r->weight + j, r->tail + j, BITS);
    }
}

attest_status attest_evidence_identities(attest_match match[4], attest_truth *taylor_truth, attest_truth *softmax,
                                         int p, attest_row at, attest_error *err)
{
    attest_status status;
    ref_row *t, *s;
    identity_row r;
    int64_t keys = 0;
    memset(&r, 0, sizeof r);
    arb_init(r.sum_t);
    arb_init(r.sum_e);
    arb_init(r.mean);
    ATTEST_TRY(ref_truth_row(&t, taylor_truth, at, BITS, err));
    ATTEST_TRY(ref_truth_row(&s, softmax, at, BITS, err));
    if (p < 0)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%d is no order", p));
    if (t->no_truth || s->no_truth || t->keys < 1 || t->keys != s->keys || t->first != s->first || t->e != s->e)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "row (%lld,%lld,%lld): two rows over the same keys are needed",
                               (long long)at.b, (long long)at.h, (long long)at.i));
    keys = t->keys;
    r.t = t;
    r.s = s;
    r.tail = _arb_vec_init(keys);
    r.weight = _arb_vec_init(keys);
    identity_fill(&r, p);
    identity_weights(&match[0], &r);
    identity_output(&match[1], &r, ref_truth_inputs(softmax), at.b, attest_kv_head(ref_truth_inputs(softmax)->p, at.h));
    identity_ratio(&match[2], &r);
    identity_sum(&match[3], &r);
out:
    if (r.tail)
        _arb_vec_clear(r.tail, keys);
    if (r.weight)
        _arb_vec_clear(r.weight, keys);
    arb_clear(r.sum_t);
    arb_clear(r.sum_e);
    arb_clear(r.mean);
    return status;
}

/* ---- softmax over a list ----------------------------------------------------------------------------------------- */
#define NO_SPAN ((attest_span){ NAN, NAN })

static int finite_list(const double *s, int64_t count, double lambda)
{
    int finite = count >= 1 && isfinite(lambda);
    for (int64_t h = 0; h < count && finite; h++)
        finite = isfinite(s[h]);
    return finite;
}

/* weight[h] = softmax(lambda s)_h */
static void list_weights(arb_ptr weight, const double *s, int64_t count, double lambda)
{
    AUTO_ARB(sum, l);
    arb_set_d(l, lambda);
    for (int64_t h = 0; h < count; h++) {
        arb_set_d(weight + h, s[h]);
        arb_mul(weight + h, weight + h, l, BITS);
        arb_exp(weight + h, weight + h, BITS);
        arb_add(sum, sum, weight + h, BITS);
    }
    for (int64_t h = 0; h < count; h++)
        arb_div(weight + h, weight + h, sum, BITS);
}

/* H(lambda + x) = -sum_h p_h ln p_h as a power series to x^1, p_h = e^(s_h (lambda+x)) / sum: no formula of the slope
 * is used. */
static void entropy_series(arb_poly_t entropy, const double *s, int64_t count, double lambda)
{
    arb_poly_t sum, term, logarithm;
    AUTO_ARB(c, l);
    arb_set_d(l, lambda);
    arb_poly_init(sum);
    arb_poly_init(term);
    arb_poly_init(logarithm);
    arb_poly_zero(entropy);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t h = 0; h < count; h++) {
            arb_set_d(c, s[h]);
            arb_poly_zero(term);
            arb_poly_set_coeff_arb(term, 1, c);
            arb_mul(c, c, l, BITS);
            arb_poly_set_coeff_arb(term, 0, c);
            arb_poly_exp_series(term, term, 2, BITS);
            if (pass == 0) {
                arb_poly_add(sum, sum, term, BITS);
                continue;
            }
            arb_poly_div_series(term, term, sum, 2, BITS);
            arb_poly_log_series(logarithm, term, 2, BITS);
            arb_poly_mullow(term, term, logarithm, 2, BITS);
            arb_poly_sub(entropy, entropy, term, BITS);
        }
    arb_poly_clear(sum);
    arb_poly_clear(term);
    arb_poly_clear(logarithm);
}

attest_status attest_evidence_gate(attest_gate_facts *facts, const double *s, int64_t count, double lambda,
                                   attest_error *err)
{
    *facts = (attest_gate_facts){ NO_SPAN, NO_SPAN, NO_SPAN, NO_SPAN };
    if (!finite_list(s, count, lambda))
        return attest_fail(err, ATTEST_BAD_INPUT, "a gate over no head, or not finite");
    arb_poly_t entropy;
    arb_ptr weight = _arb_vec_init(count);
    AUTO_ARB(x, mean, square);
    arb_poly_init(entropy);
    entropy_series(entropy, s, count, lambda);
    arb_poly_get_coeff_arb(x, entropy, 0);
    facts->entropy = ref_span_of(x);
    arb_poly_get_coeff_arb(x, entropy, 1);
    facts->slope = ref_span_of(x);
    list_weights(weight, s, count, lambda);
    for (int64_t h = 0; h < count; h++) {
        arb_set_d(x, s[h]);
        arb_addmul(mean, weight + h, x, BITS);
        arb_mul(x, x, x, BITS);
        arb_addmul(square, weight + h, x, BITS);
    }
    arb_submul(square, mean, mean, BITS);
    facts->variance = ref_span_of(square);
    arb_set(x, weight);
    for (int64_t h = 1; h < count; h++)
        arb_max(x, x, weight + h, BITS);
    facts->largest = ref_span_of(x);
    _arb_vec_clear(weight, count);
    arb_poly_clear(entropy);
    return ATTEST_OK;
}

attest_status attest_evidence_flow(attest_span *flow, const double *a, const double *b, int64_t count, double lambda,
                                   attest_error *err)
{
    *flow = NO_SPAN;
    if (!finite_list(a, count, lambda) || !finite_list(b, count, lambda))
        return attest_fail(err, ATTEST_BAD_INPUT, "a gate over no head, or not finite");
    arb_ptr read = _arb_vec_init(count), write = _arb_vec_init(count);
    AUTO_ARB(sum);
    list_weights(read, a, count, lambda);
    list_weights(write, b, count, lambda);
    arb_dot(sum, NULL, 0, read, 1, write, 1, (slong)count, BITS);
    *flow = ref_span_of(sum);
    _arb_vec_clear(read, count);
    _arb_vec_clear(write, count);
    return ATTEST_OK;
}
