/* props_defects.h - which planted defects properties find, with and without the reference's bounds. */
#ifndef ATTEST_PROPS_DEFECTS_H
#define ATTEST_PROPS_DEFECTS_H

#include "verify/defects/defects.h"
#include "verify/properties/props_run.h"

typedef struct attest_props_defect {
    int reference; /* 0: found by what needs no reference; 1: only with its bounds */
    int found;
    const attest_property *property; /* NULL: the run itself did not end well */
    attest_case c;
    uint32_t number;
    attest_finding broken;
} attest_props_defect;

/* result[attest_defect_count]: the first broken property of each defect that cli selects, over `cases` cases of each,
 * first without a reference, then for those left with it.  The same for any number of threads. */
attest_status attest_props_defects(attest_props_defect *result, const attest_options *options, const char *plugin,
                                   long cases, attest_error *err);

void attest_props_defects_print(FILE *out, const attest_options *options, const attest_props_defect *result,
                                long cases);
void attest_props_defects_json(FILE *out, const attest_options *options, const attest_props_defect *result);

#endif
