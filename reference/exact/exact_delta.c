/* exact_delta.c - the delta rule token by token: S' = decay(S), S = S' + phi(k_t)^T b_t (gin_t v_t - phi(k_t) S').
 *
 * Every step is a sum of products of dyadics, so S is dyadic; its grid grows with every token (R-EXACT-DELTA). */
#include "reference/exact/exact.h"

/* ---- size ---------------------------------------------------------------------------------------------------- */

/* Entries on the grid 2^low and below 2^top before a token: after it, its decay left out. */
static void grow(long *low, long *top, const exact_keys *r)
{
    const long value_low = r->gin.low + r->v.low, value_top = r->gin.top + r->v.top;
    const long read_low = *low + r->k.low, read_top = *top + r->k.top + exact_log2_up(r->in->p->d);
    const long write_low = r->k.low + r->beta.low + (value_low < read_low ? value_low : read_low);
    const long write_top = r->k.top + r->beta.top + (value_top > read_top ? value_top : read_top) + 1;
    *low = write_low < *low ? write_low : *low;
    *top = (write_top > *top ? write_top : *top) + 1;
}

/* The decays are added at the end: r->decay has low <= 0 <= top, and a grid that is finer, a bound that is greater
 * from the start stays so through grow(). */
long exact_delta_bits(const exact_keys *r)
{
    long low = 0, top = 0;
    if (exact_given_state(r->in)) {
        exact_span given;
        exact_given_span(&given, r->in, r->b, r->g, 1, EXACT_COLUMN_V);
        if (!given.finite)
            return -1;
        low = given.low;
        top = given.top;
    }
    for (int64_t t = r->first; t < r->last && top - low <= EXACT_BITS_LIMIT; t++)
        grow(&low, &top, r);
    low += r->decay.low + r->scale.low + r->q.low;
    top += r->decay.top + r->scale.top + r->q.top + exact_log2_up(r->in->p->d);
    low = low < 0 ? low : 0; /* the denominator counts too */
    top = top > 0 ? top : 0;
    return top - low + r->gout.top - r->gout.low + 2;
}

/* ---- tokens ---------------------------------------------------------------------------------------------------- */

static void load_given(exact_dyadic *s, const exact_keys *r)
{
    const attest_problem *p = r->in->p;
    const attest_tensor *h0 = r->in->h0[1];
    for (int64_t a = 0; a < p->d; a++)
        for (int64_t c = 0; c < p->e; c++)
            exact_dyadic_set_d(&s[a * p->e + c], attest_load(h0, attest_offset(h0, r->b, r->g, a, c)));
}

static void decay_state(exact_dyadic *s, const exact_keys *r, int64_t t)
{
    const attest_problem *p = r->in->p;
    const int64_t width = axis_decay_width(p);
    exact_dyadic factor;
    exact_dyadic_init(&factor);
    for (int64_t a = 0; width && a < p->d; a++) {
        exact_dyadic_set_d(&factor, exact_load_decay(r, t, a % width));
        for (int64_t c = 0; c < p->e; c++)
            exact_dyadic_mul(&s[a * p->e + c], &s[a * p->e + c], &factor);
    }
    exact_dyadic_clear(&factor);
}

/* Column c: y = b (gin v_c - k S_c), then S_c += k^T y. */
static void write_column(exact_dyadic *s, const exact_keys *r, const exact_dyadic *k, int64_t t, int64_t c)
{
    const attest_problem *p = r->in->p;
    exact_dyadic x, y, gin;
    exact_dyadic_init(&x);
    exact_dyadic_init(&y);
    exact_dyadic_init(&gin);
    for (int64_t a = 0; a < p->d; a++)
        exact_dyadic_addmul(&y, &k[a], &s[a * p->e + c]);
    exact_dyadic_set_d(&x, exact_load_v(r, t, c));
    exact_dyadic_set_d(&gin, exact_load_gin(r, t));
    exact_dyadic_mul(&x, &x, &gin);
    exact_dyadic_sub(&y, &x, &y);
    exact_dyadic_set_d(&x, exact_load_beta(r, t));
    exact_dyadic_mul(&y, &x, &y);
    for (int64_t a = 0; a < p->d; a++)
        exact_dyadic_addmul(&s[a * p->e + c], &k[a], &y);
    exact_dyadic_clear(&gin);
    exact_dyadic_clear(&y);
    exact_dyadic_clear(&x);
}

attest_status exact_delta_state(exact_dyadic *s, const exact_keys *r, attest_error *err)
{
    const attest_problem *p = r->in->p;
    exact_dyadic *k = exact_dyadics_new(p->d);
    if (!k)
        return attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for a key");
    if (exact_given_state(r->in))
        load_given(s, r);
    for (int64_t t = 0; t < r->last || t <= r->until; t++) {
        if (t >= r->from && t <= r->until) /* before that the state is 0 */
            decay_state(s, r, t);
        if (t < r->first || t >= r->last)
            continue;
        for (int64_t a = 0; a < p->d; a++)
            exact_feature_dyadic(&k[a], exact_load_k(r, t, a), r, r->k.low);
        for (int64_t c = 0; c < p->e; c++)
            write_column(s, r, k, t, c);
    }
    exact_dyadics_free(k, p->d);
    return ATTEST_OK;
}

attest_status exact_delta_sums(mpq_t *u, const exact_keys *r, attest_error *err)
{
    const attest_problem *p = r->in->p;
    attest_status status = ATTEST_OK;
    exact_dyadic scale, q, sum;
    exact_dyadic *s = exact_dyadics_new(p->d * p->e);
    exact_dyadic_init(&scale);
    exact_dyadic_init(&q);
    exact_dyadic_init(&sum);
    if (!s) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for a state");
        goto out;
    }
    ATTEST_TRY(exact_delta_state(s, r, err));
    exact_dyadic_set_d(&scale, p->scale);
    for (int64_t c = 0; c < p->e; c++) {
        exact_dyadic_set_d(&sum, 0.0);
        for (int64_t a = 0; a < p->d; a++) {
            exact_feature_dyadic(&q, exact_load_q(r, a), r, r->q.low);
            exact_dyadic_addmul(&sum, &q, &s[a * p->e + c]);
        }
        exact_dyadic_mul(&sum, &sum, &scale);
        exact_dyadic_ratio(u[c], &sum);
    }
out:
    exact_dyadics_free(s, p->d * p->e);
    exact_dyadic_clear(&sum);
    exact_dyadic_clear(&q);
    exact_dyadic_clear(&scale);
    return status;
}
