/* props_defects.c - see props_defects.h. */
#include "verify/properties/props_defects.h"
#include "verify/base/base.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#include <string.h>

#include "reference/reference.h"
#include "reports/report.h"
#include "reports/table.h"

static attest_status find(attest_props_defect *found, const attest_options *options, const char *plugin, size_t k,
                          long cases, int reference, attest_error *err)
{
    char name[128];
    attest_props_result result = { .count = NULL };
    const attest_props_request request = { .library = plugin,
                                           .program = options->program,
                                           .jobs = 1,
                                           .kernel_glob = attest_defect_name(name, &attest_defects[k]),
                                           .seed = options->seed >= 0 ? (uint64_t)options->seed : 0,
                                           .cases = cases,
                                           .timeout_s = options->timeout,
                                           .reference = reference,
                                           .stop = 1 };
    const attest_status status = attest_props_run(&result, &request, err);
    if (status == ATTEST_OK && result.failure_count > 0) {
        const attest_props_failure *f = &result.failure[0];
        *found = (attest_props_defect){ reference, 1, f->property, f->c, f->number, f->found };
    }
    attest_props_result_clear(&result);
    return status;
}

attest_status attest_props_defects(attest_props_defect *result, const attest_options *options, const char *plugin,
                                   long cases, attest_error *err)
{
    attest_status status = ATTEST_OK;
    memset(result, 0, attest_defect_count * sizeof *result);
#ifdef _OPENMP
    const int threads = options->jobs > 0 ? (int)options->jobs : omp_get_num_procs();
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
#endif
    for (size_t k = 0; k < attest_defect_count; k++) {
        attest_error mine;
        attest_status of_mine = ATTEST_OK;
        for (int reference = 0; reference < 2 && of_mine == ATTEST_OK; reference++)
            if (attest_defect_selected(options, &attest_defects[k]) && !result[k].found)
                of_mine = find(&result[k], options, plugin, k, cases, reference, &mine);
#pragma omp critical(props_defects)
        if (of_mine != ATTEST_OK && status == ATTEST_OK) {
            status = of_mine;
            *err = mine;
        }
    }
    return status;
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

static const char *how(const attest_props_defect *r)
{
    return !r->found ? "needs the reference" : r->reference ? "with bounds" : "without reference";
}

void attest_props_defects_print(FILE *out, const attest_options *options, const attest_props_defect *result, long cases)
{
    static const attest_column columns[] = {
        { .head = "defect", .width = 30 },
        { .head = "base kernel", .width = 22 },
        { .head = "found", .width = 20 },
        { .head = "by property", .width = 20 },
        { .head = "case" },
    };
    attest_table table;
    size_t selected = 0, found[2] = { 0, 0 };
    attest_table_begin(&table, out, ATTEST_TABLE_CONSOLE, columns, sizeof columns / sizeof columns[0]);
    for (int pass = 0; pass < 2; pass++) /* those that need the reference first */
        for (size_t k = 0; k < attest_defect_count; k++) {
            const attest_props_defect *r = &result[k];
            char name[128], line[ATTEST_LINE] = "";
            attest_error err;
            if (!attest_defect_selected(options, &attest_defects[k]) || r->found != pass)
                continue;
            selected++;
            found[r->reference] += (size_t)r->found;
            if (r->found)
                (void)attest_case_print(line, sizeof line, &r->c, &err);
            attest_table_cell(&table, "%s", attest_defect_name(name, &attest_defects[k]));
            attest_table_cell(&table, "%s", attest_defects[k].base);
            attest_table_cell(&table, "%s", how(r));
            attest_table_cell(&table, "%s", !r->found ? "-" : r->property ? r->property->name : "the run itself");
            attest_table_cell(&table, "%s", line);
        }
    attest_table_close(&table);
    const size_t needy = selected - found[0] - found[1];
    fprintf(out,
            "\n%zu %s, at most %ld %s each: %zu found without a reference, %zu more with its bounds as "
            "tolerances, %zu %s its values\n",
            selected, attest_plural((int64_t)selected, "defect", "defects"), cases,
            attest_plural(cases, "case", "cases"), found[0], found[1], needy,
            attest_plural((int64_t)needy, "needs", "need"));
}

void attest_props_defects_json(FILE *out, const attest_options *options, const attest_props_defect *result)
{
    for (size_t k = 0; k < attest_defect_count; k++) {
        const attest_props_defect *r = &result[k];
        char name[128], line[ATTEST_LINE] = "";
        attest_error err;
        if (!attest_defect_selected(options, &attest_defects[k]))
            continue;
        if (r->found)
            (void)attest_case_print(line, sizeof line, &r->c, &err);
        attest_json_line(out, json_pack("{s:s,s:s,s:s,s:s,s:o}", "defect", attest_defect_name(name, &attest_defects[k]),
                                        "base", attest_defects[k].base, "found", how(r), "property",
                                        !r->found     ? ""
                                        : r->property ? r->property->name
                                                      : "run",
                                        "line", attest_json_text(line)));
    }
}
