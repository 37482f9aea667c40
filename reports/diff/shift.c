/* shift.c - how far the errors of cases moved, and whether that is beyond the noise: of a class, of a condition in it,
 * of a kernel; the same for two runs and for a run and a baseline.  See diff.h. */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/diff/figures.h"

#define SHIFT_MOST 8.0

/* What some items add up to. */
typedef struct sums {
    size_t cases, draws;
    double mean, spread; /* of the draws' d */
    double order;        /* what another order of sums may move the mean by (diff.h) */
    const diff_item *most;
} sums;

/* Some items, those of one draw together. */
typedef struct items {
    diff_item **item;
    size_t count;
} items;

enum { ALL = DIFF_WAYS }; /* a way that all items have */

static int has(const diff_item *item, size_t way)
{
    return !item->told && (way == ALL || (item->ways[way / 64] >> way % 64 & 1));
}

static sums sum_up(const items *of, size_t way)
{
    sums s = { .cases = 0 };
    double families[DIFF_WAYS] = { 0 }, sum = 0, squares = 0, order = 0;
    for (size_t i = 0; i < of->count;) {
        const diff_item *first = of->item[i];
        double d = 0;
        size_t cases = 0;
        for (; i < of->count && of->item[i]->draw == first->draw; i++) {
            const diff_item *item = of->item[i];
            if (!has(item, way))
                continue;
            cases++;
            d += fmax(-SHIFT_MOST, fmin(SHIFT_MOST, item->moved));
            s.most = s.most && s.most->moved >= item->moved ? s.most : item;
        }
        if (cases == 0)
            continue;
        d /= (double)cases;
        s.cases += cases;
        s.draws++;
        families[first->family] += first->ordered ? ATTEST_DIFF_ORDERED : ATTEST_DIFF_CONDITION;
        sum += d;
        squares += d * d;
    }
    const double n = (double)s.draws;
    for (size_t k = 0; k < DIFF_WAYS; k++)
        order += families[k] * families[k];
    s.mean = s.draws > 0 ? sum / n : 0;
    s.order = s.draws > 0 ? sqrt(order) / n : 0;
    s.spread = s.draws > 1 ? sqrt(fmax(0, (squares - n * s.mean * s.mean) / (n - 1))) : NAN;
    return s;
}

static double noise_of(const sums *s)
{
    return (s->draws >= 4 ? fmax(s->spread, ATTEST_DIFF_SPREAD) : M_SQRT2) / sqrt((double)s->draws);
}

/* diff.h: 1 grown, -1 shrunk beyond the noise, 0 neither; of so many groups that are asked. */
static int beyond_noise(const sums *s, double least, size_t asked)
{
    const double n = (double)s->draws, size = fabs(s->mean);
    const double tail = gsl_cdf_ugaussian_Q(ATTEST_DIFF_DEVIATIONS) / (double)asked;
    if (s->draws == 0 || !(size >= fmax(least, s->order)))
        return 0;
    const int seldom = s->draws >= 4 && gsl_cdf_tdist_Q(size / noise_of(s), n - 1) < tail;
    return seldom || size >= gsl_cdf_ugaussian_Qinv(tail) * M_SQRT2 / sqrt(n) ? (s->mean > 0 ? 1 : -1) : 0;
}

/* That they grew, `where` a condition holds. */
static attest_status tell_grown(attest_diff *diff, const diff_group *group, const sums *s, const char *where,
                                const attest_results *now, attest_error *err)
{
    attest_change *change = diff_add(diff, ATTEST_CHANGE_ERROR, group,
                                     "the error grew %.1f times%s%s (%.2f bits, noise %.2f, %zu cases, %zu %s)",
                                     DIFF_TIMES(s->mean), *where ? " where " : "", where, s->mean, noise_of(s),
                                     s->cases, s->draws, s->draws == 1 ? "draw" : "draws");
    if (change)
        snprintf(change->where, sizeof change->where, "%s", where);
    return diff_name_case(change, now, s->most->index, s->mean, err);
}

static void mark(const items *of, size_t way)
{
    for (size_t i = 0; i < of->count; i++)
        if (has(of->item[i], way))
            of->item[i]->told = 1;
}

/* All of a class or kernel.  Equal numbers (repeats) are one draw. */
static attest_status tell_all(attest_diff *diff, const diff_group *group, const items *of, int repeats,
                              const attest_results *now, attest_error *err)
{
    sums s = sum_up(of, ALL);
    s.draws = repeats && s.cases > 0 ? 1 : s.draws;
    const int beyond = beyond_noise(&s, ATTEST_DIFF_SHIFT, 1);
    attest_status status = ATTEST_OK;
    if (beyond > 0)
        ATTEST_TRY(tell_grown(diff, group, &s, repeats ? "all numbers are equal" : "", now, err));
    else if (beyond < 0 && *group->class) /* of a kernel: each class says so */
        ATTEST_TRY(diff_name_case(diff_add(diff, ATTEST_CHANGE_BETTER, group,
                                           "the error is %.1f times smaller (%zu cases)", DIFF_TIMES(s.mean), s.cases),
                                  now, SIZE_MAX, s.mean, err));
    if (beyond > 0)
        mark(of, ALL);
out:
    return status;
}

/* Conditions of a class or kernel, the one farthest beyond its noise first (of two the one seen later:
 * `mask=causal`, not `mask given`); the next is asked of the other cases. */
static attest_status tell_conditions(attest_diff *diff, const diff_group *group, const items *of, const diff_figures *f,
                                     const attest_results *now, attest_error *err)
{
    attest_status status = ATTEST_OK;
    size_t asked = 0;
    for (size_t w = 0; w < f->ways; w++)
        asked += sum_up(of, w).draws >= ATTEST_DIFF_DRAWS;
    for (;;) {
        sums worst = { .cases = 0 };
        size_t way = ALL;
        for (size_t w = 0; w < f->ways; w++) {
            const sums s = sum_up(of, w);
            if (s.draws >= ATTEST_DIFF_DRAWS && beyond_noise(&s, ATTEST_DIFF_CONDITION, asked) > 0 &&
                (way == ALL || s.mean / noise_of(&s) >= worst.mean / noise_of(&worst))) {
                worst = s;
                way = w;
            }
        }
        if (way == ALL)
            return ATTEST_OK;
        ATTEST_TRY(tell_grown(diff, group, &worst, f->way[way], now, err));
        mark(of, way);
    }
out:
    return status;
}

/* One case alone proves no regression; its error may be looked at. */
static attest_status tell_jumps(attest_diff *diff, const diff_group *group, const items *of, const attest_results *now,
                                attest_error *err)
{
    const diff_item *most = NULL;
    size_t count = 0;
    for (size_t i = 0; i < of->count; i++) {
        const diff_item *item = of->item[i];
        if (item->told || !(item->above >= ATTEST_DIFF_JUMP))
            continue;
        count++;
        most = most && most->above >= item->above ? most : item;
    }
    return most ? diff_name_case(diff_add(diff, ATTEST_CHANGE_JUMP, group,
                                          "the error of %zu of %zu cases grew %.0f times or more, here %.3g times: no "
                                          "regression, look at it",
                                          count, of->count, exp2(ATTEST_DIFF_JUMP), exp2(most->above)),
                                 now, most->index, most->above, err)
                : ATTEST_OK;
}

/* ---- all classes, then all kernels ------------------------------------------------------------------------------- */
/* Which items: of a class, those that repeat numbers last; of a kernel. */
static int by_class(const void *a, const void *b)
{
    const diff_item *x = *(diff_item *const *)a, *y = *(diff_item *const *)b;
    if (x->group != y->group)
        return (x->group > y->group) - (x->group < y->group);
    if (x->repeats != y->repeats)
        return x->repeats - y->repeats;
    if (x->draw != y->draw)
        return (x->draw > y->draw) - (x->draw < y->draw);
    return (x->line > y->line) - (x->line < y->line); /* sums are the same for a run and a baseline */
}

static int by_draw(const void *a, const void *b)
{
    const diff_item *x = *(diff_item *const *)a, *y = *(diff_item *const *)b;
    if (x->draw != y->draw)
        return (x->draw > y->draw) - (x->draw < y->draw);
    return (x->key > y->key) - (x->key < y->key);
}

/* `all` by class: those of one from *at on. */
static attest_status tell_class(attest_diff *diff, const items *all, size_t *at, const diff_figures *f,
                                const attest_results *now, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const size_t first = *at, group = all->item[first]->group;
    size_t end = first, plain = first;
    for (; end < all->count && all->item[end]->group == group; end++)
        plain += !all->item[end]->repeats;
    const items both = { all->item + first, end - first }, others = { all->item + first, plain - first };
    const items equal = { all->item + plain, end - plain };
    const diff_group *g = &f->group[group];
    *at = end;
    ATTEST_TRY(tell_all(diff, g, &others, 0, now, err));
    ATTEST_TRY(tell_all(diff, g, &equal, 1, now, err));
    ATTEST_TRY(tell_conditions(diff, g, &others, f, now, err));
    ATTEST_TRY(tell_jumps(diff, g, &both, now, err));
out:
    return status;
}

/* The kernel of class `group`, if that is its first and it has others. */
static attest_status tell_kernel(attest_diff *diff, size_t group, const diff_figures *f, items *list,
                                 const attest_results *now, attest_error *err)
{
    attest_status status = ATTEST_OK;
    diff_group whole = f->group[group];
    size_t classes = 0, first = f->groups;
    list->count = 0;
    for (size_t g = 0; g < f->groups; g++)
        if (strcmp(f->group[g].kernel, whole.kernel) == 0) {
            first = first < g ? first : g;
            classes++;
        }
    if (classes < 2 || first != group)
        return ATTEST_OK;
    for (size_t i = 0; i < f->count; i++) {
        diff_item *item = &f->item[i];
        if (isfinite(item->moved) && !item->repeats && !item->told &&
            strcmp(f->group[item->group].kernel, whole.kernel) == 0)
            list->item[list->count++] = item;
    }
    if (list->count > 1)
        qsort(list->item, list->count, sizeof *list->item, by_draw);
    whole.class[0] = '\0';
    ATTEST_TRY(tell_all(diff, &whole, list, 0, now, err));
    ATTEST_TRY(tell_conditions(diff, &whole, list, f, now, err));
out:
    return status;
}

attest_status diff_shift_tell(attest_diff *diff, diff_figures *f, const attest_results *now, attest_error *err)
{
    attest_status status = ATTEST_OK;
    items all = { calloc(f->count + 1, sizeof *all.item), 0 };
    if (!all.item)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu errors", f->count));
    for (size_t i = 0; i < f->count; i++)
        if (isfinite(f->item[i].moved))
            all.item[all.count++] = &f->item[i];
    if (all.count > 1)
        qsort(all.item, all.count, sizeof *all.item, by_class);
    for (size_t at = 0; at < all.count;)
        ATTEST_TRY(tell_class(diff, &all, &at, f, now, err));
    for (size_t g = 0; g < f->groups; g++)
        ATTEST_TRY(tell_kernel(diff, g, f, &all, now, err));
out:
    free(all.item);
    return status;
}
