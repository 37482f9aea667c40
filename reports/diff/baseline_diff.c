/* baseline_diff.c - a run against a baseline; see diff.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/diff/figures.h"

/* attest_result_rank() of failures and crashes is at most this. */
enum { FAILED = 1 };

/* How the cases of a class that did not pass compare with those that a baseline names. */
typedef struct verdicts {
    size_t failures, worse, better;
    size_t failed_at, worse_at; /* numbers of the first results */
    char was[32], is[32];       /* verdicts of the first that is worse */
} verdicts;

static int rank_of(int64_t verdict)
{
    attest_result r;
    attest_result_init(&r);
    r.verdict = verdict;
    return attest_result_rank(&r);
}

/* The rank of a case in a baseline: that of its verdict, if it is named; else a pass; -1 where the case may be new. */
static int rank_then(const attest_baseline_line *then, const char *problem, int same, const char **verdict)
{
    *verdict = attest_verdict_names[ATTEST_PASS];
    for (size_t i = 0; then && i < json_array_size(then->known); i++) {
        const char *text = json_string_value(json_array_get(then->known, i));
        const size_t len = strcspn(text, " ");
        if (text[len] != ' ' || strcmp(text + len + 1, problem) != 0)
            continue;
        for (int64_t v = 0; v < ATTEST_VERDICT_COUNT; v++)
            if (strlen(attest_verdict_names[v]) == len && strncmp(attest_verdict_names[v], text, len) == 0) {
                *verdict = attest_verdict_names[v];
                return rank_of(v);
            }
    }
    return same ? DIFF_GOOD : -1;
}

static attest_status compare_verdicts(verdicts *v, const diff_figures *f, size_t group,
                                      const attest_baseline_line *then, int same, const attest_results *now,
                                      attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result r;
    const char *was;
    const size_t known = then ? json_array_size(then->known) : 0;
    *v = (verdicts){ .failures = 0 };
    for (size_t i = 0; i < f->count; i++) {
        const diff_item *item = &f->item[i];
        if (item->group != group || (item->rank >= DIFF_GOOD && known == 0))
            continue;
        ATTEST_TRY(attest_results_get(&r, now, item->index, err));
        const int rank = rank_then(then, r.problem, same, &was);
        if (item->failed && (rank < 0 || rank > FAILED)) {
            if (v->failures++ == 0)
                v->failed_at = item->index;
        } else if (rank >= 0 && item->rank < rank) {
            if (v->worse++ > 0)
                continue;
            v->worse_at = item->index;
            snprintf(v->was, sizeof v->was, "%s", was);
            snprintf(v->is, sizeof v->is, "%s", attest_verdict_names[r.verdict]);
        } else {
            v->better += rank >= 0 && item->rank > rank;
        }
    }
out:
    return status;
}

static attest_status tell_verdicts(attest_diff *diff, const diff_group *g, const verdicts *v, size_t cases,
                                   const attest_results *now, attest_error *err)
{
    attest_status status = ATTEST_OK;
    if (v->failures > 0)
        ATTEST_TRY(diff_name_case(
            diff_add(diff, ATTEST_CHANGE_FAILURE, g, "%zu of %zu cases fail that did not", v->failures, cases), now,
            v->failed_at, NAN, err));
    if (v->worse > 0)
        ATTEST_TRY(diff_name_case(diff_add(diff, ATTEST_CHANGE_VERDICT, g, DIFF_WORSE, v->worse, cases, v->was, v->is),
                                  now, v->worse_at, NAN, err));
    if (v->better > 0)
        ATTEST_TRY(diff_name_case(
            diff_add(diff, ATTEST_CHANGE_BETTER, g, "%zu of %zu cases have a better verdict", v->better, cases), now,
            SIZE_MAX, NAN, err));
out:
    return status;
}

/* Of the same cases.  *none: no error could be compared. */
static attest_status tell_errors(attest_diff *diff, int *none, const diff_figures *f, size_t group,
                                 const attest_baseline_line *then, const attest_baseline_line *is,
                                 const attest_results *now, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const diff_group *g = &f->group[group];
    diff_shift shift = { .alone = 0 };
    diff_item *item;
    size_t count;
    char exact[64];
    ATTEST_TRY(diff_sorted(&item, &count, f, group, err));
    for (size_t i = 0; i < count; i++)
        diff_shift_add(&shift, diff_each(then->error_each, i), diff_each(then->typical_each, i), &item[i], i);
    ATTEST_TRY(diff_shift_tell(diff, g, &shift, item, now, err));
    diff_shift_exact(exact, &shift);
    if (strcmp(is->outputs, then->outputs) != 0)
        ATTEST_TRY(
            diff_name_case(diff_add(diff, ATTEST_CHANGE_BITS, g, "other bits%s", exact), now, SIZE_MAX, NAN, err));
    *none = diff_shift_none(&shift);
out:
    free(item);
    return status;
}

/* A class whose cases are not those of the baseline. */
static attest_status tell_unknown(attest_diff *diff, const diff_group *group, const attest_baseline_line *then,
                                  const attest_baseline_line *is, attest_error *err)
{
    const int known = then ? diff_add(diff, ATTEST_CHANGE_CASES, group,
                                      "the baseline is of %s cases (%lld, now %lld): review it",
                                      then->cases == is->cases ? "other" : "another number of", (long long)then->cases,
                                      (long long)is->cases) != NULL
                           : diff_add(diff, ATTEST_CHANGE_CASES, group, "not in the baseline (%lld cases): review it",
                                      (long long)is->cases) != NULL;
    return known ? ATTEST_OK : attest_fail(err, ATTEST_NO_MEMORY, "no memory for changes");
}

static attest_status tell_group(attest_diff *diff, const diff_figures *f, size_t group, const attest_baseline *baseline,
                                const attest_results *now, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_baseline_line is = diff_line_of(f, group);
    const attest_baseline_line *then = baseline->count
                                           ? bsearch(&is, baseline->line, baseline->count, sizeof is, diff_by_name)
                                           : NULL;
    verdicts v;
    int none = 0;
    if (then && *then->typed)
        ATTEST_TRY(diff_hash_typed(&is, f, group, then->typed, now, err));
    const int same = then && strcmp(then->set, is.set) == 0;
    ATTEST_TRY(compare_verdicts(&v, f, group, then, same, now, err));
    ATTEST_TRY(tell_verdicts(diff, &f->group[group], &v, (size_t)is.cases, now, err));
    if (!same)
        ATTEST_TRY(tell_unknown(diff, &f->group[group], then, &is, err));
    else
        ATTEST_TRY(tell_errors(diff, &none, f, group, then, &is, now, err));
    diff->compared += same && !none ? (size_t)is.cases : 0;
out:
    return status;
}

/* A class that a kernel of this run had, and has no more. */
static attest_status tell_gone(attest_diff *diff, const diff_figures *f, const attest_baseline_line *then,
                               attest_error *err)
{
    diff_group group = { "", "" };
    int kernel = 0;
    for (size_t g = 0; g < f->groups; g++)
        if (strcmp(f->group[g].kernel, then->kernel) == 0) {
            kernel = 1;
            if (strcmp(f->group[g].class, then->class) == 0)
                return ATTEST_OK;
        }
    if (!kernel)
        return ATTEST_OK;
    snprintf(group.kernel, sizeof group.kernel, "%s", then->kernel);
    snprintf(group.class, sizeof group.class, "%s", then->class);
    return diff_add(diff, ATTEST_CHANGE_CASES, &group, "gone: the baseline has %lld cases: review it",
                    (long long)then->cases)
               ? ATTEST_OK
               : attest_fail(err, ATTEST_NO_MEMORY, "no memory for changes");
}

attest_status attest_diff_baseline(attest_diff *diff, const attest_baseline *baseline, const attest_results *now,
                                   attest_error *err)
{
    attest_status status = ATTEST_OK;
    diff_figures f;
    *diff = (attest_diff){ 0 };
    ATTEST_TRY(diff_collect(&f, now, err));
    for (size_t g = 0; g < f.groups; g++)
        ATTEST_TRY(tell_group(diff, &f, g, baseline, now, err));
    for (size_t i = 0; i < baseline->count; i++)
        ATTEST_TRY(tell_gone(diff, &f, &baseline->line[i], err));
    ATTEST_TRY(diff_end(diff, err));
out:
    diff_figures_clear(&f);
    if (status != ATTEST_OK)
        attest_diff_clear(diff);
    return status;
}
