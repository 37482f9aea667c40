/* summary.c - Markdown for a CI job's summary: totals, what needs attention, figures, other results; 60 of both. */
#include "reports/overview.h"

#define SUMMARY_RESULTS 60

static void print_totals(FILE *out, const attest_overview *o, const attest_run_info *run)
{
    char banner[256] = "", headline[512];
    attest_headline(headline, sizeof headline, o, run);
    fprintf(out, "# attest: %s\n\n", headline);
    if (run)
        attest_run_info_banner(banner, sizeof banner, run, o->cases);
    if (*banner) {
        fputs("**", out);
        attest_print_markdown(out, banner);
        fputs("**\n\n", out);
    }
    if (run && *run->baseline) {
        fputs("Baseline: ", out);
        attest_print_markdown(out, run->baseline);
        fputs("\n\n", out);
    }
    attest_overview_kept(banner, sizeof banner, o);
    if (*banner)
        fprintf(out, "%s.\n\n", banner);
    for (int v = 0; v < ATTEST_VERDICT_COUNT; v++)
        if (o->by_verdict[v])
            fprintf(out, "- %s: %zu\n", attest_verdict_names[v], o->by_verdict[v]);
}

static attest_status print_tallies(FILE *out, const attest_tallies *tallies, attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "kernel", .flags = ATTEST_COLUMN_OUTSIDE },
        { .head = "results", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "pass", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "fail", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "undecided", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "partial", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "no-evidence", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "illposed", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "crash or timeout", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "skip", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "worst ratio", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "worst ulp", .flags = ATTEST_COLUMN_RIGHT },
    };
    attest_table table;
    fputc('\n', out);
    attest_table_begin(&table, out, ATTEST_TABLE_MARKDOWN, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < tallies->count; i++) {
        const attest_tally *t = &tallies->tally[i];
        const size_t *n = t->by_verdict;
        const size_t counts[] = { t->cases,           n[ATTEST_PASS],
                                  n[ATTEST_FAIL],     n[ATTEST_UNDECIDED],
                                  n[ATTEST_PARTIAL],  n[ATTEST_NO_EVIDENCE],
                                  n[ATTEST_ILLPOSED], n[ATTEST_CRASH] + n[ATTEST_TIMEOUT],
                                  n[ATTEST_SKIP] };
        attest_table_cell(&table, "%s", t->kernel);
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
            attest_table_count(&table, (int64_t)counts[k]);
        attest_table_ratio(&table, t->worst_ratio);
        attest_table_number(&table, t->worst_ulp);
    }
    return attest_table_end(&table, err);
}

static void result_row(attest_table *table, const attest_result *result)
{
    const int bad = attest_result_bad(result);
    char reasons[256];
    attest_reasons_text(reasons, sizeof reasons, result->reasons);
    attest_table_cell(table, "%s", attest_verdict_names[result->verdict]);
    attest_table_cell(table, "%s", result->kernel);
    attest_table_cell(table, "%s", result->problem);
    attest_table_ratio(table, result->ratio_hi);
    attest_table_number(table, result->ulp_hi);
    attest_table_cell(table, "%s %s", reasons, result->why);
    attest_table_cell(table, "%s", bad ? result->reproduction : "-");
}

/* Results of ranks [from, to), as many as *room allows, which gets less; nothing where there are none, or no room. */
static attest_status print_results(FILE *out, size_t *room, const attest_results *results, const attest_overview *o,
                                   int from, int to, attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "verdict" },
        { .head = "kernel", .flags = ATTEST_COLUMN_OUTSIDE },
        { .head = "problem", .flags = ATTEST_COLUMN_OUTSIDE },
        { .head = "ratio", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "ulp", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "why", .flags = ATTEST_COLUMN_OUTSIDE },
        { .head = "reproduce", .flags = ATTEST_COLUMN_OUTSIDE | ATTEST_COLUMN_CODE },
    };
    attest_status status = ATTEST_OK;
    attest_table table;
    attest_result result;
    size_t count = 0, shown = 0;
    for (size_t i = 0; i < o->count; i++)
        count += o->place[i].rank >= from && o->place[i].rank < to;
    if (count == 0 || *room == 0)
        return ATTEST_OK;
    fputc('\n', out);
    attest_table_begin(&table, out, ATTEST_TABLE_MARKDOWN, columns, sizeof columns / sizeof columns[0]);
    for (int rank = from; rank<to && * room> 0; rank++)
        for (size_t i = 0; i < o->count && shown < *room; i++) {
            if (o->place[i].rank != rank)
                continue;
            ATTEST_TRY(attest_results_get(&result, results, i, err));
            result_row(&table, &result);
            shown++;
        }
    ATTEST_TRY(attest_table_end(&table, err));
    *room -= shown;
out:
    return status;
}

attest_status attest_summary_print(FILE *out, const attest_results *results, const attest_overview *overview,
                                   const attest_facts *facts, const attest_run_info *run, attest_error *err)
{
    attest_status status = ATTEST_OK;
    size_t room = SUMMARY_RESULTS;
    print_totals(out, overview, run);
    ATTEST_TRY(print_results(out, &room, results, overview, 0, ATTEST_RANKS_BAD, err));
    attest_would_pass_print(out, run, "\nWould pass: ", "\n", attest_print_markdown);
    ATTEST_TRY(print_tallies(out, &overview->tallies, err));
    ATTEST_TRY(attest_classes_print(out, &overview->classes, 0, err));
    ATTEST_TRY(attest_signs_print(out, &overview->signs, 0, err));
    ATTEST_TRY(attest_powers_print(out, &overview->powers, 0, err));
    ATTEST_TRY(attest_warnings_print(out, &overview->warnings, 0, err));
    if (facts)
        ATTEST_TRY(attest_facts_print(out, facts, overview, 0, err));
    ATTEST_TRY(print_results(out, &room, results, overview, ATTEST_RANKS_BAD, ATTEST_RANKS, err));
    const size_t left = overview->count - (SUMMARY_RESULTS - room);
    if (left > 0)
        fprintf(out, "\nand %zu more %s in results.jsonl and results.csv\n", left, left == 1 ? "result" : "results");
out:
    return status;
}

attest_status attest_summary_write(const attest_results *results, const attest_overview *overview,
                                   const attest_facts *facts, const attest_run_info *run, const char *path,
                                   attest_error *err)
{
    attest_output out;
    attest_status status = attest_output_open(&out, path, err);
    if (status == ATTEST_OK)
        status = attest_summary_print(out.file, results, overview, facts, run, err);
    return attest_output_close(&out, status, err);
}

attest_status attest_results_print_summary(FILE *out, const attest_results *results, const attest_facts *facts,
                                           const attest_run_info *run, attest_error *err)
{
    attest_overview o;
    attest_status status = attest_overview_of(&o, results, err);
    if (status == ATTEST_OK)
        status = attest_summary_print(out, results, &o, facts, run, err);
    attest_overview_clear(&o);
    return status;
}

attest_status attest_results_write_summary(const attest_results *results, const attest_facts *facts,
                                           const attest_run_info *run, const char *path, attest_error *err)
{
    attest_overview o;
    attest_status status = attest_overview_of(&o, results, err);
    if (status == ATTEST_OK)
        status = attest_summary_write(results, &o, facts, run, path, err);
    attest_overview_clear(&o);
    return status;
}
