/* warnings.c - what is told beside the verdicts and changes none: errors beyond what they probably are at most
 * (R-PROBABLE), and mean errors that are not 0. */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/write.h"

/* ---- lines ------------------------------------------------------------------------------------------------------ */
/* The value of `key=` in a problem line; the default where it is not named. */
static void value_of(char *text, size_t len, const char *line, const char *key, const char *otherwise)
{
    const size_t size = strlen(key);
    snprintf(text, len, "%s", otherwise);
    for (const char *at = line; *at; at += strspn(at, " ")) {
        const size_t word = strcspn(at, " ");
        if (word > size && at[size] == '=' && strncmp(at, key, size) == 0)
            snprintf(text, len, "%.*s", (int)(word - size - 1), at + size + 1);
        at += word;
    }
}

static const char *const repeating[] = { ATTEST_REPEATING_FAMILIES };
enum { REPEATING = sizeof repeating / sizeof repeating[0] };

/* Families that repeat scores, weights or values by construction: equal numbers are rounded alike. */
static int repeats(const char *line)
{
    char family[64];
    value_of(family, sizeof family, line, "family", "normal");
    family[strcspn(family, ":")] = '\0';
    for (int i = 0; i < REPEATING; i++)
        if (strcmp(repeating[i], family) == 0)
            return 1;
    return 0;
}

/* ---- probable errors -------------------------------------------------------------------------------------------- */
/* The kernel's entry, made where there is none; NULL: no memory. */
static attest_probable *find(attest_probable **list, size_t *count, const char *kernel)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp((*list)[i].kernel, kernel) == 0)
            return &(*list)[i];
    attest_probable *more = realloc(*list, (*count + 1) * sizeof **list);
    if (!more)
        return NULL;
    *list = more;
    attest_probable *p = &more[(*count)++];
    memset(p, 0, sizeof *p);
    snprintf(p->kernel, sizeof p->kernel, "%s", kernel);
    return p;
}

static void add_probable(attest_probable *p, const attest_row *row)
{
    const double ratio = row->probable_ratio;
    if (repeats(row->line)) {
        p->apart++;
        p->apart_above += ratio > 1;
        p->apart_largest = ratio > p->apart_largest ? ratio : p->apart_largest;
        return;
    }
    if (p->cases++ == 0 || ratio > p->largest) {
        p->largest = ratio;
        snprintf(p->line, sizeof p->line, "%s", row->line);
    }
    p->above += ratio > 1;
}

attest_status attest_probable_rows(attest_probable **list, size_t *count, const attest_rows *rows, attest_error *err)
{
    *count = 0;
    *list = NULL;
    for (size_t i = 0; i < rows->count; i++) {
        if (isnan(rows->row[i].probable_ratio))
            continue;
        attest_probable *p = find(list, count, rows->row[i].kernel);
        if (!p) {
            free(*list);
            *list = NULL;
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the probable errors of %zu kernels", *count + 1);
        }
        add_probable(p, &rows->row[i]);
    }
    return ATTEST_OK;
}

/* ---- bias -------------------------------------------------------------------------------- */
typedef struct bias_row {
    const attest_row *row;
    char family[64], seed[32];
} bias_row;

/* Is the scale a power of two?  1/sqrt(d) where the line names none. */
static int exact_scale(const char *line)
{
    char scale[64], d[32];
    int exponent;
    value_of(scale, sizeof scale, line, "scale", "");
    value_of(d, sizeof d, line, "d", "16");
    const double half = frexp(*scale ? strtod(scale, NULL) : sqrt(strtod(d, NULL)), &exponent);
    return fabs(half) == 0.5;
}

static int in_group(bias_row *b, const attest_row *row)
{
    char acc[64];
    b->row = row;
    value_of(b->family, sizeof b->family, row->line, "family", "normal");
    value_of(b->seed, sizeof b->seed, row->line, "seed", "0");
    value_of(acc, sizeof acc, row->line, "acc", "");
    return row->verdict != ATTEST_MEASURED && !isnan(row->drift) && exact_scale(row->line) && !*acc &&
           (strcmp(b->family, "ones") == 0 || strcmp(b->family, "repeat-max") == 0);
}

static int same_group(const bias_row *x, const bias_row *y)
{
    const int kernel = strcmp(x->row->kernel, y->row->kernel), class = strcmp(x->row->class, y->row->class);
    return kernel ? kernel : class ? class : strcmp(x->family, y->family);
}

static int by_group(const void *a, const void *b)
{
    const int group = same_group(a, b);
    return group ? group : strcmp(((const bias_row *)a)->seed, ((const bias_row *)b)->seed);
}

/* Two-sided probability of a t at least this large under Student's law, against that of 4 deviations. */
static int is_biased(double t, size_t seeds)
{
    return seeds >= ATTEST_BIAS_SEEDS && gsl_cdf_tdist_Q(fabs(t), (double)(seeds - 1)) < gsl_cdf_ugaussian_Q(4);
}

/* The rows of one group, sorted by seed; `mean` is scratch. */
static void fill_bias(attest_bias *to, const bias_row *row, size_t count, double *mean)
{
    double sum = 0, squares = 0;
    memset(to, 0, sizeof *to);
    memcpy(to->kernel, row->row->kernel, sizeof to->kernel);
    memcpy(to->class, row->row->class, sizeof to->class);
    memcpy(to->family, row->family, sizeof to->family);
    for (size_t i = 0, same; i < count; i += same) {
        mean[to->seeds] = 0;
        for (same = 0; i + same < count && strcmp(row[i].seed, row[i + same].seed) == 0; same++)
            mean[to->seeds] += row[i + same].row->drift;
        mean[to->seeds] /= (double)same;
        sum += mean[to->seeds++];
    }
    const double n = (double)to->seeds;
    to->mean = sum / n;
    for (size_t i = 0; i < to->seeds; i++)
        squares += (mean[i] - to->mean) * (mean[i] - to->mean);
    to->deviation = to->seeds > 1 ? sqrt(squares / (n - 1)) : 0;
    const double at_border = strcmp(to->family, "ones") == 0 ? ATTEST_BIAS_ONES : 0;
    const double beyond = fmax(fabs(to->mean) - at_border, 0);
    to->t = beyond == 0 ? 0 : copysign(beyond / (to->deviation / sqrt(n)), to->mean);
    to->biased = is_biased(to->t, to->seeds);
}

/* Number of groups of enough seeds among the sorted rows; fills `list` unless it is NULL (`mean`: scratch). */
static size_t groups_of(attest_bias *list, const bias_row *row, size_t used, double *mean)
{
    size_t count = 0, first = 0;
    for (size_t i = 1, seeds = 1; i <= used; i++) {
        if (i < used && same_group(&row[i], &row[first]) == 0) {
            seeds += strcmp(row[i].seed, row[i - 1].seed) != 0;
            continue;
        }
        if (seeds >= ATTEST_BIAS_SEEDS && list)
            fill_bias(&list[count], row + first, i - first, mean);
        count += seeds >= ATTEST_BIAS_SEEDS;
        first = i;
        seeds = 1;
    }
    return count;
}

attest_status attest_bias_rows(attest_bias **list, size_t *count, const attest_rows *rows, attest_error *err)
{
    attest_status status = ATTEST_OK;
    size_t used = 0;
    bias_row *row = calloc(rows->count + 1, sizeof *row);
    double *mean = calloc(rows->count + 1, sizeof *mean);
    *count = 0;
    *list = NULL;
    if (!row || !mean)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for the mean errors of %zu rows", rows->count));
    for (size_t i = 0; i < rows->count; i++)
        used += (size_t)in_group(&row[used], &rows->row[i]);
    qsort(row, used, sizeof *row, by_group);
    *count = groups_of(NULL, row, used, mean);
    *list = calloc(*count + 1, sizeof **list);
    if (!*list)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu mean errors", *count));
    groups_of(*list, row, used, mean);
out:
    free(mean);
    free(row);
    return status;
}

/* ---- the tables -------------------------------------------------------------------------------- */
static void print_name(FILE *out, const char *text, int html)
{
    fputs(html ? "<td><code>" : " ", out);
    (html ? attest_print_xml : attest_print_cell)(out, text);
    fputs(html ? "</code></td>" : " |", out);
}

static void print_count(FILE *out, size_t n, int html)
{
    fprintf(out, html ? "<td class=\"n\">%zu</td>" : " %zu |", n);
}

static void print_number(FILE *out, double x, int html)
{
    fprintf(out, html ? "<td class=\"n\">%.3g</td>" : " %.3g |", x);
}

static void print_probable(FILE *out, const attest_probable *list, size_t count, int html)
{
    fputs(html ? "<h2>Warnings: probable errors</h2>\n<p>" : "\n", out);
    fputs("Error over what it probably is at most (R-PROBABLE in reference/derivations.md, lambda = 4). If roundings "
          "are independent with mean 0, an element whose row sees n keys is beyond it with a probability of at most "
          "2 (n + 3) exp(-8) (no statement from 1488 keys on), 6 exp(-8) where scores keep their hard bound. A ratio "
          "above 1 is a reason to look, no finding: it is the largest of a case's elements. Told apart: families that "
          "repeat scores, weights or values by construction, for equal numbers are rounded alike (",
          out);
    for (int i = 0; i < REPEATING; i++)
        fprintf(out, "%s%s", i ? ", " : "", repeating[i]);
    fputs(html ? ").</p>\n<div class=\"wrap\"><table><tr><th>kernel<th class=\"n\">cases<th class=\"n\">above 1"
                 "<th class=\"n\">largest<th>case of the largest<th class=\"n\">cases apart<th class=\"n\">above 1"
                 "<th class=\"n\">largest</tr>\n"
               : ").\n\n| kernel | cases | above 1 | largest | case of the largest | cases apart | above 1 | "
                 "largest |\n|---|---:|---:|---:|---|---:|---:|---:|\n", out);
    for (size_t i = 0; i < count; i++) {
        fputs(html ? "<tr>" : "|", out);
        print_name(out, list[i].kernel, html);
        print_count(out, list[i].cases, html);
        print_count(out, list[i].above, html);
        print_number(out, list[i].largest, html);
        print_name(out, list[i].line, html);
        print_count(out, list[i].apart, html);
        print_count(out, list[i].apart_above, html);
        print_number(out, list[i].apart_largest, html);
        fputs(html ? "</tr>\n" : "\n", out);
    }
    if (html)
        fputs("</table></div>\n", out);
}

static void print_bias(FILE *out, const attest_bias *list, size_t count, int html)
{
    fputs(html ? "<h2>Warnings: mean errors</h2>\n<p>" : "\n", out);
    fprintf(out,
            "Mean error away from 0, in units of u gauge (u of the output's type), over the cases of a family whose "
            "values have one sign; cases of one seed count as one, groups of fewer than %d seeds are left out, and so"
            " are points of studies, scales that are no power of two (such a scale is rounded alike in every case) "
            "and cases that name acc. t: mean over its standard error (infinite where all seeds agree on more than "
            "nothing), for family ones of what of it is beyond %.1f: around 1 the spacing of numbers changes, and "
            "errors with mean 0 are rounded to a mean of up to half a u. Biased: t is less probable under Student's "
            "law than 4 deviations are under the normal one.",
            ATTEST_BIAS_SEEDS, ATTEST_BIAS_ONES);
    fputs(html ? "</p>\n<div class=\"wrap\"><table><tr><th>kernel<th>class<th>family<th class=\"n\">seeds"
                 "<th class=\"n\">mean<th class=\"n\">deviation<th class=\"n\">t<th></tr>\n"
               : "\n\n| kernel | class | family | seeds | mean | deviation | t | |\n"
                 "|---|---|---|---:|---:|---:|---:|---|\n",
          out);
    for (size_t i = 0; i < count; i++) {
        fputs(html ? "<tr>" : "|", out);
        print_name(out, list[i].kernel, html);
        print_name(out, list[i].class, html);
        print_name(out, list[i].family, html);
        print_count(out, list[i].seeds, html);
        print_number(out, list[i].mean, html);
        print_number(out, list[i].deviation, html);
        print_number(out, list[i].t, html);
        print_name(out, list[i].biased ? "biased" : "", html);
        fputs(html ? "</tr>\n" : "\n", out);
    }
    if (html)
        fputs("</table></div>\n", out);
}

/* Both lists; the caller's. */
static attest_status warnings_of(attest_probable **probable, size_t *probables, attest_bias **bias, size_t *biases,
                                 const attest_rows *rows, attest_error *err)
{
    attest_status status = ATTEST_OK;
    *bias = NULL;
    ATTEST_TRY(attest_probable_rows(probable, probables, rows, err));
    ATTEST_TRY(attest_bias_rows(bias, biases, rows, err));
out:
    return status;
}

attest_status attest_warnings_print(FILE *out, const attest_rows *rows, int html, attest_error *err)
{
    attest_probable *probable = NULL;
    attest_bias *bias = NULL;
    size_t probables = 0, biases = 0;
    const attest_status status = warnings_of(&probable, &probables, &bias, &biases, rows, err);
    if (status == ATTEST_OK && probables + biases > 0)
        fputs(html ? "<p>Warnings change no verdict and no exit code.</p>\n"
                   : "\nWarnings, which change no verdict and no exit code:\n", out);
    if (status == ATTEST_OK && probables > 0)
        print_probable(out, probable, probables, html);
    if (status == ATTEST_OK && biases > 0)
        print_bias(out, bias, biases, html);
    free(bias);
    free(probable);
    return status;
}

attest_status attest_warnings_tell(FILE *out, const attest_rows *rows, attest_error *err)
{
    attest_probable *probable = NULL;
    attest_bias *bias = NULL;
    size_t probables = 0, biases = 0;
    const attest_status status = warnings_of(&probable, &probables, &bias, &biases, rows, err);
    for (size_t i = 0; status == ATTEST_OK && i < probables; i++)
        if (probable[i].above)
            fprintf(out,
                    "warning: %s: %zu of %zu cases err more than is probable (lambda = 4), at most %.3g times: %s\n",
                    probable[i].kernel, probable[i].above, probable[i].cases, probable[i].largest, probable[i].line);
    for (size_t i = 0; status == ATTEST_OK && i < biases; i++)
        if (bias[i].biased)
            fprintf(out, "warning: %s: biased: mean %.3g of (u gauge), t = %.3g, %zu seeds of %s, %s\n", bias[i].kernel,
                    bias[i].mean, bias[i].t, bias[i].seeds, bias[i].family, bias[i].class);
    free(bias);
    free(probable);
    return status;
}
