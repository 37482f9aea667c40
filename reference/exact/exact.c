/* exact.c - the exact engine: rows of polynomial weights as rationals (R-EXACT, R-EXACT-SIZE).
 *
 * With x = s - c an integer X over 2^F, P! 2^(FP) T_P(x) = sum_n (P!/n!) 2^(F(P-n)) X^n is an integer, by
 * Horner's rule; so are the sums over keys.  Rationals are made of the finished sums only. */
#include "reference/exact/exact_integer.h"

#include <stdlib.h>

/* ---- size ---------------------------------------------------------------------------------------------------- */

static void widen(long *low, long *top, long other_low, long other_top)
{
    *low = other_low < *low ? other_low : *low;
    *top = other_top > *top ? other_top : *top;
}

/* Theory A3's formula with the exponents that the row really has. */
long exact_row_bits(const exact_keys *r)
{
    const attest_problem *p = r->in->p;
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    if (exact_is_delta(p))
        return exact_delta_bits(r);
    const long order = (long)weight->order;
    const long factorial = !axis_weight_of(p)->factorial ? 0 : order * exact_log2_up(order + 1) + 2; /* e P! */
    const long score_low = (r->score.low < 0 ? r->score.low : 0) - 1; /* -1, +1: center */
    const long score_top = (r->score.top > 0 ? r->score.top : 0) + 1;
    long low = order * score_low + r->gin.low + r->v.low;
    long top = order * score_top + r->gin.top + r->v.top + exact_log2_up(r->last - r->first + 1);
    for (int n = r->in->lowest; exact_given_state(r->in) && n <= r->in->highest; n++) {
        exact_span given;
        exact_given_span(&given, r->in, r->b, r->g, n, EXACT_COLUMN_V | EXACT_COLUMN_ONE);
        if (!given.finite)
            return -1;
        widen(&low, &top, n * (r->scale.low + r->q.low) + given.low,
              n * (r->scale.top + r->q.top + exact_log2_up(p->d)) + given.top);
    }
    low += r->decay.low;     /* decay=vector: in the scores already, but not in the given states */
    top += r->decay.top + 1; /* +1: sum of keys and given states */
    exact_span constants;    /* of the divisor */
    exact_span_start(&constants);
    exact_span_see(&constants, p->axis[ATTEST_AXIS_EPS].number);
    exact_span_see(&constants, p->axis[ATTEST_AXIS_NORM].number);
    widen(&low, &top, constants.low, constants.top);
    return top - low + factorial + r->gout.top - r->gout.low + 2;
}

/* More products than this in one row of the delta rule: its numbers grow with every token, balls are faster. */
#define EXACT_DELTA_LIMIT (1l << 13)

static int affordable(const exact_keys *r)
{
    const attest_problem *p = r->in->p;
    const int64_t keys = r->last - r->first, cells = p->d * p->e; /* d, e < 2^16 */
    if (exact_is_delta(p) && keys > EXACT_DELTA_LIMIT / cells)
        return 0;
    const int64_t held = keys + (keys + 1) * axis_decay_width(p) + p->e + 1 + (exact_is_delta(p) ? cells : 0);
    const long bits = exact_row_bits(r);
    const int64_t steps = (keys + 1) * (p->d + p->e);
    return bits >= 0 && bits <= EXACT_BITS_LIMIT && bits <= EXACT_TOTAL_LIMIT / held &&
           bits <= EXACT_WORK_LIMIT / steps;
}

int ref_exact_serves(const ref_inputs *in, attest_row at)
{
    exact_keys r;
    if (!axis_served(in->p, AXIS_EXACT, 0, NULL))
        return 0;
    if (exact_integer_keys(&r, in, at) && affordable(&r)) /* so it is with the spans of its own keys */
        return 1;
    return exact_keys_scan(&r, in, at, 1) && affordable(&r);
}

int exact_row_keys(exact_keys *r, const ref_inputs *in, attest_row at, int norm)
{
    return axis_served(in->p, AXIS_EXACT, norm ? 0 : EXACT_NO_NORM, NULL) &&
           (exact_integer_keys(r, in, at) || exact_keys_scan(r, in, at, 1));
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
    w->taylor = axis_weight_of(p)->series;
    w->exponent = -grid * w->order;
    mpz_init_set_ui(w->denominator, 1);
    if (axis_weight_of(p)->factorial)
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

/* Subtracts the row's center from every score; mid lies on the grid of halves.  The first key is a visible one. */
static void center_scores(exact_scores *s, const exact_keys *r)
{
    const axis_center *center = axis_center_of(r->in->p);
    if ((!center->least && !center->greatest) || s->count == 0)
        return;
    mpz_t least, greatest;
    AUTO_MPZ(c);
    mpz_init_set(least, s->s[0]);
    mpz_init_set(greatest, s->s[0]);
    for (int64_t j = 1; j < s->count; j++) {
        if (!exact_sees(r, r->first + j))
            continue;
        if (mpz_cmp(s->s[j], least) < 0)
            mpz_set(least, s->s[j]);
        if (mpz_cmp(s->s[j], greatest) > 0)
            mpz_set(greatest, s->s[j]);
    }
    if (center->least && center->greatest) {
        mpz_add(c, least, greatest);
        s->exponent--;
        for (int64_t j = 0; j < s->count; j++)
            mpz_mul_2exp(s->s[j], s->s[j], 1);
    } else {
        mpz_set(c, center->greatest ? greatest : least);
    }
    for (int64_t j = 0; j < s->count; j++)
        mpz_sub(s->s[j], s->s[j], c);
    mpz_clear(greatest);
    mpz_clear(least);
}

/* kept[j] = s_j > max s - tau of a visible key; the threshold lies on the grid of the scores. */
static void filter_scores(char *kept, const exact_scores *s, const exact_keys *r)
{
    const attest_problem *p = r->in->p;
    AUTO_MPZ(threshold, tau);
    const int filtered = attest_axis_value_of(p, ATTEST_AXIS_FILTER) != ATTEST_FILTER_NONE;
    for (int64_t j = 0; filtered && j < s->count; j++)
        if (j == 0 || (exact_sees(r, r->first + j) && mpz_cmp(s->s[j], threshold) > 0))
            mpz_set(threshold, s->s[j]);
    if (filtered)
        exact_integer(tau, p->axis[ATTEST_AXIS_FILTER].number, s->exponent);
    mpz_sub(threshold, threshold, tau);
    for (int64_t j = 0; j < s->count; j++)
        kept[j] = exact_sees(r, r->first + j) && (!filtered || mpz_cmp(s->s[j], threshold) > 0);
}

/* The integers of one row: weights times decays, gated values. */
typedef struct row_sums {
    exact_scores scores;
    exact_weight weight;
    exact_decays decays; /* of the weight; inside the score with decay=vector */
    char *kept;
    mpz_t *sum; /* [e+1]: numerators, denominator */
} row_sums;

static void sums_free(row_sums *s, const attest_problem *p)
{
    exact_integers_free(s->sum, p->e + 1);
    free(s->kept);
    exact_decays_free(&s->decays);
    if (s->weight.coefficient)
        weight_free(&s->weight);
    exact_scores_free(&s->scores);
}

static attest_status sums_new(row_sums *s, const exact_keys *r, attest_error *err)
{
    const attest_problem *p = r->in->p;
    attest_status status = ATTEST_OK;
    *s = (row_sums){ .kept = NULL };
    ATTEST_TRY(exact_scores_new(&s->scores, r, err));
    s->kept = malloc((size_t)s->scores.count + 1);
    s->sum = exact_integers_new(p->e + 1);
    if (!s->sum || !s->kept) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for %lld sums", (long long)p->e + 1);
        goto out;
    }
    filter_scores(s->kept, &s->scores, r);
    center_scores(&s->scores, r);
    ATTEST_TRY(weight_new(&s->weight, p, -s->scores.exponent, err));
    if (axis_decay_width(p) && !axis_decay_of(p)->vector)
        ATTEST_TRY(exact_decays_new(&s->decays, r, err));
out:
    return status;
}

/* u[e] and z of the keys of r alone, from the integers of its head. */
static void head_sums(mpq_t *u, mpq_t z, const exact_keys *r)
{
    const int64_t e = r->in->p->e;
    exact_integer_scale scale;
    mpz_t view, denominator;
    exact_integer_sums(&scale, r);
    mpz_init_set_ui(denominator, scale.denominator);
    for (int64_t c = 0; c < e; c++)
        exact_ratio(u[c], exact_integer_sum(view, r, c, 0), scale.exponent + r->v.low, denominator);
    exact_ratio(z, exact_integer_sum(view, r, e, 0), scale.exponent, denominator);
    mpz_clear(denominator);
}

/* out = x y without a gcd, but for the powers of two. */
static void multiply(mpq_t out, const mpq_t x, const mpq_t y)
{
    mpz_ptr top = mpq_numref(out), bottom = mpq_denref(out);
    mpz_mul(top, mpq_numref(x), mpq_numref(y));
    mpz_mul(bottom, mpq_denref(x), mpq_denref(y));
    const mp_bitcnt_t below = mpz_scan1(bottom, 0), above = mpz_sgn(top) ? mpz_scan1(top, 0) : below;
    mpz_tdiv_q_2exp(top, top, above < below ? above : below);
    mpz_tdiv_q_2exp(bottom, bottom, above < below ? above : below);
}

/* The same pair by pair. */
static attest_status key_sums(mpq_t *u, mpq_t z, const exact_keys *r, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_problem *p = r->in->p;
    row_sums s;
    AUTO_MPZ(w, v);
    AUTO_MPQ(kept);
    ATTEST_TRY(sums_new(&s, r, err));
    for (int64_t j = 0; j < s.scores.count; j++) {
        if (!s.kept[j])
            continue;
        weight_of(w, &s.weight, s.scores.s[j]);
        if (s.decays.d)
            mpz_mul(w, w, s.decays.d[j]);
        mpz_add(s.sum[p->e], s.sum[p->e], w);
        if (!axis_keeps(r->in, (attest_row){ r->b, r->h, r->i }, r->first + j))
            continue;
        exact_integer(v, exact_load_gin(r, r->first + j), r->gin.low);
        mpz_mul(w, w, v);
        for (int64_t c = 0; c < p->e; c++) {
            exact_integer(v, exact_load_v(r, r->first + j, c), r->v.low);
            mpz_addmul(s.sum[c], w, v);
        }
    }
    const long exponent = s.weight.exponent + s.decays.exponent;
    axis_dropout_exact(kept, p);
    for (int64_t c = 0; c < p->e; c++) {
        exact_ratio(u[c], s.sum[c], exponent + r->gin.low + r->v.low, s.weight.denominator);
        if (attest_drops(p))
            multiply(u[c], u[c], kept);
    }
    exact_ratio(z, s.sum[p->e], exponent, s.weight.denominator);
out:
    sums_free(&s, p);
    return status;
}

/* ---- given states ---------------------------------------------------------------------------------------------- */

/* u, z += sum_n coefficient_n <phi(q)^(x n), h0.n>, one factor of phi(q) after the other; h0 decays over t = 0..i. */
static attest_status add_given_states(mpq_t *u, mpq_t z, const exact_keys *r, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_problem *p = r->in->p;
    const int64_t columns = p->e + 1;
    exact_given given = { 0 };
    exact_decays decays = { 0 };
    AUTO_MPQ(coefficient, x);
    mpz_t one;
    AUTO_MPZ(t);
    mpz_init_set_ui(one, 1);
    mpz_t *q = exact_integers_new(p->d);
    if (!q) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for a query");
        goto out;
    }
    ATTEST_TRY(exact_decays_new(&decays, r, err));
    const int inside = axis_decay_of(p)->vector; /* then the degree is 1 */
    const mpz_t *decay = (const mpz_t *)decays.d + decays.count * decays.width;
    for (int64_t c = 0; c < p->d; c++) {
        axis_feature_integer(q[c], exact_load_q(r, c), r->feature, r->q.low);
        if (inside)
            mpz_mul(q[c], q[c], decay[c]);
    }
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
        axis_degree_exact(coefficient, p, n);
        for (int64_t c = 0; c < columns; c++) {
            if (decays.width && !inside)
                mpz_mul(given.a[c], given.a[c], decay[0]);
            exact_ratio(x, given.a[c], n * r->q.low + given.exponent + decays.exponent, one);
            mpq_mul(x, x, coefficient);
            mpq_ptr sum = c < p->e ? u[c] : z;
            mpq_add(sum, sum, x);
        }
        exact_given_free(&given);
    }
out:
    exact_decays_free(&decays);
    exact_given_free(&given);
    exact_integers_free(q, p->d);
    mpz_clear(one);
    return status;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* The rational inside the ball?  Then the ball becomes a tight one around it. */
static attest_status settle(arb_t ball, const mpq_t q, slong prec, const char *name, int64_t c, attest_error *err)
{
    AUTO_FMPQ(x);
    fmpq_set_mpq(x, q);
    const int inside = arb_contains_fmpq(ball, x);
    arb_set_fmpq(ball, x, prec);
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

attest_status exact_row_sums(mpq_t *u, mpq_t z, const exact_keys *r, attest_error *err)
{
    attest_status status = ATTEST_OK;
    if (exact_is_delta(r->in->p)) {
        mpq_set_ui(z, 0, 1);
        return exact_delta_sums(u, r, err);
    }
    if (r->head) {
        head_sums(u, z, r);
        return ATTEST_OK;
    }
    ATTEST_TRY(key_sums(u, z, r, err));
    if (exact_given_state(r->in))
        ATTEST_TRY(add_given_states(u, z, r, err));
out:
    return status;
}

int exact_row_output(mpq_t *o, mpq_t *u, const mpq_t z, const exact_keys *r)
{
    const int64_t e = r->in->p->e;
    AUTO_MPQ(divisor, gate);
    axis_norm_of(r->in->p)->exact(divisor, z, r->in->p, r->keys);
    const int defined = mpq_sgn(divisor) != 0;
    mpq_set_d(gate, exact_load_gout(r)); /* exact; pre-out or out: the same product under these norms */
    if (defined)
        mpq_div(gate, gate, divisor);
    for (int64_t c = 0; defined && c < e; c++)
        multiply(o[c], u[c], gate);
    return defined;
}

attest_status ref_exact_row(ref_row *row, const ref_inputs *in, attest_row at, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_problem *p = in->p;
    exact_keys r;
    if (!exact_row_keys(&r, in, at, 1))
        return attest_fail(err, ATTEST_BAD_INPUT, "the exact engine does not serve row b=%lld h=%lld i=%lld",
                           (long long)at.b, (long long)at.h, (long long)at.i);
    const int empty = r.first == r.last && !exact_given_state(in);
    const int ball_has_o = !row->illposed; /* a divisor that is 0 lies in every enclosure of it */
    ATTEST_TRY(exact_row_sums(row->uq, row->zq, &r, err));
    for (int64_t c = 0; empty && c < p->e; c++)
        mpq_set_ui(row->oq[c], 0, 1);
    row->illposed = !empty && !exact_row_output(row->oq, row->uq, row->zq, &r);
    if (!exact_is_delta(p)) /* else z does not exist */
        ATTEST_TRY(settle(row->z, row->zq, row->prec, "z", 0, err));
    for (int64_t c = 0; c < p->e; c++) {
        ATTEST_TRY(settle(row->u + c, row->uq[c], row->prec, "u", c, err));
        if (!ball_has_o)
            arb_indeterminate(row->o + c);
        if (!row->illposed)
            ATTEST_TRY(settle(row->o + c, row->oq[c], row->prec, "o", c, err));
    }
    if (!empty && !exact_is_delta(p))
        settle_lse(row);
    row->rational = 1;
    row->reduced = 0;
    row->engine = ATTEST_ENGINE_EXACT;
out:
    return status;
}
