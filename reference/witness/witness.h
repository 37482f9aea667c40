/* witness.h - the witness engine: plain MPFR from the formula, its own numbers, its own reading of the formula.
 *
 * Answers the same question as the other engines, from tensors and parsed line alone. May touch nothing of them.
 *
 * A wit is a real number known as value +- error: v at the working precision, rounded to nearest by one MPFR
 * operation per scalar operation; e at 64 bits, every operation on it rounded upward, so that
 * |v - truth| <= e always.  A number that cannot be known (a non-finite input, a divisor that may be zero,
 * an exponent beyond MPFR's range) is NaN +- inf and stays so.  Nothing here is shared with the other
 * engines but the tensors and the parsed problem.
 */
#ifndef ATTEST_WITNESS_H
#define ATTEST_WITNESS_H

#include "reference/engine/engine.h"

#define WIT_ERROR_BITS 64

typedef struct wit {
    mpfr_t v, e;
} wit;

void wit_init(wit *x, mpfr_prec_t bits); /* 0 +- 0 */
void wit_clear(wit *x);
wit *wit_array(int64_t count, mpfr_prec_t bits, attest_error *err); /* NULL: no memory */
void wit_array_free(wit *x, int64_t count);

/* Every operand may be the result.  Rules and their proofs: witness_number.c. */
void wit_set(wit *r, const wit *x);
void wit_set_double(wit *r, double x); /* exact for 53 bits and more */
void wit_set_ui(wit *r, unsigned long x);
void wit_set_unknown(wit *r); /* NaN +- inf */
void wit_set_pi(wit *r);
void wit_add(wit *r, const wit *x, const wit *y);
void wit_sub(wit *r, const wit *x, const wit *y);
void wit_mul(wit *r, const wit *x, const wit *y);
void wit_div(wit *r, const wit *x, const wit *y);
void wit_exp(wit *r, const wit *x);
void wit_expm1(wit *r, const wit *x); /* e^x - 1 */
void wit_log(wit *r, const wit *x);
void wit_tanh(wit *r, const wit *x);
void wit_sqrt(wit *r, const wit *x);
void wit_cos(wit *r, const wit *x);
void wit_sin(wit *r, const wit *x);
void wit_pow(wit *r, const wit *base, const wit *x); /* base^x; not known unless the base is exact and above 0 */
void wit_max(wit *r, const wit *x, const wit *y);
void wit_min(wit *r, const wit *x, const wit *y);
int wit_may_be_zero(const wit *x); /* the interval contains 0, or x is not known */
int wit_surely_positive(const wit *x);
int wit_surely_not_negative(const wit *x);
int wit_is_zero(const wit *x); /* 0 without error */

/* What the formula reads, looked up once; the witness's own masks, head map and feature maps. */
typedef struct wit_case {
    const attest_problem *p;
    const attest_bundle *in;
    const attest_tensor *q, *k, *v, *sink; /* this and all below: NULL if not read */
    const attest_tensor *gin, *gout, *sk, *sq, *slope, *gain, *shift, *bias, *mask, *keep;
    const attest_tensor *k_scale, *v_scale;    /* of 8 bits */
    const attest_tensor *a, *gamma, *strength; /* strength: b of delta and efla */
    int64_t len, len_q;                        /* keys and queries of this batch entry */
    unsigned lowest, highest;                  /* degrees of the states */
    int given_state;                           /* state=draw: h0 and z0 are added */
    int delta;                                 /* update=delta, efla: no z, no z0 */
    mpfr_prec_t bits;
} wit_case;

attest_status wit_case_set(wit_case *w, const attest_problem *p, const attest_bundle *in, int64_t b, mpfr_prec_t bits,
                           attest_error *err);
/* Channel c of token j of t: q, k or v; those of 8 bits times their scale, which a double holds exactly. */
double wit_stored(const wit_case *w, const attest_tensor *t, int64_t b, int64_t h, int64_t j, int64_t c);
double wit_bias(const wit_case *w, int64_t b, int64_t h, int64_t i, int64_t j); /* 0 without */
int wit_shows(const wit_case *w, int64_t b, int64_t h, int64_t i, int64_t j);   /* attn_mask; 1 without */
int64_t wit_head(const attest_problem *p, int64_t h);                           /* KV head of query head h */
int64_t wit_back(const wit_case *w, int64_t i, int64_t j); /* i+off-j: how far key j lies before i */
int wit_sees(const wit_case *w, int64_t i, int64_t j);     /* is key j visible to query i, but for attn_mask? */
int64_t wit_last(const wit_case *w, int64_t i);            /* last key visible to query i, or -1 */

/* ---- witness_feature.c: rope, phi, and what a turn by the position does to them ----------------------------- */
/* The features that it knows, as bits of the axis's enum. */
uint32_t wit_features(void);
int64_t wit_dim(const attest_problem *p); /* length of phi: d, with cosformer 2d */
/* x[d]: the vector (i0,i1,i2) of t turned by rope to position pos, then mapped; cosformer: relu only. */
void wit_map(wit *x, const wit_case *w, const attest_tensor *t, int64_t i0, int64_t i1, int64_t i2, int64_t pos);
/* phi[wit_dim] of the same. */
void wit_feature(wit *phi, const wit_case *w, const attest_tensor *t, int64_t i0, int64_t i1, int64_t i2, int64_t pos);
/* r = pi pos/(2 max(n,m)), the angle of cosformer */
void wit_cosformer_angle(wit *r, const wit_case *w, int64_t pos);

/* ---- witness_token.c: what a token carries besides k and v -------------------------------------------------- */
/* The slope of the query head: stored; of alibi=usual as the ALiBi paper's code has it: of the first P heads, P a power
 * of two, powers of 2^(-8/P), of the others every second of those that 2P heads have. */
void wit_slope(wit *slope, const wit_case *w, int64_t head);
/* Product of the decays of the tokens from..to, of key dimension c with decay=vector; 1 if there is none. */
void wit_decay(wit *r, const wit_case *w, int64_t b, int64_t g, int64_t c, int64_t from, int64_t to);
void wit_gin(wit *r, const wit_case *w, int64_t b, int64_t g, int64_t j);  /* 1 without gates on values */
void wit_gout(wit *r, const wit_case *w, int64_t b, int64_t h, int64_t i); /* 1 without gates on rows */
/* What u gets of the weight of key j by query i of head h: 0, or 1/(1-R); 1 without dropout. */
void wit_dropped(wit *r, const wit_case *w, int64_t b, int64_t h, int64_t i, int64_t j);

/* Does row (b,h,i), which sees key[0..keys), read finite numbers only?  witness_reads.c */
int wit_reads_finite(const wit_case *w, const int64_t *key, int64_t keys, int64_t b, int64_t h, int64_t i);

/* ---- witness_state.c ---------------------------------------------------------------------------------------- */
const attest_tensor *wit_state_tensor(const wit_case *w, uint32_t kind, unsigned degree); /* witness.c */
int64_t wit_state_rows(const attest_problem *p, unsigned degree);                         /* wit_dim^degree */

/* Product of the channels of `phi` that row `index` of the Kronecker power `degree` names; 1 for degree 0. */
void wit_monomial(wit *r, const wit *phi, const attest_problem *p, unsigned degree, int64_t index);

/* u += sum_n coefficient_n sum_rows phi(q)^(x n) h0.n decayed to token i, and the same of z0.n to z. */
void wit_add_given_state(wit *u, wit *z, const wit_case *w, const wit *phi_q, int64_t b, int64_t g, int64_t i);

/* update=delta, efla: S[wit_dim*e] after every token visible to query i.  witness_delta.c */
attest_status wit_delta_state(wit *s, const wit_case *w, int64_t b, int64_t g, int64_t i, attest_error *err);

#endif
