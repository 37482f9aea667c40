/* shift.c - the errors of a class of cases, then and now: how far they moved, and whether that is beyond the noise; the
 * same for two runs and for a run and a baseline.  See diff.h. */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/diff/figures.h"

#define SHIFT_MOST 8.0

void diff_shift_add(diff_shift *s, double error, double typical, const diff_item *now, size_t number)
{
    const int typicals = isfinite(typical) && isfinite(now->typical);
    const double d = typicals ? now->typical - typical : now->error - error;
    if (!isfinite(d)) {
        s->alone += isfinite(error) || isfinite(now->error);
        return;
    }
    const double cut = fmax(-SHIFT_MOST, fmin(SHIFT_MOST, d));
    if (s->n++ == 0 || cut > s->most) {
        s->most = cut;
        s->at = number;
    }
    s->sum += cut;
    s->squares += cut * cut;
}

int diff_shift_none(const diff_shift *s) { return s->n == 0 && s->alone > 0; }

/* diff.h: 1 grown, -1 shrunk beyond the noise, 0 neither. */
static int beyond_noise(double *shift, double *noise, const diff_shift *s)
{
    const double n = (double)s->n, mean = n > 0 ? s->sum / n : 0;
    const double plain = ATTEST_DIFF_DEVIATIONS * M_SQRT2 / sqrt(n);
    const double spread = n > 1 ? sqrt(fmax(0, (s->squares - n * mean * mean) / (n - 1))) : NAN;
    *shift = mean;
    *noise = n >= 4 ? spread / sqrt(n) : M_SQRT2 / sqrt(n);
    if (!(fabs(mean) >= ATTEST_DIFF_SHIFT))
        return 0;
    const double limit = gsl_cdf_ugaussian_Q(ATTEST_DIFF_DEVIATIONS);
    const int seldom = n >= 4 && (spread == 0 || gsl_cdf_tdist_Q(fabs(mean) / *noise, n - 1) < limit);
    return seldom || fabs(mean) >= plain ? (mean > 0 ? 1 : -1) : 0;
}

attest_status diff_shift_tell(attest_diff *diff, const diff_group *group, const diff_shift *s, const diff_item *items,
                              const attest_results *now, attest_error *err)
{
    double shift, noise;
    const int beyond = beyond_noise(&shift, &noise, s);
    if (diff_shift_none(s))
        return diff_name_case(diff_add(diff, ATTEST_CHANGE_UNCOMPARED, group,
                                       "the errors are NOT compared: no case has one then and now (%zu have one)",
                                       s->alone),
                              now, SIZE_MAX, NAN, err);
    if (beyond > 0)
        return diff_name_case(diff_add(diff, ATTEST_CHANGE_ERROR, group,
                                       "the error grew %.1f times (%.2f bits, noise %.2f, %zu cases)",
                                       DIFF_TIMES(shift), shift, noise, s->n),
                              now, items[s->at].index, shift, err);
    if (beyond < 0)
        return diff_name_case(diff_add(diff, ATTEST_CHANGE_BETTER, group, "the error is %.1f times smaller (%zu cases)",
                                       DIFF_TIMES(shift), s->n),
                              now, SIZE_MAX, shift, err);
    return ATTEST_OK;
}

/* ---- in a baseline's file ---------------------------------------------------------------------------------------- */
/* q = 2^8 (x + 192): from 0 to 65280; no error is ffff. */
enum { DIGITS = 4, NONE = 0xffff, OFFSET = 192 };

json_t *diff_each_of(const diff_item *item, size_t count, int typical)
{
    char *text = malloc(DIGITS * count + 1);
    if (!text)
        return NULL;
    *text = '\0';
    for (size_t i = 0; i < count; i++) {
        const double x = typical ? item[i].typical : item[i].error;
        snprintf(text + DIGITS * i, DIGITS + 1, "%04x",
                 isfinite(x) ? (unsigned)ldexp(x + OFFSET, 8) & NONE : (unsigned)NONE);
    }
    json_t *each = json_string(text);
    free(text);
    return each;
}

double diff_each(const json_t *each, size_t number)
{
    char digits[DIGITS + 1] = "";
    if (json_string_length(each) < DIGITS * (number + 1))
        return NAN;
    memcpy(digits, json_string_value(each) + DIGITS * number, DIGITS);
    const unsigned long q = strtoul(digits, NULL, 16);
    return q == NONE ? NAN : ldexp((double)q, -8) - OFFSET;
}

int diff_each_all(const json_t *value)
{
    const char *text = json_string_value(value);
    return text && strlen(text) % DIGITS == 0 && strspn(text, "0123456789abcdef") == strlen(text);
}

int64_t diff_each_count(const json_t *each) { return (int64_t)(json_string_length(each) / DIGITS); }
