/* cells.c - which built-in kernels serve which (preset, form, dtype), asked of their own supports(). */
#include "verify/cells/cells.h"

#include <stdio.h>
#include <string.h>

static const uint32_t dtypes[ATTEST_CELL_DTYPES] = { ATTEST_F32, ATTEST_BF16 };
#define OF_DTYPE(name)                                                                                                 \
    {                                                                                                                  \
        .head = name, .flags = ATTEST_COLUMN_RIGHT, .width = 4, .gap = 1                                               \
    }
#define F32_AND_BF16 OF_DTYPE("f32"), OF_DTYPE("bf16") /* the columns of one form */

/* The preset with 2 for P and 4 for TAU, as a problem would have it. */
attest_status attest_preset_sample(attest_case *c, const attest_preset *preset, attest_error *err)
{
    static const char *const argument[] = { "", ":2", ":4" };
    char line[128];
    snprintf(line, sizeof line, "variant=%s%s", preset->name, argument[preset->argument < 3 ? preset->argument : 0]);
    return attest_case_parse(c, line, NULL, NULL, err);
}

/* 1 or 0; asked once more where no answer came: a kernel that could not be asked serves neither. */
static attest_status ask(int *serves, attest_worker *worker, size_t k, const attest_problem *p, attest_error *err)
{
    char why[256];
    *serves = -1;
    for (int attempt = 0; attempt < 2 && *serves < 0; attempt++)
        *serves = attest_worker_supports(worker, k, p, why, sizeof why);
    return *serves < 0 ? attest_fail(err, ATTEST_KERNEL_ERROR, "%s: %s", attest_worker_kernel(worker, k)->name, why)
                       : ATTEST_OK;
}

attest_status attest_preset_cells_ask(attest_preset_cells *cells, attest_worker *worker, const attest_preset *preset,
                                      attest_error *err)
{
    attest_status status;
    attest_case c;
    *cells = (attest_preset_cells){ .kernels = "" };
    ATTEST_TRY(attest_preset_sample(&c, preset, err));
    for (uint32_t form = ATTEST_PARALLEL; form < ATTEST_CELL_FORMS; form++)
        cells->legal[form] = attest_variant_form_legal(c.problem.axis, form, cells->why[form], sizeof cells->why[form]);
    for (size_t k = 0; k < attest_worker_kernel_count(worker); k++) {
        const attest_kernel_facts *facts = attest_worker_kernel(worker, k);
        int any = 0, serves;
        for (int t = 0; t < ATTEST_CELL_DTYPES && facts->form < ATTEST_CELL_FORMS; t++) {
            c.problem.in = c.problem.out = dtypes[t];
            ATTEST_TRY(ask(&serves, worker, k, &c.problem, err));
            cells->count[facts->form][t] += serves;
            any |= serves;
        }
        const size_t used = strlen(cells->kernels);
        if (any)
            snprintf(cells->kernels + used, sizeof cells->kernels - used, "%s%s", used ? " " : "", facts->name);
    }
out:
    return status;
}

int attest_preset_cells_holes(const attest_preset_cells *cells)
{
    int holes = 0;
    for (uint32_t form = ATTEST_PARALLEL; form < ATTEST_CELL_FORMS; form++)
        for (int t = 0; t < ATTEST_CELL_DTYPES; t++)
            holes += cells->legal[form] && cells->count[form][t] == 0;
    return holes;
}

void attest_preset_cells_row(attest_table *table, const char *title, const attest_preset_cells *cells)
{
    attest_table_cell(table, "%s", title);
    for (uint32_t form = ATTEST_PARALLEL; form < ATTEST_CELL_FORMS; form++)
        for (int t = 0; t < ATTEST_CELL_DTYPES; t++) {
            if (!cells->legal[form])
                attest_table_cell(table, "-");
            else if (cells->count[form][t] == 0)
                attest_table_cell(table, "HOLE");
            else
                attest_table_count(table, cells->count[form][t]);
        }
}

/* The line above the heads says which form the columns below are of. */
void attest_preset_cells_begin(attest_table *table)
{
    static const attest_column columns[1 + (ATTEST_CELL_FORMS - ATTEST_PARALLEL) * ATTEST_CELL_DTYPES] = {
        { .head = "preset", .width = 18 }, F32_AND_BF16, F32_AND_BF16, F32_AND_BF16, F32_AND_BF16, F32_AND_BF16,
    };
    printf("\n%-18s", "kernels serving");
    for (uint32_t form = ATTEST_PARALLEL; form < ATTEST_CELL_FORMS; form++)
        printf("  %-10s", attest_form_name(form));
    printf("\n");
    attest_table_begin(table, stdout, ATTEST_TABLE_CONSOLE, columns, sizeof columns / sizeof columns[0]);
}
