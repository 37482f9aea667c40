/* worker_disguise.h - what makes the first run of a case look like use and not like a test.
 *
 * A kernel could behave well only where outputs hold the poison of a test, or where data begins at 64 bytes.  So in the
 * first of the two runs in C order, on every second case each:
 *
 *     numbers   outputs hold ordinary numbers before the run, uniform in [-2,2), and no NaN
 *     shift     data of every tensor begins one element (one unit of the kernel's alignment) behind a multiple of 64
 *
 * Which, and which numbers, is a hash of the problem and of its inputs: the same problem line does the same again.
 */
#ifndef ATTEST_WORKER_DISGUISE_H
#define ATTEST_WORKER_DISGUISE_H

#include "kernels/tensor/tensor.h"

typedef struct attest_disguise {
    uint64_t seed; /* of the numbers */
    int numbers, shift;
} attest_disguise;

/* Of a case: from the sizes, types, axes and the first elements of q. */
attest_disguise attest_disguise_of(const attest_problem *p, const attest_bundle *bundle);

/* The ordinary numbers of one output, in C order: starts a stream, and gives the next number's stored bits. */
uint64_t attest_disguise_stream(const attest_disguise *disguise, uint32_t segment);
uint64_t attest_disguise_next(uint64_t *stream, uint32_t dtype);

/* What was done, in words for a result; "" for nothing. */
void attest_disguise_text(char *text, size_t len, const attest_disguise *disguise);

#endif
