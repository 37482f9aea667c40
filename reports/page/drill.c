/* drill.c - each kernel from near; see drill.h. */
#include "reports/page/drill.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORST 3
#define QUARTERS 4

/* Cases that have something in common: a family, a length, a place. */
typedef struct group {
    char name[48];
    int order; /* rows of one kind stand together: families, lengths, places */
    int64_t first;
    size_t cases, scaled, exact; /* exact: the error may be 0 */
    double worst, scale; /* largest error/bound; sum of log2(error/(u abs_scale)), of those with a finite error */
} group;

typedef struct worst_case {
    double ratio;
    char problem[1024], reproduction[1024], element[64];
} worst_case;

/* Cases that are not among the others, or are among their worst. */
enum { INFINITE, BROKEN, FAILED, OPEN, KINDS };
static const char *const kinds[KINDS] = { "without a finite error", "crashed or timed out", "failed without an error",
                                          "not judged" };

typedef struct drill {
    char kernel[512];
    size_t kind[KINDS];
    size_t cases, groups, capacity, worsts;
    group *group;
    double noticed; /* the smallest */
    char noticed_problem[1024];
    worst_case worst[WORST]; /* falling */
} drill;

typedef struct drills {
    drill **drill;
    size_t count;
} drills;

static void drills_clear(drills *all)
{
    for (size_t i = 0; i < all->count; i++) {
        free(all->drill[i]->group);
        free(all->drill[i]);
    }
    free(all->drill);
}

static drill *drill_of(drills *all, const char *kernel)
{
    for (size_t i = all->count; i-- > 0;)
        if (strcmp(all->drill[i]->kernel, kernel) == 0)
            return all->drill[i];
    drill **grown = realloc(all->drill, (all->count + 1) * sizeof(drill *));
    if (!grown)
        return NULL;
    all->drill = grown;
    drill *d = grown[all->count] = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    all->count++;
    snprintf(d->kernel, sizeof d->kernel, "%s", kernel);
    d->noticed = HUGE_VAL;
    return d;
}

static int add_to(drill *d, int order, int64_t first, const char *name, const attest_result *r)
{
    size_t i = 0;
    while (i < d->groups && (d->group[i].order != order || strcmp(d->group[i].name, name) != 0))
        i++;
    if (i == d->capacity) {
        const size_t capacity = d->capacity ? 2 * d->capacity : 16;
        group *grown = realloc(d->group, capacity * sizeof *grown);
        if (!grown)
            return 0;
        d->group = grown;
        d->capacity = capacity;
    }
    group *g = &d->group[i];
    if (i == d->groups) {
        *g = (group){ .order = order, .first = first };
        snprintf(g->name, sizeof g->name, "%s", name);
        d->groups++;
    }
    g->cases++;
    g->worst = fmax(g->worst, r->ratio_hi);
    if (r->ratio_lo == 0 || r->abs_scale_ratio == 0) {
        g->exact++;
    } else if (isfinite(r->abs_scale_ratio) && r->abs_scale_ratio > 0) {
        g->scaled++;
        g->scale += log2(r->abs_scale_ratio);
    }
    return 1;
}

/* The query of the worst element, `o[b,h,i,c]`; -1: another output's. */
static int64_t query_of(const attest_result *r)
{
    long long b, h, i;
    return sscanf(r->worst, "o[%lld,%lld,%lld,", &b, &h, &i) == 3 ? (int64_t)i : -1;
}

static int take_groups(drill *d, const attest_result *r)
{
    static const char *const quarters[QUARTERS] = { "first", "second", "third", "last" };
    char name[48];
    int64_t length = 1;
    const int64_t query = query_of(r);
    while (2 * length <= r->n)
        length *= 2;
    snprintf(name, sizeof name, length > 1 ? "n %lld to %lld" : "n %lld", (long long)length,
             (long long)(2 * length - 1));
    int good = add_to(d, 0, 0, r->family, r) && add_to(d, 1, length, name, r);
    if (good && query >= 0 && query < r->n && r->n >= QUARTERS) {
        const int64_t quarter = query * QUARTERS / r->n;
        snprintf(name, sizeof name, "worst query in the %s quarter", quarters[quarter]);
        good = add_to(d, 2, quarter, name, r);
    }
    return good;
}

static void take_worst(drill *d, const attest_result *r)
{
    size_t at = d->worsts;
    while (at > 0 && d->worst[at - 1].ratio < r->ratio_hi)
        at--;
    if (at == WORST)
        return;
    d->worsts += d->worsts < WORST;
    memmove(&d->worst[at + 1], &d->worst[at], (d->worsts - at - 1) * sizeof d->worst[0]);
    worst_case *w = &d->worst[at];
    w->ratio = r->ratio_hi;
    memcpy(w->problem, r->problem, sizeof w->problem);
    memcpy(w->element, r->worst, sizeof w->element);
    snprintf(w->reproduction, sizeof w->reproduction, "%.1023s", r->reproduction);
}

/* Of a case: KINDS if its error is finite, or if it was not asked. */
static int kind_of(const attest_result *r)
{
    if (r->ratio_hi == r->ratio_hi)
        return isfinite(r->ratio_hi) ? KINDS : INFINITE;
    if (r->verdict == ATTEST_FAIL)
        return FAILED;
    return attest_result_failed(r) ? BROKEN : attest_result_bad(r) ? OPEN : KINDS;
}

static attest_status take(void *state, const attest_result *r, attest_error *err)
{
    const int kind = kind_of(r), with_error = r->ratio_hi == r->ratio_hi;
    if (!*r->problem || r->verdict == ATTEST_MEASURED || (!with_error && kind == KINDS))
        return ATTEST_OK;
    drill *d = drill_of(state, r->kernel);
    if (!d || (with_error && !take_groups(d, r)))
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the kernels of the page");
    if (kind < KINDS)
        d->kind[kind]++;
    if (!with_error)
        return ATTEST_OK;
    d->cases++;
    take_worst(d, r);
    if (r->noticed < d->noticed) {
        d->noticed = r->noticed;
        memcpy(d->noticed_problem, r->problem, sizeof d->noticed_problem);
    }
    return ATTEST_OK;
}

static int by_order(const void *a, const void *b)
{
    const group *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : strcmp(x->name, y->name);
}

static attest_status print_groups(FILE *out, const drill *d, attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "cases with" },
        { .head = "cases", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "worst error/bound", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "geometric mean of the worst errors, in u of their scale", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "exact, not in the mean", .flags = ATTEST_COLUMN_RIGHT },
    };
    attest_table table;
    qsort(d->group, d->groups, sizeof *d->group, by_order);
    attest_table_begin(&table, out, ATTEST_TABLE_HTML, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < d->groups; i++) {
        const group *g = &d->group[i];
        attest_table_cell(&table, g->order == 0 ? "family %s" : "%s", g->name);
        attest_table_count(&table, (int64_t)g->cases);
        attest_table_ratio(&table, g->worst);
        attest_table_number(&table, g->scaled ? exp2(g->scale / (double)g->scaled) : NAN);
        attest_table_count(&table, (int64_t)g->exact);
    }
    return attest_table_end(&table, err);
}

static attest_status print_worst(FILE *out, const drill *d, attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "error/bound", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "worst case", .flags = ATTEST_COLUMN_CODE, .class = "c" },
        { .head = "element", .flags = ATTEST_COLUMN_CODE },
        { .head = "again", .flags = ATTEST_COLUMN_CODE, .class = "c" },
    };
    attest_table table;
    attest_table_begin(&table, out, ATTEST_TABLE_HTML, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < d->worsts; i++) {
        attest_table_ratio(&table, d->worst[i].ratio);
        attest_table_cell(&table, "%s", d->worst[i].problem);
        attest_table_cell(&table, "%s", d->worst[i].element);
        attest_table_cell(&table, "%s", d->worst[i].reproduction);
    }
    return attest_table_end(&table, err);
}

static void print_summary(FILE *out, const drill *d)
{
    char ratio[ATTEST_RATIO_TEXT];
    int some = d->cases > 0;
    fputs("<summary><code>", out);
    attest_print_xml(out, d->kernel);
    fputs("</code>: ", out);
    if (some)
        fprintf(out, "%zu %s, worst error/bound %s", d->cases, d->cases == 1 ? "case" : "cases",
                attest_ratio_text(ratio, d->worst[0].ratio));
    for (int k = 0; k < KINDS; k++)
        if (d->kind[k]) {
            fprintf(out, "%s%zu%s %s", some ? ", " : "", d->kind[k], d->cases > 0 && k != INFINITE ? " more" : "",
                    kinds[k]);
            some = 1;
        }
    fputs("</summary>\n", out);
}

static attest_status print_one(FILE *out, const drill *d, attest_error *err)
{
    attest_status status = ATTEST_OK;
    fputs("<details>", out);
    print_summary(out, d);
    if (isfinite(d->noticed)) {
        fprintf(out, "<p>Smallest error of one element that would have been noticed: %.2g of the element, in <code>",
                d->noticed);
        attest_print_xml(out, d->noticed_problem);
        fputs("</code>.</p>\n", out);
    }
    if (d->cases > 0) {
        ATTEST_TRY(print_groups(out, d, err));
        ATTEST_TRY(print_worst(out, d, err));
    }
    fputs("</details>\n", out);
out:
    return status;
}

attest_status attest_drill_print(FILE *out, const attest_results *results, attest_error *err)
{
    attest_status status = ATTEST_OK;
    drills all = { .count = 0 };
    if (results->whole)
        return ATTEST_OK;
    ATTEST_TRY(attest_results_pass(results, &(attest_accumulator){ take, &all }, 1, err));
    if (all.count > 0)
        fputs("<h2>Each kernel from near</h2>\n", out);
    for (size_t i = 0; i < all.count; i++)
        ATTEST_TRY(print_one(out, all.drill[i], err));
out:
    drills_clear(&all);
    return status;
}
