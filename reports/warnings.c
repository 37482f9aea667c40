/* warnings.c - what is told beside the verdicts and changes none: errors beyond what they probably are at most
 * (R-PROBABILISTIC), mean errors that are not 0, and errors beside those of plain arithmetic (--typical). */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/overview.h"

/* ---- probabilistic errors ---------------------------------------------------------------------------------------- */
static int is_kernel_of(const void *entry, const attest_result *result)
{
    return strcmp(((const attest_probabilistic *)entry)->kernel, result->kernel) == 0;
}

/* `flat, ones`: the family, unless it stands there; a list that is full stays. */
static void note_family(char *list, size_t len, const char *family)
{
    const size_t size = strlen(family), used = strlen(list);
    for (const char *at = list; (at = strstr(at, family)) != NULL; at++)
        if ((at == list || at[-1] == ' ') && (at[size] == ',' || at[size] == '\0'))
            return;
    if (used + size + 3 < len)
        snprintf(list + used, len - used, "%s%s", used ? ", " : "", family);
}

static attest_status take_probabilistic(attest_warnings *w, const attest_result *result, attest_error *err)
{
    const double ratio = result->probabilistic_ratio;
    int fresh;
    void *list = w->probabilistic;
    if (isnan(ratio))
        return ATTEST_OK;
    attest_probabilistic *p = attest_find_or_add(&list, &w->probabilistic_count, &w->probabilistic_capacity, sizeof *p,
                                                 is_kernel_of, result, &fresh);
    w->probabilistic = list;
    if (!p)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the warnings of %zu kernels",
                           w->probabilistic_count + 1);
    if (fresh)
        memcpy(p->kernel, result->kernel, sizeof p->kernel);
    if (result->family_repeats) {
        note_family(w->repeating, sizeof w->repeating, result->family);
        p->apart++;
        p->apart_above += ratio > 1;
        p->apart_largest = ratio > p->apart_largest ? ratio : p->apart_largest;
        return ATTEST_OK;
    }
    if (p->cases++ == 0 || ratio > p->largest) {
        p->largest = ratio;
        memcpy(p->problem, result->problem, sizeof p->problem);
    }
    p->above += ratio > 1;
    return ATTEST_OK;
}

/* ---- beside plain arithmetic ------------------------------------------------------------------------------------- */
static int is_typical_of(const void *entry, const attest_result *result)
{
    return strcmp(((const attest_typical_tally *)entry)->kernel, result->kernel) == 0;
}

static attest_status take_typical(attest_warnings *w, const attest_result *result, attest_error *err)
{
    int fresh;
    void *list = w->typical;
    if (!result->typical[0])
        return ATTEST_OK;
    attest_typical_tally *t = attest_find_or_add(&list, &w->typical_count, &w->typical_capacity, sizeof *t,
                                                 is_typical_of, result, &fresh);
    w->typical = list;
    if (!t)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the errors of %zu kernels", w->typical_count + 1);
    if (fresh)
        memcpy(t->kernel, result->kernel, sizeof t->kernel);
    t->cases++;
    t->worse += strcmp(result->typical, "worse-than-plain") == 0;
    t->better += strcmp(result->typical, "better-than-plain") == 0;
    if (isnan(result->typical_factor) && t->left++ == 0)
        snprintf(t->why, sizeof t->why, "%s", result->typical);
    if (result->typical_factor > t->largest) {
        t->largest = result->typical_factor;
        memcpy(t->problem, result->problem, sizeof t->problem);
    }
    return ATTEST_OK;
}

/* ---- beside predicted bits --------------------------------------------------------------------------------------- */
static int is_predicted_of(const void *entry, const attest_result *result)
{
    return strcmp(((const attest_predicted_tally *)entry)->kernel, result->kernel) == 0;
}

static attest_status take_predicted(attest_warnings *w, const attest_result *result, attest_error *err)
{
    static const char none[] = "not predicted: ";
    int fresh;
    void *list = w->predicted;
    if (!result->predicted[0])
        return ATTEST_OK;
    attest_predicted_tally *t = attest_find_or_add(&list, &w->predicted_count, &w->predicted_capacity, sizeof *t,
                                                   is_predicted_of, result, &fresh);
    w->predicted = list;
    if (!t)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the bits of %zu kernels", w->predicted_count + 1);
    if (fresh)
        memcpy(t->kernel, result->kernel, sizeof t->kernel);
    t->cases++;
    if (strcmp(result->predicted, "equal") == 0)
        t->equal++;
    else if (strncmp(result->predicted, none, strlen(none)) == 0) {
        if (t->left++ == 0)
            memcpy(t->why, result->predicted + strlen(none), sizeof result->predicted - strlen(none));
    } else if (!t->first[0]) {
        memcpy(t->first, result->predicted, sizeof t->first);
        memcpy(t->problem, result->problem, sizeof t->problem);
    }
    return ATTEST_OK;
}

/* ---- bias -------------------------------------------------------------------------------- */
static int is_seed_of(const void *entry, const attest_result *result)
{
    const attest_seed_bias *s = entry;
    return s->seed == result->seed && strcmp(s->family, result->family) == 0 && strcmp(s->class, result->class) == 0 &&
           strcmp(s->kernel, result->kernel) == 0;
}

static int is_power_of_two(double x)
{
    int exponent;
    return fabs(frexp(x, &exponent)) == 0.5;
}

static int in_group(const attest_result *result)
{
    return result->verdict != ATTEST_MEASURED && !isnan(result->outward_bias) && is_power_of_two(result->scale) &&
           (strcmp(result->acc, "f64") == 0) == (strcmp(result->in, "f64") == 0) &&
           (strcmp(result->family, "ones") == 0 || strcmp(result->family, "repeat-max") == 0);
}

static attest_status take_bias(attest_warnings *w, const attest_result *result, attest_error *err)
{
    int fresh;
    void *list = w->seed;
    if (!in_group(result))
        return ATTEST_OK;
    attest_seed_bias *s = attest_find_or_add(&list, &w->seed_count, &w->seed_capacity, sizeof *s, is_seed_of, result,
                                             &fresh);
    w->seed = list;
    if (!s)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu mean errors", w->seed_count + 1);
    if (fresh) {
        memcpy(s->kernel, result->kernel, sizeof s->kernel);
        memcpy(s->class, result->class, sizeof s->class);
        memcpy(s->family, result->family, sizeof s->family);
        s->seed = result->seed;
    }
    s->sum += result->outward_bias;
    s->cases++;
    return ATTEST_OK;
}

attest_status attest_warnings_take(attest_warnings *warnings, const attest_result *result, attest_error *err)
{
    attest_status status = ATTEST_OK;
    ATTEST_TRY(take_probabilistic(warnings, result, err));
    ATTEST_TRY(take_typical(warnings, result, err));
    ATTEST_TRY(take_predicted(warnings, result, err));
    ATTEST_TRY(take_bias(warnings, result, err));
out:
    return status;
}

static int same_group(const attest_seed_bias *x, const attest_seed_bias *y)
{
    const int kernel = strcmp(x->kernel, y->kernel), class = strcmp(x->class, y->class);
    return kernel ? kernel : class ? class : strcmp(x->family, y->family);
}

static int by_group(const void *a, const void *b)
{
    const attest_seed_bias *x = a, *y = b;
    const int group = same_group(x, y);
    return group ? group : (x->seed > y->seed) - (x->seed < y->seed);
}

/* Two-sided probability of a t at least this large under Student's law, against that of 4 deviations. */
static int is_biased(double t, size_t seeds)
{
    return seeds >= ATTEST_BIAS_SEEDS && gsl_cdf_tdist_Q(fabs(t), (double)(seeds - 1)) < gsl_cdf_ugaussian_Q(4);
}

/* The seeds of one group. */
static void fill_bias(attest_bias *to, const attest_seed_bias *seed, size_t count)
{
    const double n = (double)count;
    double sum = 0, squares = 0;
    memset(to, 0, sizeof *to);
    memcpy(to->kernel, seed->kernel, sizeof to->kernel);
    memcpy(to->class, seed->class, sizeof to->class);
    memcpy(to->family, seed->family, sizeof to->family);
    to->seeds = count;
    for (size_t i = 0; i < count; i++)
        sum += seed[i].sum / (double)seed[i].cases;
    to->mean = sum / n;
    for (size_t i = 0; i < count; i++) {
        const double off = seed[i].sum / (double)seed[i].cases - to->mean;
        squares += off * off;
    }
    to->deviation = count > 1 ? sqrt(squares / (n - 1)) : 0;
    const double at_border = strcmp(to->family, "ones") == 0 ? ATTEST_BIAS_ONES : 0;
    const double beyond = fmax(fabs(to->mean) - at_border, 0);
    to->t = beyond == 0 ? 0 : copysign(beyond / (to->deviation / sqrt(n)), to->mean);
    to->biased = is_biased(to->t, to->seeds);
}

attest_status attest_warnings_end(attest_warnings *warnings, attest_error *err)
{
    const attest_seed_bias *seed = warnings->seed;
    warnings->bias = calloc(warnings->seed_count / ATTEST_BIAS_SEEDS + 1, sizeof *warnings->bias);
    if (!warnings->bias)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu mean errors", warnings->seed_count);
    if (warnings->seed_count > 0)
        qsort(warnings->seed, warnings->seed_count, sizeof *warnings->seed, by_group);
    for (size_t i = 1, first = 0; i <= warnings->seed_count; i++) {
        if (i < warnings->seed_count && same_group(&seed[i], &seed[first]) == 0)
            continue;
        if (i - first >= ATTEST_BIAS_SEEDS)
            fill_bias(&warnings->bias[warnings->bias_count++], seed + first, i - first);
        first = i;
    }
    free(warnings->seed);
    warnings->seed = NULL;
    warnings->seed_count = warnings->seed_capacity = 0;
    return ATTEST_OK;
}

void attest_warnings_clear(attest_warnings *warnings)
{
    free(warnings->probabilistic);
    free(warnings->typical);
    free(warnings->predicted);
    free(warnings->seed);
    free(warnings->bias);
    *warnings = (attest_warnings){ 0 };
}

/* ---- the tables -------------------------------------------------------------------------------- */
static attest_status print_probabilistic(FILE *out, const attest_warnings *w, int html, attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "kernel", .flags = ATTEST_COLUMN_CODE | ATTEST_COLUMN_OUTSIDE },
        { .head = "cases", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "above 1", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "largest", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "case of the largest", .flags = ATTEST_COLUMN_CODE | ATTEST_COLUMN_OUTSIDE },
        { .head = "cases apart", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "above 1", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "largest", .flags = ATTEST_COLUMN_RIGHT },
    };
    attest_table table;
    fputs(html ? "<h2>Warnings: probable errors</h2>\n<p>" : "\n", out);
    fprintf(out,
            "Error over what it probably is at most (R-PROBABILISTIC of derivations.md, lambda = 4). If roundings "
            "are independent with mean 0, an element whose row sees n keys is beyond it with a probability of at most "
            "2 (n + 3) exp(-8) (no statement from 1488 keys on), 6 exp(-8) where scores keep their hard bound. A ratio "
            "above 1 is a reason to look, no finding: it is the largest of a case's elements. Reported apart: families "
            "that repeat scores, weights or values by construction, for equal numbers are rounded alike (here: ");
    (html ? attest_print_xml : attest_print_markdown)(out, *w->repeating ? w->repeating : "none");
    fputs(html ? ").</p>\n" : ").\n\n", out);
    attest_table_begin(&table, out, html ? ATTEST_TABLE_HTML : ATTEST_TABLE_MARKDOWN, columns,
                       sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < w->probabilistic_count; i++) {
        const attest_probabilistic *p = &w->probabilistic[i];
        attest_table_cell(&table, "%s", p->kernel);
        attest_table_count(&table, (int64_t)p->cases);
        attest_table_count(&table, (int64_t)p->above);
        attest_table_number(&table, p->largest);
        attest_table_cell(&table, "%s", p->problem);
        attest_table_count(&table, (int64_t)p->apart);
        attest_table_count(&table, (int64_t)p->apart_above);
        attest_table_number(&table, p->apart_largest);
    }
    return attest_table_end(&table, err);
}

static attest_status print_bias(FILE *out, const attest_warnings *w, int html, attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "kernel", .flags = ATTEST_COLUMN_CODE | ATTEST_COLUMN_OUTSIDE },
        { .head = "class", .flags = ATTEST_COLUMN_CODE | ATTEST_COLUMN_OUTSIDE },
        { .head = "family", .flags = ATTEST_COLUMN_CODE | ATTEST_COLUMN_OUTSIDE },
        { .head = "seeds", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "mean", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "deviation", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "t", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "" },
    };
    attest_table table;
    fputs(html ? "<h2>Warnings: mean errors</h2>\n<p>" : "\n", out);
    fprintf(out,
            "Mean error away from 0 (outward_bias), in units of u abs_scale (u of the output's type), over the cases "
            "of a family whose values have one sign; cases of one seed count as one, groups of fewer than %d seeds are "
            "left out, and so are points of studies, scales that are no power of two (such a scale is rounded alike in "
            "every case) and cases that name acc. t: mean over its standard error (infinite where all seeds agree on "
            "more than nothing), for family ones of what of it is beyond %.1f: around 1 the spacing of numbers "
            "changes, and errors with mean 0 are rounded to a mean of up to half a u. Biased: t is less probable under "
            "Student's law than 4 deviations are under the normal one.%s",
            ATTEST_BIAS_SEEDS, ATTEST_BIAS_ONES, html ? "</p>\n" : "\n\n");
    attest_table_begin(&table, out, html ? ATTEST_TABLE_HTML : ATTEST_TABLE_MARKDOWN, columns,
                       sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < w->bias_count; i++) {
        const attest_bias *b = &w->bias[i];
        attest_table_cell(&table, "%s", b->kernel);
        attest_table_cell(&table, "%s", b->class);
        attest_table_cell(&table, "%s", b->family);
        attest_table_count(&table, (int64_t)b->seeds);
        attest_table_number(&table, b->mean);
        attest_table_number(&table, b->deviation);
        attest_table_number(&table, b->t);
        attest_table_cell(&table, "%s", b->biased ? "biased" : "");
    }
    return attest_table_end(&table, err);
}

static attest_status print_typical(FILE *out, const attest_warnings *w, int html, attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "kernel", .flags = ATTEST_COLUMN_CODE | ATTEST_COLUMN_OUTSIDE },
        { .head = "cases", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "worse than plain", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "better", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "not modelled", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "largest factor", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "case of the largest", .flags = ATTEST_COLUMN_CODE | ATTEST_COLUMN_OUTSIDE },
        { .head = "first reason why not", .flags = ATTEST_COLUMN_OUTSIDE },
    };
    attest_table table;
    fputs(html ? "<h2>Warnings: errors beside plain arithmetic</h2>\n<p>" : "\n", out);
    fputs(
        "Root mean square error of o over the upper quantile of the same of plain kernels of the declared schedule and "
        "types, whose roundings are drawn again (--typical). Worse: beyond 4 times on 3 seeds, a finding: the kernel "
        "may be inside its bound and still do less than it declares. Better: below a quarter. A case that is not "
        "modelled says nothing.",
        out);
    fputs(html ? "</p>\n" : "\n\n", out);
    attest_table_begin(&table, out, html ? ATTEST_TABLE_HTML : ATTEST_TABLE_MARKDOWN, columns,
                       sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < w->typical_count; i++) {
        const attest_typical_tally *t = &w->typical[i];
        attest_table_cell(&table, "%s", t->kernel);
        attest_table_count(&table, (int64_t)t->cases);
        attest_table_count(&table, (int64_t)t->worse);
        attest_table_count(&table, (int64_t)t->better);
        attest_table_count(&table, (int64_t)t->left);
        attest_table_number(&table, t->largest);
        attest_table_cell(&table, "%s", t->problem);
        attest_table_cell(&table, "%s", t->why);
    }
    return attest_table_end(&table, err);
}

static attest_status print_predicted(FILE *out, const attest_warnings *w, int html, attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "kernel", .flags = ATTEST_COLUMN_CODE | ATTEST_COLUMN_OUTSIDE },
        { .head = "cases", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "bits as predicted", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "other bits", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "not predicted", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "first difference", .flags = ATTEST_COLUMN_CODE | ATTEST_COLUMN_OUTSIDE },
        { .head = "its case", .flags = ATTEST_COLUMN_CODE | ATTEST_COLUMN_OUTSIDE },
        { .head = "first reason why not", .flags = ATTEST_COLUMN_OUTSIDE },
    };
    attest_table table;
    fputs(html ? "<h2>Bits beside those predicted for a GPU</h2>\n<p>" : "\n", out);
    fputs(
        "Outputs beside those of the same source on the CPU, with the tensor cores of a GPU's model (--predict). It is "
        "in no verdict: other bits say that the model, the compiler or the run is not what was taken for granted.",
        out);
    fputs(html ? "</p>\n" : "\n\n", out);
    attest_table_begin(&table, out, html ? ATTEST_TABLE_HTML : ATTEST_TABLE_MARKDOWN, columns,
                       sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < w->predicted_count; i++) {
        const attest_predicted_tally *t = &w->predicted[i];
        attest_table_cell(&table, "%s", t->kernel);
        attest_table_count(&table, (int64_t)t->cases);
        attest_table_count(&table, (int64_t)t->equal);
        attest_table_count(&table, (int64_t)(t->cases - t->equal - t->left));
        attest_table_count(&table, (int64_t)t->left);
        attest_table_cell(&table, "%s", t->first);
        attest_table_cell(&table, "%s", t->problem);
        attest_table_cell(&table, "%s", t->why);
    }
    return attest_table_end(&table, err);
}

attest_status attest_warnings_print(FILE *out, const attest_warnings *warnings, int html, attest_error *err)
{
    attest_status status = ATTEST_OK;
    if (warnings->typical_count > 0)
        ATTEST_TRY(print_typical(out, warnings, html, err));
    if (warnings->predicted_count > 0)
        ATTEST_TRY(print_predicted(out, warnings, html, err));
    if (warnings->probabilistic_count + warnings->bias_count > 0)
        fputs(html ? "<p>Warnings change no verdict and no exit code.</p>\n"
                   : "\nWarnings, which change no verdict and no exit code:\n",
              out);
    if (warnings->probabilistic_count > 0)
        ATTEST_TRY(print_probabilistic(out, warnings, html, err));
    if (warnings->bias_count > 0)
        ATTEST_TRY(print_bias(out, warnings, html, err));
out:
    return status;
}

static void tell_typical(FILE *out, const attest_typical_tally *t)
{
    if (t->worse)
        fprintf(out, "finding: %s: worse-than-plain in %zu of %zu cases, %.3g times plain arithmetic's error: %s\n",
                t->kernel, t->worse, t->cases, t->largest, t->problem);
    fprintf(out, "typical: %s: %zu %s beside plain arithmetic: %zu worse, %zu better, %zu %s%s\n", t->kernel,
            t->cases - t->left, t->cases - t->left == 1 ? "case" : "cases", t->worse, t->better, t->left,
            t->left ? "more " : "not modelled", t->why);
}

static void tell_predicted(FILE *out, const attest_predicted_tally *t)
{
    const size_t other = t->cases - t->equal - t->left;
    fprintf(out, "predicted: %s: bits of %zu of %zu %s as predicted, of %zu others, %zu not predicted%s%s\n", t->kernel,
            t->equal, t->cases, t->cases == 1 ? "case" : "cases", other, t->left, t->left ? ": " : "", t->why);
    if (other)
        fprintf(out, "finding: %s: %s: %s\n", t->kernel, t->first, t->problem);
}

void attest_warnings_tell(FILE *out, const attest_warnings *warnings)
{
    for (size_t i = 0; i < warnings->predicted_count; i++)
        tell_predicted(out, &warnings->predicted[i]);
    for (size_t i = 0; i < warnings->typical_count; i++)
        tell_typical(out, &warnings->typical[i]);
    for (size_t i = 0; i < warnings->probabilistic_count; i++) {
        const attest_probabilistic *p = &warnings->probabilistic[i];
        if (p->above)
            fprintf(out,
                    "warning: %s: %zu of %zu cases err more than is probable (lambda = 4), at most %.3g times: %s\n",
                    p->kernel, p->above, p->cases, p->largest, p->problem);
    }
    for (size_t i = 0; i < warnings->bias_count; i++) {
        const attest_bias *b = &warnings->bias[i];
        if (b->biased)
            fprintf(out, "warning: %s: biased: mean %.3g of (u abs_scale), t = %.3g, %zu seeds of %s, %s\n", b->kernel,
                    b->mean, b->t, b->seeds, b->family, b->class);
    }
}
