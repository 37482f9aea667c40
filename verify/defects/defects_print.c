/* defects_print.c - see defects.h: the matrix as text, Markdown and JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report.h"
#include "reports/table.h"
#include "verify/base/base.h"
#include "verify/defects/defects.h"

/* Order of the table: survivors, then dead ones (their bits never differ), then the rest as listed. */
static int rank_of(const attest_defect_result *r) { return r->killed == 0 ? 0 : r->differs == 0 ? 1 : 2; }

/* Calls `row` for every selected defect in the table's order. */
static void each(void *to, const attest_options *options, const attest_defect_result *result,
                 void (*row)(void *, const attest_defect *, const attest_defect_result *, const int *),
                 const int *columns)
{
    for (int rank = 0; rank < 3; rank++)
        for (size_t k = 0; k < attest_defect_count; k++)
            if (attest_defect_selected(options, &attest_defects[k]) && rank_of(&result[k]) == rank)
                row(to, &attest_defects[k], &result[k], columns);
}

/* columns[c]: does check c kill anything? */
static void find_columns(int columns[ATTEST_CHECK_COUNT], const attest_defect_result *result)
{
    memset(columns, 0, ATTEST_CHECK_COUNT * sizeof *columns);
    for (size_t k = 0; k < attest_defect_count; k++)
        for (int c = 0; c < ATTEST_CHECK_COUNT; c++)
            columns[c] |= result[k].by[c] > 0;
}

/* Killed by this check alone, on all cases that were run? */
static int only(const attest_defect_result *r, int check)
{
    for (int c = 0; c < ATTEST_CHECK_COUNT; c++)
        if (c != check && r->by[c] > 0)
            return 0;
    return r->by[check] > 0;
}

static void check_names(char *text, size_t len, uint32_t checks)
{
    size_t at = 0;
    text[0] = '\0';
    for (int c = 0; c < ATTEST_CHECK_COUNT && at < len; c++)
        if (checks >> c & 1)
            at += (size_t)snprintf(text + at, len - at, "%s%s", at ? "," : "", attest_check_name(c));
}

static void margin_cell(attest_table *table, const attest_defect_result *r, const char *unknown)
{
    if (r->killed && isfinite(r->margin))
        attest_table_number(table, r->margin);
    else
        attest_table_cell(table, "%s", r->killed ? unknown : "");
}

static void print_row(void *to, const attest_defect *d, const attest_defect_result *r, const int *columns)
{
    attest_table *table = to;
    char name[128];
    attest_table_cell(table, "%s", attest_defect_name(name, d));
    attest_table_cell(table, "%s", d->base);
    attest_table_cell(table, "%s", r->killed == 0 ? "LIVES" : r->smoke ? "smoke" : "");
    attest_table_count(table, r->run);
    attest_table_count(table, r->differs);
    attest_table_count(table, r->killed);
    for (int c = 0; c < ATTEST_CHECK_COUNT; c++)
        if (columns[c] && r->by[c])
            attest_table_count(table, r->by[c]);
        else if (columns[c])
            attest_table_cell(table, ".");
    margin_cell(table, r, "-");
    attest_table_cell(table, "%s", r->line);
}

/* The heads of the matrix: one for each check that kills anything. */
static size_t matrix_columns(attest_column *column, const int *columns)
{
    size_t count = 0;
    column[count++] = (attest_column){ .head = "defect", .width = 30 };
    column[count++] = (attest_column){ .head = "base kernel", .width = 21 };
    column[count++] = (attest_column){ .head = "", .width = 5 };
    column[count++] = (attest_column){ .head = "cases", .flags = ATTEST_COLUMN_RIGHT, .width = 6 };
    column[count++] = (attest_column){ .head = "differs", .flags = ATTEST_COLUMN_RIGHT, .width = 7 };
    column[count++] = (attest_column){ .head = "killed", .flags = ATTEST_COLUMN_RIGHT, .width = 6 };
    const size_t first = count;
    for (int c = 0; c < ATTEST_CHECK_COUNT; c++)
        if (columns[c])
            column[count++] = (attest_column){ .head = attest_check_name(c),
                                               .flags = ATTEST_COLUMN_RIGHT,
                                               .width = (int)strlen(attest_check_name(c)) };
    column[count++] = (attest_column){ .head = "margin", .flags = ATTEST_COLUMN_RIGHT, .width = 9 };
    column[count++] = (attest_column){ .head = "case that kills", .gap = 1 };
    column[first].gap = 1;
    return count;
}

static void print_checks(FILE *out, const attest_options *options, const attest_defect_result *result,
                         const int *columns)
{
    static const attest_column heads[] = { { .head = "check", .width = 18 },
                                           { .head = "kills", .flags = ATTEST_COLUMN_RIGHT, .width = 8 },
                                           { .head = "alone", .flags = ATTEST_COLUMN_RIGHT, .width = 8 } };
    attest_table table;
    fputc('\n', out);
    attest_table_begin(&table, out, ATTEST_TABLE_CONSOLE, heads, 3);
    for (int c = 0; c < ATTEST_CHECK_COUNT; c++) {
        int kills = 0, alone = 0;
        for (size_t k = 0; k < attest_defect_count; k++) {
            kills += attest_defect_selected(options, &attest_defects[k]) && result[k].by[c] > 0;
            alone += attest_defect_selected(options, &attest_defects[k]) && only(&result[k], c);
        }
        if (!columns[c])
            continue;
        attest_table_cell(&table, "%s", attest_check_name(c));
        attest_table_count(&table, kills);
        attest_table_count(&table, alone);
    }
    attest_table_close(&table);
}

static void print_totals(FILE *out, const attest_options *options, const attest_defect_result *result,
                         const char *suite, int whole)
{
    int count = 0, dead = 0, survivors = 0, smoke = 0;
    for (size_t k = 0; k < attest_defect_count; k++) {
        if (!attest_defect_selected(options, &attest_defects[k]))
            continue;
        count++;
        dead += result[k].differs == 0;
        survivors += result[k].killed == 0;
        smoke += result[k].smoke;
    }
    fprintf(out, "\n%d %s, %d differ, %d killed by suite %s (%d by suite smoke too), %d %s\n", count,
            attest_plural(count, "defect", "defects"), count - dead, count - survivors, suite, smoke, survivors,
            attest_plural(survivors, "survives", "survive"));
    if (!whole)
        fprintf(out,
                "a defect runs until a case has killed it: its cases are those until then, its checks and its line "
                "those of that case; --matrix runs every case\n");
}

void attest_defects_print(FILE *out, const attest_options *options, const attest_defect_result *result,
                          const char *suite, int whole)
{
    int columns[ATTEST_CHECK_COUNT];
    attest_column heads[ATTEST_CHECK_COUNT + 8];
    attest_table table;
    find_columns(columns, result);
    attest_table_begin(&table, out, ATTEST_TABLE_CONSOLE, heads, matrix_columns(heads, columns));
    each(&table, options, result, print_row, columns);
    attest_table_close(&table);
    print_checks(out, options, result, columns);
    print_totals(out, options, result, suite, whole);
}

static void markdown_row(void *to, const attest_defect *d, const attest_defect_result *r, const int *columns)
{
    attest_table *table = to;
    const char *code = r->killed ? "`" : "";
    char checks[256], name[128];
    (void)columns;
    check_names(checks, sizeof checks, r->reasons);
    attest_table_cell(table, "%s", attest_defect_name(name, d));
    attest_table_cell(table, "%s", d->base);
    attest_table_cell(table, "%s", d->what);
    attest_table_cell(table, "%s", d->bugs);
    attest_table_cell(table, "%s", r->killed ? checks : "**survives**");
    attest_table_cell(table, "%lld/%lld/%lld", (long long)r->killed, (long long)r->differs, (long long)r->run);
    attest_table_cell(table, "%s", r->smoke ? "yes" : "");
    margin_cell(table, r, "");
    attest_table_cell(table, "%s%s%s", code, r->line, code);
}

void attest_defects_markdown(FILE *out, const attest_options *options, const attest_defect_result *result,
                             const char *suite, int whole)
{
    static const attest_column heads[] = { { .head = "defect" },         { .head = "base kernel" },
                                           { .head = "what is wrong" },  { .head = "models" },
                                           { .head = "killed by" },      { .head = "cases" },
                                           { .head = "smoke" },          { .head = "margin" },
                                           { .head = "case that kills" } };
    int columns[ATTEST_CHECK_COUNT];
    attest_table table;
    find_columns(columns, result);
    fprintf(out,
            "# Planted defects against suite %s\n\n"
            "cases: killed / with other bits than the base kernel / run; margin: error over bound, lower end\n\n",
            suite);
    attest_table_begin(&table, out, ATTEST_TABLE_MARKDOWN, heads, sizeof heads / sizeof heads[0]);
    each(&table, options, result, markdown_row, columns);
    attest_table_close(&table);
    fprintf(out, "\n```\n");
    print_checks(out, options, result, columns);
    print_totals(out, options, result, suite, whole);
    fprintf(out, "```\n");
}

typedef struct json_lines {
    FILE *out;
    int whole;
} json_lines;

static void json_row(void *context, const attest_defect *d, const attest_defect_result *r, const int *columns)
{
    const json_lines *to = context;
    char name[128];
    json_t *by = json_object();
    (void)columns;
    for (int c = 0; c < ATTEST_CHECK_COUNT; c++)
        if (r->by[c])
            json_object_set_new(by, attest_check_name(c), json_integer(r->by[c]));
    attest_json_line(
        to->out, json_pack("{s:s,s:s,s:s,s:s,s:I,s:I,s:I,s:b,s:b,s:o,s:o,s:o}", "defect", attest_defect_name(name, d),
                           "base", d->base, "bugs", d->bugs, "what", d->what, "cases", (json_int_t)r->run, "differs",
                           (json_int_t)r->differs, "killed", (json_int_t)r->killed, "smoke", r->smoke, "whole",
                           to->whole, "by", by, "smallest", r->killed ? attest_json_text(r->line) : json_null(),
                           "margin", r->killed && isfinite(r->margin) ? attest_json_number(r->margin) : json_null()));
}

void attest_defects_json(FILE *out, const attest_options *options, const attest_defect_result *result, int whole)
{
    json_lines to = { out, whole };
    each(&to, options, result, json_row, NULL);
}
