/* cover.h - covering arrays: few cases in which every kernel meets every pair, or triple, of conditions it serves.
 *
 * Answers which cases a suite lacks so that each two (or three) conditions meet at least once in a case that the kernel
 * serves, and which share of them a suite meets.  Runs no kernel: it only asks what kernels support.
 *
 * A condition is a level of a factor: an axis value (numbers in classes), a class of a size (n, m, d, e, b, heads and
 * head ratio, chunk and its remainder, splits), the types, the family, the class of the scale (factors.c).  A rare bug
 * needs two of them at once; a suite in which a pair never meets cannot find it.
 *
 * What a kernel can meet is learnt by asking: ATTEST_COVER_POOL lines are drawn for it (generate.h) and changed, factor
 * by factor, while they stay consistent and served.  The pairs seen on them are the possible ones; a pair on none of
 * them counts as impossible.  Cases are then chosen greedily: the line that meets most new pairs for what it costs,
 * improved by a few more changes.  Everything depends on the seed, the kernels' declarations and what they support.
 */
#ifndef ATTEST_COVER_H
#define ATTEST_COVER_H

#include "props/property.h"

enum { ATTEST_COVER_POOL = 3000 };

/* A kernel to be covered; of the host only supports() is called.  `over`, of the host's context: NULL, or 1 once it is
 * asked no more: nothing more is drawn for it. */
typedef struct attest_cover_kernel {
    attest_prop_kernel kernel;
    attest_prop_host host;
    int (*over)(void *context);
} attest_cover_kernel;

/* 1 if the case costs little enough for a suite: pairs of tokens times numbers a pair, numbers of its states. */
int attest_cover_affordable(const attest_case *c);

typedef struct attest_cover attest_cover;

/* `strength` 2 (pairs) or 3 (triples).  `wide`: only what is live counts (a window wider than the keys, a decay over
 * two tokens, the mask of one key meet nothing), sizes go further (up to 1,100 tokens, 264 channels, 16 heads or query
 * heads a KV head, 8 batch entries, chunks of 256), and some conditions of several parts count as one: what 64 and 128
 * leave of n, of m and of n = m with shared heads, lengths at the edges of tiles, types with shared heads, products far
 * above the scores (factors_joint.c); channels beyond 64 beside more than 64 queries or keys, heads that share keys of
 * many tokens, windows that leave out whole tiles, causal masks of many queries and another number of keys, a cap
 * before a bias of large steps, states that are wide on both sides (factors_tiles.c).  The kernels' hosts must stay as
 * long as the cover. */
attest_status attest_cover_new(attest_cover **cover, int strength, int wide, uint64_t seed,
                               const attest_cover_kernel *kernels, size_t count, attest_error *err);
void attest_cover_free(attest_cover *cover);

/* As new, of this strength: forgets what was counted and keeps the lines drawn, which asks no kernel again. */
attest_status attest_cover_restart(attest_cover *cover, int strength, attest_error *err);

/* Counts a case for each kernel that serves it. */
void attest_cover_add(attest_cover *cover, const attest_case *c);

/* The next case of the array, counted already; *found = 0 when no case of the pool meets anything new. */
attest_status attest_cover_next(attest_cover *cover, attest_case *c, int *found, attest_error *err);

enum { ATTEST_COVER_FIRST = 6 };

/* Of one kernel: tuples that can meet, those that did, and the first that did not, each of other factors than those
 * before it (empty where there are fewer). */
typedef struct attest_cover_share {
    size_t possible, met;
    char first[ATTEST_COVER_FIRST][160];
} attest_cover_share;
void attest_cover_measure(attest_cover_share *share, const attest_cover *cover, size_t kernel);

#endif
