/* declared.h - what a kernel declares of its arithmetic, as the bounds read it.
 *
 * The bounds cover some declarations and not others.  None is judged by a bound that is too strict for it: where the
 * kernel says that it does worse than a field of the bounds assumes, the loosest class that covers it is taken, and
 * where none covers it, the problem is not judged.
 */
#ifndef ATTEST_DECLARED_H
#define ATTEST_DECLARED_H

#include "kernels/library/call.h"

typedef struct attest_declared {
    attest_numerics numerics;
    uint32_t flags; /* of the kernel; ATTEST_SERIAL_SUMS only where it counts */
    uint32_t reserved;
} attest_declared;

/* Copies a struct of a library: as much as both sides know; the rest of *to is 0.  Both start with their size. */
void attest_copy_struct(void *to, size_t size, const void *from);

/* 1 if every number is one that an arithmetic can have; else 0 with the field, its value and what is allowed. */
int attest_numerics_check(const attest_numerics *numerics, char *why, size_t len);

/* Turns what a kernel with these outputs (ATTEST_GIVES_ bits) declares into what the bounds take for it on this
 * problem.  Without any of version 2's own fields nothing changes.  0 with the reason, `unsupported declaration: ...`:
 * no bound covers it. */
int attest_declared_resolve(attest_declared *declared, const attest_problem *p, uint32_t outputs, char *why,
                            size_t len);

/* The same of a loaded kernel, which is asked for its numerics of this problem. */
int attest_declared_of(attest_declared *declared, attest_loaded k, const attest_problem *p, char *why, size_t len);

#endif
