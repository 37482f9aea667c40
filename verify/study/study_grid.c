/* study_grid.c - every combination of a study's values, as a problem line and the text of its series. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "props/draw/draw.h"
#include "verify/study/study_private.h"

const char *study_text(const study_grid *grid, const study_point *p, attest_study_axis axis)
{
    return grid->list[axis].value[p->at[axis]].text;
}

double study_number(const study_grid *grid, const study_point *p, attest_study_axis axis)
{
    return grid->list[axis].value[p->at[axis]].number;
}

static attest_status read_lists(study_grid *grid, const attest_study_request *request, attest_error *err)
{
    const attest_study *s = grid->study;
    char taken[256] = "";
    attest_status status = ATTEST_OK;
    for (int a = 0; a < ATTEST_STUDY_AXES; a++)
        if (s->axis[a]) {
            const size_t n = strlen(taken);
            snprintf(taken + n, sizeof taken - n, "%s--%s", n ? " " : "", attest_study_axis_names[a]);
        }
    for (int a = 0; a < ATTEST_STUDY_AXES; a++) {
        if (!s->axis[a] && request->axis[a])
            return attest_fail(err, ATTEST_BAD_INPUT, "--%s=%s: study %s has not this axis; it has %s",
                               attest_study_axis_names[a], request->axis[a], s->name, taken);
        if (s->axis[a])
            ATTEST_TRY(study_list_read(&grid->list[a], (attest_study_axis)a,
                                       request->axis[a] ? request->axis[a] : s->axis[a], err));
    }
out:
    return status;
}

/* ` KEY=VALUE` behind the line and the series, of an axis that the study does not write itself. */
static void append_others(study_point *p, const study_grid *grid, attest_study_axis abscissa)
{
    static const struct {
        attest_study_axis axis;
        const char *key, *usual;
    } others[] = { { ATTEST_STUDY_IN, "in", "f32" },        { ATTEST_STUDY_P, "p", "" },
                   { ATTEST_STUDY_LENGTHS, "n", "" },       { ATTEST_STUDY_DIMS, "d", "" },
                   { ATTEST_STUDY_FAMILIES, "family", "" }, { ATTEST_STUDY_VARIANT, "variant", "" } };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const study_list *list = &grid->list[others[i].axis];
        const int types = others[i].axis == ATTEST_STUDY_IN || others[i].axis == ATTEST_STUDY_P;
        size_t n = strlen(p->line);
        if (!list->value || grid->study->own >> others[i].axis & 1)
            continue;
        const char *text = study_text(grid, p, others[i].axis);
        if (types && strcmp(text, others[i].usual) != 0)
            snprintf(p->line + n, sizeof p->line - n, " %s=%s", others[i].key, text);
        n = strlen(p->series);
        if (list->count > 1 && others[i].axis != abscissa)
            snprintf(p->series + n, sizeof p->series - n, " %s=%s", others[i].key, text);
    }
}

/* Rows times keys times channels. */
static double work_of(const attest_problem *p)
{
    return (double)p->b * (double)p->hq * (double)p->n * (double)p->m * (double)(p->d + p->e + 20);
}

/* dim^P e: what a recurrent kernel updates for each token. */
static double states_of(const attest_problem *p)
{
    int lowest, highest;
    return attest_variant_degrees(p->axis, &lowest, &highest)
               ? pow((double)attest_feature_dim(p), highest) * (double)p->e
               : 0;
}

static attest_status make_point(study_grid *grid, const size_t at[ATTEST_STUDY_AXES], attest_error *err)
{
    const attest_study *s = grid->study;
    study_point *p = &grid->point[grid->count];
    attest_study_axis abscissa = s->nest[0];
    attest_case c;
    for (int i = 0; s->nest[i] != ATTEST_STUDY_SEEDS; i++)
        abscissa = s->nest[i];
    *p = (study_point){ .number = grid->count };
    memcpy(p->at, at, sizeof p->at);
    s->line(p->line, sizeof p->line, grid, p);
    s->label(p->series, sizeof p->series, grid, p);
    append_others(p, grid, abscissa);
    p->abscissa = study_number(grid, p, abscissa);
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_case_parse(&c, p->line, NULL, NULL, err));
    ATTEST_TRY(attest_family_check(&c, err));
    p->work = work_of(&c.problem);
    p->states = states_of(&c.problem) * (double)(c.problem.m + c.problem.n);
    grid->count++;
out:
    return status;
}

/* The next combination; 0 behind the last. */
static int step(size_t at[ATTEST_STUDY_AXES], const study_grid *grid)
{
    int depth = 0;
    while (grid->study->nest[depth] != ATTEST_STUDY_SEEDS)
        depth++;
    while (depth-- > 0) {
        const attest_study_axis axis = grid->study->nest[depth];
        if (++at[axis] < grid->list[axis].count)
            return 1;
        at[axis] = 0;
    }
    return 0;
}

attest_status study_grid_make(study_grid *grid, const attest_study_request *request, attest_error *err)
{
    size_t at[ATTEST_STUDY_AXES] = { 0 };
    double total = 1;
    attest_status status = ATTEST_OK;
    *grid = (study_grid){ .study = request->study };
    ATTEST_TRY(read_lists(grid, request, err));
    for (int a = 0; a < ATTEST_STUDY_AXES; a++)
        total *= grid->list[a].value ? (double)grid->list[a].count : 1;
    if (total > STUDY_POINTS)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "study %s: %.0f points and seeds, at most %d",
                               request->study->name, total, STUDY_POINTS));
    total /= (double)grid->list[ATTEST_STUDY_SEEDS].count;
    grid->point = calloc((size_t)total + 1, sizeof *grid->point);
    if (!grid->point)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %.0f points", total));
    do
        ATTEST_TRY(make_point(grid, at, err));
    while (step(at, grid));
out:
    return status;
}

void study_grid_clear(study_grid *grid)
{
    for (int a = 0; a < ATTEST_STUDY_AXES; a++)
        free(grid->list[a].value);
    free(grid->point);
    *grid = (study_grid){ .study = NULL };
}
