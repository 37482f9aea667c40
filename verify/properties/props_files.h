/* props_files.h - a failure as a folder: what a person needs to look at it, or to run it somewhere else.
 *
 *     failure.txt   the statement, what broke and by how much, the problem line, the command that shows it again
 *     case.c        the inputs as C arrays, alone: compiles with any C99 compiler and prints them
 *     NAME.npy      each input (bf16 as <u2, as `attest reference -t` reads it)
 *     repro         the case in one word (props/shrink/repro.h), where it is not too long for one
 */
#ifndef ATTEST_PROPS_FILES_H
#define ATTEST_PROPS_FILES_H

#include <stdio.h>

#include "props/property.h"
#include "props/shrink/shrink.h"

/* The word that stands for a property where the case's own run did not end well: no property has this name. */
#define ATTEST_PROPS_RUN "run"

typedef struct attest_props_report {
    const attest_repro *repro;       /* property, kernel, the example; its inputs are what is written */
    const attest_property *property; /* NULL: the run itself */
    const attest_finding *found;     /* what it breaks */
    const attest_case *first;        /* the line it was found on, before shrinking, and what that broke; or NULL */
    const attest_finding *first_found;
    uint32_t first_number; /* of that case */
    const char *program;   /* argv[0], for the command */
} attest_props_report;

/* The text of failure.txt. */
attest_status attest_props_tell(FILE *out, const attest_props_report *report, attest_error *err);

/* The text of case.c. */
attest_status attest_props_literal(FILE *out, const attest_props_report *report, attest_error *err);

/* Writes the folder PARENT/PROPERTY-HASH, whose name goes to `folder`: files to PARENT/.PROPERTY-HASH-XXXXXX, which is
 * then renamed, so that a folder is whole or not there.  HASH is of kernel, line and values: where the folder is there
 * already, it holds this failure, and stays.  PARENT is made if it is not there; otherwise ATTEST_BAD_INPUT tells. */
attest_status attest_props_files(char *folder, size_t len, const char *parent, const attest_props_report *report,
                                 attest_error *err);

#endif
