/* noticed.h - what an audit would have noticed: how small an error is still outside the bounds of each class.
 *
 * Answers, for each kernel and class of an audit and for n = m = 64, 512, 4096: the median over judged elements of
 * bound/abs(o), the relative error of one element that is noticed in half of them; and the share of the visible keys
 * whose loss the last row alone would show.  Both come from the declared numerics; no kernel runs.  The problem is the
 * preset of the class's first case, mask=causal, family=normal:1, one head, d=64 and e=16; where the kernel does not
 * serve it, with the sizes of that case, or that case itself.
 */
#ifndef ATTEST_NOTICED_H
#define ATTEST_NOTICED_H

#include "verify/gate/gate.h"

#define ATTEST_NOTICED_LENGTHS 3
extern const int64_t attest_noticed_lengths[ATTEST_NOTICED_LENGTHS];

typedef struct attest_noticed {
    char kernel[512], class[96], variant[64];
    double error[ATTEST_NOTICED_LENGTHS],
        keys[ATTEST_NOTICED_LENGTHS]; /* NAN: not served, or no bound, or no weights */
} attest_noticed;

/* One entry for each kernel and class of the results that nothing was wrong in, in their order; *list is malloc'd.  A
 * kernel whose worker cannot be had has none. */
attest_status attest_gate_noticed(attest_noticed **list, size_t *count, const attest_results *results,
                                  const attest_gate *gate, attest_error *err);

/* The file at `path`, whole or not there: an array of the objects of attest_noticed_print()'s lines, each with kernel,
 * class, variant, and three arrays: lengths, noticed_at and keys_seen_at (NAN: null). */
attest_status attest_noticed_write(const attest_noticed *list, size_t count, const char *path, attest_error *err);

/* The table, or (json) a line an entry. */
attest_status attest_noticed_print(FILE *out, const attest_noticed *list, size_t count, int json, attest_error *err);

#endif
