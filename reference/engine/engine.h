/* engine.h - what all engines of the reference share: a row, its inputs, its visible keys, ulps, and the
 * engines.
 *
 * Answers what one row of a case is, and rounds what an engine found. The only door to the headers of FLINT, Arb,
 * MPFR and GMP. Sees no kernel and calls no libm.
 *
 * ball: FLINT/Arb; serves every variant this version knows; fills everything.
 * exact: GMP integers over one power of two, rationals only for the last quotient; fills u, z, o again,
 *        independently (shares no arithmetic with ball; shares masks, head map and where a gate or decay is stored).
 * witness: plain MPFR from the formula; own masks, head map; shares nothing but tensors and the line.
 */
#ifndef ATTEST_ENGINE_H
#define ATTEST_ENGINE_H

#include "reference/engine/flint_headers.h"
#include "reference/engine/scope.h"
#include "reference/reference.h"

/* update=delta, efla: what one column of the state S of KV head (b,g) went through at each token t = 0..i, as upper
 * bounds over all columns c (R-DELTA): the size of S' (after the decay, before the write) and of the value written,
 * b_t (gin_t v_t - phi(k_t) S'), and what multiplies an old error. */
typedef struct ref_delta {
    mag_ptr key;   /* [keys] norm2(phi(k_t)) */
    mag_ptr size;  /* [keys] max_c norm2(column c of S') */
    mag_ptr value; /* [keys] max_c |gin_t v_tc| */
    mag_ptr write; /* [keys] max_c |b_t (gin_t v_tc - phi(k_t) S'_c)| */
    mag_ptr rate;  /* [keys] |b_t|, efla: of the formula's b_t */
    mag_ptr decay; /* [keys] max |a_t|; 1 without decay */
    mag_ptr grow;  /* [keys] spectral norm of (I - b_t phi(k_t)^T phi(k_t)) diag(a_t) */
    mag_ptr terms; /* [e] abs_scale of u: |scale| sum_c |phi_c(q)| G_c, G = decayed |h0| + sum_t |phi(k_t)| |write_t| */
    mag_t start;   /* max_c norm2(column c of h0); 0 without */
    mag_t query;   /* norm2(phi(q_i)) */
    mag_t last;    /* max_c norm2(column c of S after token i) */
} ref_delta;

enum { REF_ROW_OUTPUTS = ATTEST_LSE + 1 - ATTEST_O }; /* o, u, z, lse */

/* One row (b,h,i).  Values are those of derivations.md, section 0. */
typedef struct ref_row {
    int64_t e;
    int64_t first, last; /* the visible keys lie in [first,last); all of them without attn_mask */
    int64_t keys;        /* how many there are; length of key, s, w, mass */
    int64_t *key;        /* [keys] which, ascending */
    slong prec;
    uint32_t engine; /* ATTEST_ENGINE_BALL or _EXACT */
    int computed;
    int no_truth;    /* a non-finite input is read */
    int empty;       /* no visible key and no given state: o=u=0, z=0, lse=-inf */
    int illposed;    /* the norm's divisor contains 0 at this precision: o undefined */
    int lse_absent;  /* z <= 0 surely, or no lse in this variant */
    int lse_open;    /* z contains 0: lse not known at this precision */
    int rational;    /* uq, zq, oq are set (oq not where illposed) */
    int reduced;     /* oq is in lowest terms too: ref_row_reduce() */
    arb_ptr u, o;    /* [e] */
    arb_t z, lse, c; /* c: center (0 for zero) */
    mpq_t *uq, *oq;  /* [e] */
    mpq_t zq;
    arb_ptr s;       /* [keys] scores s_ij, before subtracting c */
    arb_ptr w;       /* [keys] D_ij W(s-c); 0 where the filter drops the key */
    mag_ptr mass;    /* [keys] upper bound of |scale| sum_c |D_ijc phi_c(q) phi_c(k)|, D only with decay=vector */
    mag_ptr turn;    /* [keys] rope, cosformer: |scale| sum over the pairs that a rotation mixes of
                            (sum of |q| in the pair)(sum of |k| in the pair) before phi (cosformer without rope:
                            after relu); 0 without (R-ROTATE) */
    mag_ptr decay;   /* [keys] |D_ij|, upper; 1 without decay and with decay=vector */
    mag_ptr kept;    /* [keys] with a filter: |D_ij W(s_j-c)| whether or not the key passes, upper */
    arb_ptr gin;     /* [keys] gin_j; 1 without gates on values */
    arb_ptr pass;    /* [keys] gin_j keep_ij/(1-R) of dropout; without: not set, see ref_row_pass() */
    arb_t gout;      /* gout_i; 1 without gates on rows (and with pre-out: it is in here too) */
    mag_t decay0;    /* |product of the decays t = 0..i| that multiplies h0 and z0, upper; 1 without; the delta
                            rule: not used (delta.decay) */
    ref_delta delta; /* update=delta, efla; s, w, mass, turn, decay, kept are then 0 and u = scale phi(q) S */
    /* What no kernel changes, made when first asked for; the row forgets it when it is computed again. */
    int has_facts;
    attest_row_facts facts;             /* attest_truth_facts() */
    mag_ptr abs_scale[REF_ROW_OUTPUTS]; /* ref_abs_scale_kept(), by role from ATTEST_O */
} ref_row;

void ref_row_init(ref_row *row);
/* Sizes the arrays for e values and `keys` keys (contents then undefined). */
attest_status ref_row_resize(ref_row *row, int64_t e, int64_t keys, attest_error *err);
void ref_row_clear(ref_row *row);
/* [keys] What multiplies v_j in u beside the weight; NULL: nothing does. */
arb_srcptr ref_row_pass(const ref_row *row, const attest_problem *p);
/* Puts oq into lowest terms, which costs more than all that came before: for who compares or prints fractions. */
void ref_row_reduce(ref_row *row);

/* The inputs of a problem, with the tensors looked up once.  k and v of 8 bits are f64 here, times their scales;
 * role[] points into this struct then, which therefore is not copied but to change a role for a while. */
typedef struct ref_inputs {
    const attest_problem *p;
    const attest_tensor *role[ATTEST_TENSOR_ROLES];
    attest_tensor numbers[2]; /* those of k and v, owned (R-KV-SCALE); data NULL without scales */
    const attest_tensor *h0[ATTEST_STATE_SLOTS], *z0[ATTEST_STATE_SLOTS];
    int lowest, highest;               /* degrees of the states; highest < lowest: no recurrence */
    struct ref_ball_cache *ball;       /* decoded blocks, owned by the truth; NULL: decoded anew for each row */
    struct ref_exact_cache *exact;     /* a head's integers (exact_integer.h), owned likewise; NULL: none are kept */
    struct ref_update_cache **updates; /* sizes of a head's states (bound_updates.c), owned likewise; NULL: not kept */
} ref_inputs;

attest_status ref_inputs_set(ref_inputs *in, const attest_problem *p, const attest_bundle *bundle, attest_error *err);
void ref_inputs_clear(ref_inputs *in);

/* The last query of entry b: n-1, or len_q_b-1, which may be -1. */
int64_t ref_last_query(const ref_inputs *in, int64_t b);

/* Position i+off of query i among the keys: off = len_b - len_q_b with causal-br, else 0. */
int64_t ref_position(const ref_inputs *in, int64_t b, int64_t i);

/* Is key j of [first,last), as ref_visible() gives them, visible to (b,h,i): attn_mask? */
int ref_sees(const ref_inputs *in, attest_row at, int64_t j);

/* Keys visible to (b,i) but for attn_mask via attest_visible(); len and len_q from the tensors. */
void ref_visible(const ref_inputs *in, int64_t b, int64_t i, int64_t *first, int64_t *last);

/* ball: computes the row at working precision prec (bits).  Reads every axis through its rows in axis/. */
attest_status ref_ball_row(ref_row *row, const ref_inputs *in, attest_row at, slong prec, attest_error *err);
/* S_n (z_state: without v) of KV head (b,g) after the last key visible to ref_last_query(), full Kronecker:
 * out[rows*e] or out[rows].  abs_scale[..] (or NULL) gets the sum of absolute terms. */
attest_status ref_ball_state(arb_ptr out, mag_ptr abs_scale, const ref_inputs *in, int64_t b, int64_t g, int degree,
                             int z_state, slong prec, attest_error *err);
int ref_ball_serves(const attest_problem *p, char *why, size_t len);

/* exact: 1 if row (b,h,i) is rational for the values at hand and its predicted size is affordable (theory
 * A3: bits <= 2^16 an integer). */
int ref_exact_serves(const ref_inputs *in, attest_row at);
/* Fills uq, zq, oq (not reduced), rational, illposed (z exactly 0) and overwrites u, z, o by balls around them at
 * row->prec; row already holds the ball engine's row.  ATTEST_INTERNAL if they do not overlap. */
attest_status ref_exact_row(ref_row *row, const ref_inputs *in, attest_row at, attest_error *err);
/* As ref_ball_state, as rationals. */
int ref_exact_state_serves(const ref_inputs *in, int64_t b, int64_t g, int degree);
attest_status ref_exact_state(mpq_t *out, const ref_inputs *in, int64_t b, int64_t g, int degree, int z_state,
                              attest_error *err);

/* The forms of the exact engine (derivations.md, section 6): u and z of every query of head (b,h), computed by states
 * and apart from the pairwise form. */
typedef enum ref_exact_form_kind {
    REF_FORM_RECURRENT = 0, /* token by token */
    REF_FORM_CHUNK = 1,     /* states of whole chunks of `size` keys, pairs inside the last; delta: WY form */
    REF_FORM_SPLIT = 2,     /* two parts, cut before key `size`, merged by adding (u,z) */
    REF_FORM_CARRIED = 3,   /* two passes, cut before key `size`; the second's h0 is ht by its definition */
    REF_FORM_SCAN = 4       /* associative scan of (decay, state) pairs, bracketed by `bracketing` */
} ref_exact_form_kind;

typedef struct ref_exact_form_options {
    ref_exact_form_kind kind;
    int packed;          /* layout of the states; the delta rule's and the scan's are full */
    int64_t size;        /* chunk: >= 1; split, carried: 0..m */
    uint64_t bracketing; /* scan: 0 from the left, 1 from the right, else a tree drawn from it */
} ref_exact_form_options;

/* u[n*e], z[n] (delta: 0).  ATTEST_UNSUPPORTED: the variant has no recurrence, or a value at hand is irrational or not
 * finite; with a center the states are those of center=zero (R-CENTER-STATES). */
attest_status ref_exact_form(mpq_t *u, mpq_t *z, const ref_inputs *in, int64_t b, int64_t h,
                             const ref_exact_form_options *options, attest_error *err);
/* ht.n (z_state: zt.n) of the KV head that query head h reads, full Kronecker, as the recurrence leaves it: sums token
 * by token, the delta rule by WY over all tokens. */
attest_status ref_exact_form_state(mpq_t *out, const ref_inputs *in, int64_t b, int64_t h, int degree, int z_state,
                                   attest_error *err);
/* u, z of every query by the exact engine: pairwise, the delta rule token by token; o[n*e], defined[n] where not NULL.
 */
attest_status ref_exact_rows(mpq_t *u, mpq_t *z, mpq_t *o, int *defined, const ref_inputs *in, int64_t b, int64_t h,
                             attest_error *err);
/* o[n*e] of head (b,h) rounded once to `dtype`; NaN where the divisor is 0.  ATTEST_UNSUPPORTED as ref_exact_rows(). */
attest_status ref_exact_rounded(uint64_t *o, uint32_t dtype, const ref_inputs *in, int64_t b, int64_t h,
                                attest_error *err);

/* witness: value +- error for every output of the row.  error[...] are upper bounds. */
typedef struct ref_witness {
    int64_t e;
    int no_truth, empty, illposed, lse_absent;
    mpfr_t *u, *o, z, lse; /* [e] */
    mpfr_t *u_error, *o_error, z_error, lse_error;
} ref_witness;
void ref_witness_init(ref_witness *w);
void ref_witness_clear(ref_witness *w);
int ref_witness_serves(const attest_problem *p, char *why, size_t len);
attest_status ref_witness_row(ref_witness *w, const attest_problem *p, const attest_bundle *in, attest_row at,
                              mpfr_prec_t bits, attest_error *err);
attest_status ref_witness_state(mpfr_t *value, mpfr_t *error, const attest_problem *p, const attest_bundle *in,
                                int64_t b, int64_t g, int degree, int z_state, mpfr_prec_t bits, attest_error *err);

/* Tie lemma (R-TIE): 1 if o_ic equals the rational `candidate` exactly, decided by comparing the mean of
 * v over every group of keys with equal exact score; 0 if it does not; -1 if the lemma does not apply. */
int ref_tie(const ref_inputs *in, attest_row at, int64_t channel, const mpq_t candidate);

/* The cached row of a truth at `prec` bits, with the engine the truth asked for.  Each precision is kept for itself:
 * what is said of one kernel depends on no other kernel that was judged before it. */
attest_status ref_truth_row(ref_row **row, attest_truth *truth, attest_row at, slong prec, attest_error *err);
/* The same at the first of the precisions START, 2 START, ... CAP at which its quotient is known; at CAP where there is
 * none. */
attest_status ref_truth_row_settled(ref_row **row, attest_truth *truth, attest_row at, attest_error *err);
const ref_inputs *ref_truth_inputs(const attest_truth *truth);

/* ht.n or zt.n of one (b,g) in the full layout, as ref_ball_state() gives it. */
typedef struct ref_state {
    int64_t b, g, count; /* count: elements */
    int degree, z_state;
    slong prec;
    arb_ptr value;
    mag_ptr abs_scale;
    struct ref_state *next;
} ref_state;

/* The state of degree `degree` (zt.n: z_state) at precision `prec`, made once: many kernels are judged by it.  Valid
 * until the next call for this truth. */
attest_status ref_truth_state(const ref_state **state, attest_truth *truth, int64_t b, int64_t g, int degree,
                              int z_state, slong prec, attest_error *err);

/* ulp.c: interval of |got - t| in ulps of `dtype` for t in the ball; outward doubles (derivations R-ULP). */
void ref_ulp_interval(double *lo, double *hi, const arb_t t, uint64_t got, uint32_t dtype, int ftz);
/* One nearest value of format dtype for every point of the ball?  1: *bits is it; 0: open. */
int ref_round_ball(uint64_t *bits, const arb_t t, uint32_t dtype);
uint64_t ref_round_rational(const mpq_t t, uint32_t dtype);
/* The same of numerator 2^exponent / denominator, which need not be in lowest terms; the denominator is above 0. */
uint64_t ref_round_quotient(const mpz_t numerator, const mpz_t denominator, long exponent, uint32_t dtype);
/* Outward doubles of a ball. */
double ref_lower(const arb_t x);
double ref_upper(const arb_t x);
double ref_mag_upper(const mag_t x);

/* abs_scale.c and bound.c: what the row's output may be wrong by; mags are upward. */
typedef struct ref_bound {
    mag_t total;
    mag_t term[ATTEST_TERM_COUNT];
    int unbounded; /* a lemma's condition fails: no bound */
    int likely;    /* `probable` is a bound in R-PROBABILISTIC's sense */
    mag_t probable;
} ref_bound;
void ref_bound_init(ref_bound *b);
void ref_bound_clear(ref_bound *b);
/* abs_scale[e] (o, u) or abs_scale[1] (z, lse). */
attest_status ref_abs_scale_row(mag_ptr abs_scale, const ref_row *row, const ref_inputs *in, attest_tensor_id id,
                                attest_row at, attest_error *err);
/* The same, kept with the row: several kernels and passes ask. */
attest_status ref_abs_scale_kept(mag_srcptr *abs_scale, ref_row *row, const ref_inputs *in, attest_tensor_id id,
                                 attest_row at, attest_error *err);
attest_status ref_bound_row(ref_bound *bound, const ref_row *row, const ref_inputs *in, const attest_numerics *numerics,
                            uint32_t flags, attest_tensor_id id, uint32_t got_dtype, attest_row at, attest_error *err);
void ref_update_cache_free(struct ref_update_cache *cache);
/* Of the state of KV head (b,g), which has a bound whatever the queries hold: bound[rows*e] or [rows]; state is the
 * enclosure, abs_scale the sum of absolute terms. */
attest_status ref_bound_state(ref_bound *bound, int64_t count, mag_srcptr abs_scale, arb_srcptr state,
                              const ref_inputs *in, const attest_numerics *numerics, uint32_t flags,
                              attest_tensor_id id, uint32_t got_dtype, int64_t b, int64_t g, attest_error *err);

#endif
