/* cover_suite.h - the suite and its kernels: what pairs and triples of conditions meet, and cases that add the rest. */
#ifndef ATTEST_COVER_SUITE_H
#define ATTEST_COVER_SUITE_H

#include <stdio.h>

#include "verify/gate/gate.h"

/* Appends cases to `suite` (the gate's own) until each kernel of the gate meets every pair (strength 2) or triple (3)
 * of conditions that it serves (props/cover/cover.h says what `wide` adds); the same cases for the same kernels and
 * suite.  Of a drawn case it is no fault that elements are left out or that the truth does not move: such results are
 * illposed or pass. */
attest_status attest_suite_cover(attest_suite *suite, const attest_gate *gate, int strength, int wide,
                                 attest_error *err);

/* Of each kernel the share of pairs, and of triples, that meet in a case of the suite, and the first pairs that do not,
 * one a line, each of other factors. */
attest_status attest_suite_coverage(FILE *out, const attest_suite *suite, const attest_gate *gate, attest_error *err);

#endif
