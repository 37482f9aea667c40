/* props_print.c - see props_print.h. */
#include "verify/properties/props_print.h"
#include "reports/report.h"
#include "reports/table.h"
#include "verify/base/base.h"

#include <inttypes.h>

static const char *const planted_names[] = { "not tried", "seen", "MISSED" };

attest_props_doubts attest_props_doubt(const attest_props_result *result, int whole)
{
    attest_props_doubts d = { .starved = result->starved };
    for (size_t k = 0; k < result->property_count; k++) {
        const attest_props_count *c = &result->count[k];
        d.vacuous += c->selected && c->planted == ATTEST_PLANTED_MISSED;
        d.silent += whole && c->selected && c->compared == 0;
    }
    for (size_t k = 0; k < attest_label_count; k++)
        d.floors += result->label[k] < result->floor[k];
    return d;
}

static void print_properties(FILE *out, const attest_props_result *result)
{
    static const attest_column columns[] = {
        { .head = "property", .width = 22 },
        { .head = "asked", .flags = ATTEST_COLUMN_RIGHT, .width = 7 },
        { .head = "compared", .flags = ATTEST_COLUMN_RIGHT, .width = 9 },
        { .head = "broken", .flags = ATTEST_COLUMN_RIGHT, .width = 7 },
        { .head = "largest", .flags = ATTEST_COLUMN_RIGHT, .width = 10 },
        { .head = "own violation", .gap = 1 },
    };
    attest_table table;
    attest_table_begin(&table, out, ATTEST_TABLE_CONSOLE, columns, sizeof columns / sizeof columns[0]);
    for (size_t k = 0; k < result->property_count; k++) {
        const attest_props_count *c = &result->count[k];
        if (!c->selected)
            continue;
        attest_table_cell(&table, "%s", result->property[k]->name);
        attest_table_count(&table, c->asked);
        attest_table_count(&table, c->compared);
        attest_table_count(&table, c->broken);
        attest_table_ratio(&table, c->compared > c->broken ? c->ratio : __builtin_nan(""));
        attest_table_cell(&table, "%s", planted_names[c->planted]);
    }
    attest_table_close(&table);
}

static void print_labels(FILE *out, const attest_props_result *result)
{
    static const attest_column columns[] = {
        { .head = "cases with", .width = 28 },
        { .head = "count", .flags = ATTEST_COLUMN_RIGHT, .width = 7 },
        { .head = "floor", .flags = ATTEST_COLUMN_RIGHT, .width = 10 },
        { .head = "meaning", .gap = 1 },
    };
    attest_table table;
    fputc('\n', out);
    attest_table_begin(&table, out, ATTEST_TABLE_CONSOLE, columns, sizeof columns / sizeof columns[0]);
    for (size_t k = 0; k < attest_label_count; k++) {
        const int64_t floor = result->floor[k];
        if (floor == 0 && result->label[k] == 0)
            continue;
        attest_table_cell(&table, "%s", attest_labels[k].name);
        attest_table_count(&table, result->label[k]);
        if (floor > 0)
            attest_table_cell(&table, "%" PRId64 "%s", floor, result->label[k] < floor ? " MISSED" : "");
        else
            attest_table_cell(&table, "-");
        attest_table_cell(&table, "%s", attest_labels[k].meaning);
    }
    attest_table_close(&table);
}

void attest_props_print(FILE *out, const attest_props_result *result, int whole)
{
    const attest_props_doubts d = attest_props_doubt(result, whole);
    int64_t asked = 0, broken = 0;
    print_properties(out, result);
    print_labels(out, result);
    for (size_t k = 0; k < result->property_count; k++) {
        asked += result->count[k].compared;
        broken += result->count[k].broken;
    }
    fprintf(out,
            "\n%" PRId64 " %s (%" PRId64 " at edges, %" PRId64 " drawn, %" PRId64 " drawn again) on %" PRId64
            " %s, %" PRId64 " refused, %" PRId64 " without a problem; %" PRId64 " %s compared in %" PRId64
            " %s, %" PRId64 " %s; %" PRId64 " broken, %zu %s\n",
            result->cases, attest_plural(result->cases, "case", "cases"), result->edges,
            result->cases - result->edges - result->redraws, result->redraws, result->kernels,
            attest_plural(result->kernels, "kernel", "kernels"), result->refused, result->starved, asked,
            attest_plural(asked, "property", "properties"), result->runs, attest_plural(result->runs, "run", "runs"),
            result->elements, attest_plural(result->elements, "element", "elements"), broken, result->failure_count,
            attest_plural((int64_t)result->failure_count, "failure", "failures"));
    if (d.vacuous || d.floors || d.silent || d.starved)
        fprintf(out, "no evidence: %d vacuous, %d silent %s, %d %s missed, %" PRId64 " %s starved\n", d.vacuous,
                d.silent, attest_plural(d.silent, "property", "properties"), d.floors,
                attest_plural(d.floors, "floor", "floors"), d.starved, attest_plural(d.starved, "case", "cases"));
}

void attest_props_json(FILE *out, const attest_props_result *result, int whole)
{
    const attest_props_doubts d = attest_props_doubt(result, whole);
    for (size_t k = 0; k < result->property_count; k++) {
        const attest_props_count *c = &result->count[k];
        if (c->selected)
            attest_json_line(out, json_pack("{s:s,s:I,s:I,s:I,s:o,s:s}", "property", result->property[k]->name, "asked",
                                            (json_int_t)c->asked, "compared", (json_int_t)c->compared, "broken",
                                            (json_int_t)c->broken, "largest", attest_json_number(c->ratio), "planted",
                                            planted_names[c->planted]));
    }
    for (size_t k = 0; k < attest_label_count; k++)
        attest_json_line(out, json_pack("{s:s,s:I,s:I}", "label", attest_labels[k].name, "cases",
                                        (json_int_t)result->label[k], "floor", (json_int_t)result->floor[k]));
    attest_json_line(out,
                     json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:i,s:i,s:i}", "cases", (json_int_t)result->cases,
                               "kernels", (json_int_t)result->kernels, "refused", (json_int_t)result->refused,
                               "starved", (json_int_t)result->starved, "runs", (json_int_t)result->runs, "elements",
                               (json_int_t)result->elements, "failures", (json_int_t)result->failure_count, "vacuous",
                               d.vacuous, "silent", d.silent, "floors_missed", d.floors));
}

void attest_props_list(FILE *out)
{
    for (size_t k = 0; k < attest_property_count; k++) {
        const attest_property *p = attest_properties[k];
        fprintf(out, "%-22s %s\n%-22s   of: %s\n%-22s   tolerance: %s%s\n", p->name, p->statement, "", p->variants, "",
                p->lemma, p->needs == ATTEST_NEEDS_NOTHING ? "" : " (needs the reference)");
    }
}
