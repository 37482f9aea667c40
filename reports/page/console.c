/* console.c - the terminal's view: a line per kernel, then what needs attention with its command. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/overview.h"
#include "reports/table.h"

#define SHOWN 10 /* results that need attention, told in full */

/* Green; red; yellow, not judged; faint, not asked; cyan, as the suite allows. */
static const char *const colours[] = {
    [ATTEST_PASS] = "\033[32m",     [ATTEST_FAIL] = "\033[31m",        [ATTEST_UNDECIDED] = "\033[33m",
    [ATTEST_SKIP] = "\033[2m",      [ATTEST_CRASH] = "\033[31m",       [ATTEST_TIMEOUT] = "\033[31m",
    [ATTEST_ILLPOSED] = "\033[36m", [ATTEST_NO_EVIDENCE] = "\033[33m", [ATTEST_MEASURED] = "",
    [ATTEST_PARTIAL] = "\033[33m"
};
_Static_assert(sizeof colours / sizeof colours[0] == ATTEST_VERDICT_COUNT, "a colour for each verdict");

int attest_want_colour(FILE *stream)
{
    const char *none = getenv("NO_COLOR");
    return isatty(fileno(stream)) && !(none && *none);
}

void attest_result_print_line(FILE *out, const attest_result *result, int colour)
{
    char reasons[256], ratio[ATTEST_RATIO_TEXT];
    attest_reasons_text(reasons, sizeof reasons, result->reasons);
    fprintf(out, "%s%-11s%s %-24s %s", colour ? colours[result->verdict] : "", attest_verdict_names[result->verdict],
            colour ? "\033[0m" : "", result->kernel, result->problem);
    if (result->ratio_hi == result->ratio_hi)
        fprintf(out, "  ratio %s  ulp %.3g", attest_ratio_text(ratio, result->ratio_hi), result->ulp_hi);
    if (*reasons)
        fprintf(out, "  [%s]", reasons);
    if (*result->why)
        fprintf(out, "  %s", result->why);
    fputc('\n', out);
}

static const int told[] = { ATTEST_PASS,        ATTEST_FAIL,  ATTEST_UNDECIDED, ATTEST_PARTIAL, ATTEST_ILLPOSED,
                            ATTEST_NO_EVIDENCE, ATTEST_CRASH, ATTEST_TIMEOUT,   ATTEST_SKIP };
enum { TOLD = sizeof told / sizeof told[0] };

static attest_status print_tallies(FILE *out, const attest_tallies *tallies, int colour, attest_error *err)
{
    attest_column columns[TOLD + 4] = { { .head = "kernel", .flags = ATTEST_COLUMN_FIT, .width = 12 },
                                        { .head = "results", .flags = ATTEST_COLUMN_RIGHT, .width = 7 } };
    attest_table table;
    for (size_t v = 0; v < TOLD; v++)
        columns[v + 2] = (attest_column){ .head = attest_verdict_names[told[v]],
                                          .flags = ATTEST_COLUMN_RIGHT,
                                          .width = told[v] == ATTEST_NO_EVIDENCE ? 11 : 9 };
    columns[TOLD + 2] = (attest_column){ .head = "worst ratio", .flags = ATTEST_COLUMN_RIGHT, .width = 11 };
    columns[TOLD + 3] = (attest_column){ .head = "worst ulp", .flags = ATTEST_COLUMN_RIGHT, .width = 10 };
    attest_table_begin(&table, out, ATTEST_TABLE_CONSOLE, columns, TOLD + 4);
    for (size_t i = 0; i < tallies->count; i++) {
        const attest_tally *t = &tallies->tally[i];
        attest_table_cell(&table, "%s", t->kernel);
        attest_table_count(&table, (int64_t)t->cases);
        for (size_t v = 0; v < TOLD; v++) {
            const size_t n = t->by_verdict[told[v]];
            attest_table_mark(&table, (attest_mark){ NULL, n && colour ? colours[told[v]] : NULL });
            if (n)
                attest_table_count(&table, (int64_t)n);
            else
                attest_table_cell(&table, ".");
        }
        attest_table_ratio(&table, t->worst_ratio);
        attest_table_number(&table, t->worst_ulp);
    }
    const attest_status status = attest_table_end(&table, err);
    for (size_t i = 0; i < tallies->count; i++)
        if (tallies->tally[i].worst_ratio == tallies->tally[i].worst_ratio) {
            fputs("ratio: error/bound, above 1 is proved wrong; ulp: units in the last place of the output\n", out);
            break;
        }
    return status;
}

static void print_attention(FILE *out, const attest_result *result, int colour)
{
    fputc('\n', out);
    attest_result_print_line(out, result, colour);
    if (*result->worst)
        fprintf(out, "    worst %s: got %s, truth %s, bound %.3g\n", result->worst, result->got, result->truth,
                result->bound);
    if (*result->reproduction)
        fprintf(out, "    %s\n", result->reproduction);
}

static attest_status print_bad(FILE *out, const attest_results *results, const attest_overview *o, int colour,
                               attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result result;
    size_t bad = 0;
    for (int rank = 0; rank < ATTEST_RANKS_BAD; rank++)
        for (size_t i = 0; i < o->count; i++) {
            if (o->place[i].rank != rank || bad++ >= SHOWN)
                continue;
            ATTEST_TRY(attest_results_get(&result, results, i, err));
            print_attention(out, &result, colour);
        }
    if (bad > SHOWN)
        fprintf(out, "\nand %zu more; --out DIR writes %s results\n", bad - SHOWN,
                o->results > o->count ? "these" : "all");
out:
    return status;
}

/* Skips of whole kernels (no problem line): they are not passes. */
static attest_status print_skips(FILE *out, const attest_results *results, const attest_overview *o, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result result;
    for (size_t i = 0; i < o->count; i++) {
        if (!o->place[i].whole_kernel)
            continue;
        ATTEST_TRY(attest_results_get(&result, results, i, err));
        fprintf(out, "skip: %s: %s\n", result.kernel, result.why);
    }
out:
    return status;
}

static void print_headline(FILE *out, const attest_overview *o, const attest_run_info *run, int colour)
{
    static const char *const of[] = { "\033[1;32m", "\033[1;31m", "\033[1;33m", "\033[1;33m" };
    char text[512];
    attest_overview_kept(text, sizeof text, o);
    if (*text)
        fprintf(out, "%s\n", text);
    if (run && *run->baseline)
        fprintf(out, "baseline: %s\n", run->baseline);
    attest_headline(text, sizeof text, o, run);
    fprintf(out, "%s%s%s", colour ? of[attest_overview_outcome(o, run)] : "", text, colour ? "\033[0m" : "");
    if (run && run->seconds > 0)
        fprintf(out, ", %.*f s", run->seconds < 10 ? 1 : 0, run->seconds);
    fputc('\n', out);
}

static void print_plain(FILE *out, const char *text) { fputs(text, out); }

void attest_results_print_console(FILE *out, const attest_results *results, const attest_run_info *run,
                                  const char *common, int colour)
{
    attest_error err;
    attest_status status = ATTEST_OK;
    attest_overview o;
    ATTEST_TRY(attest_overview_of(&o, results, &err));
    ATTEST_TRY(print_tallies(out, &o.tallies, colour, &err));
    ATTEST_TRY(print_bad(out, results, &o, colour, &err));
    ATTEST_TRY(print_skips(out, results, &o, &err));
    for (size_t i = 0; i < o.tallies.count; i++)
        if (o.tallies.tally[i].notes) /* what was not tried on results that pass: how many, what the first one says */
            fprintf(out, "note: %s: %zu passing %s: %s\n", o.tallies.tally[i].kernel, o.tallies.tally[i].notes,
                    o.tallies.tally[i].notes == 1 ? "result has a note" : "results have a note, the first",
                    o.tallies.tally[i].note);
    attest_warnings_tell(out, &o.warnings);
    if (common && *common)
        fprintf(out, "\n%s\n", common);
    attest_would_pass_print(out, run, "would pass: ", "\n", print_plain);
    print_headline(out, &o, run, colour);
out:
    if (status != ATTEST_OK)
        fprintf(out, "%s\n", err.text);
    attest_overview_clear(&o);
}
