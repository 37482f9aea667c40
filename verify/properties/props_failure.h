/* props_failure.h - a broken property made small, explained, kept: the phases shrink and explain, and the store.
 *
 * The store is a folder (`.attest` unless --out says otherwise) of one folder per failure (props_files.h).  Its repros,
 * and those of a file `attest.repros` in the working folder (one a line, # for comments; for the user to commit), are
 * run before anything is drawn: phases explicit and reuse.
 */
#ifndef ATTEST_PROPS_FAILURE_H
#define ATTEST_PROPS_FAILURE_H

#include <stdio.h>

#include "verify/properties/props_run.h"

#define ATTEST_PROPS_STORE ".attest"
#define ATTEST_PROPS_REPROS "attest.repros"

/* Shrinks the failure, writes its folder into `store` (f->kept), and tells all of it: statement, what broke, line,
 * values if few, repro, command, shares of the error's sources.  `request`: of the run that found it. */
attest_status attest_props_failure_tell(FILE *out, const attest_props_request *request, attest_props_failure *f,
                                        const char *store, attest_error *err);

/* What came of repros that were kept. */
typedef struct attest_props_known {
    int64_t repros, broken, hold, others; /* others: of kernels or properties that this run does not ask */
    int64_t ended;                        /* of the broken: kernels that crashed or hung */
} attest_props_known;

/* Runs every repro id of the store and of the file `repros` (either may be missing) whose kernel and property the
 * request names; tells those that are still broken, by their file and line.  ATTEST_BAD_INPUT: an id that cannot be
 * read. */
attest_status attest_props_rerun(FILE *out, attest_props_known *known, const attest_props_request *request,
                                 const char *store, const char *repros, attest_error *err);

#endif
