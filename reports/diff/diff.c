/* diff.c - two runs, case by case; see diff.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/diff/figures.h"

#define SPEED 1.5
#define SPEED_SECONDS 0.05

/* What a class of the later run adds up to. */
typedef struct tally {
    size_t cases, pairs, failures, worse, better, bits;
    diff_shift shift;
    size_t failed_at, worse_at, bits_at; /* numbers of the first items */
    int64_t was;
} tally;

static int by_key(const void *a, const void *b)
{
    const diff_item *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static void count_pair(tally *t, const diff_item *then, const diff_item *now, size_t at)
{
    t->cases++;
    t->pairs++;
    if (now->failed && !then->failed) {
        if (t->failures++ == 0)
            t->failed_at = at;
    } else if (now->rank < then->rank) {
        if (t->worse++ == 0) {
            t->worse_at = at;
            t->was = then->verdict;
        }
    } else if (now->rank > then->rank) {
        t->better++;
    }
    if (now->bits != then->bits && t->bits++ == 0)
        t->bits_at = at;
    diff_shift_add(&t->shift, then->error, then->typical, now, at);
}

static attest_status tell_group(attest_diff *diff, const attest_results *now, const diff_figures *figures,
                                const diff_group *group, const tally *t, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char exact[64];
    diff_shift_exact(exact, &t->shift);
    if (t->failures > 0)
        ATTEST_TRY(diff_name_case(
            diff_add(diff, ATTEST_CHANGE_FAILURE, group, "%zu of %zu cases fail that did not", t->failures, t->cases),
            now, figures->item[t->failed_at].index, NAN, err));
    if (t->worse > 0)
        ATTEST_TRY(diff_name_case(diff_add(diff, ATTEST_CHANGE_VERDICT, group, DIFF_WORSE, t->worse, t->cases,
                                           attest_verdict_names[t->was],
                                           attest_verdict_names[figures->item[t->worse_at].verdict]),
                                  now, figures->item[t->worse_at].index, NAN, err));
    ATTEST_TRY(diff_shift_tell(diff, group, &t->shift, figures->item, now, err));
    if (t->better > 0 &&
        !diff_add(diff, ATTEST_CHANGE_BETTER, group, "%zu of %zu cases have a better verdict", t->better, t->cases))
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for changes"));
    if (t->bits > 0)
        ATTEST_TRY(diff_name_case(
            diff_add(diff, ATTEST_CHANGE_BITS, group, "other bits in %zu of %zu cases%s", t->bits, t->cases, exact),
            now, figures->item[t->bits_at].index, NAN, err));
out:
    return status;
}

/* Where both runs were timed. */
static attest_status tell_speed(attest_diff *diff, const diff_figures *now, const double (*seconds)[2],
                                attest_error *err)
{
    for (size_t g = 0; g < now->groups; g++) {
        double then = 0, is = 0;
        int first = 1;
        for (size_t k = 0; k < now->groups; k++) {
            if (strcmp(now->group[k].kernel, now->group[g].kernel) != 0)
                continue;
            first = first && k >= g;
            then += seconds[k][0];
            is += seconds[k][1];
        }
        if (!first || !(then >= SPEED_SECONDS) || (is < SPEED * then && then < SPEED * is))
            continue;
        diff_group whole = now->group[g];
        whole.class[0] = '\0';
        if (!diff_add(diff, ATTEST_CHANGE_SPEED, &whole, "%.2g times %s (%.3g s, was %.3g s)",
                      is > then ? is / then : then / is, is > then ? "slower" : "faster", is, then))
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for changes");
    }
    return ATTEST_OK;
}

static attest_status tell_cases(attest_diff *diff, size_t gone, size_t fresh, attest_error *err)
{
    const diff_group all = { "*", "" };
    if (gone + fresh > 0 &&
        !diff_add(diff, ATTEST_CHANGE_CASES, &all, "%zu results are gone, %zu are new: not compared", gone, fresh))
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for changes");
    return ATTEST_OK;
}

static attest_status compare(attest_diff *diff, const diff_figures *then, const diff_figures *is,
                             const attest_results *now, attest_error *err)
{
    attest_status status = ATTEST_OK;
    tally *t = calloc(is->groups + 1, sizeof *t);
    double(*seconds)[2] = calloc(is->groups + 1, sizeof *seconds);
    size_t pairs = 0;
    if (!t || !seconds)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu classes", is->groups));
    for (size_t i = 0; i < is->count; i++) {
        const diff_item *item = &is->item[i];
        const diff_item *was = then->count ? bsearch(item, then->item, then->count, sizeof *item, by_key) : NULL;
        if (!was) { /* a failure of a new case is one that was not */
            t[item->group].cases += (size_t)item->failed;
            if (item->failed && t[item->group].failures++ == 0)
                t[item->group].failed_at = i;
            continue;
        }
        count_pair(&t[item->group], was, item, i);
        if (was->seconds > 0 && item->seconds > 0) {
            seconds[item->group][0] += was->seconds;
            seconds[item->group][1] += item->seconds;
        }
    }
    for (size_t g = 0; g < is->groups; g++) {
        ATTEST_TRY(tell_group(diff, now, is, &is->group[g], &t[g], err));
        pairs += t[g].pairs;
        diff->compared += diff_shift_none(&t[g].shift) ? 0 : t[g].pairs;
    }
    ATTEST_TRY(tell_speed(diff, is, (const double(*)[2])seconds, err));
    ATTEST_TRY(tell_cases(diff, then->count > pairs ? then->count - pairs : 0, is->count - pairs, err));
out:
    free(t);
    free(seconds);
    return status;
}

attest_status attest_diff_runs(attest_diff *diff, const attest_results *before, const attest_results *now,
                               attest_error *err)
{
    attest_status status = ATTEST_OK;
    diff_figures then = { .count = 0 }, is = { .count = 0 };
    *diff = (attest_diff){ 0 };
    ATTEST_TRY(diff_collect(&then, before, err));
    ATTEST_TRY(diff_collect(&is, now, err));
    if (then.count > 1) /* none: NULL */
        qsort(then.item, then.count, sizeof *then.item, by_key);
    ATTEST_TRY(compare(diff, &then, &is, now, err));
    ATTEST_TRY(diff_end(diff, err));
out:
    diff_figures_clear(&then);
    diff_figures_clear(&is);
    if (status != ATTEST_OK)
        attest_diff_clear(diff);
    return status;
}
