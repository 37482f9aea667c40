/* peer_print.c - see peer_gates.h: the escape table as text, Markdown and JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report.h"
#include "reports/table.h"
#include "verify/base/base.h"
#include "verify/peer_gates/peer_gates.h"

static const char *const outcome_names[ATTEST_PEER_OUTCOMES] = {
    [ATTEST_PEER_CAUGHT] = "caught",   [ATTEST_PEER_PASSED] = "passed",         [ATTEST_PEER_UNSEEN] = "unseen",
    [ATTEST_PEER_STOPPED] = "stopped", [ATTEST_PEER_UNCOVERED] = "not covered",
};

static void count_outcomes(int64_t counts[ATTEST_PEER_OUTCOMES], const attest_options *options,
                           const attest_defect_result *result)
{
    memset(counts, 0, ATTEST_PEER_OUTCOMES * sizeof *counts);
    for (size_t k = 0; k < attest_defect_count; k++)
        if (attest_defect_selected(options, &attest_defects[k]))
            counts[attest_peer_outcome_of(&result[k])]++;
}

/* `caught/run`, in parentheses where no run had other bits. */
static void cell(char *text, size_t len, const attest_defect_result *r)
{
    const attest_peer_outcome outcome = attest_peer_outcome_of(r);
    if (outcome == ATTEST_PEER_UNCOVERED || outcome == ATTEST_PEER_STOPPED)
        snprintf(text, len, "%s", outcome == ATTEST_PEER_STOPPED ? "stopped" : "-");
    else
        snprintf(text, len, outcome == ATTEST_PEER_UNSEEN ? "(%lld/%lld)" : "%lld/%lld", (long long)r->killed,
                 (long long)r->run);
}

/* How many gates let a defect through. */
static size_t passes(const attest_peer_table *t, size_t k)
{
    size_t count = 0;
    for (size_t g = 0; g < t->count; g++) {
        const attest_peer_outcome outcome = attest_peer_outcome_of(&t->gates[g].defects[k]);
        count += outcome == ATTEST_PEER_PASSED || outcome == ATTEST_PEER_UNSEEN;
    }
    return count;
}

/* Calls `row` for every selected defect: those first that most gates let through. */
static void each(void *to, const attest_peer_table *t, void (*row)(void *, const attest_peer_table *, size_t))
{
    for (size_t most = t->count + 1; most-- > 0;)
        for (size_t k = 0; k < attest_defect_count; k++)
            if (attest_defect_selected(t->options, &attest_defects[k]) && passes(t, k) == most)
                row(to, t, k);
}

static const char *title(char text[64], const attest_peer_gate *gate)
{
    size_t used = (size_t)snprintf(text, 64, "%s", gate->rule->name);
    for (int i = 0; i < gate->rule->number_count && !isnan(gate->number[i]); i++)
        used += (size_t)snprintf(text + used, 64 - used, "%c%g", i ? ',' : '=', gate->number[i]);
    return text;
}

static void print_row(void *to, const attest_peer_table *t, size_t k)
{
    attest_table *table = to;
    char name[128], text[64];
    attest_table_cell(table, "%s", attest_defect_name(name, &attest_defects[k]));
    attest_table_cell(table, "%s", attest_defects[k].base);
    for (size_t g = 0; g < t->count + (t->own != NULL); g++) {
        cell(text, sizeof text, g < t->count ? &t->gates[g].defects[k] : &t->own[k]);
        attest_table_cell(table, "%s", text);
    }
}

/* What several gates let through together: nobody refuses it, and somewhere its bits differ. */
static void print_together(FILE *out, const attest_peer_table *t)
{
    int64_t differ = 0, caught = 0;
    for (size_t k = 0; k < attest_defect_count; k++) {
        int refused = 0, differs = 0;
        for (size_t g = 0; g < t->count; g++) {
            refused |= t->gates[g].defects[k].killed > 0;
            differs |= t->gates[g].defects[k].differs > 0;
        }
        differ += differs;
        caught += refused;
    }
    fprintf(out, "together: %lld %s kernel in some run, %lld of them %s every gate\n", (long long)differ,
            attest_plural(differ, "defect has other bits than its", "defects have other bits than their"),
            (long long)(differ - caught), attest_plural(differ - caught, "passes", "pass"));
}

static void print_sums(FILE *out, const attest_peer_table *t)
{
    static const attest_column columns[] = {
        { .head = "gate", .width = 18 },
        { .head = "caught", .flags = ATTEST_COLUMN_RIGHT, .width = 7 },
        { .head = "passed", .flags = ATTEST_COLUMN_RIGHT, .width = 7 },
        { .head = "unseen", .flags = ATTEST_COLUMN_RIGHT, .width = 7 },
        { .head = "stopped", .flags = ATTEST_COLUMN_RIGHT, .width = 7 },
        { .head = "not covered", .flags = ATTEST_COLUMN_RIGHT, .width = 12 },
        { .head = "correct kernels refused", .gap = 1 },
    };
    int64_t counts[ATTEST_PEER_OUTCOMES];
    attest_table table;
    char text[64];
    fputc('\n', out);
    attest_table_begin(&table, out, ATTEST_TABLE_CONSOLE, columns, sizeof columns / sizeof columns[0]);
    for (size_t g = 0; g < t->count + (t->own != NULL); g++) {
        count_outcomes(counts, t->options, g < t->count ? t->gates[g].defects : t->own);
        attest_table_cell(&table, "%s", g < t->count ? title(text, &t->gates[g]) : "attest");
        for (int k = 0; k < ATTEST_PEER_OUTCOMES; k++)
            attest_table_count(&table, counts[k]);
        if (g < t->count)
            attest_table_cell(&table, "%lld of %lld runs", (long long)t->gates[g].refused,
                              (long long)t->gates[g].correct);
        else
            attest_table_cell(&table, "(suite %s)", t->suite);
    }
    attest_table_close(&table);
    if (t->count > 1)
        print_together(out, t);
}

static void print_legend(FILE *out, const attest_peer_table *t, const char *bullet)
{
    fprintf(out,
            "%scells: runs caught / runs; (0/n): no run has other bits than the correct kernel, the inputs do not "
            "reach the wrong step; stopped: no output to judge, attest's guard pages or --timeout ended every "
            "run; -: no case that the base kernel serves and passes\n",
            bullet);
    for (size_t g = 0; g < t->count; g++) {
        const attest_peer_rule *r = t->gates[g].rule;
        char text[64];
        fprintf(out, "%s%s: %s; inputs: the %lld %s of suite %s, after %s\n", bullet, title(text, &t->gates[g]),
                r->metric, (long long)t->gates[g].cases, attest_plural(t->gates[g].cases, "case", "cases"), r->suite,
                r->source);
    }
    fprintf(out, "%sref is the truth rounded to the output's type: better than what those projects compare with\n",
            bullet);
}

/* The columns before the gates', then one a gate, then attest's own. */
static size_t gate_columns(attest_column *column, char (*heads)[64], const attest_peer_table *t,
                           const attest_column *first, size_t count)
{
    memcpy(column, first, count * sizeof *column);
    for (size_t g = 0; g < t->count; g++) {
        const int wide = (int)strlen(title(heads[g], &t->gates[g]));
        column[count++] = (attest_column){ .head = heads[g],
                                           .flags = ATTEST_COLUMN_RIGHT,
                                           .width = wide > 9 ? wide : 9 };
    }
    if (t->own)
        column[count++] = (attest_column){ .head = "attest", .flags = ATTEST_COLUMN_RIGHT, .width = 9 };
    return count;
}

void attest_peer_print(FILE *out, const attest_peer_table *t)
{
    static const attest_column first[] = { { .head = "defect", .width = 26 }, { .head = "base kernel", .width = 21 } };
    attest_column columns[ATTEST_PEER_COUNT + 3];
    char heads[ATTEST_PEER_COUNT][64];
    attest_table table;
    attest_table_begin(&table, out, ATTEST_TABLE_CONSOLE, columns, gate_columns(columns, heads, t, first, 2));
    each(&table, t, print_row);
    attest_table_close(&table);
    print_sums(out, t);
    fprintf(out, "\n");
    print_legend(out, t, "");
}

static void markdown_row(void *to, const attest_peer_table *t, size_t k)
{
    attest_table *table = to;
    const attest_defect *d = &attest_defects[k];
    char name[128], text[64];
    attest_table_cell(table, "%s", attest_defect_name(name, d));
    attest_table_cell(table, "%s", d->base);
    attest_table_cell(table, "%s", d->what);
    attest_table_cell(table, "%s", d->bugs);
    for (size_t g = 0; g < t->count + (t->own != NULL); g++) {
        const attest_defect_result *r = g < t->count ? &t->gates[g].defects[k] : &t->own[k];
        const attest_peer_outcome outcome = attest_peer_outcome_of(r);
        const char *bold = outcome == ATTEST_PEER_PASSED || outcome == ATTEST_PEER_UNSEEN ? "**" : "";
        cell(text, sizeof text, r);
        attest_table_cell(table, "%s%s%s", bold, text, bold);
    }
}

void attest_peer_markdown(FILE *out, const attest_peer_table *t)
{
    static const attest_column first[] = {
        { .head = "defect" }, { .head = "base kernel" }, { .head = "what is wrong" }, { .head = "models" }
    };
    attest_column columns[ATTEST_PEER_COUNT + 5];
    char heads[ATTEST_PEER_COUNT][64], own[80];
    attest_table table;
    fprintf(out, "# What the gates of other suites let through\n\n```");
    print_sums(out, t);
    fprintf(out, "```\n\n");
    print_legend(out, t, "- ");
    const size_t count = gate_columns(columns, heads, t, first, 4);
    snprintf(own, sizeof own, "attest, suite %s", t->suite);
    if (t->own)
        columns[count - 1].head = own;
    fputc('\n', out);
    attest_table_begin(&table, out, ATTEST_TABLE_MARKDOWN, columns, count);
    each(&table, t, markdown_row);
    attest_table_close(&table);
}

static json_t *result_to_json(const attest_defect_result *r)
{
    return json_pack("{s:s,s:I,s:I,s:I,s:I}", "outcome", outcome_names[attest_peer_outcome_of(r)], "caught",
                     (json_int_t)r->killed, "runs", (json_int_t)r->run, "differs", (json_int_t)r->differs, "stopped",
                     (json_int_t)r->stopped);
}

static void json_row(void *to, const attest_peer_table *t, size_t k)
{
    char name[128];
    const attest_defect *d = &attest_defects[k];
    json_t *gates = json_object();
    for (size_t g = 0; g < t->count; g++)
        json_object_set_new(gates, t->gates[g].rule->name, result_to_json(&t->gates[g].defects[k]));
    json_t *object = json_pack("{s:s,s:s,s:s,s:s,s:o}", "defect", attest_defect_name(name, d), "base", d->base, "bugs",
                               d->bugs, "what", d->what, "gates", gates);
    if (t->own)
        json_object_set_new(object, "attest", result_to_json(&t->own[k]));
    attest_json_line(to, object);
}

void attest_peer_json(FILE *out, const attest_peer_table *t)
{
    int64_t counts[ATTEST_PEER_OUTCOMES];
    char text[64];
    for (size_t g = 0; g < t->count; g++) {
        const attest_peer_gate *gate = &t->gates[g];
        count_outcomes(counts, t->options, gate->defects);
        json_t *object = json_pack("{s:s,s:s,s:s,s:s,s:I}", "gate", title(text, gate), "rule", gate->rule->metric,
                                   "suite", gate->rule->suite, "source", gate->rule->source, "cases",
                                   (json_int_t)gate->cases);
        for (int i = 0; i < ATTEST_PEER_OUTCOMES; i++)
            json_object_set_new(object, outcome_names[i], json_integer(counts[i]));
        json_object_set_new(object, "correct runs", json_integer(gate->correct));
        json_object_set_new(object, "correct refused", json_integer(gate->refused));
        attest_json_line(out, object);
    }
    each(out, t, json_row);
}
