/* shrink_private.h - private to props/shrink*.c: one candidate after another, and what moves are made of.
 *
 * A move proposes candidates that are simpler than the best example so far; attest_shrink_offer() tries one and keeps
 * it if it fails in the same way.  Each accepted candidate is strictly simpler in its move's own measure, so rounds of
 * moves come to an end.
 */
#ifndef ATTEST_SHRINK_PRIVATE_H
#define ATTEST_SHRINK_PRIVATE_H

#include "props/properties/properties.h"
#include "props/shrink/shrink.h"

typedef struct attest_shrinker {
    attest_shrunk *best;
    const attest_shrink_options *options;
    attest_try try_example;
    void *context;
    double begun;   /* options->now() at the start */
    double least;   /* ratio below which a candidate is another failure */
    uint32_t end;   /* attest_prop_end of the first failure */
    uint64_t *seen; /* open addressing; hashes of what was tried; 0: free */
    size_t room, used;
} attest_shrinker;

/* 1: attempts or seconds are used up. */
int attest_shrink_spent(const attest_shrinker *s);

/* Tries the candidate, unless it was tried before; takes over its inputs.  *kept = 1: it is the best now. */
attest_status attest_shrink_offer(int *kept, attest_shrinker *s, attest_example *candidate, attest_error *err);

/* 1 if the problem line would be accepted (sizes, axes, family). */
int attest_shrink_legal(const attest_case *c);

/* Which indices of each letter stay, in order; NULL: the first ones, as many as the new problem has. */
typedef struct attest_selection {
    const int64_t *from[ATTEST_LETTER_COUNT];
} attest_selection;

/* to = the elements of `from` that `selection` leaves to problem c; values become explicit.  States keep the rows of
 * the channels that stay; len counts the keys that stay.  *possible = 0, and nothing made: c reads a tensor, or an
 * element type, that `from` does not have. */
attest_status attest_example_select(attest_example *to, int *possible, const attest_example *from, const attest_case *c,
                                    const attest_selection *selection, attest_error *err);

/* ---- the moves: each runs until it finds nothing more; adds to best->kept ----------------------------------- */

/* Sizes, order, axes, numbers, family of the problem line (shrink_sizes.c). */
attest_status attest_shrink_line(attest_shrinker *s, attest_error *err);

/* Single batch entries, heads, queries, keys, channels left out (shrink_parts.c); explicit values. */
attest_status attest_shrink_parts(attest_shrinker *s, attest_error *err);

/* Elements made simple (shrink_values.c); explicit values. */
attest_status attest_shrink_values(attest_shrinker *s, attest_error *err);

#endif
