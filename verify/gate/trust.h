/* trust.h - collects what a run's verdicts rest on: versions, compiler, machine, lemmas. */
#ifndef ATTEST_VERIFY_TRUST_H
#define ATTEST_VERIFY_TRUST_H

#include "reports/trust.h"

/* Appends: base facts (attest, the compiler and the libraries of reference/ with their versions at run time, and at
 * build time where they differ, the C library, the processor, what held the
 * kernels back), then each lemma of derivations.md, proved or cited. */
attest_status attest_trust_collect(attest_facts *facts, attest_error *err);

#endif
