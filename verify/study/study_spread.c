/* study_spread.c - one result of several seeds: the median, and least and greatest beside it. */
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verify/study/study_private.h"

/* Least and greatest of the numbers that are; NAN without one. */
static void take(double *least, double *most, double x)
{
    if (x == x && !(*least <= x))
        *least = x;
    if (x == x && !(*most >= x))
        *most = x;
}

/* Which answer has the median ordinate (the lower of two); the first where none has an ordinate. */
static size_t median_of(const attest_study *study, study_answer *const *answer, size_t count)
{
    double ordinate[STUDY_VALUES];
    size_t of[STUDY_VALUES], order[STUDY_VALUES], known = 0;
    for (size_t s = 0; s < count; s++) {
        const double y = study->ordinate_of(&answer[s]->result);
        if (y == y) {
            ordinate[known] = y;
            of[known++] = s;
        }
    }
    if (known == 0)
        return 0;
    gsl_sort_index(order, ordinate, 1, known);
    return of[order[(known - 1) / 2]];
}

void study_spread(attest_result *to, const attest_study *study, study_answer *const *answer, size_t count)
{
    size_t other = 0, first = 0;
    *to = answer[median_of(study, answer, count)]->result;
    to->ordinate = study->ordinate_of(to);
    to->seeds = (int64_t)count;
    to->ordinate_least = to->ordinate_most = to->rounding_least = to->rounding_most = NAN;
    for (size_t s = 0; s < count; s++) {
        const attest_result *r = &answer[s]->result;
        take(&to->ordinate_least, &to->ordinate_most, study->ordinate_of(r));
        take(&to->rounding_least, &to->rounding_most, r->rounding);
        if (r->verdict != ATTEST_MEASURED && other++ == 0)
            first = s;
    }
    if (other > 0) {
        to->verdict = answer[first]->result.verdict;
        to->reasons |= answer[first]->result.reasons;
    }
    if (other > 0 && count > 1)
        snprintf(to->why, sizeof to->why, "%zu of %zu seeds: %s, the first seed=%lld", other, count,
                 attest_verdict_names[to->verdict], (long long)answer[first]->result.seed);
}
