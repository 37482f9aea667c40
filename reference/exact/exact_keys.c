/* exact_keys.c - what one row reads, as spans of exponents, and its products of decays (R-EXACT). */
#include "reference/exact/exact.h"

#include <stdlib.h>

/* ---- loading --------------------------------------------------------------------------------------------------- */

static double load(const exact_keys *r, attest_role role, int64_t head, int64_t token, int64_t c)
{
    const attest_tensor *t = r->in->role[role];
    return attest_load(t, attest_offset(t, r->b, head, token, c));
}

double exact_load_q(const exact_keys *r, int64_t c) { return load(r, ATTEST_Q, r->h, r->i, c); }

double exact_load_k(const exact_keys *r, int64_t j, int64_t c) { return load(r, ATTEST_K, r->g, j, c); }

double exact_load_v(const exact_keys *r, int64_t j, int64_t c) { return load(r, ATTEST_V, r->g, j, c); }

double exact_load_gin(const exact_keys *r, int64_t j)
{
    return axis_gates_of(r->in->p)->values ? load(r, ATTEST_GIN, r->g, j, 0) : 1.0;
}

double exact_load_gout(const exact_keys *r)
{
    return axis_gates_of(r->in->p)->rows ? load(r, ATTEST_GOUT, r->h, r->i, 0) : 1.0;
}

double exact_load_beta(const exact_keys *r, int64_t t) { return load(r, ATTEST_BETA, r->g, t, 0); }

double exact_load_decay(const exact_keys *r, int64_t t, int64_t c)
{
    return axis_decay_stored(r->in, r->b, r->g, t, c);
}

void exact_feature_dyadic(exact_dyadic *out, double x, const exact_keys *r, long low)
{
    axis_feature_integer(out->m, x, r->feature, low);
    out->e = low;
}

int exact_sees(const exact_keys *r, int64_t j) { return ref_sees(r->in, (attest_row){ r->b, r->h, r->i }, j); }

int exact_given_state(const ref_inputs *in)
{
    return attest_axis_value_of(in->p, ATTEST_AXIS_STATE) != ATTEST_STATE_NONE && in->highest >= in->lowest;
}

/* ---- spans ----------------------------------------------------------------------------------------------------- */

static void widen(exact_span *s, const exact_span *other)
{
    s->low = other->low < s->low ? other->low : s->low;
    s->top = other->top > s->top ? other->top : s->top;
    s->finite &= other->finite;
}

/* Any product of decays of tokens from..until lies on the grid 2^low, low = sum min(low_t, 0), and is below
 * 2^top, top = sum max(top_t, 0). */
static void see_decays(exact_keys *r)
{
    const int64_t width = axis_decay_width(r->in->p);
    for (int64_t t = r->from; width && t <= r->until; t++) {
        exact_span token;
        exact_span_start(&token);
        for (int64_t c = 0; c < width; c++)
            exact_span_see(&token, exact_load_decay(r, t, c));
        r->decay.low += token.low < 0 ? token.low : 0;
        r->decay.top += token.top > 0 ? token.top : 0;
        r->decay.finite &= token.finite;
    }
}

/* The grid of scores holds the slope's multiples, the biases, the clamp and the filter's threshold too. */
static void see_score_steps(exact_keys *r)
{
    const attest_problem *p = r->in->p;
    static const attest_axis numbers[] = { ATTEST_AXIS_CLAMP, ATTEST_AXIS_FILTER };
    exact_span extra;
    r->score = r->product;
    if (attest_axis_value_of(p, ATTEST_AXIS_ALIBI) != ATTEST_ALIBI_NONE && r->last > r->first) {
        exact_span_start(&extra);
        exact_span_see(&extra, axis_slope(r->in, r->h)); /* NaN: a root, the row is not rational */
        extra.top += exact_log2_up(p->n + p->m);         /* |i+off-j| < n+m */
        widen(&r->score, &extra);
        r->score.top++;
    }
    if (attest_axis_value_of(p, ATTEST_AXIS_BIAS) != ATTEST_BIAS_NONE && r->last > r->first) {
        exact_span_start(&extra);
        for (int64_t j = r->first; j < r->last; j++)
            if (exact_sees(r, j))
                exact_span_see(&extra, axis_bias(r->in, (attest_row){ r->b, r->h, r->i }, j));
        widen(&r->score, &extra);
        r->score.top++;
    }
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        exact_span_start(&extra);
        exact_span_see(&extra, p->axis[numbers[k]].number);
        if (p->axis[numbers[k]].value)
            widen(&r->score, &extra);
    }
}

static void see_keys(exact_keys *r)
{
    const attest_problem *p = r->in->p;
    const int delta = attest_axis_value_of(p, ATTEST_AXIS_UPDATE) != ATTEST_UPDATE_ADD;
    for (int64_t j = r->first; j < r->last; j++) {
        if (!exact_sees(r, j))
            continue;
        for (int64_t c = 0; c < p->d; c++)
            exact_span_see(&r->k, exact_load_k(r, j, c));
        for (int64_t c = 0; c < p->e; c++)
            exact_span_see(&r->v, exact_load_v(r, j, c));
        exact_span_see(&r->gin, exact_load_gin(r, j));
        if (delta)
            exact_span_see(&r->beta, exact_load_beta(r, j));
    }
}

/* From the first visible key to the last one, and how many there are. */
static void find_range(exact_keys *r, attest_row at)
{
    ref_visible(r->in, at.b, at.i, &r->first, &r->last);
    while (r->first < r->last && !exact_sees(r, r->first))
        r->first++;
    while (r->first < r->last && !exact_sees(r, r->last - 1))
        r->last--;
    r->last = r->last > r->first ? r->last : r->first;
    for (int64_t j = r->first; j < r->last; j++)
        r->keys += exact_sees(r, j);
}

/* All but keys, values and decays. */
static void see_query(exact_keys *r, const ref_inputs *in, attest_row at, int with_query)
{
    const attest_problem *p = in->p;
    *r = (exact_keys){ .in = in, .b = at.b, .h = at.h, .g = attest_kv_head(p, at.h), .i = at.i };
    exact_span *const spans[] = { &r->q, &r->k, &r->v, &r->scale, &r->gin, &r->gout, &r->beta, &r->decay };
    r->feature = axis_feature_of(p);
    find_range(r, at);
    const int empty = r->last == r->first && attest_axis_value_of(p, ATTEST_AXIS_STATE) == ATTEST_STATE_NONE;
    r->from = exact_given_state(in) ? 0 : r->first + 1;
    r->until = empty ? -1 : with_query ? at.i : r->last > r->first ? r->last - 1 : -1;
    for (size_t k = 0; k < sizeof spans / sizeof spans[0]; k++)
        exact_span_start(spans[k]);
    exact_span_see(&r->scale, p->scale);
    exact_span_see(&r->v, 1.0); /* the column of the denominator */
    exact_span_see(&r->gin, 1.0);
    exact_span_see(&r->gout, with_query && !empty ? exact_load_gout(r) : 1.0);
    for (int64_t c = 0; with_query && !empty && c < p->d; c++)
        exact_span_see(&r->q, exact_load_q(r, c));
}

/* The spans of features and scores; 0 if a value is not finite or a feature is not rational. */
static int see_scores(exact_keys *r, int with_query)
{
    const attest_problem *p = r->in->p;
    if (!axis_feature_span(&r->q, r->feature) || !axis_feature_span(&r->k, r->feature))
        return 0;
    r->product = r->scale;
    r->product.low += r->q.low + r->k.low;
    r->product.top += r->q.top + r->k.top + exact_log2_up(p->d);
    if (axis_decay_of(p)->vector) {
        r->product.low += r->decay.low;
        r->product.top += r->decay.top;
    }
    see_score_steps(r);
    return r->v.finite && r->scale.finite && r->gin.finite && r->gout.finite && r->beta.finite && r->decay.finite &&
           (!with_query || r->score.finite);
}

int exact_keys_scan(exact_keys *r, const ref_inputs *in, attest_row at, int with_query)
{
    see_query(r, in, at, with_query);
    see_keys(r);
    see_decays(r);
    return see_scores(r, with_query);
}

int exact_keys_of_head(exact_keys *r, const ref_inputs *in, attest_row at, const exact_span *k, const exact_span *v)
{
    see_query(r, in, at, 1);
    r->k = *k;
    r->v = *v;
    return see_scores(r, 1);
}

/* ---- products of decays ------------------------------------------------------------------------------------------ */

/* Entry `index` = the running products, on the common grid. */
static void keep(exact_decays *a, int64_t index, const exact_dyadic *running)
{
    for (int64_t c = 0; c < a->width; c++)
        mpz_mul_2exp(a->d[index * a->width + c], running[c].m, (mp_bitcnt_t)(running[c].e - a->exponent));
}

attest_status exact_decays_new(exact_decays *a, const exact_keys *r, attest_error *err)
{
    const int64_t width = axis_decay_width(r->in->p), count = r->last - r->first;
    *a = (exact_decays){ .count = count, .width = width, .exponent = r->decay.low };
    exact_dyadic factor, *running = exact_dyadics_new(width);
    exact_dyadic_init(&factor);
    a->d = exact_integers_new((count + 1) * width);
    const int good = running && a->d;
    for (int64_t c = 0; good && c < width; c++)
        exact_dyadic_set_d(&running[c], 1.0);
    for (int64_t t = r->until; good && width && t >= r->first && t >= 0; t--) {
        if (t < r->last)
            keep(a, t - r->first, running);
        for (int64_t c = 0; t >= r->from && c < width; c++) {
            exact_dyadic_set_d(&factor, exact_load_decay(r, t, c));
            exact_dyadic_mul(&running[c], &running[c], &factor);
        }
    }
    if (good)
        keep(a, count, running);
    exact_dyadic_clear(&factor);
    exact_dyadics_free(running, width);
    if (good)
        return ATTEST_OK;
    exact_decays_free(a);
    return attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for %lld decays", (long long)(count * width));
}

void exact_decays_free(exact_decays *a)
{
    exact_integers_free(a->d, (a->count + 1) * a->width);
    *a = (exact_decays){ .count = 0, .d = NULL };
}
