/* exact_integer.h - private to the exact engine: rows of plain polynomial attention by integers of fixed size.
 *
 * Contract.  The keys and values of one KV head are turned once into 64-bit integers on two common grids, kept in a
 * ref_exact_cache.  A row of that head is served if weight is taylor, term or power, at any center, and decay, gates,
 * filter, alibi, clamp, cap, rope, state and update are at their defaults; if all values of the head are finite and its
 * feature rational on them, the row's query too; and if the predicted sizes (R-EXACT-WORDS) fit: inputs 62 bits, scores
 * before the scale 126, scale 64, weights EXACT_WORDS limbs, order EXACT_ORDER.  Norm, eps and affine are not read.
 * Every other row goes the way of exact.c.  The results are those of exact.c, number for number: nothing is rounded,
 * nothing is allocated in a row. */
#ifndef ATTEST_EXACT_INTEGER_H
#define ATTEST_EXACT_INTEGER_H

#include "reference/exact/exact.h"

#define EXACT_WORDS 32 /* limbs of a weight */
#define EXACT_ORDER 18 /* e P! < 2^63 */

__extension__ typedef __int128 exact_wide;

/* One KV head at a time; bound to the ref_inputs that carry it. */
typedef struct ref_exact_cache {
    int64_t b, g; /* the head; -1: none yet */
    int served;
    exact_span k, v;   /* of all keys, k before phi; v: and 1 */
    long k_low;        /* the grid of phi(k) */
    int64_t *k_word;   /* [m][d] phi(k) 2^-k_low */
    uint64_t *v_word;  /* [m][e] v 2^-v.low + 2^v_bits: above 0 */
    int v_bits;        /* |v 2^-v.low| < 2^v_bits */
    int64_t *q_word;   /* [d] phi(q) of the row at hand */
    exact_wide *score; /* [m] <phi(q), phi(k)> */
    mp_limb_t *sum;    /* [e+1] sums of the row at hand, `limbs` limbs each; the last one is z */
    int limbs;
    signed char *sign; /* [e+1] */
} ref_exact_cache;

void ref_exact_cache_init(ref_exact_cache *cache);
void ref_exact_cache_clear(ref_exact_cache *cache);

/* r of row (b,h,i) with the spans of its whole head, r->head set; 0: not served here (no cache is given, an axis, a
 * value, a size, or memory is short), and r is undefined. */
int exact_integer_keys(exact_keys *r, const ref_inputs *in, attest_row at);

/* The sums of row r into r->head: u_c = sum_c 2^(exponent + r->v.low) / denominator, z likewise without v.low. */
typedef struct exact_integer_scale {
    long exponent;
    mp_limb_t denominator;
} exact_integer_scale;

void exact_integer_sums(exact_integer_scale *scale, const exact_keys *r);
/* Sum c (e: z), or its negative, as a read-only integer, good until the next row. */
mpz_srcptr exact_integer_sum(mpz_t view, const exact_keys *r, int64_t c, int negate);

#endif
