/* foreign_print.c - see foreign.h: the escape table as text, Markdown and JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/base/base.h"
#include "verify/peer_gates/peer_gates.h"

static const char *const outcome_names[ATTEST_FOREIGN_OUTCOMES] = {
    [ATTEST_FOREIGN_CAUGHT] = "caught",   [ATTEST_FOREIGN_PASSED] = "passed",
    [ATTEST_FOREIGN_UNSEEN] = "unseen",   [ATTEST_FOREIGN_STOPPED] = "stopped",
    [ATTEST_FOREIGN_UNCOVERED] = "not covered",
};

static void count_outcomes(int64_t counts[ATTEST_FOREIGN_OUTCOMES], const attest_options *options,
                           const attest_defect_result *result)
{
    memset(counts, 0, ATTEST_FOREIGN_OUTCOMES * sizeof *counts);
    for (size_t k = 0; k < attest_defect_count; k++)
        if (attest_defect_selected(options, &attest_defects[k]))
            counts[attest_foreign_outcome_of(&result[k])]++;
}

/* `caught/run`, in parentheses where no run had other bits. */
static void cell(char *text, size_t len, const attest_defect_result *r)
{
    const attest_foreign_outcome outcome = attest_foreign_outcome_of(r);
    if (outcome == ATTEST_FOREIGN_UNCOVERED || outcome == ATTEST_FOREIGN_STOPPED)
        snprintf(text, len, "%s", outcome == ATTEST_FOREIGN_STOPPED ? "stopped" : "-");
    else
        snprintf(text, len, outcome == ATTEST_FOREIGN_UNSEEN ? "(%lld/%lld)" : "%lld/%lld", (long long)r->killed,
                 (long long)r->run);
}

/* How many gates let a defect through. */
static size_t passes(const attest_foreign_table *t, size_t k)
{
    size_t count = 0;
    for (size_t g = 0; g < t->count; g++) {
        const attest_foreign_outcome outcome = attest_foreign_outcome_of(&t->gates[g].defects[k]);
        count += outcome == ATTEST_FOREIGN_PASSED || outcome == ATTEST_FOREIGN_UNSEEN;
    }
    return count;
}

/* Calls `row` for every selected defect: those first that most gates let through. */
static void each(FILE *out, const attest_foreign_table *t, void (*row)(FILE *, const attest_foreign_table *, size_t))
{
    for (size_t most = t->count + 1; most-- > 0;)
        for (size_t k = 0; k < attest_defect_count; k++)
            if (attest_defect_selected(t->options, &attest_defects[k]) && passes(t, k) == most)
                row(out, t, k);
}

static const char *title(char text[64], const attest_foreign_gate *gate)
{
    size_t used = (size_t)snprintf(text, 64, "%s", gate->rule->name);
    for (int i = 0; i < gate->rule->number_count && !isnan(gate->number[i]); i++)
        used += (size_t)snprintf(text + used, 64 - used, "%c%g", i ? ',' : '=', gate->number[i]);
    return text;
}

static void print_row(FILE *out, const attest_foreign_table *t, size_t k)
{
    char name[128], text[64], head[64];
    fprintf(out, "%-26s %-21s", attest_defect_name(name, &attest_defects[k]), attest_defects[k].base);
    for (size_t g = 0; g < t->count; g++) {
        cell(text, sizeof text, &t->gates[g].defects[k]);
        fprintf(out, " %*s", (int)strlen(title(head, &t->gates[g])) > 9 ? (int)strlen(head) : 9, text);
    }
    if (t->own) {
        cell(text, sizeof text, &t->own[k]);
        fprintf(out, " %9s", text);
    }
    fprintf(out, "\n");
}

/* What several gates let through together: nobody refuses it, and somewhere its bits differ. */
static void print_together(FILE *out, const attest_foreign_table *t)
{
    int64_t differ = 0, caught = 0;
    for (size_t k = 0; k < attest_defect_count; k++) {
        int refused = 0, live = 0;
        for (size_t g = 0; g < t->count; g++) {
            refused |= t->gates[g].defects[k].killed > 0;
            live |= t->gates[g].defects[k].live > 0;
        }
        differ += live;
        caught += refused;
    }
    fprintf(out, "together: %lld %s kernel in some run, %lld of them %s every gate\n", (long long)differ,
            attest_plural(differ, "defect has other bits than its", "defects have other bits than their"),
            (long long)(differ - caught), attest_plural(differ - caught, "passes", "pass"));
}

static void print_sums(FILE *out, const attest_foreign_table *t)
{
    int64_t counts[ATTEST_FOREIGN_OUTCOMES];
    char text[64];
    fprintf(out, "\n%-18s %7s %7s %7s %7s %12s  %s\n", "gate", "caught", "passed", "unseen", "stopped", "not covered",
            "correct kernels refused");
    for (size_t g = 0; g < t->count + (t->own != NULL); g++) {
        count_outcomes(counts, t->options, g < t->count ? t->gates[g].defects : t->own);
        fprintf(out, "%-18s %7lld %7lld %7lld %7lld %12lld  ", g < t->count ? title(text, &t->gates[g]) : "attest",
                (long long)counts[0], (long long)counts[1], (long long)counts[2], (long long)counts[3],
                (long long)counts[4]);
        if (g < t->count)
            fprintf(out, "%lld of %lld runs\n", (long long)t->gates[g].refused, (long long)t->gates[g].correct);
        else
            fprintf(out, "(suite %s)\n", t->suite);
    }
    if (t->count > 1)
        print_together(out, t);
}

static void print_legend(FILE *out, const attest_foreign_table *t, const char *bullet)
{
    fprintf(out, "%scells: runs caught / runs; (0/n): no run has other bits than the correct kernel, the inputs do not "
                 "reach the wrong step; stopped: no output to judge, attest's guard pages or --timeout ended every "
                 "run; -: no case that the base kernel serves and passes\n", bullet);
    for (size_t g = 0; g < t->count; g++) {
        const attest_foreign_rule *r = t->gates[g].rule;
        char text[64];
        fprintf(out, "%s%s: %s; inputs: the %lld %s of suite %s, after %s\n", bullet, title(text, &t->gates[g]),
                r->metric, (long long)t->gates[g].cases, attest_plural(t->gates[g].cases, "case", "cases"), r->suite,
                r->source);
    }
    fprintf(out, "%sref is the truth rounded to the output's type: better than what those projects compare with\n",
            bullet);
}

void attest_foreign_print(FILE *out, const attest_foreign_table *t)
{
    char text[64];
    fprintf(out, "%-26s %-21s", "defect", "base kernel");
    for (size_t g = 0; g < t->count; g++)
        fprintf(out, " %9s", title(text, &t->gates[g]));
    fprintf(out, t->own ? " %9s\n" : "\n", "attest");
    each(out, t, print_row);
    print_sums(out, t);
    fprintf(out, "\n");
    print_legend(out, t, "");
}

static void markdown_row(FILE *out, const attest_foreign_table *t, size_t k)
{
    char name[128], text[64];
    const attest_defect *d = &attest_defects[k];
    fprintf(out, "| %s | %s | %s | %s |", attest_defect_name(name, d), d->base, d->what, d->bugs);
    for (size_t g = 0; g < t->count + (t->own != NULL); g++) {
        const attest_defect_result *r = g < t->count ? &t->gates[g].defects[k] : &t->own[k];
        const attest_foreign_outcome outcome = attest_foreign_outcome_of(r);
        const char *bold = outcome == ATTEST_FOREIGN_PASSED || outcome == ATTEST_FOREIGN_UNSEEN ? "**" : "";
        cell(text, sizeof text, r);
        fprintf(out, " %s%s%s |", bold, text, bold);
    }
    fprintf(out, "\n");
}

void attest_foreign_markdown(FILE *out, const attest_foreign_table *t)
{
    char text[64];
    fprintf(out, "# What the gates of other suites let through\n\n```");
    print_sums(out, t);
    fprintf(out, "```\n\n");
    print_legend(out, t, "- ");
    fprintf(out, "\n| defect | base kernel | what is wrong | models |");
    for (size_t g = 0; g < t->count; g++)
        fprintf(out, " %s |", title(text, &t->gates[g]));
    if (t->own)
        fprintf(out, " attest, suite %s |", t->suite);
    fprintf(out, "\n|---|---|---|---|");
    for (size_t g = 0; g < t->count + (t->own != NULL); g++)
        fprintf(out, "---|");
    fprintf(out, "\n");
    each(out, t, markdown_row);
}

static void json_result(FILE *out, const char *name, const attest_defect_result *r)
{
    fprintf(out, "\"%s\":{\"outcome\":\"%s\",\"caught\":%lld,\"runs\":%lld,\"live\":%lld,\"stopped\":%lld}", name,
            outcome_names[attest_foreign_outcome_of(r)], (long long)r->killed, (long long)r->run, (long long)r->live,
            (long long)r->stopped);
}

/* Texts of the tables hold no quotes or control characters (tests/verify/defects/test_defects.c, tests/verify/peer_gates/test_peer_gates.c). */
static void json_row(FILE *out, const attest_foreign_table *t, size_t k)
{
    char name[128];
    const attest_defect *d = &attest_defects[k];
    fprintf(out, "{\"defect\":\"%s\",\"base\":\"%s\",\"bugs\":\"%s\",\"what\":\"%s\",\"gates\":{",
            attest_defect_name(name, d), d->base, d->bugs, d->what);
    for (size_t g = 0; g < t->count; g++) {
        fprintf(out, "%s", g ? "," : "");
        json_result(out, t->gates[g].rule->name, &t->gates[g].defects[k]);
    }
    fprintf(out, "}");
    if (t->own) {
        fprintf(out, ",");
        json_result(out, "attest", &t->own[k]);
    }
    fprintf(out, "}\n");
}

void attest_foreign_json(FILE *out, const attest_foreign_table *t)
{
    int64_t counts[ATTEST_FOREIGN_OUTCOMES];
    char text[64];
    for (size_t g = 0; g < t->count; g++) {
        const attest_foreign_gate *gate = &t->gates[g];
        count_outcomes(counts, t->options, gate->defects);
        fprintf(out, "{\"gate\":\"%s\",\"rule\":\"%s\",\"suite\":\"%s\",\"source\":\"%s\",\"cases\":%lld",
                title(text, gate), gate->rule->metric, gate->rule->suite, gate->rule->source, (long long)gate->cases);
        for (int i = 0; i < ATTEST_FOREIGN_OUTCOMES; i++)
            fprintf(out, ",\"%s\":%lld", outcome_names[i], (long long)counts[i]);
        fprintf(out, ",\"correct runs\":%lld,\"correct refused\":%lld}\n", (long long)gate->correct,
                (long long)gate->refused);
    }
    each(out, t, json_row);
}
