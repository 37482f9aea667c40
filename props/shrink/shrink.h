/* shrink.h - makes a failing case small enough to read, while it still fails in the same way.
 *
 * Answers what the smallest case is that still fails. Runs nothing itself: trying a case is a callback.
 *
 * State: a problem line with drawn tensors, later (explicit_values) the values themselves.  Order of the moves:
 * batch and heads; n and m (halve, drop a tile, drop one); chunks with their tokens; e; d; order P; axes
 * back to simpler values; numbers, scale to powers of two; types; the family (small integers first).  Then single
 * batch entries, heads, queries, keys and channels left out of the values; whole tensors, halves of them, single
 * elements made 0, 1, -1, an integer, a power of two, of fewer mantissa bits.  In rounds, until no move is kept.
 * A move is kept if the same property is broken with the same kind of end and its ratio is at least max(1, ratio0/2),
 * so that it does not drift towards ratio 1.  No example is tried twice, and none that the problem line or a tensor's
 * distribution forbids: len stays in 0..m, gates and decays in (0,1], slopes above 0, a key of a delta rule and what
 * it writes never grow, a given state only goes as a whole.  Where no move on values is kept, the example stays a
 * drawn one.
 * Bounded by `attempts` and by `seconds` (without `now`: by attempts alone); each attempt runs the property anew.
 */
#ifndef ATTEST_SHRINK_H
#define ATTEST_SHRINK_H

#include "props/property.h"

/* A case that can be run: drawn, or with its values. */
typedef struct attest_example {
    attest_case c;
    uint32_t number;       /* of the case, in draws */
    attest_bundle *inputs; /* owned; all inputs of the problem */
    int explicit_values;   /* 1: inputs are no longer what (c, number) draw */
} attest_example;

void attest_example_clear(attest_example *example);
/* inputs = the draws of (c, number). */
attest_status attest_example_draw(attest_example *example, const attest_case *c, uint32_t number, attest_error *err);
attest_status attest_example_copy(attest_example *to, const attest_example *from, attest_error *err);

/* Runs the property on an example: *found as the property says (broken = 0: it holds or does not apply). */
typedef attest_status (*attest_try)(void *context, attest_finding *found, const attest_example *example,
                                    attest_error *err);

typedef struct attest_shrink_options {
    long attempts;  /* most tries; e.g. 2000 */
    double seconds; /* most time */
    double (*now)(void);
} attest_shrink_options;

typedef struct attest_shrunk {
    attest_example example; /* the smallest found; owned */
    attest_finding found;   /* what it breaks */
    long attempts, kept;
} attest_shrunk;

/* `first` is a failing example and what it broke.  On an error *shrunk holds the best so far. */
attest_status attest_shrink(attest_shrunk *shrunk, const attest_example *first, const attest_finding *broken,
                            const attest_shrink_options *options, attest_try try_example, void *context,
                            attest_error *err);

#include "props/shrink/repro.h" /* a failing case in one word */

#endif
