/* identities.h - the exact identities between forms and variants, checked in rationals: a table, no tolerance.
 *
 * An identity has a left side (as a rule the pairwise form, by the exact engine) and a right side that is computed
 * another way: by states, in chunks, in two passes, by a scan, from another variant (`last-row`: the same engine under
 * another mask).  Both are exact rationals; a comparison of two of them is equal or different.  Lemmas: section 6 of
 * reference/derivations.md.
 * No header of GMP or FLINT is needed by a caller.
 */
#ifndef ATTEST_IDENTITIES_H
#define ATTEST_IDENTITIES_H

#include "kernels/tensor/tensor.h"

struct identity_job; /* private: both sides' inputs and the two counters */

typedef struct attest_identity {
    const char *name;            /* `recurrent`, `chunked`, ... */
    const char *statement;       /* one line, in our words */
    const char *lemma;           /* R-... of reference/derivations.md */
    const char *const *variants; /* the variants it is to be checked for, each the beginning of a problem line:
                                    `variant=retnet gates=inout`; NULL ends the list */
    int (*applies)(const attest_problem *p); /* does the statement speak about this variant? */
    attest_status (*check)(struct identity_job *job, attest_error *err);
} attest_identity;

extern const attest_identity attest_identities[];
extern const size_t attest_identity_count;

/* The row of this name, or NULL. */
const attest_identity *attest_identity_find(const char *name);

/* Checks the identity on all rows (b,h,i) of one case: *compared += number of rationals compared, *different += how
 * many of them differ (0 if the identity holds).  Small cases only: states are written out, so the work is about
 * n^3 d^P.  `in` must hold every input tensor of the case.  ATTEST_UNSUPPORTED, with nothing added: the
 * identity does not speak about the variant, or a value at hand is irrational, not finite or too large. */
attest_status attest_identity_check(const attest_identity *identity, const attest_case *c, const attest_bundle *in,
                                    int64_t *compared, int64_t *different, attest_error *err);

/* The same with the right side computed from a case and inputs of its own (equal shapes): with a
 * planted difference between the two it shows that the comparison can fail. */
attest_status attest_identity_compare(const attest_identity *identity, const attest_case *left,
                                      const attest_bundle *left_in, const attest_case *right,
                                      const attest_bundle *right_in, int64_t *compared, int64_t *different,
                                      attest_error *err);

/* Draws case number `seed` of a variant (an entry of identity->variants): n, m <= 7, d <= 3, e <= 2, masks, given
 * states and lengths where the variant allows them, a dyadic scale; values are dyadic of several exponents, zeros and
 * repeats included, >= 0 where the feature is rational only there.  The same seed gives the same case everywhere. *in
 * is the caller's, back through attest_bundle_free(); NULL on failure. */
attest_status attest_identity_draw(attest_case *c, attest_bundle **in, const attest_identity *identity,
                                   const char *variant, uint64_t seed, attest_error *err);

/* Draws and checks cases number seed .. seed+cases-1: what the ledger prints. */
attest_status attest_identity_run(const attest_identity *identity, const char *variant, uint64_t seed, int64_t cases,
                                  int64_t *compared, int64_t *different, attest_error *err);

#endif
