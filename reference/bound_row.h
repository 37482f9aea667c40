/* bound_row.h - private to bound.c, bound_out.c and bound_delta.c: the bound of one row in the making. */
#ifndef ATTEST_BOUND_ROW_H
#define ATTEST_BOUND_ROW_H

#include "reference/bound.h"

typedef struct row_job {
    const ref_row *row;
    const ref_inputs *in;
    int64_t b, h, i, g;
    uint32_t got_dtype;
    bound_model model;
    bound_weights weights;
    bound_sums sums;
    mag_ptr given, given_error;  /* [e] absolute terms of given states; what the query's features do to them */
    mag_t given_z, given_z_error;
    mag_t gate;                  /* |gout| */
    mag_t total_size;            /* sum over the keys of |w| and its errors */
    mag_t total[BOUND_SETS];     /* sums of the sets over the keys */
    mag_t denominator;           /* R-SUM: error of the computed denominator (without the weights' own errors) */
    mag_t divisor, weak, weaker; /* lower bounds: |Z|, |Z| - weights' errors, that - denominator */
    mag_t division;              /* relative error of the quotient */
    mag_t out, out_tiny;         /* rounding to the output's format */
} row_job;

/* Adds to term[DIVISION] the relative error of the last operation on `inner`, the row's gate if `gated`, and the
 * rounding of the output; forms the total; looks for overflow.  `truth` is what is stored. */
void bound_finish(ref_bound *bound, const row_job *job, const arb_t inner, const arb_t truth, const mag_t relative,
                  int gated);
void bound_unbounded(ref_bound *bound);
/* From the terms of an undivided u to o = gout u, gout u/t, gout u/max(z,F), gout Norm by a root. */
void bound_out_none(ref_bound *bound, const row_job *job);
void bound_out_length(ref_bound *bound, const row_job *job);
/* `error`: of the divisor max(z,F). */
void bound_out_floor(ref_bound *bound, const row_job *job, const arb_t divisor, const mag_t error);
void bound_out_root(ref_bound *bound, const row_job *job);

/* bound_delta.c: terms of u = scale phi(q) S. */
void bound_delta_columns(ref_bound *bound, row_job *job);

#endif
