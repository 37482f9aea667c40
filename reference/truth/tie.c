/* tie.c - whether an output equals a rational exactly, although its weights are transcendental (R-TIE).
 *
 * e^a over distinct algebraic a are linearly independent over the algebraic numbers (Lindemann-Weierstrass).
 * u = x * divisor is a sum of such terms once keys of exactly equal score are grouped, so it holds if and only if
 * every group's coefficient is 0:  sum_{j in group} (v_j - m x) = 0.  What the divisor has besides the weights
 * (the sink, eps, the 1 of norm=none) is one more term -x * extra at its own exponent; m = 0 for norm=none. */
#include "reference/exact/exact.h"

#include <stdlib.h>

/* The part of the divisor that is no sum of weights: amount * e^exponent; amount 0 = none. */
typedef struct tie_extra {
    double exponent, amount;
    int divides; /* m: the weights are in the divisor */
} tie_extra;

static tie_extra extra_of(const exact_keys *r)
{
    const attest_problem *p = r->in->p;
    const axis_norm *norm = axis_norm_of(p);
    const attest_tensor *sink = r->in->role[ATTEST_SINK];
    tie_extra extra = { .exponent = 0.0, .amount = 1.0, .divides = norm->kind != AXIS_NORM_PLAIN };
    if (norm->sink)
        extra.exponent = attest_load(sink, attest_offset(sink, r->h, 0, 0, 0));
    if (norm->eps)
        extra.amount = p->axis[ATTEST_AXIS_EPS].number;
    return extra;
}

typedef struct tie_key {
    mpz_ptr score;
    int64_t j; /* -1: the extra term */
} tie_key;

static int compare_scores(const void *a, const void *b)
{
    return mpz_cmp(((const tie_key *)a)->score, ((const tie_key *)b)->score);
}

/* coefficient += what one term gives its group. */
static void add_term(mpq_t coefficient, const tie_key *key, const exact_keys *r, const tie_extra *extra,
                     int64_t channel, const mpq_t candidate)
{
    AUTO_MPQ(x);
    if (key->j < 0) {
        mpq_set_d(x, extra->amount); /* exact */
        mpq_mul(x, x, candidate);
        mpq_sub(coefficient, coefficient, x);
    } else {
        mpq_set_d(x, exact_load_v(r, key->j, channel)); /* exact */
        mpq_add(coefficient, coefficient, x);
        if (extra->divides)
            mpq_sub(coefficient, coefficient, candidate);
    }
}

static int groups_vanish(tie_key *keys, int64_t count, const exact_keys *r, const tie_extra *extra, int64_t channel,
                         const mpq_t candidate)
{
    int vanish = 1;
    AUTO_MPQ(coefficient);
    qsort(keys, (size_t)count, sizeof *keys, compare_scores);
    for (int64_t k = 0; vanish && k < count; k++) {
        add_term(coefficient, &keys[k], r, extra, channel, candidate);
        const int group_ends = k + 1 == count || mpz_cmp(keys[k].score, keys[k + 1].score) != 0;
        if (group_ends) /* the next group starts from 0 as well */
            vanish = mpq_sgn(coefficient) == 0;
    }
    return vanish;
}

/* The extra term's exponent on the scores' grid; the grid is made finer where it has to be. */
static void extra_score(mpz_t out, exact_scores *scores, const exact_span *span, double exponent)
{
    const long finer = scores->exponent - span->low;
    if (finer > 0) {
        for (int64_t j = 0; j < scores->count; j++)
            mpz_mul_2exp(scores->s[j], scores->s[j], (mp_bitcnt_t)finer);
        scores->exponent -= finer;
    }
    exact_integer(out, exponent, scores->exponent);
}

int ref_tie(const ref_inputs *in, attest_row at, int64_t channel, const mpq_t candidate)
{
    exact_keys r;
    if (!axis_served(in->p, AXIS_TIE, 0, NULL) || !exact_keys_scan(&r, in, at, 1))
        return -1;
    if (r.first == r.last) /* an empty row is 0 by definition */
        return mpq_sgn(candidate) == 0;
    const tie_extra extra = extra_of(&r);
    exact_span span;
    exact_span_start(&span);
    exact_span_see(&span, extra.exponent);
    const long low = span.low < r.score.low ? span.low : r.score.low;
    const long bits = (span.top > r.score.top ? span.top : r.score.top) - (low < 0 ? low : 0) + 2;
    if (!span.finite || bits > EXACT_BITS_LIMIT || bits > EXACT_TOTAL_LIMIT / (r.last - r.first))
        return -1;
    int answer = -1;
    attest_error err;
    exact_scores scores = { 0 };
    AUTO_MPZ(extra_integer);
    tie_key *keys = malloc((size_t)(r.last - r.first + 1) * sizeof *keys);
    if (!keys || exact_scores_new(&scores, &r, &err) != ATTEST_OK)
        goto out;
    int64_t count = scores.count;
    extra_score(extra_integer, &scores, &span, extra.exponent);
    for (int64_t j = 0; j < count; j++)
        keys[j] = (tie_key){ scores.s[j], r.first + j };
    if (extra.amount > 0 || extra.amount < 0)
        keys[count++] = (tie_key){ extra_integer, -1 };
    answer = groups_vanish(keys, count, &r, &extra, channel, candidate);
out:
    free(keys);
    exact_scores_free(&scores);
    return answer;
}
