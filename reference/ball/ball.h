/* ball.h - the ball engine: enclosures of a row by FLINT and Arb.
 *
 * Answers what a row holds, for every variant, at any precision. Touches no other engine and no bound.
 */
#ifndef ATTEST_BALL_H
#define ATTEST_BALL_H

#include "reference/axis/axis.h"
#include "reference/engine/engine.h"

/* ---- ball_block.c: decoded inputs ------------------------------------------------------------------------------ */
/* Keys [first, first+count) of one KV head: phi(k) key after key, or v channel after channel, or gates. */
typedef struct ref_block {
    arb_ptr x;
    mag_ptr mag;        /* phi(k) only: upper bounds of |x| */
    mag_ptr pair;       /* k only: axis_pair_sums() of each key */
    unsigned char *bad; /* [count] what the key's entries were made from is not all finite */
    int64_t entries;    /* allocated entries of x (and of mag) */
    int64_t pairs;      /* allocated entries of pair */
    int64_t keys;       /* allocated entries of bad */
    int64_t b, g, first, count;
    slong prec; /* what x was computed at; exact values serve any precision */
    int valid;
} ref_block;

void ref_block_clear(ref_block *block);

/* ball_cache.c: the last decoded block of k, v and the gates on values: all rows of a KV head read the same ones. */
typedef struct ref_ball_cache {
    ref_block k, v, gin;
    struct ref_delta_run *delta; /* ball_delta.c: states of some heads and precisions */
} ref_ball_cache;

void ref_ball_cache_init(ref_ball_cache *cache);
void ref_ball_cache_clear(ref_ball_cache *cache);

/* Loads the block of `role` (ATTEST_K, ATTEST_V, or ATTEST_GIN for the value gates of any kind) that holds key j. */
attest_status ref_block_load(ref_block *block, const ref_inputs *in, attest_role role, int64_t b, int64_t g, int64_t j,
                             slong prec, attest_error *err);

/* row->gin of gates on values, through their block; without such gates row->gin stays as it is. */
attest_status ref_ball_gate_keys(ref_row *row, const ref_inputs *in, ref_block *block, int64_t b, int64_t g, slong prec,
                                 attest_error *err);

/* row->pass, with dropout: what multiplies v_j in u, from row->gin. */
void ref_ball_drop(ref_row *row, const ref_inputs *in, attest_row at, slong prec);

/* A vector of zero balls that reports failure; clears and frees. */
arb_ptr ref_ball_vector(int64_t count);
void ref_ball_vector_free(arb_ptr x, int64_t count);

/* ---- ball_decay.c: products of decay factors ------------------------------------------------------------------- */
/* x = start times the product of the factors of tokens t = reached+1 .. i, built from the query backwards, so that a
 * row costs one product a token (and key dimension). */
typedef struct ref_ball_product {
    const ref_inputs *in;
    int64_t b, g, reached, count; /* count: d with decay=vector, else 1 */
    arb_ptr x;
    int bad; /* a factor that was read is not finite */
    slong prec;
} ref_ball_product;

/* `start`: x before any factor, count values; NULL: ones. */
attest_status ref_ball_product_start(ref_ball_product *y, arb_srcptr start, const ref_inputs *in, int64_t b, int64_t g,
                                     int64_t i, slong prec, attest_error *err);
/* Multiplies by the factors of tokens j+1 .. reached; j = -1 stands for the given state. */
void ref_ball_product_reach(ref_ball_product *y, int64_t j);
void ref_ball_product_clear(ref_ball_product *y);
/* row->w *= D_ij and row->decay, with decay=retnet or scalar; *state = the product that multiplies a given state. */
attest_status ref_ball_decay_weights(ref_row *row, arb_t state, const ref_inputs *in, int64_t b, int64_t g, int64_t i,
                                     slong prec, attest_error *err);

/* row->decay0 with decay=vector: the largest product over t = 0..i of a key dimension. */
attest_status ref_ball_decay_bound(ref_row *row, const ref_inputs *in, int64_t b, int64_t g, int64_t i,
                                   attest_error *err);

/* ---- ball_state.c ------------------------------------------------------------------------------------------------ */
/* power[0..dim^n-1] = x^(x n), row-major; power[0] = 1 for n = 0.  room for dim^n entries. */
void ref_ball_kronecker(arb_ptr power, arb_srcptr x, slong dim, int n, slong prec);

/* Adds decay sum_n coef_n <phi(q)^(x n), h0.n> to row->u and the same of z0 to row->z; sets row->no_truth. */
attest_status ref_ball_add_state(ref_row *row, const ref_inputs *in, arb_srcptr q, const arb_t decay, int64_t b,
                                 int64_t g, slong prec, attest_error *err);

/* ---- ball_delta.c: update=delta, efla ---------------------------------------------------------------------------- */
/* Fills u, delta and no_truth of a row of update=delta or efla; q = phi(q_i). */
attest_status ref_delta_row(ref_row *row, const ref_inputs *in, ref_ball_cache *cache, arb_srcptr q, int64_t b,
                            int64_t g, slong prec, attest_error *err);
/* As ref_ball_state. */
attest_status ref_delta_state(arb_ptr out, mag_ptr abs_scale, const ref_inputs *in, int64_t b, int64_t g, slong prec,
                              attest_error *err);
void ref_delta_runs_free(struct ref_delta_run *list);

/* ---- ball_steps.c: cap, alibi, bias, clamp, filter, gates -------------------------------------------------------- */
/* row->s, from scale <phi(q), phi(k)>, to the score of the formula. */
void ref_ball_score_steps(ref_row *row, const ref_inputs *in, attest_row at, slong prec);
/* row->w = 0 unless s > max s - TAU, and row->kept; a comparison that this precision leaves open gives the hull of
 * 0 and w (R-FILTER-BALL). */
void ref_ball_filter(ref_row *row, const attest_problem *p, slong prec);
/* The value gate of key j; 0 if a value that it reads is not finite. */
int ref_ball_value_gate(arb_t gate, const ref_inputs *in, int64_t b, int64_t g, int64_t j, slong prec);
/* row->gout: of row (b,h,i). */
void ref_ball_row_gate(ref_row *row, const ref_inputs *in, attest_row at, slong prec);
/* row->o from row->u, row->z and row->gout: gates, norm, gain and shift. */
void ref_ball_output(ref_row *row, const ref_inputs *in, int64_t h, slong prec);

#endif
