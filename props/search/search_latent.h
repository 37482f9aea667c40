/* search_latent.h - the input tensors of a problem as a point that a search can move (search.h).
 *
 * Every element of an input with a free value (q k v, gates, decays, b, sinks, ...) is a position x in an exponent box
 * of its tensor, and a sign where the tensor has one: |value| = (1 + f) 2^E with E = floor(x), f = x - E, rounded once
 * to the dtype; the lowest unit of the box means 0.  So whole units are binades and small steps are last bits.  After
 * the elements:
 *
 *     tie     one time in eight, key j is the key before it (equal scores)
 *     order   keys with their values as they are, sorted by rising or by falling score of the last query (ramps: the
 *             running maximum moves with every key, or never)
 *     signs   v as it is, all positive, or alternating
 *
 * Inputs that follow a formula or a symmetry (slope, gamma, len, the states h0 z0) stay as drawn.  update=delta, efla:
 * keys are scaled as those of a draw (family_distribution.h).  Exact functions of libm only (floor, ldexp, frexp).
 */
#ifndef ATTEST_SEARCH_LATENT_H
#define ATTEST_SEARCH_LATENT_H

#include "kernels/tensor/tensor.h"
#include "props/search/search.h"

typedef struct attest_latent {
    const attest_problem *p; /* borrowed */
    size_t count;
    attest_coordinate *coordinates; /* [count]; a group is a tensor */
    uint32_t groups;
} attest_latent;

attest_status attest_latent_init(attest_latent *latent, const attest_problem *p, attest_error *err);
void attest_latent_clear(attest_latent *latent);

/* Writes the tensors of point x into the bundle, which holds every input of the problem (C order). */
attest_status attest_latent_write(const attest_latent *latent, const double *x, attest_bundle *bundle,
                                  attest_error *err);

/* A point with the tensors of the bundle, without ties, order and signs.  A value outside its box: a position outside
 * it, which a search moves to the edge. */
void attest_latent_read(const attest_latent *latent, double *x, const attest_bundle *bundle);

#endif
