/* generate.h - the problem of case number N: which problem line `attest props` asks a kernel.
 *
 * Answers what `attest props` asks next, and what a run of cases looked like (labels.h). Runs no kernel: their
 * declarations come through callbacks of props/property.h.
 *
 * A case is made alone: its line depends on the seed, the number and the kernel's declarations and supports() only; its
 * tensors are drawn by family.h with the case number in the counter, so that sizes can shrink under them.
 * Edge-biased: sizes 1, 2, 3, primes, tile and chunk and splits +-1, N != M, GQA ratios, d = 1, e != d; all masks,
 * windows, lengths, presets, axes, dtypes and families that the kernel serves; scores over every decade of the range.
 */
#ifndef ATTEST_GENERATE_H
#define ATTEST_GENERATE_H

#include "props/property.h"

/* The most queries or keys, and batch entries, of a case. */
enum { ATTEST_GENERATE_TOKENS = 256, ATTEST_GENERATE_BATCH = 4 };

typedef struct attest_generated {
    attest_case c;
    int found; /* 0: no line of `tries` draws was served: the kernel starves the generator */
    int tries;
} attest_generated;

/* Lines that contradict themselves or that the kernel refuses are drawn again, up to ATTEST_GENERATE_TRIES. */
#define ATTEST_GENERATE_TRIES 400
attest_status attest_generate(attest_generated *made, uint64_t seed, uint32_t number, const attest_prop_kernel *kernel,
                              const attest_prop_host *host, attest_error *err);

#include "props/generate/labels.h" /* what the cases of a run looked like, and the floors */

#endif
