/* study_front.c - what the points of study `cost` say together: the Pareto front, where recurrence begins to pay. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/study/study_cost.h"

#define SAME_ERROR 1.1 /* who is a tenth more accurate, and slower, is on no front: that is the chance of a seed */

/* A point of the study, as far as it is compared. */
typedef struct cost_point {
    char panel[64], variant[64], kernel[64];
    int64_t n;
    double time, error;
    int recurrent, index;
} cost_point;

typedef struct cost_points {
    cost_point *point;
    size_t count;
} cost_points;

static attest_status take(void *state, const attest_result *r, attest_error *err)
{
    cost_points *c = state;
    (void)err; /* there is room for all */
    cost_point *to = &c->point[c->count];
    *to = (cost_point){ .n = r->n, .time = r->ordinate, .error = r->total_hi, .index = (int)c->count };
    snprintf(to->panel, sizeof to->panel, "%.*s", (int)strcspn(r->series, " "), r->series);
    snprintf(to->variant, sizeof to->variant, "%s", r->variant);
    snprintf(to->kernel, sizeof to->kernel, "%.63s", r->kernel);
    to->recurrent = strstr(r->kernel, "recurrent") || strstr(r->kernel, "packed") || strstr(r->kernel, "chunk");
    c->count++;
    return ATTEST_OK;
}

static attest_status read_points(cost_points *c, const attest_results *results, attest_error *err)
{
    *c = (cost_points){ .point = calloc(results->count + 1, sizeof *c->point) };
    if (!c->point)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu points", results->count);
    return attest_results_pass(results, &(attest_accumulator){ take, c }, 1, err);
}

static int same_group(const cost_point *a, const cost_point *b) { return a->n == b->n && !strcmp(a->panel, b->panel); }

attest_status study_front(unsigned char *front, const attest_results *results, attest_error *err)
{
    cost_points c;
    const attest_status status = read_points(&c, results, err);
    for (size_t i = 0; status == ATTEST_OK && i < c.count; i++) {
        const cost_point *a = &c.point[i];
        front[i] = isfinite(a->error) && isfinite(a->time);
        for (size_t j = 0; front[i] && j < c.count; j++) {
            const cost_point *b = &c.point[j];
            if (same_group(a, b) && ((b->time < a->time && b->error <= SAME_ERROR * a->error) ||
                                     (b->time <= a->time && b->error < a->error)))
                front[i] = 0;
        }
    }
    free(c.point);
    return status;
}

attest_status study_mark_front(attest_results *results, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result r;
    unsigned char *front = calloc(results->count + 1, 1);
    if (!front)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu points", results->count));
    ATTEST_TRY(study_front(front, results, err));
    for (size_t i = 0; i < results->count; i++) {
        if (!front[i])
            continue;
        ATTEST_TRY(attest_results_get(&r, results, i, err));
        snprintf(r.why, sizeof r.why, "front");
        ATTEST_TRY(attest_results_replace(results, i, &r, err));
    }
out:
    free(front);
    return status;
}

/* ---- where recurrence begins to pay ------------------------------------------------------------------------------ */
/* The fastest point of the group of `at` whose variant is `variant`, of recurrent forms or of others; NULL: none. */
static const cost_point *fastest(const cost_points *c, const cost_point *at, const char *variant, int recurrent)
{
    const cost_point *best = NULL;
    for (size_t i = 0; i < c->count; i++) {
        const cost_point *p = &c->point[i];
        if (same_group(p, at) && strcmp(p->variant, variant) == 0 && p->recurrent == recurrent &&
            (!best || p->time < best->time))
            best = p;
    }
    return best;
}

/* 1 if `p` is the first point of its panel and variant. */
static int is_first(const cost_points *c, const cost_point *p)
{
    for (int i = 0; i < p->index; i++)
        if (strcmp(c->point[i].panel, p->panel) == 0 && strcmp(c->point[i].variant, p->variant) == 0)
            return 0;
    return 1;
}

/* The shortest length at which the recurrence of p's variant is faster than softmax, and stays so; NULL: none. */
static const cost_point *pays_from(const cost_points *c, const cost_point *p, const cost_point **longest)
{
    const cost_point *from = NULL;
    int64_t before = INT64_MAX;
    *longest = NULL;
    for (;;) { /* from the longest down */
        const cost_point *at = NULL;
        for (size_t i = 0; i < c->count; i++)
            if (c->point[i].n < before && strcmp(c->point[i].panel, p->panel) == 0 && (!at || c->point[i].n > at->n))
                at = &c->point[i];
        if (!at)
            return from;
        const cost_point *own = fastest(c, at, p->variant, 1), *softmax = fastest(c, at, "softmax", 0);
        before = at->n;
        if (!own || !softmax)
            continue;
        if (!*longest)
            *longest = own;
        if (own->time >= softmax->time)
            return from;
        from = own;
    }
}

static void pays_row(attest_table *table, const cost_points *c, const cost_point *p)
{
    const cost_point *longest, *from = pays_from(c, p, &longest);
    if (!longest)
        return;
    const cost_point *shown = from ? from : longest, *softmax = fastest(c, shown, "softmax", 0);
    attest_table_cell(table, "%s", p->panel);
    attest_table_cell(table, "%s", p->variant);
    attest_table_cell(table, from ? "N=%lld" : "not up to N=%lld", (long long)shown->n);
    attest_table_cell(table, "%s", shown->kernel);
    attest_table_cell(table, "%.0f", shown->time);
    attest_table_cell(table, "%.0f", softmax->time);
    attest_table_cell(table, "%.1e", shown->error);
    attest_table_cell(table, "%.1e", softmax->error);
}

attest_status study_cost_below(FILE *out, attest_table_format format, const attest_results *results, attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "grid", .flags = ATTEST_COLUMN_FIT },
        { .head = "variant", .flags = ATTEST_COLUMN_FIT },
        { .head = "recurrence pays", .flags = ATTEST_COLUMN_FIT },
        { .head = "by", .flags = ATTEST_COLUMN_FIT },
        { .head = "ns/token", .flags = ATTEST_COLUMN_FIT | ATTEST_COLUMN_RIGHT },
        { .head = "softmax", .flags = ATTEST_COLUMN_FIT | ATTEST_COLUMN_RIGHT },
        { .head = "its error", .flags = ATTEST_COLUMN_FIT | ATTEST_COLUMN_RIGHT },
        { .head = "softmax's", .flags = ATTEST_COLUMN_FIT | ATTEST_COLUMN_RIGHT },
    };
    attest_table table;
    cost_points c;
    attest_status status = ATTEST_OK;
    ATTEST_TRY(read_points(&c, results, err));
    fprintf(out,
            "\nFrom which length on the fastest recurrent form (recurrent, packed, chunk) beats the fastest softmax, "
            "and its error against softmax there:\n\n");
    attest_table_begin(&table, out, format, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < c.count; i++)
        if (strcmp(c.point[i].variant, "softmax") != 0 && is_first(&c, &c.point[i]))
            pays_row(&table, &c, &c.point[i]);
    status = attest_table_end(&table, err);
out:
    free(c.point);
    return status;
}

/* ---- the picture ------------------------------------------------------------------------------------------------- */
/* What kind of kernel, for the eye. */
static const char *kind_of(const cost_point *p)
{
    static const char *const kinds[][2] = {
        { "flash", "softmax flash" },      { "softmax", "softmax" }, { "chunk-fast", "chunk, fast" },
        { "packed-fast", "packed, fast" }, { "chunk", "chunk" },     { "packed", "packed" },
        { "recurrent", "recurrent" },      { "direct", "direct" }
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strstr(p->kernel, kinds[i][0]))
            return kinds[i][1];
    return p->kernel;
}

/* Adds to `to` the points of kind `kind` (NULL: those of the front) of the group of `at`, error as abscissa. */
static attest_status add_kind(attest_results *to, const attest_results *results, const cost_points *c,
                              const cost_point *at, const char *kind, const unsigned char *front, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result r;
    for (double above = -1;;) { /* by rising error: a line from left to right */
        const cost_point *next = NULL;
        for (size_t i = 0; i < c->count; i++) {
            const cost_point *p = &c->point[i];
            if (same_group(p, at) && p->error > above && (kind ? strcmp(kind_of(p), kind) == 0 : front[i]) &&
                (!next || p->error < next->error))
                next = p;
        }
        if (!next)
            return ATTEST_OK;
        above = next->error;
        ATTEST_TRY(attest_results_get(&r, results, (size_t)next->index, err));
        r.abscissa = r.total_hi;
        snprintf(r.series, sizeof r.series, "%s,N=%lld %s", at->panel, (long long)at->n, kind ? kind : "front");
        ATTEST_TRY(attest_results_add(to, &r, err));
    }
out:
    return status;
}

/* A group's points by kind, each kind once, and the front last. */
static attest_status add_group(attest_results *to, const attest_results *results, const cost_points *c,
                               const cost_point *at, const unsigned char *front, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (size_t i = 0; i < c->count; i++) {
        const cost_point *p = &c->point[i];
        int known = !same_group(p, at);
        for (size_t j = 0; j < i && !known; j++)
            known = same_group(&c->point[j], at) && strcmp(kind_of(&c->point[j]), kind_of(p)) == 0;
        if (!known)
            ATTEST_TRY(add_kind(to, results, c, at, kind_of(p), front, err));
    }
    status = add_kind(to, results, c, at, NULL, front, err);
out:
    return status;
}

attest_status study_cost_chart(const attest_results *results, const char *path, attest_error *err)
{
    static const attest_chart_axes axes = {
        .x = "largest |got - softmax|", .y = "ns a token", .panel = "", .log_x = 10, .labelled = "front"
    };
    attest_status status = ATTEST_OK;
    attest_results points = { 0 };
    cost_points c = { .count = 0 };
    unsigned char *front = calloc(results->count + 1, 1);
    if (!front)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu points", results->count));
    ATTEST_TRY(study_front(front, results, err));
    ATTEST_TRY(read_points(&c, results, err));
    for (size_t i = 0; i < c.count; i++) {
        int known = 0;
        for (size_t j = 0; j < i && !known; j++)
            known = same_group(&c.point[i], &c.point[j]);
        if (!known)
            ATTEST_TRY(add_group(&points, results, &c, &c.point[i], front, err));
    }
    status = attest_chart_lines(&points, &axes, path, err);
out:
    attest_results_clear(&points);
    free(c.point);
    free(front);
    return status;
}
