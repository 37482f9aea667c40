/* family.h - named ways to draw inputs, each with the reason why it exists; the table of families.
 *
 * A family shapes q, k and v; all other tensors have fixed distributions: sq sk shift sink bias h0
 * normal; gain 1+normal/4; z0, gates and a: (w+1)2^-32; b twice that below 2; slope_h = 2^(-8(h+1)/Hq)
 * rounded to f32; len_b uniform in 0..M; gamma_g = 1-2^(-5-g); attn_mask as in draw_mask.c; k_scale
 * and v_scale as in draw_scale.c; but family edges draws
 * gates, a, b, bias and len at the edges of their ranges.  Every value is rounded once to the tensor's
 * dtype, from an exact integer or dyadic.  h0 and z0 of degree n are symmetric: an entry is the draw at its
 * sorted multi-index, so that packed and full layouts hold the same state.  `trace:DIR` reads files (trace.h).
 */
#ifndef ATTEST_FAMILY_H
#define ATTEST_FAMILY_H

#include "kernels/tensor/tensor.h"

typedef struct attest_family_info {
    const char *name;     /* `normal`, `range`, ... */
    const char *argument; /* NULL, or what follows the colon, e.g. "STD (default 1)" */
    const char *why;      /* one line */
    int constant;         /* the truth does not move with every input (flat, ones, ...): never counts as evidence */
    int repeats;          /* repeats scores, weights or values by construction, in some type or width: equal numbers are
                             rounded alike, so that R-PROBABILISTIC says nothing of them */
} attest_family_info;

extern const attest_family_info attest_families[];
extern const size_t attest_family_count;
extern const size_t attest_family_drawn; /* the first of them: all that need no files */

/* Splits `c->family`, checks name and argument; ATTEST_BAD_INPUT lists the families. */
attest_status attest_family_check(const attest_case *c, attest_error *err);
const attest_family_info *attest_family_of(const attest_case *c); /* NULL if unknown */

/* Draws one input tensor that the problem uses into the bundle (adds it); `packed` for states. */
attest_status attest_draw_tensor(attest_bundle *bundle, const attest_case *c, attest_tensor_id id, uint32_t case_number,
                                 int packed, attest_error *err);

/* Draws every input tensor that the problem uses and that the bundle does not hold yet. */
attest_status attest_draw_missing(attest_bundle *bundle, const attest_case *c, uint32_t case_number, int packed,
                                  attest_error *err);

#endif
