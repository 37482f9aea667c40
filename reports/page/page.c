/* page.c - DIR/index.html: one self-contained page (inline CSS, inline SVG, no script, no external reference). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/page/page.h"

#include "kernels/input.h"
#include "reports/compact/compact.h"
#include "reports/order/order.h"
#include "reports/overview.h"
#include "reports/page/drill.h"
#include "reports/page/ledgers.h"
#include "reports/page/studies.h"

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>attest report</title>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>\n"
    "@page{size:A4;margin:12mm}\n"
    ":root{color-scheme:light dark;--paper:#fff;--ink:#1a1a1a;--line:#8884;--bad:#b71c1c;--good:#1b5e20;"
    "--warn:#8a4b00}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--paper:#16181b;--ink:#e4e6e8;--bad:#ff8a80;--good:#81c784;"
    "--warn:#ffb74d}a{color:#8ab4f8}}\n"
    "html{background:var(--paper);color:var(--ink)}\n"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:1500px;margin:2rem auto;padding:0 1rem}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13px}\n"
    "th,td{border-bottom:1px solid var(--line);padding:.25rem .6rem;text-align:left;vertical-align:top}\n"
    "td.n,th.n{text-align:right}td.zero{opacity:.65}.wrap{overflow-x:auto}\n"
    "code{font:12px ui-monospace,monospace;overflow-wrap:anywhere}td.k{min-width:12rem}td.c{min-width:17rem}\n"
    ".pass{color:var(--good)}.fail,.crash,.timeout{color:var(--bad);font-weight:600}\n"
    ".undecided,.partial,.no-evidence,.illposed{color:var(--warn)}figure{margin:1rem 0}figure "
    "svg{max-width:100%;height:auto;background:#fff}\n"
    ".narrow{display:none}@media screen and (max-width:700px){.wide{display:none}.narrow{display:block}"
    "body{padding:0 .3rem}}\n"
    ".banner{border-left:.6rem solid;padding:.5rem 1rem;font-size:20px;font-weight:600;color:var(--warn)}"
    ".banner.good{color:var(--good)}.banner.bad{color:var(--bad)}\n"
    "summary{cursor:pointer}\n"
    "@media print{body{max-width:none;margin:0;padding:0;font-size:11px}table{font-size:7.5px}code{font-size:7px}"
    "th,td{padding:.1rem .2rem}td.k,td.c{min-width:0}.wrap{overflow:visible}figure{break-inside:avoid}}\n"
    "</style></head><body><main>\n";

static attest_mark mark_of(int64_t verdict) { return (attest_mark){ attest_verdict_names[verdict], NULL }; }

static const int told[] = { ATTEST_PASS,        ATTEST_FAIL,  ATTEST_UNDECIDED, ATTEST_PARTIAL, ATTEST_ILLPOSED,
                            ATTEST_NO_EVIDENCE, ATTEST_CRASH, ATTEST_TIMEOUT,   ATTEST_SKIP };
enum { TOLD = sizeof told / sizeof told[0] };

/* Of `told`, pass and fail, and each other verdict that a kernel has: a page has no room for columns of zeros. */
static size_t verdicts_of(int shown[TOLD], const attest_tallies *tallies)
{
    size_t count = 0;
    for (size_t v = 0; v < TOLD; v++) {
        int some = told[v] == ATTEST_PASS || told[v] == ATTEST_FAIL;
        for (size_t k = 0; k < tallies->count && !some; k++)
            some = tallies->tally[k].by_verdict[told[v]] != 0;
        if (some)
            shown[count++] = told[v];
    }
    return count;
}

static attest_status print_tallies(FILE *out, const attest_tallies *tallies, attest_error *err)
{
    attest_column columns[TOLD + 5] = { { .head = "kernel", .flags = ATTEST_COLUMN_CODE, .class = "k" },
                                        { .head = "results", .flags = ATTEST_COLUMN_RIGHT } };
    attest_table table;
    int shown[TOLD];
    const size_t verdicts = verdicts_of(shown, tallies);
    for (size_t v = 0; v < verdicts; v++)
        columns[v + 2] = (attest_column){ .head = attest_verdict_names[shown[v]], .flags = ATTEST_COLUMN_RIGHT };
    columns[verdicts + 2] = (attest_column){ .head = "worst error/bound", .flags = ATTEST_COLUMN_RIGHT };
    columns[verdicts + 3] = (attest_column){ .head = "worst ulp", .flags = ATTEST_COLUMN_RIGHT };
    columns[verdicts + 4] = (attest_column){ .head = "case of the worst ratio",
                                             .flags = ATTEST_COLUMN_CODE,
                                             .class = "c" };
    fputs("<h2>Kernels</h2>\n", out);
    attest_table_begin(&table, out, ATTEST_TABLE_HTML, columns, verdicts + 5);
    for (size_t k = 0; k < tallies->count; k++) {
        const attest_tally *t = &tallies->tally[k];
        attest_table_cell(&table, "%s", t->kernel);
        attest_table_count(&table, (int64_t)t->cases);
        for (size_t v = 0; v < verdicts; v++) {
            attest_table_mark(&table, t->by_verdict[shown[v]] ? mark_of(shown[v]) : (attest_mark){ "zero", NULL });
            attest_table_count(&table, (int64_t)t->by_verdict[shown[v]]);
        }
        attest_table_ratio(&table, t->worst_ratio);
        attest_table_number(&table, t->worst_ulp);
        attest_table_cell(&table, "%s", t->worst_problem);
    }
    const attest_status status = attest_table_end(&table, err);
    fputs("<p>error/bound at most 1 passes: the bound is derived for the arithmetic that the kernel declares, for "
          "these inputs; a ratio is the upper end of a proven interval. ulp is of the output's type; beside 0 an ulp "
          "is tiny, so a large number of them says little: read the ratio.</p>\n",
          out);
    return status;
}

static void result_row(attest_table *table, const attest_result *result)
{
    char reasons[256];
    attest_reasons_text(reasons, sizeof reasons, result->reasons);
    attest_table_mark(table, mark_of(result->verdict));
    attest_table_cell(table, "%s", attest_verdict_names[result->verdict]);
    attest_table_cell(table, "%s", result->kernel);
    attest_table_cell(table, "%s", result->problem);
    attest_table_ratio(table, result->ratio_hi);
    attest_table_number(table, result->ulp_hi);
    attest_table_number(table, result->range);
    attest_table_cell(table, "%s%s%s", reasons, reasons[0] && result->why[0] ? ": " : "", result->why);
    attest_table_cell(table, "%s", attest_result_bad(result) ? result->reproduction : result->worst);
}

/* Lower ranks first; then larger ratios; equal ones (and missing ones, last) in the order of the results. */
static int by_place(const void *a, const void *b)
{
    const attest_place *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->ratio != y->ratio ? (x->ratio < y->ratio ? 1 : -1) : (x->index > y->index) - (x->index < y->index);
}

/* A part of the page: the results of ranks [from, to). */
typedef struct part {
    int from, to;
    const char *title, *empty; /* the latter is said when there are none */
    size_t most;               /* of them are shown */
} part;

/* `place` is sorted by by_place(). */
static attest_status print_part(FILE *out, const attest_results *results, const attest_place *place, const part *p,
                                attest_error *err)
{
    const int open = p->to <= ATTEST_RANKS_BAD;
    const attest_column columns[] = {
        { .head = "verdict" },
        { .head = "kernel", .flags = ATTEST_COLUMN_CODE, .class = "k" },
        { .head = "problem", .flags = ATTEST_COLUMN_CODE, .class = "c" },
        { .head = "error/bound", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "ulp", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "score range", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "why" },
        { .head = open ? "reproduce" : "worst element", .flags = ATTEST_COLUMN_CODE, .class = "c" },
    };
    attest_status status = ATTEST_OK;
    attest_table table;
    attest_result result;
    size_t count = 0, shown = 0;
    for (size_t i = 0; i < results->count; i++)
        count += place[i].rank >= p->from && place[i].rank < p->to;
    if (count == 0) {
        fprintf(out, "<p class=\"pass\">%s</p>\n", p->empty);
        return ATTEST_OK;
    }
    fprintf(out, "<details%s><summary>%s (%zu)</summary>", open ? " open" : "", p->title, count);
    attest_table_begin(&table, out, ATTEST_TABLE_HTML, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < results->count && shown < p->most; i++)
        if (place[i].rank >= p->from && place[i].rank < p->to) {
            ATTEST_TRY(attest_results_get(&result, results, place[i].index, err));
            result_row(&table, &result);
            shown++;
        }
    ATTEST_TRY(attest_table_end(&table, err));
    if (count > shown)
        fprintf(out, "<p>and %zu more in results.jsonl and results.csv</p>", count - shown);
    fputs("</details>\n", out);
out:
    return status;
}

int attest_page_find(char path[4096], const char *dir, const char *name)
{
    snprintf(path, 4096, "%.4000s/%s", dir, name);
    return access(path, F_OK) == 0;
}

/* Of what passed nobody reads thousands: those nearest to their bounds. */
enum { MOST_BAD = 1000, MOST_PARTLY = 100, MOST_PASSED = 100 };

/* What is bad, next to the banner; nothing where nothing is. */
static attest_status print_attention(FILE *out, const attest_results *results, const attest_overview *o, int whole,
                                     attest_error *err)
{
    const part attention = { 0, ATTEST_RANKS_BAD, "failed, crashed or not decided",
                             whole ? "Nothing needs attention."
                                   : "The run is unfinished. Nothing else needs attention.",
                             MOST_BAD };
    fprintf(out, "<h2>What needs attention</h2>\n");
    return print_part(out, results, o->place, &attention, err);
}

static attest_status print_gate(FILE *out, const attest_results *results, attest_overview *o, const attest_facts *facts,
                                attest_error *err)
{
    static const part partly = { ATTEST_RANKS_BAD, ATTEST_RANKS_BAD + 1, "ill-posed or skipped", "Nothing was skipped.",
                                 MOST_PARTLY };
    static const part passed = { ATTEST_RANKS_BAD + 1, ATTEST_RANKS, "passed, largest error/bound first",
                                 "Nothing passed.", MOST_PASSED };
    attest_status status = ATTEST_OK;
    ATTEST_TRY(print_tallies(out, &o->tallies, err));
    ATTEST_TRY(attest_drill_print(out, results, err));
    ATTEST_TRY(attest_signs_print(out, &o->signs, 1, err));
    ATTEST_TRY(attest_powers_print(out, &o->powers, 1, err));
    ATTEST_TRY(attest_classes_print(out, &o->classes, 1, err));
    ATTEST_TRY(attest_warnings_print(out, &o->warnings, 1, err));
    fprintf(out, "<h2>What was not fully judged</h2>\n");
    ATTEST_TRY(print_part(out, results, o->place, &partly, err));
    fprintf(out, "<h2>What passed</h2>\n");
    ATTEST_TRY(print_part(out, results, o->place, &passed, err));
    ATTEST_TRY(attest_facts_print(out, facts, o, 1, err));
out:
    return status;
}

/* All that the page is made of. */
typedef struct sources {
    attest_run_info run;
    int has_run;
    attest_results results;
    attest_page_studies studies;
    attest_whole whole; /* of a compact run */
    attest_orders orders;
    attest_traits traits;
    attest_facts facts;
    attest_overview overview;
} sources;

/* Of a run that did not finish perhaps a part of a line is there, and no result at all. */
static attest_status open_results(sources *s, const char *dir, attest_error *err)
{
    char path[4096];
    if (!attest_page_find(path, dir, "results.jsonl"))
        return ATTEST_OK;
    const attest_status status = s->has_run && !s->run.finished ? attest_results_open_part(&s->results, path, err)
                                                                : attest_results_open(&s->results, path, err);
    if (status == ATTEST_OK && s->has_run)
        s->results = attest_results_failing_on(&s->results, s->run.fail_on);
    return status;
}

/* What all results add up to, where some are kept. */
static attest_status read_whole(sources *s, const char *dir, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_compact *compact = NULL;
    char path[4096];
    if (!attest_compact_is(path, dir))
        return ATTEST_OK;
    ATTEST_TRY(attest_compact_read(&compact, path, err));
    ATTEST_TRY(attest_compact_whole(&s->whole, compact, err));
    s->results.whole = &s->whole;
out:
    attest_compact_free(compact);
    return status;
}

static attest_status read_sources(sources *s, const char *dir, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char path[4096];
    if (strlen(dir) >= 4000)
        return attest_fail(err, ATTEST_BAD_INPUT, "%.100s...: the path is too long", dir);
    if ((s->has_run = attest_page_find(path, dir, "run.json")))
        ATTEST_TRY(attest_run_info_read(&s->run, path, err));
    ATTEST_TRY(open_results(s, dir, err));
    ATTEST_TRY(attest_page_studies_read(&s->studies, dir, err));
    if (!s->results.files && attest_page_find(path, dir, "rows.jsonl"))
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT,
                               "%s: the results of an older version, which this one does not read: make them again "
                               "(`attest gate --out %s`)",
                               path, dir));
    if (s->results.count == 0 && s->studies.count == 0 && (!s->has_run || s->run.finished) &&
        !attest_page_find(path, dir, "order.json"))
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT,
                               "%s: no results.jsonl, study-order.jsonl or study-range.jsonl in it "
                               "(`attest gate --out %s` writes them)",
                               dir, dir));
    if (attest_page_find(path, dir, "order.json"))
        ATTEST_TRY(attest_orders_read(&s->orders, path, err));
    if (attest_page_find(path, dir, "traits.jsonl"))
        ATTEST_TRY(attest_traits_read_jsonl(&s->traits, path, err));
    if (attest_page_find(path, dir, "trust.json"))
        ATTEST_TRY(attest_facts_read(&s->facts, path, err));
    ATTEST_TRY(read_whole(s, dir, err));
    if (s->has_run)
        ATTEST_TRY(attest_run_info_whole(&s->run, s->results.count, dir, err));
    ATTEST_TRY(attest_overview_of(&s->overview, &s->results, err));
    s->run.running = s->has_run && !s->run.finished && attest_output_is_locked(dir);
out:
    return status;
}

/* PASS, FAIL or PARTIAL, in numbers; what the page is of; and what is missing of the run. */
static void print_banner(FILE *out, const sources *s, const char *dir)
{
    static const char *const beside[] = { "results.jsonl", "results.csv", "junit.xml", "summary.md" };
    static const char *const classes[] = { "good", "bad", "open", "open" };
    const attest_run_info *run = s->has_run ? &s->run : NULL;
    const attest_overview *o = &s->overview;
    char text[512], missing[256] = "", path[4096];
    attest_headline(text, sizeof text, o, run);
    if (o->count > 0) {
        fprintf(out, "<p class=\"banner %s\">", classes[attest_overview_outcome(o, run)]);
        attest_print_xml(out, text);
        fputs("</p>\n", out);
    }
    if (run)
        attest_run_info_banner(missing, sizeof missing, run, o->cases);
    if (*missing) {
        fputs("<p class=\"fail\">", out);
        attest_print_xml(out, missing);
        fputs(run->running ? "</p>\n" : "; `attest gate --resume` runs the rest of a gate, an audit begins anew</p>\n",
              out);
    }
    if (run && *run->baseline) {
        fputs("<p class=\"baseline\">Baseline: ", out);
        attest_print_xml(out, run->baseline);
        fputs("</p>\n", out);
    }
    if (o->count == 0)
        return;
    attest_overview_kept(text, sizeof text, o);
    if (*text)
        fprintf(out, "<p>%s.</p>\n", text);
    snprintf(text, sizeof text, "attest %s, suite %s (%s), run %s", o->tool, o->suite, o->suite_hash, o->run);
    fputs("<p>", out);
    attest_print_xml(out, text);
    fputs(". Beside this page: ", out);
    for (size_t i = 0, named = 0; i < sizeof beside / sizeof beside[0]; i++)
        if (attest_page_find(path, dir, beside[i]))
            fprintf(out, "%s%s", named++ ? ", " : "", beside[i]);
    fputs(".</p>\n", out);
}

static attest_status write_page(sources *s, const char *dir, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_output out = { .file = NULL };
    attest_overview *o = &s->overview;
    char path[4096];
    attest_page_find(path, dir, "index.html");
    ATTEST_TRY(attest_output_open(&out, path, err));
    fputs(head, out.file);
    fprintf(out.file, "<h1>attest report</h1>\n");
    if (o->count > 0)
        qsort(o->place, o->count, sizeof *o->place, by_place);
    print_banner(out.file, s, dir);
    ATTEST_TRY(attest_orders_print_html(out.file, &s->orders, err));
    if (o->count > 0)
        ATTEST_TRY(print_attention(out.file, &s->results, o, !s->has_run || s->run.finished, err));
    attest_would_pass_print(out.file, s->has_run ? &s->run : NULL, "<p>Would pass: ", "</p>\n", attest_print_xml);
    ATTEST_TRY(attest_page_studies_print(out.file, dir, &s->studies, err));
    if (o->count > 0)
        ATTEST_TRY(print_gate(out.file, &s->results, o, &s->facts, err));
    ATTEST_TRY(attest_traits_print_html(out.file, &s->traits, err));
    ATTEST_TRY(attest_ledgers_print(out.file, dir, err));
    fprintf(out.file, "</main></body></html>\n");
out:
    return attest_output_close(&out, status, err);
}

attest_status attest_report_write(const char *dir, attest_error *err)
{
    attest_status status = ATTEST_OK;
    sources s = { .traits = { 0 } };
    char path[4096];
    ATTEST_TRY(read_sources(&s, dir, err));
    attest_page_find(path, dir, "summary.md");
    if (s.results.count > 0)
        ATTEST_TRY(attest_summary_write(&s.results, &s.overview, &s.facts, s.has_run ? &s.run : NULL, path, err));
    ATTEST_TRY(write_page(&s, dir, err));
out:
    attest_overview_clear(&s.overview);
    attest_facts_clear(&s.facts);
    attest_traits_clear(&s.traits);
    attest_orders_clear(&s.orders);
    attest_results_clear(&s.results);
    attest_whole_clear(&s.whole);
    attest_page_studies_clear(&s.studies);
    return status;
}
