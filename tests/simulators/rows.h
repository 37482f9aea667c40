/* rows.h - the table of simulators: one row a lemma, a program and the numerics that it declares. */
#ifndef ATTEST_TESTS_ROWS_H
#define ATTEST_TESTS_ROWS_H

#include "tests/simulators/sim.h"

typedef struct sim_size {
    int64_t keys, d;
} sim_size;

typedef struct sim_row {
    const char *lemma, *name, *declared; /* declared: in words, what of the numerics matters */
    const char *line;                    /* the problem, without sizes, family and seed */
    void (*program)(sim *s);
    sim_options options;
    attest_numerics numerics;
    uint32_t flags;
    const char *output;    /* o, u, z, lse, ht.n */
    const char *families;  /* separated by blanks */
    const sim_size *sizes; /* ends with { 0, 0 }; NULL: the usual ones */
    int e;                 /* 0: 2 */
    int seeds;             /* a family and size; 0: the usual number */
    const char *known;     /* NULL, or why the ratio is above 1 today */
    int quick;             /* a row of the Check test; 2: its bound need not be near */
    int alone;             /* attest.h excludes its program but for this output: --more leaves the row out */
} sim_row;

/* The sections of the table, one a file rows_*.c; the list ends with NULL. */
typedef struct sim_section {
    const sim_row *row;
    size_t count;
} sim_section;

extern const sim_section *const sim_sections[];

extern const sim_section sim_rows_scores, sim_rows_weights, sim_rows_sums, sim_rows_outputs, sim_rows_states;
extern const sim_section sim_rows_scans, sim_rows_schedules;

typedef struct sim_result {
    double worst, median;
    char where[ATTEST_LINE];
    int64_t elements, skipped; /* skipped: without a bound, or without a truth */
} sim_result;

/* Searches the row's inputs, with at most `seeds` seeds where that is above 0.  0: the program does not compute the
 * formula, or nothing could be compared; `why` says so. */
int sim_run(sim_result *result, const sim_row *row, int seeds, char *why, size_t len);

#endif
