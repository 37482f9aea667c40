/* diff.c - two runs, or a baseline and a run, case by case; see diff.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/diff/figures.h"

#define SPEED 1.5
#define SPEED_SECONDS 0.05

/* What a class of the later run adds up to. */
typedef struct tally {
    size_t cases, pairs, fresh, failures, worse, better, bits, renamed;
    diff_moved moved;
    size_t failed_at, worse_at, bits_at; /* numbers of the first items */
    size_t renamed_at;                   /* class of the first in the earlier run */
    int64_t was;
} tally;

static int by_key(const void *a, const void *b)
{
    const diff_item *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static void count_pair(tally *t, const diff_item *then, diff_item *now, size_t at, int renamed)
{
    t->pairs++;
    if (renamed && t->renamed++ == 0)
        t->renamed_at = then->group;
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
    diff_moved_add(&t->moved, then->error, then->typical, now);
}

static attest_status tell_group(attest_diff *diff, const attest_results *now, const diff_figures *then,
                                const diff_figures *is, const diff_group *group, const tally *t, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char exact[64];
    diff_moved_exact(exact, &t->moved);
    if (t->failures > 0)
        ATTEST_TRY(diff_name_case(
            diff_add(diff, ATTEST_CHANGE_FAILURE, group, "%zu of %zu cases fail that did not", t->failures, t->cases),
            now, is->item[t->failed_at].index, NAN, err));
    if (t->worse > 0)
        ATTEST_TRY(diff_name_case(diff_add(diff, ATTEST_CHANGE_VERDICT, group,
                                           "%zu of %zu cases have a worse verdict, the first was %s and is %s",
                                           t->worse, t->cases, attest_verdict_names[t->was],
                                           attest_verdict_names[is->item[t->worse_at].verdict]),
                                  now, is->item[t->worse_at].index, NAN, err));
    if (diff_moved_none(&t->moved))
        ATTEST_TRY(diff_moved_tell_none(diff, group, &t->moved, err));
    if (t->better > 0)
        ATTEST_TRY(diff_name_case(
            diff_add(diff, ATTEST_CHANGE_BETTER, group, "%zu of %zu cases have a better verdict", t->better, t->cases),
            now, SIZE_MAX, NAN, err));
    if (t->bits > 0)
        ATTEST_TRY(diff_name_case(
            diff_add(diff, ATTEST_CHANGE_BITS, group, "other bits in %zu of %zu cases%s", t->bits, t->cases, exact),
            now, is->item[t->bits_at].index, NAN, err));
    if (t->renamed > 0)
        ATTEST_TRY(diff_name_case(diff_add(diff, ATTEST_CHANGE_CLASS, group,
                                           "%zu of %zu cases were of class '%s': another bound judges them", t->renamed,
                                           t->cases, then->group[t->renamed_at].class),
                                  now, SIZE_MAX, NAN, err));
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

/* Of two runs. */
static attest_status tell_cases(attest_diff *diff, size_t gone, size_t fresh, attest_error *err)
{
    const diff_group all = { "*", "" };
    diff->other = gone + fresh;
    if (diff->other > 0 &&
        !diff_add(diff, ATTEST_CHANGE_CASES, &all, "%zu results are gone, %zu are new: not compared", gone, fresh))
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for changes");
    return ATTEST_OK;
}

/* Of a baseline: the cases of a class that one side has alone.  `fresh` and `cases`: now; 0 in a class that is gone. */
static attest_status tell_class(attest_diff *diff, const diff_group *group, size_t fresh, size_t cases, size_t gone,
                                attest_error *err)
{
    const attest_change *change = NULL;
    if (fresh + gone == 0)
        return ATTEST_OK;
    diff->other++;
    if (cases == 0)
        change = diff_add(diff, ATTEST_CHANGE_CASES, group, "gone: the baseline has %zu cases: review it", gone);
    else if (fresh == cases && gone == 0)
        change = diff_add(diff, ATTEST_CHANGE_CASES, group, "not in the baseline (%zu cases): review it", fresh);
    else
        change = diff_add(diff, ATTEST_CHANGE_CASES, group,
                          "of %zu cases the baseline has %zu, and %zu that are gone: review it", cases, cases - fresh,
                          gone);
    return change ? ATTEST_OK : attest_fail(err, ATTEST_NO_MEMORY, "no memory for changes");
}

/* A kernel that this run has not is of another run. */
static attest_status tell_classes(attest_diff *diff, const diff_figures *then, const diff_figures *is, const tally *t,
                                  attest_error *err)
{
    attest_status status = ATTEST_OK;
    size_t *gone = calloc(then->groups + 1, sizeof *gone);
    if (!gone)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu classes", then->groups));
    for (size_t i = 0; i < then->count; i++)
        gone[then->item[i].group] += !then->item[i].told;
    for (size_t g = 0; g < is->groups; g++) {
        size_t k = 0;
        while (k < then->groups && (strcmp(then->group[k].kernel, is->group[g].kernel) != 0 ||
                                    strcmp(then->group[k].class, is->group[g].class) != 0))
            k++;
        ATTEST_TRY(tell_class(diff, &is->group[g], t[g].fresh, t[g].pairs + t[g].fresh, gone[k], err));
        gone[k] = 0;
    }
    for (size_t k = 0; k < then->groups; k++)
        for (size_t g = 0; g < is->groups && gone[k] > 0; g++)
            if (strcmp(then->group[k].kernel, is->group[g].kernel) == 0) {
                ATTEST_TRY(tell_class(diff, &then->group[k], 0, 0, gone[k], err));
                gone[k] = 0;
            }
out:
    free(gone);
    return status;
}

/* What fails of a whole kernel or library, and did not. */
static attest_status tell_wholes(attest_diff *diff, const diff_figures *then, const diff_figures *is,
                                 const attest_results *now, attest_error *err)
{
    for (size_t w = 0; w < is->wholes; w++) {
        const diff_whole *whole = &is->whole[w];
        diff_group group = { "", "" };
        int fresh = whole->failed;
        for (size_t k = 0; k < then->wholes; k++)
            fresh = fresh && !(then->whole[k].key == whole->key && then->whole[k].failed);
        if (!fresh)
            continue;
        memcpy(group.kernel, whole->kernel, sizeof group.kernel);
        const attest_status status = diff_name_case(diff_add(diff, ATTEST_CHANGE_FAILURE, &group, "%s", whole->text),
                                                    now, whole->index, NAN, err);
        if (status != ATTEST_OK)
            return status;
    }
    return ATTEST_OK;
}

/* Pairs the items: into t[class] and seconds[class]; returns how many. */
static size_t pair(tally *t, double (*seconds)[2], diff_figures *then, diff_figures *is)
{
    size_t pairs = 0;
    for (size_t i = 0; i < is->count; i++) {
        diff_item *item = &is->item[i];
        tally *of = &t[item->group];
        diff_item *was = then->count ? bsearch(item, then->item, then->count, sizeof *item, by_key) : NULL;
        of->cases += was || item->failed;
        of->fresh += !was;
        if (!was) { /* a failure of a new case is one that was not */
            if (item->failed && of->failures++ == 0)
                of->failed_at = i;
            continue;
        }
        was->told = 1;
        pairs++;
        count_pair(of, was, item, i, strcmp(then->group[was->group].class, is->group[item->group].class) != 0);
        if (was->seconds > 0 && item->seconds > 0) {
            seconds[item->group][0] += was->seconds;
            seconds[item->group][1] += item->seconds;
        }
    }
    return pairs;
}

attest_status diff_compare(attest_diff *diff, diff_figures *then, diff_figures *is, const attest_results *now,
                           int baseline, attest_error *err)
{
    attest_status status = ATTEST_OK;
    tally *t = calloc(is->groups + 1, sizeof *t);
    double(*seconds)[2] = calloc(is->groups + 1, sizeof *seconds);
    if (!t || !seconds)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu classes", is->groups));
    if (then->count > 1) /* none: NULL */
        qsort(then->item, then->count, sizeof *then->item, by_key);
    const size_t pairs = pair(t, seconds, then, is);
    for (size_t g = 0; g < is->groups; g++) {
        ATTEST_TRY(tell_group(diff, now, then, is, &is->group[g], &t[g], err));
        diff->compared += diff_moved_none(&t[g].moved) ? 0 : t[g].pairs;
    }
    ATTEST_TRY(diff_shift_tell(diff, is, now, err));
    ATTEST_TRY(tell_speed(diff, is, (const double(*)[2])seconds, err));
    diff->of_classes = baseline;
    if (baseline) {
        ATTEST_TRY(tell_classes(diff, then, is, t, err));
    } else {
        ATTEST_TRY(tell_wholes(diff, then, is, now, err));
        ATTEST_TRY(tell_cases(diff, then->count - pairs, is->count - pairs, err));
    }
    status = diff_end(diff, err);
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
    ATTEST_TRY(diff_compare(diff, &then, &is, now, 0, err));
out:
    diff_figures_clear(&then);
    diff_figures_clear(&is);
    if (status != ATTEST_OK)
        attest_diff_clear(diff);
    return status;
}
