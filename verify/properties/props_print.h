/* props_print.h - a run of properties as tables and as JSON lines. */
#ifndef ATTEST_PROPS_PRINT_H
#define ATTEST_PROPS_PRINT_H

#include <stdio.h>

#include "verify/properties/props_run.h"

/* Why a run is not to be trusted although nothing is broken: counts of each. */
typedef struct attest_props_doubts {
    int vacuous;     /* properties that do not see their own violation */
    int floors;      /* labels below their floor */
    int silent;      /* selected properties that compared nothing in any case */
    int64_t starved; /* cases without a problem */
} attest_props_doubts;

/* `whole`: all properties were asked of all built-in kernels, so that one which never compares anything is a doubt. */
attest_props_doubts attest_props_doubt(const attest_props_result *result, int whole);

/* Properties, then labels with their floors, then one line of sums. */
void attest_props_print(FILE *out, const attest_props_result *result, int whole);

/* One line a property, a label, and of sums. */
void attest_props_json(FILE *out, const attest_props_result *result, int whole);

/* The list of properties: name, statement, of which variants, tolerance. */
void attest_props_list(FILE *out);

#endif
