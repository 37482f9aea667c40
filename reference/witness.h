/* witness.h - inside reference/: the witness engine's own numbers and its own reading of the formula.
 *
 * A wit is a real number known as value +- error: v at the working precision, rounded to nearest by one MPFR
 * operation per scalar operation; e at 64 bits, every operation on it rounded upward, so that
 * |v - truth| <= e always.  A number that cannot be known (a non-finite input, a divisor that may be zero,
 * an exponent beyond MPFR's range) is NaN +- inf and stays so.  Nothing here is shared with the other
 * engines but the tensors and the parsed problem.
 */
#ifndef ATTEST_WITNESS_H
#define ATTEST_WITNESS_H

#include "reference/engine.h"

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
void wit_add(wit *r, const wit *x, const wit *y);
void wit_sub(wit *r, const wit *x, const wit *y);
void wit_mul(wit *r, const wit *x, const wit *y);
void wit_div(wit *r, const wit *x, const wit *y);
void wit_exp(wit *r, const wit *x);
void wit_log(wit *r, const wit *x);
void wit_tanh(wit *r, const wit *x);
void wit_sqrt(wit *r, const wit *x);
void wit_max(wit *r, const wit *x, const wit *y);
void wit_min(wit *r, const wit *x, const wit *y);
int wit_may_be_zero(const wit *x);     /* the interval contains 0, or x is not known */
int wit_surely_positive(const wit *x);

/* What the formula reads, looked up once; the witness's own masks, head map and feature maps. */
typedef struct wit_case {
    const attest_problem *p;
    const attest_bundle *in;
    const attest_tensor *q, *k, *v, *sink;
    const attest_tensor *gin, *gout, *slope, *gain, *shift; /* NULL: not read */
    int64_t len;               /* keys of this batch entry */
    unsigned lowest, highest;  /* degrees of the states */
    int given_state;           /* state=draw: h0 and z0 are added */
    mpfr_prec_t bits;
} wit_case;

attest_status wit_case_set(wit_case *w, const attest_problem *p, const attest_bundle *in, int64_t b, mpfr_prec_t bits,
                           attest_error *err);
int64_t wit_head(const attest_problem *p, int64_t h);                       /* KV head of query head h */
int64_t wit_back(const attest_problem *p, int64_t len, int64_t i, int64_t j); /* i+off-j: how far key j lies before i */
int wit_sees(const attest_problem *p, int64_t len, int64_t i, int64_t j);   /* is key j visible to query i? */
/* phi[d] of the vector (i0,i1,i2) of t */
void wit_feature(wit *phi, const wit_case *w, const attest_tensor *t, int64_t i0, int64_t i1, int64_t i2);
const attest_tensor *wit_state_tensor(const wit_case *w, uint32_t kind, unsigned degree);
int64_t wit_state_rows(const attest_problem *p, unsigned degree);           /* d^degree */

/* Product of the channels of `phi` that row `index` of the Kronecker power `degree` names; 1 for degree 0. */
void wit_monomial(wit *r, const wit *phi, const attest_problem *p, unsigned degree, int64_t index);

/* u += sum_n coefficient_n sum_rows phi(q)^(x n) h0.n, and the same of z0.n to z. */
void wit_add_given_state(wit *u, wit *z, const wit_case *w, const wit *phi_q, int64_t b, int64_t g);

#endif
