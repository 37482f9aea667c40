/* exact.c - the exact engine: rows of polynomial weights as rationals (theory A3; R-EXACT, R-EXACT-SIZE).
 *
 * With x = s - c an integer X over 2^F, P! 2^(FP) T_P(x) = sum_n (P!/n!) 2^(F(P-n)) X^n is an integer, by
 * Horner's rule; so are the sums over keys.  Rationals are made of the finished sums only. */
#include "reference/exact.h"

#include <stdlib.h>

static const uint32_t served[ATTEST_AXIS_COUNT] = {
    [ATTEST_AXIS_WEIGHT] =
        EXACT_ONLY(ATTEST_WEIGHT_TAYLOR) | EXACT_ONLY(ATTEST_WEIGHT_TERM) | EXACT_ONLY(ATTEST_WEIGHT_POWER),
    [ATTEST_AXIS_CENTER] = EXACT_ANY,
    [ATTEST_AXIS_FEATURE] = EXACT_ANY, /* exact_keys_scan() decides on the values at hand */
    [ATTEST_AXIS_MASK] = EXACT_ANY,
    [ATTEST_AXIS_WINDOW] = EXACT_ANY,
    [ATTEST_AXIS_LENS] = EXACT_ANY,
    [ATTEST_AXIS_NORM] = EXACT_ONLY(ATTEST_NORM_SUM) | EXACT_ONLY(ATTEST_NORM_NONE),
    [ATTEST_AXIS_EPS] = EXACT_ANY,
    [ATTEST_AXIS_STATE] = EXACT_ANY,
};

static int has_given_state(const ref_inputs *in)
{
    return attest_axis_value_of(in->p, ATTEST_AXIS_STATE) != ATTEST_STATE_NONE && in->highest >= in->lowest;
}

/* ---- size ---------------------------------------------------------------------------------------------------- */

static void widen(long *low, long *top, long other_low, long other_top)
{
    *low = other_low < *low ? other_low : *low;
    *top = other_top > *top ? other_top : *top;
}

/* Upper bound of the bits of every integer of the row (R-EXACT-SIZE): theory A3's formula with the exponents
 * that the row really has.  -1: a given state is not finite. */
static long predicted_bits(const exact_keys *r)
{
    const attest_setting *weight = &r->in->p->axis[ATTEST_AXIS_WEIGHT];
    const long order = (long)weight->order;
    const long factorial = weight->value == ATTEST_WEIGHT_POWER ? 0 : order * exact_log2_up(order + 1) + 2; /* e P! */
    const long score_low = (r->score.low < 0 ? r->score.low : 0) - 1; /* -1, +1: center */
    const long score_top = (r->score.top > 0 ? r->score.top : 0) + 1;
    long low = order * score_low + r->v.low;
    long top = order * score_top + r->v.top + exact_log2_up(r->last - r->first + 1);
    for (int n = r->in->lowest; has_given_state(r->in) && n <= r->in->highest; n++) {
        exact_span given;
        exact_given_span(&given, r->in, r->b, r->g, n, EXACT_COLUMN_V | EXACT_COLUMN_ONE);
        if (!given.finite)
            return -1;
        widen(&low, &top, n * (r->scale.low + r->q.low) + given.low,
              n * (r->scale.top + r->q.top + exact_log2_up(r->in->p->d)) + given.top);
    }
    exact_span eps;
    exact_span_start(&eps);
    exact_span_see(&eps, r->in->p->axis[ATTEST_AXIS_EPS].number);
    widen(&low, &top, eps.low, eps.top);
    return top - low + factorial + 2;
}

int ref_exact_serves(const ref_inputs *in, int64_t b, int64_t h, int64_t i)
{
    exact_keys r;
    if (!exact_axes_allowed(in->p, served) || !exact_keys_scan(&r, in, b, h, i, 1))
        return 0;
    const long bits = predicted_bits(&r);
    return bits >= 0 && bits <= EXACT_BITS_LIMIT && bits <= EXACT_TOTAL_LIMIT / (r.last - r.first + in->p->e + 1);
}

/* ---- weights ------------------------------------------------------------------------------------------------- */

/* W(x) for x = X 2^-grid is weight(X) * 2^exponent / denominator. */
typedef struct exact_weight {
    int order;
    int taylor;
    long exponent;
    mpz_t denominator;
    mpz_t *coefficient; /* taylor: (P!/n!) 2^(grid(P-n)) */
} exact_weight;

static void weight_free(exact_weight *w)
{
    exact_integers_free(w->coefficient, w->order + 1);
    mpz_clear(w->denominator);
}

static attest_status weight_new(exact_weight *w, const attest_problem *p, long grid, attest_error *err)
{
    const attest_setting *setting = &p->axis[ATTEST_AXIS_WEIGHT];
    w->order = (int)setting->order;
    w->taylor = setting->value == ATTEST_WEIGHT_TAYLOR;
    w->exponent = -grid * w->order;
    mpz_init_set_ui(w->denominator, 1);
    if (setting->value != ATTEST_WEIGHT_POWER)
        mpz_fac_ui(w->denominator, (unsigned long)w->order);
    w->coefficient = exact_integers_new(w->order + 1);
    if (!w->coefficient) {
        weight_free(w);
        return attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for %d coefficients", w->order + 1);
    }
    mpz_set_ui(w->coefficient[w->order], 1);
    for (int n = w->order; n > 0; n--)
        mpz_mul_ui(w->coefficient[n - 1], w->coefficient[n], (unsigned long)n);
    for (int n = 0; n < w->order; n++)
        mpz_mul_2exp(w->coefficient[n], w->coefficient[n], (mp_bitcnt_t)(grid * (w->order - n)));
    return ATTEST_OK;
}

static void weight_of(mpz_t out, const exact_weight *w, const mpz_t x)
{
    if (!w->taylor) {
        mpz_pow_ui(out, x, (unsigned long)w->order); /* 0^0 = 1 */
        return;
    }
    mpz_set(out, w->coefficient[w->order]);
    for (int n = w->order - 1; n >= 0; n--) {
        mpz_mul(out, out, x);
        mpz_add(out, out, w->coefficient[n]);
    }
}

/* Subtracts the row's center from every score; mid lies on the grid of halves. */
static void center_scores(exact_scores *s, uint32_t center)
{
    if (center == ATTEST_CENTER_ZERO || s->count == 0)
        return;
    mpz_t least, greatest, c;
    mpz_init_set(least, s->s[0]);
    mpz_init_set(greatest, s->s[0]);
    mpz_init(c);
    for (int64_t j = 1; j < s->count; j++) {
        if (mpz_cmp(s->s[j], least) < 0)
            mpz_set(least, s->s[j]);
        if (mpz_cmp(s->s[j], greatest) > 0)
            mpz_set(greatest, s->s[j]);
    }
    if (center == ATTEST_CENTER_MID) {
        mpz_add(c, least, greatest);
        s->exponent--;
        for (int64_t j = 0; j < s->count; j++)
            mpz_mul_2exp(s->s[j], s->s[j], 1);
    } else {
        mpz_set(c, center == ATTEST_CENTER_MAX ? greatest : least);
    }
    for (int64_t j = 0; j < s->count; j++)
        mpz_sub(s->s[j], s->s[j], c);
    mpz_clear(c);
    mpz_clear(greatest);
    mpz_clear(least);
}

attest_status exact_sums(mpq_t *u, mpq_t z, const exact_keys *r, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_problem *p = r->in->p;
    exact_scores scores = { 0 };
    exact_weight weight = { 0 };
    mpz_t w, v;
    mpz_t *sum = NULL; /* [e+1]: numerators, denominator */
    mpz_init(w);
    mpz_init(v);
    ATTEST_TRY(exact_scores_new(&scores, r, err));
    center_scores(&scores, attest_axis_value_of(p, ATTEST_AXIS_CENTER));
    ATTEST_TRY(weight_new(&weight, p, -scores.exponent, err));
    sum = exact_integers_new(p->e + 1);
    if (!sum) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for %lld sums", (long long)p->e + 1);
        goto out;
    }
    for (int64_t j = 0; j < scores.count; j++) {
        weight_of(w, &weight, scores.s[j]);
        mpz_add(sum[p->e], sum[p->e], w);
        for (int64_t c = 0; c < p->e; c++) {
            exact_integer(v, exact_load_v(r, r->first + j, c), r->v.low);
            mpz_addmul(sum[c], w, v);
        }
    }
    for (int64_t c = 0; c < p->e; c++)
        exact_ratio(u[c], sum[c], weight.exponent + r->v.low, weight.denominator);
    exact_ratio(z, sum[p->e], weight.exponent, weight.denominator);
out:
    exact_integers_free(sum, p->e + 1);
    if (weight.coefficient)
        weight_free(&weight);
    exact_scores_free(&scores);
    mpz_clear(v);
    mpz_clear(w);
    return status;
}

/* ---- given states ---------------------------------------------------------------------------------------------- */

/* u, z += sum_n coefficient_n <phi(q)^(x n), h0.n>, one factor of phi(q) after the other. */
static attest_status add_given_states(mpq_t *u, mpq_t z, const exact_keys *r, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_problem *p = r->in->p;
    const int64_t columns = p->e + 1;
    exact_given given = { 0 };
    mpq_t coefficient, x;
    mpz_t t, one;
    mpq_init(coefficient);
    mpq_init(x);
    mpz_init(t);
    mpz_init_set_ui(one, 1);
    mpz_t *q = exact_integers_new(p->d);
    if (!q) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for a query");
        goto out;
    }
    for (int64_t c = 0; c < p->d; c++)
        exact_feature_integer(q[c], exact_load_q(r, c), r->feature, r->q.low);
    for (int n = r->in->lowest; n <= r->in->highest; n++) {
        ATTEST_TRY(exact_given_new(&given, r->in, r->b, r->g, n, EXACT_COLUMN_V | EXACT_COLUMN_ONE, err));
        for (int64_t rows = given.rows / p->d, k = 0; k < n; k++, rows /= p->d) {
            for (int64_t cell = 0; cell < rows * columns; cell++) {
                const int64_t first = cell / columns * p->d * columns + cell % columns;
                mpz_set_ui(t, 0);
                for (int64_t a = 0; a < p->d; a++)
                    mpz_addmul(t, q[a], given.a[first + a * columns]);
                mpz_set(given.a[cell], t); /* first >= cell: nothing unread is overwritten */
            }
        }
        exact_degree_coefficient(coefficient, p, n);
        for (int64_t c = 0; c < columns; c++) {
            exact_ratio(x, given.a[c], n * r->q.low + given.exponent, one);
            mpq_mul(x, x, coefficient);
            mpq_ptr sum = c < p->e ? u[c] : z;
            mpq_add(sum, sum, x);
        }
        exact_given_free(&given);
    }
out:
    exact_given_free(&given);
    exact_integers_free(q, p->d);
    mpz_clear(one);
    mpz_clear(t);
    mpq_clear(x);
    mpq_clear(coefficient);
    return status;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* The rational inside the ball?  Then the ball becomes a tight one around it. */
static attest_status settle(arb_t ball, const mpq_t q, slong prec, const char *name, int64_t c, attest_error *err)
{
    fmpq_t x;
    fmpq_init(x);
    fmpq_set_mpq(x, q);
    const int inside = arb_contains_fmpq(ball, x);
    arb_set_fmpq(ball, x, prec);
    fmpq_clear(x);
    if (!inside)
        return attest_fail(err, ATTEST_INTERNAL, "exact and ball engine disagree on %s, channel %lld", name,
                           (long long)c);
    return ATTEST_OK;
}

/* lse where the ball engine could not see the sign of z. */
static void settle_lse(ref_row *row)
{
    if (row->lse_absent)
        return;
    if (mpq_sgn(row->zq) <= 0) {
        row->lse_absent = 1;
    } else if (row->lse_open) {
        arb_log(row->lse, row->z, row->prec); /* z is tight and above 0 by now */
        arb_add(row->lse, row->lse, row->c, row->prec);
    }
    row->lse_open = 0;
}

/* oq = uq / (zq + eps), or uq; 0 where the divisor is 0. */
static int divide_row(ref_row *row, const attest_problem *p)
{
    mpq_t divisor;
    mpq_init(divisor);
    if (attest_axis_value_of(p, ATTEST_AXIS_NORM) == ATTEST_NORM_NONE) {
        mpq_set_ui(divisor, 1, 1);
    } else {
        mpq_set_d(divisor, p->axis[ATTEST_AXIS_EPS].number); /* exact */
        mpq_add(divisor, divisor, row->zq);
    }
    const int defined = mpq_sgn(divisor) != 0;
    for (int64_t c = 0; defined && c < p->e; c++)
        mpq_div(row->oq[c], row->uq[c], divisor);
    mpq_clear(divisor);
    return defined;
}

attest_status ref_exact_row(ref_row *row, const ref_inputs *in, int64_t b, int64_t h, int64_t i, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_problem *p = in->p;
    exact_keys r;
    if (!exact_axes_allowed(p, served) || !exact_keys_scan(&r, in, b, h, i, 1))
        return attest_fail(err, ATTEST_BAD_INPUT, "the exact engine does not serve row b=%lld h=%lld i=%lld",
                           (long long)b, (long long)h, (long long)i);
    ATTEST_TRY(exact_sums(row->uq, row->zq, &r, err));
    if (has_given_state(in))
        ATTEST_TRY(add_given_states(row->uq, row->zq, &r, err));
    const int ball_has_o = !row->illposed; /* a divisor that is 0 lies in every enclosure of it */
    const int empty = r.first == r.last && !has_given_state(in);
    row->illposed = !divide_row(row, p) && !empty;
    if (empty)
        for (int64_t c = 0; c < p->e; c++)
            mpq_set_ui(row->oq[c], 0, 1);
    ATTEST_TRY(settle(row->z, row->zq, row->prec, "z", 0, err));
    for (int64_t c = 0; c < p->e; c++) {
        ATTEST_TRY(settle(row->u + c, row->uq[c], row->prec, "u", c, err));
        if (!ball_has_o)
            arb_indeterminate(row->o + c);
        if (!row->illposed)
            ATTEST_TRY(settle(row->o + c, row->oq[c], row->prec, "o", c, err));
    }
    if (!empty)
        settle_lse(row);
    row->rational = 1;
    row->engine = ATTEST_ENGINE_EXACT;
out:
    return status;
}
