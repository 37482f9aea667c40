/* whole.c - what is told of all results: the tables of an overview, from counts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/compact/compact_private.h"

/* ---- by kernel and variant --------------------------------------------------------------------------------------- */
static attest_tally *tally_of(attest_tallies *all, const char *kernel)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->tally[i].kernel, kernel) == 0)
            return &all->tally[i];
    attest_tally *t = &all->tally[all->count++];
    memcpy(t->kernel, kernel, sizeof t->kernel);
    t->worst_ratio = t->worst_ulp = NAN;
    return t;
}

static void add_tally(attest_whole *w, const compact_variant *v)
{
    attest_tally *t = tally_of(&w->tallies, v->kernel);
    for (int k = 0; k < ATTEST_VERDICT_COUNT; k++) {
        t->by_verdict[k] += (size_t)v->verdict[k];
        w->by_verdict[k] += (size_t)v->verdict[k];
        t->cases += (size_t)v->verdict[k];
        w->results += (size_t)v->verdict[k];
    }
    if (v->worst_ratio == v->worst_ratio && !(v->worst_ratio <= t->worst_ratio)) {
        t->worst_ratio = v->worst_ratio;
        memcpy(t->worst_problem, v->worst_problem, sizeof t->worst_problem);
    }
    t->worst_ulp = v->worst_ulp != v->worst_ulp || v->worst_ulp <= t->worst_ulp ? t->worst_ulp : v->worst_ulp;
    if (t->notes == 0 && v->notes > 0)
        memcpy(t->note, v->note, sizeof t->note);
    t->notes += (size_t)v->notes;
}

static void add_sign(attest_signs *all, const compact_variant *v)
{
    size_t i = 0;
    while (i < all->count && strcmp(all->sign[i].variant, v->variant) != 0)
        i++;
    attest_sign *s = &all->sign[i];
    if (v->judged == 0)
        return;
    if (i == all->count)
        memcpy(all->sign[all->count++].variant, v->variant, sizeof s->variant);
    s->cases += (size_t)v->judged;
    s->illposed += (size_t)v->verdict[ATTEST_ILLPOSED];
    s->rows += v->rows;
    s->negative_weight += v->negative_weight;
    s->negative_sum += v->negative_sum;
    s->vanishing += v->vanishing;
}

static void add_power(attest_powers *all, const compact_variant *v)
{
    size_t i = 0;
    while (i < all->count &&
           (strcmp(all->power[i].variant, v->variant) != 0 || strcmp(all->power[i].kernel, v->kernel) != 0))
        i++;
    attest_power *p = &all->power[i];
    if (v->powered == 0)
        return;
    if (i == all->count) {
        memcpy(p->kernel, v->kernel, sizeof p->kernel);
        memcpy(p->variant, v->variant, sizeof p->variant);
        all->count++;
    }
    p->cases += (size_t)v->powered;
    p->keyed += (size_t)v->keyed;
    p->telling += v->telling;
    p->keys_seen += v->keys_seen;
}

/* ---- by class ---------------------------------------------------------------------------------------------------- */
/* The upper end of the bin that holds the ceil(percent n/100)-th smallest of n; at most `most`; NAN of none. */
static double quantile(const int64_t *bins, int64_t n, int64_t percent, double most)
{
    const int64_t rank = (n / 100) * percent + ((n % 100) * percent + 99) / 100;
    int64_t seen = 0;
    if (n == 0)
        return NAN;
    for (int i = 0; i < BINS - 1; i++)
        if ((seen += bins[i]) >= rank)
            return i == 0 ? 0 : fmin(most, exp2((double)i / BINS_AN_OCTAVE + BINS_FIRST));
    return most;
}

static void figures_of(attest_class_figures *f, const compact_class *c)
{
    f->cases = (size_t)c->cases;
    f->median = quantile(c->ratio, c->cases, 50, c->largest);
    f->p99 = quantile(c->ratio, c->cases, 99, c->largest);
    f->largest = c->largest;
    f->slack = 1 / f->median;
    f->slack_element = 1 / quantile(c->middle, c->middles, 50, HUGE_VAL);
    for (int t = 0; t < ATTEST_BOUND_TERMS && c->shared > 0; t++)
        f->share[t] = c->share[t] / (double)c->shared;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const compact_class *)a)->class, ((const compact_class *)b)->class);
}

/* Kernels of one class together. */
static attest_status add_classes(attest_classes *all, const attest_compact *c, attest_error *err)
{
    attest_status status = ATTEST_OK;
    compact_class *sum = calloc(c->classes + 1, sizeof *sum);
    size_t sums = 0;
    if (!sum)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu classes", c->classes);
    for (size_t i = 0; i < c->classes; i++) {
        size_t at = 0;
        while (at < sums && strcmp(sum[at].class, c->class[i].class) != 0)
            at++;
        if (at == sums) {
            sum[sums] = c->class[i];
            sums++;
            continue;
        }
        compact_add_class(&sum[at], &c->class[i]);
    }
    if (sums > 0)
        qsort(sum, sums, sizeof *sum, by_name);
    all->figures = calloc(sums + 1, sizeof *all->figures);
    if (!all->figures)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu classes", sums));
    for (size_t i = 0; i < sums; i++) {
        memcpy(all->figures[i].name, sum[i].class, sizeof all->figures[i].name);
        figures_of(&all->figures[i], &sum[i]);
    }
    all->count = all->capacity = sums;
out:
    free(sum);
    return status;
}

attest_status attest_compact_whole(attest_whole *whole, const attest_compact *c, attest_error *err)
{
    attest_status status = ATTEST_OK;
    *whole = (attest_whole){ .cases = (size_t)c->cases };
    whole->tallies.tally = calloc(c->variants + 1, sizeof *whole->tallies.tally);
    whole->signs.sign = calloc(c->variants + 1, sizeof *whole->signs.sign);
    whole->powers.power = calloc(c->variants + 1, sizeof *whole->powers.power);
    if (!whole->tallies.tally || !whole->signs.sign || !whole->powers.power)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu variants", c->variants));
    for (size_t i = 0; i < c->variants; i++) {
        add_tally(whole, &c->variant[i]);
        add_sign(&whole->signs, &c->variant[i]);
        add_power(&whole->powers, &c->variant[i]);
    }
    attest_signs_end(&whole->signs);
    ATTEST_TRY(add_classes(&whole->classes, c, err));
out:
    if (status != ATTEST_OK)
        attest_whole_clear(whole);
    return status;
}
