/* shift.c - the errors of a class of cases, then and now: how far they moved, and whether that is beyond the noise; the
 * same for two runs and for a run and a baseline.  See diff.h. */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/diff/figures.h"

#define SHIFT_MOST 8.0

/* Below u/4 (diff.h says why). */
static int is_exact(double error, const diff_item *item) { return error < -item->digits - 2; }

/* At least 3 u. */
static double lifted(double error, const diff_item *item) { return fmax(error, log2(3) - item->digits); }

static void add(struct diff_moved *m, double d, size_t number)
{
    const double cut = fmax(-SHIFT_MOST, fmin(SHIFT_MOST, d));
    if (m->n++ == 0 || cut > m->most) {
        m->most = cut;
        m->at = number;
    }
    m->sum += cut;
    m->squares += cut * cut;
}

void diff_shift_add(diff_shift *s, double error, double typical, const diff_item *now, size_t number)
{
    const int typicals = isfinite(typical) && isfinite(now->typical);
    const int errors = isfinite(now->error - error);
    const int was = errors && is_exact(error, now), is = errors && is_exact(now->error, now);
    if (!typicals && !errors) {
        s->alone += isfinite(error) || isfinite(now->error);
        return;
    }
    s->no_more += was && !is;
    s->exact += was && is;
    const int repeats = errors && now->repeats;
    const double d = typicals ? now->typical - typical : now->error - error;
    if (repeats || was != is)
        add(repeats ? &s->apart : &s->plain, lifted(now->error, now) - lifted(error, now), number);
    else if (!was)
        add(&s->plain, d, number);
}

int diff_shift_none(const diff_shift *s) { return s->plain.n + s->apart.n + s->exact == 0 && s->alone > 0; }

void diff_shift_exact(char text[64], const diff_shift *s)
{
    *text = '\0';
    if (s->no_more > 0)
        snprintf(text, 64, "; %zu %s exact and %s not", s->no_more, s->no_more == 1 ? "was" : "were",
                 s->no_more == 1 ? "is" : "are");
}

/* diff.h: 1 grown, -1 shrunk beyond the noise, 0 neither; of cases that count as n. */
static int beyond_noise(double *shift, double *noise, const struct diff_moved *m, size_t as)
{
    const double n = (double)as, mean = m->n > 0 ? m->sum / (double)m->n : 0;
    const double plain = ATTEST_DIFF_DEVIATIONS * M_SQRT2 / sqrt(n);
    const double spread = n > 1 ? sqrt(fmax(0, (m->squares - n * mean * mean) / (n - 1))) : NAN;
    *shift = mean;
    *noise = n >= 4 ? spread / sqrt(n) : M_SQRT2 / sqrt(n);
    if (!(fabs(mean) >= ATTEST_DIFF_SHIFT))
        return 0;
    const double limit = gsl_cdf_ugaussian_Q(ATTEST_DIFF_DEVIATIONS);
    const int seldom = n >= 4 && (spread == 0 || gsl_cdf_tdist_Q(fabs(mean) / *noise, n - 1) < limit);
    return seldom || fabs(mean) >= plain ? (mean > 0 ? 1 : -1) : 0;
}

static attest_status tell(attest_diff *diff, const diff_group *group, const struct diff_moved *m, size_t as,
                          const diff_item *items, const attest_results *now, attest_error *err)
{
    double shift, noise;
    const int beyond = beyond_noise(&shift, &noise, m, as);
    const char *of = as == m->n ? "" : " of repeated numbers";
    if (beyond > 0)
        return diff_name_case(diff_add(diff, ATTEST_CHANGE_ERROR, group,
                                       "the error grew %.1f times (%.2f bits, noise %.2f, %zu cases%s)",
                                       DIFF_TIMES(shift), shift, noise, m->n, of),
                              now, items[m->at].index, shift, err);
    if (beyond < 0)
        return diff_name_case(diff_add(diff, ATTEST_CHANGE_BETTER, group,
                                       "the error is %.1f times smaller (%zu cases%s)", DIFF_TIMES(shift), m->n, of),
                              now, SIZE_MAX, shift, err);
    return ATTEST_OK;
}

attest_status diff_shift_tell(attest_diff *diff, const diff_group *group, const diff_shift *s, const diff_item *items,
                              const attest_results *now, attest_error *err)
{
    attest_status status = ATTEST_OK;
    if (diff_shift_none(s))
        return diff_name_case(diff_add(diff, ATTEST_CHANGE_UNCOMPARED, group,
                                       "the errors are NOT compared: no case has one then and now (%zu have one)",
                                       s->alone),
                              now, SIZE_MAX, NAN, err);
    ATTEST_TRY(tell(diff, group, &s->plain, s->plain.n, items, now, err));
    ATTEST_TRY(tell(diff, group, &s->apart, s->apart.n > 0, items, now, err));
out:
    return status;
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
