/* studies.c - see studies.h. */
#include "reports/page/studies.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "reports/charts/charts.h"
#include "reports/page/drawing.h"

/* KERNELS and TYPES stand for those of the points. */
static const struct {
    const char *name, *title, *caption;
} shown[ATTEST_PAGE_STUDIES] = {
    { "study-order", "Error against Taylor order",
      "Solid: truncation, the exact Taylor result against exact softmax. Dashed: rounding, KERNELS on inputs in TYPES "
      "against the exact Taylor result. Black: unit roundoffs of f32 (dotted) and bf16 (dash-dotted). R: in the "
      "picture the score range that the inputs have, in the names of the series the one that was asked for. Gaps: "
      "ill-posed points (the denominator of an odd order meets 0)." },
    { "study-range", "Error against score range",
      "Largest relative error of a normalised weight, all scores of one row scaled together; inputs in TYPES. The "
      "fitted slope stands beside P+1." },
};

/* malloc'd HTML; NULL: no memory. */
static char *caption_of(const char *words, const char *kernels, const char *types)
{
    const struct {
        const char *word, *text;
    } names[] = { { "KERNELS", kernels }, { "TYPES", types } };
    char *html = NULL;
    size_t size;
    FILE *out = open_memstream(&html, &size);
    for (const char *at = words; out && *at;) {
        size_t n = 0;
        while (n < sizeof names / sizeof names[0] && strncmp(at, names[n].word, strlen(names[n].word)) != 0)
            n++;
        if (n == sizeof names / sizeof names[0]) {
            fputc(*at++, out);
            continue;
        }
        attest_print_xml(out, names[n].text);
        at += strlen(names[n].word);
    }
    if (out && fclose(out) != 0) {
        free(html);
        html = NULL;
    }
    return html;
}

static attest_status print_picture(FILE *out, const char *dir, const attest_results *points, size_t i,
                                   attest_error *err)
{
    attest_status status = ATTEST_OK;
    char kernels[ATTEST_CHART_VALUES], types[ATTEST_CHART_VALUES];
    ATTEST_TRY(attest_chart_values(kernels, sizeof kernels, points, offsetof(attest_result, kernel), err));
    ATTEST_TRY(attest_chart_values(types, sizeof types, points, offsetof(attest_result, in), err));
    char *caption = caption_of(shown[i].caption, kernels, types);
    if (!caption)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the caption of %s", shown[i].name);
    attest_drawing_print(out, dir, shown[i].name, caption);
    free(caption);
out:
    return status;
}

attest_status attest_page_studies_read(attest_page_studies *studies, const char *dir, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (size_t i = 0; i < ATTEST_PAGE_STUDIES; i++) {
        struct attest_page_study *study = &studies->study[i];
        char name[64], path[4096];
        snprintf(name, sizeof name, "%s.run.json", shown[i].name);
        if ((study->has_run = attest_page_find(path, dir, name)))
            ATTEST_TRY(attest_run_info_read(&study->run, path, err));
        snprintf(name, sizeof name, "%s.jsonl", shown[i].name);
        if (attest_page_find(path, dir, name))
            ATTEST_TRY(attest_results_open(&study->points, path, err));
        studies->count += study->points.count > 0 || study->has_run;
    }
out:
    return status;
}

void attest_page_studies_clear(attest_page_studies *studies)
{
    for (size_t i = 0; i < ATTEST_PAGE_STUDIES; i++)
        attest_results_clear(&studies->study[i].points);
    *studies = (attest_page_studies){ .count = 0 };
}

static attest_status print_numbers(FILE *out, const attest_results *points, const char *title, const char *name,
                                   attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "series", .flags = ATTEST_COLUMN_CODE, .class = "c" },
        { .head = "x", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "y", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "truncation", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "rounding", .flags = ATTEST_COLUMN_RIGHT },
    };
    attest_status status = ATTEST_OK;
    attest_table table;
    attest_result result;
    fprintf(out, "<details><summary>%s: the numbers (%zu points)</summary>", title, points->count);
    attest_table_begin(&table, out, ATTEST_TABLE_HTML, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < points->count; i++) {
        ATTEST_TRY(attest_results_get(&result, points, i, err));
        attest_table_cell(&table, "%s", result.series);
        attest_table_number(&table, result.abscissa);
        attest_table_number(&table, result.ordinate);
        attest_table_number(&table, result.truncation);
        attest_table_number(&table, result.rounding);
    }
    ATTEST_TRY(attest_table_end(&table, err));
    fprintf(out, "<p>Their problem lines are in %s.csv.</p></details>\n", name);
out:
    return status;
}

/* How far it came, where it says so. */
static void print_extent(FILE *out, const struct attest_page_study *study)
{
    const attest_run_info *run = &study->run;
    if (!study->has_run)
        return;
    if (run->finished) {
        fprintf(out, "<p>All %lld points%s", (long long)run->planned, run->refused ? "" : ".</p>\n");
        if (run->refused)
            fprintf(out, "; %lld of them are not served.</p>\n", (long long)run->refused);
        return;
    }
    fprintf(out, "<p class=\"fail\">unfinished: %lld of %lld points (", (long long)run->done, (long long)run->planned);
    attest_print_xml(out, run->ended);
    fputs("); the same command with --resume goes on</p>\n", out);
}

attest_status attest_page_studies_print(FILE *out, const char *dir, const attest_page_studies *studies,
                                        attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (size_t i = 0; i < ATTEST_PAGE_STUDIES; i++) {
        const struct attest_page_study *study = &studies->study[i];
        if (study->points.count == 0 && !study->has_run)
            continue;
        fprintf(out, "<h2>%s</h2>\n", shown[i].title);
        print_extent(out, study);
        if (study->points.count == 0)
            continue;
        ATTEST_TRY(print_picture(out, dir, &study->points, i, err));
        ATTEST_TRY(print_numbers(out, &study->points, shown[i].title, shown[i].name, err));
    }
out:
    return status;
}
