/* range.h - can a product that a kernel forms of a case's numbers leave the normal numbers of its formats?
 *
 * A power of two commutes with every rounding to nearest or to zero, of sums, products, quotients and roots, as long
 * as no result is below the normal numbers or beyond the largest.  Additions never lose to gradual underflow; products
 * do.  So the smallest and the largest product are bounded here, from the inputs alone: weights, decays, gates, states,
 * monomials of a recurrence, squares under a root norm.  What is left is a sum that cancels to nearly nothing and is
 * multiplied afterwards: its own size is then far below that of what it enters, or the output itself is tiny, and tiny
 * outputs are not compared (attest_relation.least).
 */
#ifndef ATTEST_RANGE_H
#define ATTEST_RANGE_H

#include "props/property.h"

/* 1 if every product stays among the normal numbers of the kernel's formats (acc; f16 where states, parts, scores,
 * scaled inputs or a sum are declared to be of it, where a kernel with states does not say, where a sum is declared to
 * be that coarse), even if it is moved by a factor between 2^-margin and 2^margin. */
int attest_range_safe(const attest_trial *trial, double margin);

/* 1 if no product overflows these formats and that of the cast weights, by the same margin: 0 times each of them is 0.
 * Small ones may be lost. */
int attest_range_finite(const attest_trial *trial, double margin);

#endif
