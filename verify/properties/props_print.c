/* props_print.c - see props_print.h. */
#include "verify/properties/props_print.h"
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
    fprintf(out, "%-22s %7s %9s %7s %10s  %s\n", "property", "asked", "compared", "broken", "largest", "own violation");
    for (size_t k = 0; k < result->property_count; k++) {
        const attest_props_count *c = &result->count[k];
        char ratio[16] = "0";
        if (c->ratio > 0)
            snprintf(ratio, sizeof ratio, "%.4g", c->ratio < 1 && c->ratio > 0.9999 ? 0.9999 : c->ratio);
        if (c->selected)
            fprintf(out, "%-22s %7" PRId64 " %9" PRId64 " %7" PRId64 " %10s  %s\n", result->property[k]->name,
                    c->asked, c->compared, c->broken, c->compared > c->broken ? ratio : "-",
                    planted_names[c->planted]);
    }
}

static void print_labels(FILE *out, const attest_props_result *result)
{
    fprintf(out, "\n%-28s %7s %10s  %s\n", "cases with", "count", "floor", "meaning");
    for (size_t k = 0; k < attest_label_count; k++) {
        const int64_t floor = result->floor[k];
        char text[32] = "-";
        if (floor > 0)
            snprintf(text, sizeof text, "%" PRId64 "%s", floor, result->label[k] < floor ? " MISSED" : "");
        if (floor == 0 && result->label[k] == 0)
            continue;
        fprintf(out, "%-28s %7" PRId64 " %10s  %s\n", attest_labels[k].name, result->label[k], text,
                attest_labels[k].meaning);
    }
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
        fprintf(out, "mistrusted: %d vacuous, %d silent %s, %d %s missed, %" PRId64 " %s starved\n", d.vacuous,
                d.silent, attest_plural(d.silent, "property", "properties"), d.floors,
                attest_plural(d.floors, "floor", "floors"), d.starved, attest_plural(d.starved, "case", "cases"));
}

void attest_props_json(FILE *out, const attest_props_result *result, int whole)
{
    const attest_props_doubts d = attest_props_doubt(result, whole);
    for (size_t k = 0; k < result->property_count; k++) {
        const attest_props_count *c = &result->count[k];
        if (c->selected)
            fprintf(out,
                    "{\"property\":\"%s\",\"asked\":%" PRId64 ",\"compared\":%" PRId64 ",\"broken\":%" PRId64
                    ",\"largest\":%.9g,\"planted\":\"%s\"}\n",
                    result->property[k]->name, c->asked, c->compared, c->broken, c->ratio,
                    planted_names[c->planted]);
    }
    for (size_t k = 0; k < attest_label_count; k++)
        fprintf(out, "{\"label\":\"%s\",\"cases\":%" PRId64 ",\"floor\":%" PRId64 "}\n", attest_labels[k].name,
                result->label[k], result->floor[k]);
    fprintf(out,
            "{\"cases\":%" PRId64 ",\"kernels\":%" PRId64 ",\"refused\":%" PRId64 ",\"starved\":%" PRId64
            ",\"runs\":%" PRId64 ",\"elements\":%" PRId64 ",\"failures\":%zu,\"vacuous\":%d,\"silent\":%d,"
            "\"floors_missed\":%d}\n",
            result->cases, result->kernels, result->refused, result->starved, result->runs, result->elements,
            result->failure_count, d.vacuous, d.silent, d.floors);
}

void attest_props_list(FILE *out)
{
    for (size_t k = 0; k < attest_property_count; k++) {
        const attest_property *p = attest_properties[k];
        fprintf(out, "%-22s %s\n%-22s   of: %s\n%-22s   tolerance: %s%s\n", p->name, p->statement, "", p->variants, "",
                p->lemma, p->needs == ATTEST_NEEDS_NOTHING ? "" : " (needs the reference)");
    }
}
