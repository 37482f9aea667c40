/* defects_print.c - see defects.h: the matrix as text, Markdown and JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/base/base.h"
#include "verify/defects/defects.h"

/* Order of the table: survivors, then dead ones (their bits never differ), then the rest as listed. */
static int rank_of(const attest_defect_result *r) { return r->killed == 0 ? 0 : r->live == 0 ? 1 : 2; }

/* Calls `row` for every selected defect in the table's order. */
static void each(FILE *out, const attest_options *options, const attest_defect_result *result,
                 void (*row)(FILE *, const attest_defect *, const attest_defect_result *, const int *),
                 const int *columns)
{
    for (int rank = 0; rank < 3; rank++)
        for (size_t k = 0; k < attest_defect_count; k++)
            if (attest_defect_selected(options, &attest_defects[k]) && rank_of(&result[k]) == rank)
                row(out, &attest_defects[k], &result[k], columns);
}

/* columns[c]: does check c kill anything? */
static void find_columns(int columns[ATTEST_CHECK_COUNT], const attest_defect_result *result)
{
    memset(columns, 0, ATTEST_CHECK_COUNT * sizeof *columns);
    for (size_t k = 0; k < attest_defect_count; k++)
        for (int c = 0; c < ATTEST_CHECK_COUNT; c++)
            columns[c] |= result[k].by[c] > 0;
}

/* Killed by this check alone, on all cases? */
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

static void print_row(FILE *out, const attest_defect *d, const attest_defect_result *r, const int *columns)
{
    char name[128];
    fprintf(out, "%-30s %-21s %-5s %6lld %6lld %6lld ", attest_defect_name(name, d), d->base,
            r->killed == 0 ? "LIVES" : r->smoke ? "smoke" : "", (long long)r->run, (long long)r->live,
            (long long)r->killed);
    for (int c = 0; c < ATTEST_CHECK_COUNT; c++)
        if (columns[c] && r->by[c])
            fprintf(out, " %*lld", (int)strlen(attest_check_name(c)), (long long)r->by[c]);
        else if (columns[c])
            fprintf(out, " %*s", (int)strlen(attest_check_name(c)), ".");
    if (r->killed && isfinite(r->margin))
        fprintf(out, " %9.3g  %s", r->margin, r->line);
    else
        fprintf(out, " %9s  %s", r->killed ? "-" : "", r->line);
    fprintf(out, "\n");
}

static void print_checks(FILE *out, const attest_options *options, const attest_defect_result *result, const int *columns)
{
    fprintf(out, "\n%-18s %8s %8s\n", "check", "kills", "alone");
    for (int c = 0; c < ATTEST_CHECK_COUNT; c++) {
        int kills = 0, alone = 0;
        for (size_t k = 0; k < attest_defect_count; k++) {
            kills += attest_defect_selected(options, &attest_defects[k]) && result[k].by[c] > 0;
            alone += attest_defect_selected(options, &attest_defects[k]) && only(&result[k], c);
        }
        if (columns[c])
            fprintf(out, "%-18s %8d %8d\n", attest_check_name(c), kills, alone);
    }
}

static void print_totals(FILE *out, const attest_options *options, const attest_defect_result *result, const char *suite)
{
    int count = 0, dead = 0, survivors = 0, smoke = 0;
    for (size_t k = 0; k < attest_defect_count; k++) {
        if (!attest_defect_selected(options, &attest_defects[k]))
            continue;
        count++;
        dead += result[k].live == 0;
        survivors += result[k].killed == 0;
        smoke += result[k].smoke;
    }
    fprintf(out, "\n%d %s, %d live, %d killed by suite %s (%d by suite smoke too), %d %s\n", count,
            attest_plural(count, "defect", "defects"), count - dead, count - survivors, suite, smoke, survivors,
            attest_plural(survivors, "survives", "survive"));
}

void attest_defects_print(FILE *out, const attest_options *options, const attest_defect_result *result, const char *suite)
{
    int columns[ATTEST_CHECK_COUNT];
    find_columns(columns, result);
    fprintf(out, "%-30s %-21s %-5s %6s %6s %6s ", "defect", "base kernel", "", "cases", "live", "killed");
    for (int c = 0; c < ATTEST_CHECK_COUNT; c++)
        if (columns[c])
            fprintf(out, " %s", attest_check_name(c));
    fprintf(out, " %9s  %s\n", "margin", "smallest killing case");
    each(out, options, result, print_row, columns);
    print_checks(out, options, result, columns);
    print_totals(out, options, result, suite);
}

static void markdown_row(FILE *out, const attest_defect *d, const attest_defect_result *r, const int *columns)
{
    char checks[256], name[128];
    (void)columns;
    check_names(checks, sizeof checks, r->reasons);
    fprintf(out, "| %s | %s | %s | %s | %s | %lld/%lld/%lld | %s |", attest_defect_name(name, d), d->base, d->what,
            d->bugs, r->killed ? checks : "**survives**", (long long)r->killed, (long long)r->live, (long long)r->run,
            r->smoke ? "yes" : "");
    if (r->killed && isfinite(r->margin))
        fprintf(out, " %.3g |", r->margin);
    else
        fprintf(out, "  |");
    fprintf(out, " %s%s%s |\n", r->killed ? "`" : "", r->line, r->killed ? "`" : "");
}

void attest_defects_markdown(FILE *out, const attest_options *options, const attest_defect_result *result, const char *suite)
{
    int columns[ATTEST_CHECK_COUNT];
    find_columns(columns, result);
    fprintf(out, "# Planted defects against suite %s\n\n"
                 "cases: killed / with other bits than the base kernel / run; margin: error over bound, lower end\n\n"
                 "| defect | base kernel | what is wrong | models | killed by | cases | smoke | margin | smallest "
                 "case |\n"
                 "|---|---|---|---|---|---|---|---|---|\n", suite);
    each(out, options, result, markdown_row, columns);
    fprintf(out, "\n```\n");
    print_checks(out, options, result, columns);
    print_totals(out, options, result, suite);
    fprintf(out, "```\n");
}

/* Texts of the table hold no quotes or control characters (tests/verify/defects/test_defects.c). */
static void json_row(FILE *out, const attest_defect *d, const attest_defect_result *r, const int *columns)
{
    const char *comma = "";
    char name[128];
    (void)columns;
    fprintf(out, "{\"defect\":\"%s\",\"base\":\"%s\",\"bugs\":\"%s\",\"what\":\"%s\",\"cases\":%lld,\"live\":%lld,"
                 "\"killed\":%lld,\"smoke\":%s,\"by\":{", attest_defect_name(name, d), d->base, d->bugs, d->what,
            (long long)r->run, (long long)r->live, (long long)r->killed, r->smoke ? "true" : "false");
    for (int c = 0; c < ATTEST_CHECK_COUNT; c++)
        if (r->by[c]) {
            fprintf(out, "%s\"%s\":%lld", comma, attest_check_name(c), (long long)r->by[c]);
            comma = ",";
        }
    fprintf(out, "},\"smallest\":");
    if (r->killed)
        fprintf(out, "\"%s\"", r->line);
    else
        fprintf(out, "null");
    if (r->killed && isfinite(r->margin))
        fprintf(out, ",\"margin\":%.17g}\n", r->margin);
    else
        fprintf(out, ",\"margin\":null}\n");
}

void attest_defects_json(FILE *out, const attest_options *options, const attest_defect_result *result)
{
    each(out, options, result, json_row, NULL);
}
