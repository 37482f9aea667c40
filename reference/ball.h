/* ball.h - inside the ball engine: one function per axis value, and the decoded inputs it runs on. */
#ifndef ATTEST_BALL_H
#define ATTEST_BALL_H

#include "reference/engine.h"

/* ---- ball_axes.c: the tables.  NULL = this version does not serve the value. -------------------------- */
typedef struct ref_ball_feature {
    /* y[0..d-1] encloses phi(x); x exact. */
    void (*apply)(arb_ptr y, arb_srcptr x, slong d, slong prec);
    int exact; /* phi(x) of a double is stored without error at any precision: a decoded block can be kept */
} ref_ball_feature;

/* w encloses W(x) of order P. */
typedef void (*ref_ball_weight)(arb_t w, const arb_t x, uint32_t order, slong prec);
/* c encloses the center of the scores s[0..keys-1], keys >= 1. */
typedef void (*ref_ball_center)(arb_t c, arb_srcptr s, slong keys, slong prec);
/* Norm in place: row->o holds u (times gout with pre-out) before and Norm(u, z) after; sets row->illposed, and
 * row->no_truth when a non-finite input is read. */
typedef void (*ref_ball_norm)(ref_row *row, const ref_inputs *in, int64_t h, slong prec);

const ref_ball_feature *ref_ball_feature_of(const attest_problem *p);
ref_ball_weight ref_ball_weight_of(const attest_problem *p);
ref_ball_center ref_ball_center_of(const attest_problem *p);
ref_ball_norm ref_ball_norm_of(const attest_problem *p);

/* ---- decoded inputs ------------------------------------------------------------------------------------- */
/* Keys [first, first+count) of one KV head: phi(k) key after key, or v channel after channel. */
typedef struct ref_block {
    arb_ptr x;
    mag_ptr mag;        /* phi(k) only: upper bounds of |x| */
    unsigned char *bad; /* [count] the key's stored values are not all finite */
    int64_t entries;    /* allocated entries of x (and of mag) */
    int64_t keys;       /* allocated entries of bad */
    int64_t b, g, first, count;
    slong prec;         /* what x was computed at; x of an exact feature serves any precision */
    int valid;
} ref_block;

/* The last decoded block of k and of v: all rows of a KV head read the same ones. */
typedef struct ref_ball_cache {
    ref_block k, v;
} ref_ball_cache;

void ref_ball_cache_init(ref_ball_cache *cache);
void ref_ball_cache_clear(ref_ball_cache *cache);

/* Loads the block of `role` (ATTEST_K or ATTEST_V) that holds key j. */
attest_status ref_block_load(ref_block *block, const ref_inputs *in, attest_role role, int64_t b, int64_t g,
                             int64_t j, slong prec, attest_error *err);

/* y[0..d-1] = phi of the stored vector at `offset` (channels `step` apart); returns 0 if a value is not finite. */
int ref_ball_phi(arb_ptr y, const ref_inputs *in, const attest_tensor *t, int64_t offset, int64_t step, slong prec);

/* power[0..dim^n-1] = x^(x n), row-major; power[0] = 1 for n = 0.  room for dim^n entries. */
void ref_ball_kronecker(arb_ptr power, arb_srcptr x, slong dim, int n, slong prec);

/* Adds sum_n coef_n <phi(q)^(x n), h0.n> to row->u and the same of z0 to row->z; sets row->no_truth. */
attest_status ref_ball_add_state(ref_row *row, const ref_inputs *in, arb_srcptr q, int64_t b, int64_t g, slong prec,
                                 attest_error *err);

/* ---- ball_steps.c: cap, alibi, clamp and gates -------------------------------------------------------------- */
/* row->s, from scale <phi(q), phi(k)>, to the score of the formula. */
void ref_ball_score_steps(ref_row *row, const ref_inputs *in, int64_t b, int64_t h, int64_t i, slong prec);
/* gated[keys] = w_j gin_j */
void ref_ball_gate_weights(arb_ptr gated, ref_row *row, const ref_inputs *in, int64_t b, int64_t g, slong prec);
/* row->o from row->u and row->z: gates, norm, gain and shift. */
void ref_ball_output(ref_row *row, const ref_inputs *in, int64_t b, int64_t h, int64_t i, slong prec);

/* ---- ball_norm.c: division by a root ------------------------------------------------------------------------- */
typedef struct ref_root_kind {
    int root;     /* the norm is one of these */
    int length;   /* of u/t */
    int centered; /* the mean is subtracted */
    int mean;     /* the mean of the squares, not their sum */
} ref_root_kind;

ref_root_kind ref_root_norm_kind(const attest_problem *p);
/* x[e], u (times gout with pre-out) before and Norm after, `root` its divisor; 0: that is not surely positive. */
int ref_root_norm(arb_ptr x, arb_t root, const attest_problem *p, int64_t keys, slong prec);
void ref_ball_norm_root(ref_row *row, const ref_inputs *in, int64_t h, slong prec);

/* A vector of zero balls that reports failure; clears and frees. */
arb_ptr ref_ball_vector(int64_t count);
void ref_ball_vector_free(arb_ptr x, int64_t count);

#endif
