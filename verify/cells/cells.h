/* cells.h - the table of cells: how many built-in kernels serve a preset in a form with an input dtype.
 *
 * A cell is (preset, form, in) with in = out in {f32, bf16} and everything else at its default (P = 2, TAU = 4).  A
 * hole is a cell whose form is legal (attest_variant_form_legal) and that no kernel serves.
 */
#ifndef ATTEST_CELLS_H
#define ATTEST_CELLS_H

#include "kernels/problem/problem.h"
#include "reports/table.h"
#include "verify/worker/worker.h"

#define ATTEST_CELL_FORMS (ATTEST_CHUNK + 1) /* indexed by attest_form; 0 unused */
#define ATTEST_CELL_DTYPES 2                 /* f32, bf16 */

typedef struct attest_preset_cells {
    int legal[ATTEST_CELL_FORMS];
    char why[ATTEST_CELL_FORMS][128]; /* the reason where a form is not legal */
    int count[ATTEST_CELL_FORMS][ATTEST_CELL_DTYPES];
    char kernels[512]; /* names of all that serve one of the cells, in the order of the registry */
} attest_preset_cells;

/* The problem of a preset's cells, f32. */
attest_status attest_preset_sample(attest_case *c, const attest_preset *preset, attest_error *err);

/* Asks supports() of every kernel of the worker.  ATTEST_KERNEL_ERROR: one gave no answer. */
attest_status attest_preset_cells_ask(attest_preset_cells *cells, attest_worker *worker, const attest_preset *preset,
                                      attest_error *err);
int attest_preset_cells_holes(const attest_preset_cells *cells);

/* The table of cells on stdout: its heads, then a row per preset: a count, `-` where the form is not legal, HOLE. */
void attest_preset_cells_begin(attest_table *table);
void attest_preset_cells_row(attest_table *table, const char *title, const attest_preset_cells *cells);

#endif
