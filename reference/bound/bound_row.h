/* bound_row.h - private to the files of the room: the bound of one row in the making. */
#ifndef ATTEST_BOUND_ROW_H
#define ATTEST_BOUND_ROW_H

#include "reference/bound/bound.h"

/* A row's weights for R-RUN. */
typedef struct bound_run {
    int64_t keys, tile; /* keys a part: all, or those of a tile */
    int64_t parts;      /* of a split kernel, which may begin anywhere; else 0 */
    int extra;          /* a sink or eps is added to the denominator */
    int likely;         /* R-PROBABILISTIC is asked for */
    ulong root;         /* of the number of roundings, rounded up */
    slong shift;
    double *weight, *error; /* [keys] |w_j 2^-shift - weight_j| <= error_j; weight NULL: nothing is declared */
    int casts;              /* the next two hold */
    double *cast, *open;    /* [keys] its cast changes weight j by cast_j +- open_j, times 2^shift (R-CAST-KNOWN) */
} bound_run;

typedef struct row_job {
    const ref_row *row;
    const ref_inputs *in;
    int64_t b, h, i, g;
    uint32_t got_dtype;
    bound_model model;
    bound_weights weights;
    bound_sums sums;
    bound_run run;
    mag_ptr given, given_error; /* [e] absolute terms of given states; what the query's features do to them */
    mag_t given_z, given_z_error;
    mag_t gate;                  /* |gout| */
    mag_t total_size;            /* sum over the keys of |w| and its errors */
    mag_t total[BOUND_SETS];     /* sums of the sets over the keys */
    mag_t denominator;           /* R-SUM: error of the computed denominator (without the weights' own errors) */
    mag_t divisor, weak, weaker; /* lower bounds: |Z|, |Z| - weights' errors, that - denominator */
    mag_t division;              /* relative error of the quotient */
    mag_t out, out_tiny;         /* rounding to the output's format */
    mag_ptr update;              /* [e+1] R-UPDATE: what updates and readouts of exact states err by, u and (last) z */
    int likely;                  /* R-PROBABILISTIC holds: an o, not behind a root */
    mag_t likely_denominator;    /* as denominator */
    mag_t likely_share;          /* the part of what the gammas of set[BOUND_SUM] bring that is enough */
} row_job;

/* bound_run.c.  Leaves `run` as it is (all 0) where no order is declared. */
attest_status bound_run_init(bound_run *run, const bound_model *m, const ref_row *row, attest_error *err);
void bound_run_clear(bound_run *run);
/* y >= sum 2^shift, sum >= 0 of `count` roundings in double at most; infinite for a NaN. */
void bound_run_raised(mag_t y, double sum, int64_t count, slong shift);
/* How many roundings of a partial sum there are. */
int64_t bound_run_roundings(const bound_run *run);
/* Takes y, a bound of the rounding errors of sum w_j x_j (x NULL: 1), down to that of the serial sum, and `probable`
 * to what R-PROBABILISTIC says; `moved` >= sum (a_j + c_j) |x_j|, what the errors of the weights and their casts do. */
void bound_run_sum(mag_t y, mag_t probable, const bound_run *run, const bound_model *m, const bound_weights *w,
                   const double *x, const mag_t moved);

/* The same for the row's denominator, and for column c of its numerator, whose |v| are in job->sums. */
void bound_run_denominator(mag_t y, mag_t probable, const row_job *job);
void bound_run_numerator(mag_t y, mag_t probable, row_job *job, int64_t c);
/* Finds what the casts of the weights do, where the declared numerics tell; takes y >= |sum c_j v_jc| down to that. */
void bound_run_casts(bound_run *run, const bound_model *m, const bound_weights *w, const ref_row *row);
void bound_run_cast(mag_t y, row_job *job, int64_t c);

/* Adds to term[DIVISION] the relative error of the last operation on `inner`, the row's gate if `gated`, and the
 * rounding of the output; forms the total; looks for overflow.  `truth` is what is stored. */
void bound_finish(ref_bound *bound, const row_job *job, const arb_t inner, const arb_t truth, const mag_t relative,
                  int gated);
void bound_unbounded(ref_bound *bound);

/* bound_common.c: takes y >= sum a_j |v_jc - o| of the exponentials' errors a_j down to what they do where factors are
 * common to many keys; |v - o| of column c is in job->sums. */
void bound_common_take(mag_t y, row_job *job, int64_t c, const arb_t o);

/* bound_updates.c.  Sets job->update: infinite where no order is declared or the state is too large. */
void bound_updates_set(row_job *job);
/* What updates and readouts bring to column c (e: of z), and what they probably do: `terms` is the sum of the states'
 * absolute terms, `moved` what their own errors and those of the features do.  Untouched where no order is declared. */
void bound_updates_find(mag_t y, mag_t probable, const row_job *job, const mag_t terms, const mag_t moved, int64_t c);

/* bound_running.c: nothing where no running mean is kept.  What it rounds beside its sums, times the largest |v| of the
 * column in job->sums and `size`, that of the divisor where u is asked for; cast weights meet v - o, where the
 * denominator does not add them. */
void bound_running_sum(ref_bound *bound, const row_job *job, const mag_t size);
void bound_running_cast(mag_t cast, const row_job *job);

/* bound_probabilistic.c.  Errors of the sums of the column in job->sums (R-SUM, R-GATE), and what they probably are. */
void bound_column_sums(mag_t y, mag_t probable, row_job *job, int64_t c);
/* Sets likely_share. */
void bound_probabilistic_share(row_job *job);
/* What is left of `hard`, a sum of set[BOUND_SUM] over the keys times numbers of at most `top`. */
void bound_probabilistic_sum(mag_t probable, const row_job *job, const mag_t hard, const mag_t top);
/* `probable` becomes at least what is left of hard/divisor (NULL: 1), hard >= |sum c_j x_j| for the casts' errors c_j
 * and what is in job->sums. */
void bound_probabilistic_cast(mag_t probable, const row_job *job, const mag_t hard, mag_srcptr divisor);
/* bound->probable holds the casts' part: adds those of the scores and of the sums (before bound_finish()), and, in it,
 * what stays hard. */
void bound_probabilistic_terms(ref_bound *bound, const row_job *job, const mag_t sums);
void bound_probabilistic_finish(ref_bound *bound);
/* From the terms of an undivided u to o = gout u, gout u/t, gout u/max(z,F), gout Norm by a root. */
void bound_out_none(ref_bound *bound, const row_job *job);
void bound_out_length(ref_bound *bound, const row_job *job);
/* `error`: of the divisor max(z,F). */
void bound_out_floor(ref_bound *bound, const row_job *job, const arb_t divisor, const mag_t error);
void bound_out_root(ref_bound *bound, const row_job *job);

/* What a kernel of the delta rule adds to the error of its state at each token (R-DELTA), for every column. */
typedef struct bound_errors {
    mag_ptr local;   /* [keys] of the value written: times phi(k_t) */
    mag_ptr plain;   /* [keys] of the state after the token, norm2 */
    mag_ptr decayed; /* [keys] of the state after its decay, before the token, norm2 */
} bound_errors;

/* bound_adjoint.c: sum >= |phi(q) (S^ - S)| in any column, beside what is known otherwise; infinite where it is not
 * known. */
void bound_adjoint_sum(mag_t sum, const row_job *job, const bound_errors *errors);

/* bound_lse.c: error of the logarithm, of adding the maximum, and of changes of base; rho, by term. */
void bound_lse_roundings(mag_t y, const row_job *job, const arb_t divisor);
void bound_lse_terms(ref_bound *bound, const row_job *job);

/* bound_hull.c: takes column c of a quotient down to what holds of any mean of the values, where the weights' errors
 * are at least half of the divisor; weights.overflow is that of scores and inputs. */
void bound_hull_take(ref_bound *bound, row_job *job, int64_t c, const arb_t divisor);
/* The same of lse, without its roundings (lse_roundings()); 0: nothing is known. */
int bound_hull_lse(mag_t y, const row_job *job);

/* bound_delta.c: terms of u = scale phi(q) S. */
void bound_delta_columns(ref_bound *bound, row_job *job);

typedef struct delta_job {
    const bound_model *m;
    const ref_row *row;
    const ref_inputs *in;
    int64_t b, g;
    int recurrent;           /* the state is stored after every token and is what is read */
    int64_t chunk, start;    /* tokens a chunk; first token of the one at hand */
    mag_t error, mass, bad;  /* E, Q, Qf */
    mag_t fresh;             /* the part of Q that this chunk's tokens wrote: pairs */
    mag_t peak;              /* the largest Q before a decay since the start of the chunk */
    mag_t most, logs;        /* R-DECAY; logs: relative error of D by way of logarithms */
    mag_t made, near;        /* of a factor that is an exponential; of their product since the chunk's start */
    mag_t gate;              /* relative error of a gated value */
    mag_t top, growth, ends; /* unknown: largest Q, product of growths above 1, roundings at ends of chunks */
    mag_t key_top, written;  /* largest key; sum of |w| */
    bound_errors errors;     /* of each token; NULL: nobody asks */
    int overflow;
} delta_job;

/* What one token brings. */
typedef struct delta_token {
    mag_t key, wrong;   /* |k^|, |k^ - k| */
    mag_t before, old;  /* Q and E of S', after the decay */
    mag_t theta, shift; /* error of b: relative, absolute */
    mag_t write, local; /* |w^|; error of w^ beside that of S' */
} delta_token;

/* bound_delta_lost.c.  y = max(y, x): a call, some compilers lose the size of a mag_t whose inline copy they see. */
void bound_raise(mag_t y, const mag_t x);
/* Underflow of an operation, or of a product of decays, on the way to token t: times the factors above 1; and of
 * exponentials that make a decay (R-DECAY). */
void bound_delta_unit(mag_t y, const delta_job *job, int64_t t);
/* What decays lose on the terms that the state is made of, before they decay. */
void bound_delta_decays_lost(mag_t y, const delta_job *job, int64_t t);
/* Both factors of a pair, of a key or a query of norm2 at most `kappa`, and of what it reads of the chunk's start, may
 * be stored times decays. */
void bound_delta_pairs_lost(mag_t y, const delta_job *job, const mag_t kappa);
/* Keys or written values times decays that form the state at a chunk's end, of so many tokens: norm2 of a column. */
void bound_delta_end_lost(mag_t y, const delta_job *job, int64_t tokens);
/* The same of a query that may be stored once it is scaled and once it is decayed; times max(1, |scale|). */
void bound_delta_query_lost(mag_t y, const delta_job *job, const mag_t query);
/* Adds the underflow of the operations that make the value written by token t. */
void bound_delta_lose(mag_t y, const delta_job *job, const delta_token *token, int64_t t);
/* Adds what a cast to p does to products of the query with the chunk's keys, before they meet written values (R-CAST);
 * g: their relative error. */
void bound_delta_cast(mag_t y, delta_job *job, const mag_t query, const mag_t g);

#endif
