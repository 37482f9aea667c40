/* claims.c - runs the table of claims and tells its rows. */
#include "verify/claims/claims.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report.h"
#include "reports/table.h"

const attest_claim_source *const attest_claim_sources[] = {
    &attest_claims_expressiveness,
    &attest_claims_denominator,
    &attest_claims_series,
    &attest_claims_updates_retnet,
    &attest_claims_updates_mamba,
    &attest_claims_updates_gla,
    &attest_claims_updates_delta,
    &attest_claims_updates_rwkv,
    &attest_claims_summary,
    &attest_claims_theory,
    &attest_claims_note,
    &attest_claims_note_filter,
    &attest_claims_sla,
    &attest_claims_tutorial_tables,
    &attest_claims_tutorial_forms,
    &attest_claims_tutorial_costs,
    &attest_claims_recurrent,
    &attest_claims_norms,
    &attest_claims_note_accuracy,
    &attest_claims_sla_tables,
    &attest_claims_tutorial_noise,
};
const size_t attest_claim_source_count = sizeof attest_claim_sources / sizeof attest_claim_sources[0];

/* ---- findings ---------------------------------------------------------------------------------------------------- */
void attest_note_span(attest_claim_finding *finding, const char *name, attest_span value)
{
    if (finding->count == ATTEST_FIGURES)
        return;
    attest_figure *figure = &finding->figures[finding->count++];
    snprintf(figure->name, sizeof figure->name, "%s", name);
    figure->value = value;
}

void attest_note(attest_claim_finding *finding, const char *name, double value)
{
    attest_note_span(finding, name, (attest_span){ value, value });
}

void attest_note_match(attest_claim_finding *finding, const char *name, const attest_match *match, int apart)
{
    char text[sizeof finding->figures[0].name];
    const char *gap = *name ? " " : "";
    snprintf(text, sizeof text, "%s%scompared", name, gap);
    attest_note(finding, text, (double)match->compared);
    snprintf(text, sizeof text, "%s%sdifferent", name, gap);
    attest_note(finding, text, (double)match->different);
    if (match->rational > 0 && match->rational < match->compared) {
        snprintf(text, sizeof text, "%s%sas rationals", name, gap);
        attest_note(finding, text, (double)match->rational);
    }
    if (apart) {
        snprintf(text, sizeof text, "%s%slargest difference", name, gap);
        attest_note_span(finding, text, (attest_span){ match->apart, match->distance });
    }
}

attest_status attest_note_value(attest_claim_finding *finding, attest_span *value, const char *name, attest_error *err,
                                const char *formula, ...)
{
    char text[512];
    attest_span x;
    va_list arguments;
    va_start(arguments, formula);
    vsnprintf(text, sizeof text, formula, arguments);
    va_end(arguments);
    const attest_status status = attest_evidence_value(&x, err, "%s", text);
    if (status != ATTEST_OK)
        return status;
    if (name)
        attest_note_span(finding, name, x);
    if (value)
        *value = x;
    return ATTEST_OK;
}

void attest_conclude(attest_claim_finding *finding, int as_written, int under_condition)
{
    finding->verdict = as_written ? ATTEST_CLAIM_HOLDS : under_condition ? ATTEST_CLAIM_HOLDS_IF : ATTEST_CLAIM_FALSE;
    finding->concluded = 1;
}

attest_status attest_match_decide(int *equal, const attest_match *match, int64_t least, attest_error *err)
{
    *equal = match->different == 0;
    if (match->different > 0)
        return ATTEST_OK;
    if (least < 1 || match->compared < least)
        return attest_fail(err, ATTEST_INTERNAL, "%lld values compared, %lld needed", (long long)match->compared,
                           (long long)(least < 1 ? 1 : least));
    if (match->rational < match->compared && !(match->distance <= 0x1p-100))
        return attest_fail(err, ATTEST_INTERNAL, "enclosures touch, but leave %g", match->distance);
    return ATTEST_OK;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */
static attest_status check_row(attest_claim_row *row, attest_error *err)
{
    const attest_statement *claim = row->claim;
    if (!claim->check) {
        row->finding.verdict = ATTEST_CLAIM_NOT_CHECKABLE;
        return ATTEST_OK;
    }
    const attest_status status = claim->check(&row->finding, claim, err);
    if (status != ATTEST_OK)
        return attest_fail_prefix(err, status, row->id);
    if (!row->finding.concluded || row->finding.count == 0)
        return attest_fail(err, ATTEST_INTERNAL, "%s: no conclusion, or none from figures", row->id);
    if (row->finding.count == ATTEST_FIGURES)
        return attest_fail(err, ATTEST_INTERNAL, "%s: %d figures or more", row->id, ATTEST_FIGURES);
    for (size_t f = 0; f < row->finding.count; f++)
        if (!isfinite(row->finding.figures[f].value.lo) || !isfinite(row->finding.figures[f].value.hi))
            return attest_fail(err, ATTEST_INTERNAL, "%s: figure '%s' is not finite", row->id,
                               row->finding.figures[f].name);
    return ATTEST_OK;
}

attest_status attest_ledger_run(attest_ledger *ledger, const attest_claim_source *const *sources, size_t count,
                                attest_error *err)
{
    attest_status status = ATTEST_OK;
    size_t total = 0;
    for (size_t s = 0; s < count; s++)
        total += sources[s]->count;
    ledger->count = 0;
    ledger->rows = calloc(total ? total : 1, sizeof *ledger->rows);
    if (!ledger->rows)
        return attest_fail(err, ATTEST_NO_MEMORY, "%zu claims", total);
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < sources[s]->count; i++) {
            attest_claim_row *row = &ledger->rows[ledger->count++];
            snprintf(row->id, sizeof row->id, "C%zu", ledger->count);
            row->file = sources[s]->file;
            row->claim = &sources[s]->claims[i];
            ATTEST_TRY(check_row(row, err));
        }
out:
    attest_reference_thread_end();
    return status;
}

void attest_ledger_free(attest_ledger *ledger)
{
    free(ledger->rows);
    *ledger = (attest_ledger){ 0 };
}

void attest_claim_verdict_text(char *text, size_t len, uint32_t verdict, const char *condition)
{
    static const char *const names[] = { "holds", "holds if ", "false as written", "not checkable here" };
    const char *assumed = condition ? condition : "more is assumed than is written";
    snprintf(text, len, "%s%s", verdict < 4 ? names[verdict] : "?", verdict == ATTEST_CLAIM_HOLDS_IF ? assumed : "");
}

int attest_ledger_exit(const attest_ledger *ledger, FILE *talk)
{
    int code = 0;
    for (size_t i = 0; i < ledger->count; i++) {
        const attest_claim_row *row = &ledger->rows[i];
        char is[256], must[256];
        if (row->finding.verdict == row->claim->expected)
            continue;
        attest_claim_verdict_text(is, sizeof is, row->finding.verdict, row->claim->condition);
        attest_claim_verdict_text(must, sizeof must, row->claim->expected, row->claim->condition);
        fprintf(talk, "%s: '%s', expected '%s': %s\n", row->id, is, must, row->claim->statement);
        code = 1;
    }
    return code;
}

size_t attest_ledger_checked(const attest_ledger *ledger)
{
    size_t checked = 0;
    for (size_t i = 0; i < ledger->count; i++)
        checked += ledger->rows[i].finding.count > 0 && ledger->rows[i].finding.verdict != ATTEST_CLAIM_NOT_CHECKABLE;
    return checked;
}

/* ---- Markdown ---------------------------------------------------------------------------------------------------- */
/* Five digits; an enclosure whose ends read the same is one number. */
static void print_figure(FILE *out, const attest_figure *figure)
{
    char lo[32], hi[32];
    snprintf(lo, sizeof lo, "%.5g", figure->value.lo);
    snprintf(hi, sizeof hi, "%.5g", figure->value.hi);
    const int whole = figure->value.lo == figure->value.hi && fabs(figure->value.lo) < 1e15 &&
                      figure->value.lo == (double)(int64_t)figure->value.lo;
    if (whole)
        fprintf(out, "%s %lld", figure->name, (long long)figure->value.lo);
    else if (strcmp(lo, hi) == 0)
        fprintf(out, "%s %s", figure->name, lo);
    else
        fprintf(out, "%s [%s, %s]", figure->name, lo, hi);
}

/* All figures of a claim as one text, malloc'd; NULL: no memory. */
static char *figures_text(const attest_claim_finding *finding)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (size_t f = 0; out && f < finding->count; f++) {
        fputs(f ? "; " : "", out);
        print_figure(out, &finding->figures[f]);
    }
    if (out)
        fclose(out);
    return text;
}

static void markdown_row(attest_table *table, const attest_claim_row *row)
{
    char verdict[256], expected[256], *figures = figures_text(&row->finding);
    attest_claim_verdict_text(verdict, sizeof verdict, row->finding.verdict, row->claim->condition);
    attest_claim_verdict_text(expected, sizeof expected, row->claim->expected, row->claim->condition);
    attest_table_cell(table, "%s", row->id);
    attest_table_cell(table, "%s", row->claim->statement);
    attest_table_cell(table, "%s, %s", row->file, row->claim->section);
    attest_table_cell(table, "%s", row->claim->how);
    attest_table_cell(table, "%s", figures ? figures : "");
    attest_table_cell(table, "%s", verdict);
    attest_table_cell(table, "%s", expected);
    free(figures);
}

void attest_ledger_markdown(FILE *out, const attest_ledger *ledger)
{
    static const char *const names[] = { "holds", "holds if ...", "false as written", "not checkable here" };
    static const attest_column columns[] = { { .head = "claim" },       { .head = "statement" }, { .head = "source" },
                                             { .head = "how checked" }, { .head = "figures" },   { .head = "verdict" },
                                             { .head = "expected" } };
    attest_table table;
    size_t totals[4] = { 0 };
    for (size_t i = 0; i < ledger->count; i++)
        totals[ledger->rows[i].finding.verdict]++;
    fprintf(
        out,
        "# The papers' statements, checked with numbers\n\n"
        "Verdicts: `holds`: the figures bear the statement out as far as `how checked` says; `holds if ...`: only "
        "under that condition, and the figures show a case without it that fails; `false as written`: the figures "
        "contradict it; `not checkable here`: it needs training runs or machines. Words in quotes '' are the "
        "source's; `ours, to SECTION`: the source does not say it. `expected` is the committed verdict; a figure in "
        "brackets is an enclosure.\n\nTotals:");
    for (int v = 0; v < 4; v++)
        fprintf(out, " %zu %s%s", totals[v], names[v], v < 3 ? "," : "");
    fprintf(out, "; %zu in all.\n\n", ledger->count);
    attest_table_begin(&table, out, ATTEST_TABLE_MARKDOWN, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < ledger->count; i++)
        markdown_row(&table, &ledger->rows[i]);
    attest_table_close(&table);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */
/* A number; `NAME lo` and `NAME hi` where the enclosure is wider than a double. */
static void json_figure(json_t *figures, const attest_figure *figure)
{
    char name[sizeof figure->name + 4];
    if (figure->value.lo == figure->value.hi) {
        json_object_set_new(figures, figure->name, json_real(figure->value.lo));
        return;
    }
    snprintf(name, sizeof name, "%s lo", figure->name);
    json_object_set_new(figures, name, json_real(figure->value.lo));
    snprintf(name, sizeof name, "%s hi", figure->name);
    json_object_set_new(figures, name, json_real(figure->value.hi));
}

static json_t *json_row(const attest_claim_row *row)
{
    char verdict[256], expected[256], source[512];
    json_t *figures = json_object();
    for (size_t f = 0; f < row->finding.count; f++)
        json_figure(figures, &row->finding.figures[f]);
    attest_claim_verdict_text(verdict, sizeof verdict, row->finding.verdict, row->claim->condition);
    attest_claim_verdict_text(expected, sizeof expected, row->claim->expected, row->claim->condition);
    snprintf(source, sizeof source, "%s, %s", row->file, row->claim->section);
    return json_pack("{s:s,s:s,s:s,s:s,s:o,s:s,s:s}", "claim", row->id, "statement", row->claim->statement, "source",
                     source, "how", row->claim->how, "figures", figures, "verdict", verdict, "expected", expected);
}

attest_status attest_ledger_json(FILE *out, const attest_ledger *ledger, attest_error *err)
{
    json_t *array = json_array();
    int bad = !array;
    for (size_t i = 0; !bad && i < ledger->count; i++)
        bad = json_array_append_new(array, json_row(&ledger->rows[i])) != 0;
    if (bad)
        json_decref(array);
    else
        bad = attest_json_pretty(out, array) != ATTEST_OK;
    return bad ? attest_print_failed(err, "the claims as JSON") : ATTEST_OK;
}

void attest_claims_list(FILE *out)
{
    size_t number = 0;
    for (size_t s = 0; s < attest_claim_source_count; s++)
        for (size_t i = 0; i < attest_claim_sources[s]->count; i++) {
            const attest_statement *claim = &attest_claim_sources[s]->claims[i];
            char verdict[256];
            attest_claim_verdict_text(verdict, sizeof verdict, claim->expected, claim->condition);
            fprintf(out, "C%-4zu %s\n      %s; %s, %s\n", ++number, claim->statement, verdict,
                    attest_claim_sources[s]->file, claim->section);
        }
}
