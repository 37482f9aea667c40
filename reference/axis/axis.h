/* axis.h - the axes of a variant, as the reference computes them: one file per axis, one row per value.
 *
 * The room answers who serves a value, and what the value does: as an enclosure in balls, in exact numbers, as an
 * upper bound of its size, and as the error of a kernel that computes it, by the lemma of derivations.md that the row
 * names.  It may not touch what an engine keeps (blocks, states, caches), nor go over the keys of a row: the loops are
 * in ball/, exact/ and bound/, which call the rows.  The witness and tests/independent/ write every value a second
 * time and include nothing from here.
 *
 * Where a function of a row is NULL, whoever would call it does not serve the value, unless the field says otherwise.
 */
#ifndef ATTEST_AXIS_H
#define ATTEST_AXIS_H

#include "reference/engine/dyadic.h"
#include "reference/engine/engine.h"
#include "reference/engine/roundoff.h"

/* ---- who serves what: axis.c --------------------------------------------------------------------------------- */
/* Who takes the values of the axes, as bits.  Where a row has functions for one of them, they are the bit. */
enum {
    AXIS_BALL = 1u << 0,  /* ball/ */
    AXIS_EXACT = 1u << 1, /* exact/exact.c: rows as rationals */
    AXIS_WORDS = 1u << 2, /* exact/exact_integer.c: the same by integers of fixed size */
    AXIS_STATE = 1u << 3, /* exact/exact_state.c: states as rationals */
    AXIS_FORM = 1u << 4,  /* exact/exact_forms.c: recurrent, chunked, split, scanned */
    AXIS_TIE = 1u << 5,   /* truth/tie.c */
    AXIS_DD = 1u << 6,    /* dd/ */
    AXIS_YARD = 1u << 7   /* yardstick/ */
};
#define AXIS_RATIONAL (AXIS_EXACT | AXIS_WORDS | AXIS_STATE | AXIS_FORM) /* by the exact functions of a row */
#define AXIS_EVERY (AXIS_BALL | AXIS_RATIONAL | AXIS_TIE | AXIS_DD | AXIS_YARD)

/* Bits of who serves the value; 0 where there is no such value. */
uint32_t axis_serves(uint32_t axis, uint32_t value);
/* The lemma of the value's error, NULL where it brings none or there is no such value. */
const char *axis_lemma(uint32_t axis, uint32_t value);
/* 1 if `who` serves every axis of p but those of `unread` (bits 1 << axis), which it does not look at; else *refused,
 * where not NULL, is the first axis that it does not serve: one that this version does not know (ATTEST_AXIS_COUNT and
 * above), or of the table. */
int axis_served(const attest_problem *p, uint32_t who, uint32_t unread, uint32_t *refused);

/* ---- a kernel's declared arithmetic, as far as the error of a value depends on it ---------------------------- */
typedef struct axis_arithmetic {
    const attest_problem *p;
    int log2_domain;            /* exponents may pass through base 2 */
    int narrows;                /* `in` is wider than `acc` */
    int exp_declared;           /* the schedule and the error of the exponential are declared */
    double tanh_error;          /* declared relative error of tanh; 0: it may be made of exponentials */
    mag_srcptr u;               /* one rounding of acc */
    mag_srcptr u_most;          /* one rounding of a sum: the larger of u and its accumulator's */
    mag_srcptr u_exp, u_div;    /* relative error of an exponential, of a division */
    mag_srcptr tiny, normal;    /* what one operation loses by underflow; 2^emin of acc */
    mag_srcptr bias, bias_tiny; /* of a bias before it is added, beside narrowing and base 2: relative, absolute */
    uint32_t stored; /* what a feature makes may be stored in this type, 1 + attest_dtype, narrower than acc; 0: acc */
    mag_srcptr u_stored, tiny_stored; /* one rounding to it: relative, absolute */
    int folds; /* it may be divided by the scale, be one more term of the product, and be scaled with it (R-STEP) */
} axis_arithmetic;

/* ---- weight.c ------------------------------------------------------------------------------------------------ */
typedef struct axis_weight {
    const char *lemma;
    uint32_t serves; /* who has loops of its own for it */
    /* w encloses W(x) of order P. */
    void (*ball)(arb_t w, const arb_t x, uint32_t order, slong prec);
    /* Polynomials: upper bound of the sum of absolute monomials for x >= 0; `less` = 1: of its derivative. */
    void (*mass)(mag_t y, const mag_t x, ulong order, int less);
    /* Roundings of acc, and divisions, that one term of the polynomial of order P may meet, pair by pair; the schedule
     * `unknown` or not. */
    int64_t (*roundings)(int64_t order, int unknown);
    int64_t (*divisions)(int64_t order);
    /* Upper bound of what one operation's underflow may grow to, in units of it, for x >= 0 (R-POLY). */
    void (*lost)(mag_t y, const mag_t x, ulong order);
    int series;    /* all degrees up to P, not P alone */
    int factorial; /* degree n is divided by n! */
} axis_weight;

const axis_weight *axis_weight_of(const attest_problem *p);
/* scale^n, over n! where the row says so: what a query applies to the state of degree n. */
void axis_degree_ball(arb_t coefficient, const attest_problem *p, int n, slong prec);
void axis_degree_exact(mpq_t coefficient, const attest_problem *p, int n);
void axis_degree_size(mag_t coefficient, const attest_problem *p, int n);

/* ---- center.c ------------------------------------------------------------------------------------------------ */
/* c = (the smallest score, the greatest, or both) / how many of the two. */
typedef struct axis_center {
    const char *lemma;
    uint32_t serves;
    void (*ball)(arb_t c, arb_srcptr s, slong keys, slong prec); /* of s[0..keys-1], keys >= 1 */
    int least, greatest;
    int roundings; /* of a computed center beside the errors of the scores */
} axis_center;

const axis_center *axis_center_of(const attest_problem *p);

/* ---- feature.c ----------------------------------------------------------------------------------------------- */
/* phi of a number that is stored, over 2^low. */
typedef struct axis_exact_feature {
    int (*span)(exact_span *s);           /* that of x becomes that of phi(x); 0: phi is not rational on it */
    void (*integer)(mpz_t x, long low);   /* x becomes phi(x) */
    int64_t (*word)(int64_t x, long low); /* phi(x), below 2^62 in size */
} axis_exact_feature;

typedef struct axis_feature {
    const char *lemma;
    uint32_t serves;
    /* y[0..feature dim-1] encloses phi(x) of the token at `position`, x[0..d-1]: stored values, or balls where rope has
     * turned them; y = x is allowed. */
    void (*ball)(arb_ptr y, arb_srcptr x, const attest_problem *p, int64_t position, slong prec);
    int stored; /* of a stored number it is exact at any precision */
    const axis_exact_feature *exact;
    double (*size)(double x); /* |phi(x)| upward; NULL: phi acts on no single number */
    /* Relative and absolute error of a computed phi(x); NULL: nothing is rounded, not "not derived".  The caller adds u
     * for narrowing; `error` adds only what narrowing does to phi.  A library function other than exp counts 9u; a
     * larger declared error must be refused in kernels/library/declared.c. */
    void (*error)(mag_t relative, mag_t absolute, const axis_arithmetic *a);
    int divides; /* by the norm of the vector: an entry is at most 1 in size */
    /* What is mapped before that, as `ball`; NULL: nothing. */
    void (*inner)(arb_ptr y, arb_srcptr x, const attest_problem *p, int64_t position, slong prec);
    int images;    /* two entries a channel, turned by the position (cosformer) */
    unsigned lift; /* |phi(x)| <= |x| + lift; read only where slope is above 0 */
    double slope;  /* largest |phi'|, at least 1; 0: not known, no error bound behind rope */
} axis_feature;

const axis_feature *axis_feature_of(const attest_problem *p);
/* R-FEATURE: how many times that type's underflow silu may lose where its sigmoid is stored: |x| min(eta, sigma(x)) is
 * at most eta ln(1/eta), 1/eta at most 2^(p-emin).  `type` is 1 + attest_dtype; 0 for 0. */
ulong axis_silu_lost(uint32_t type);
/* The row of a value; NULL: there is no such value. */
const axis_feature *axis_feature_row(uint32_t value);
/* s becomes the span of phi; 0 if a value is not finite or phi not rational on it. */
int axis_feature_span(exact_span *s, const axis_feature *f);
/* phi(x) 2^-low, for x on the grid. */
void axis_feature_integer(mpz_t out, double x, const axis_feature *f, long low);

/* ---- rope.c: rope, and a token from its stored bits to phi --------------------------------------------------- */
/* y[0..feature dim-1] = phi of the vector stored at `offset` (channels `step` apart) of the token at `position`, rope
 * before phi; returns 0 if a value is not finite. */
int axis_phi(arb_ptr y, const ref_inputs *in, const attest_tensor *t, int64_t offset, int64_t step, int64_t position,
             slong prec);
/* The same with the row's inner function in place of phi. */
int axis_phi_inner(arb_ptr y, const ref_inputs *in, const attest_tensor *t, int64_t offset, int64_t step,
                   int64_t position, slong prec);
/* Is phi of stored values exact at any precision? */
int axis_phi_stored(const attest_problem *p);
/* Pairs of channels that a rotation mixes: d/2 with rope, d with cosformer alone (a channel's two images), else 0. */
int64_t axis_pairs(const attest_problem *p);
/* sum[pairs] = upper bounds of the sum of |x| in each pair, before phi (R-ROTATE). */
void axis_pair_sums(mag_ptr sum, const ref_inputs *in, const attest_tensor *t, int64_t offset, int64_t step);
/* Is rope set? */
int axis_turns(const attest_problem *p);
/* Error of a computed angle at position 1 (R-ROTATE). */
void axis_angle_error(mag_t slope, const attest_problem *p, const mag_t u);

/* ---- score.c: cap, alibi, bias, clamp ---------------------------------------------------------------------------- */
/* What the error of a step depends on: its number (cap, slope, bias, clamp) and what `start` makes of it. */
typedef struct axis_step_error {
    const axis_arithmetic *a;
    mag_t number, first, second, third;
    int64_t back; /* of the key: |i+off-j|, also where alibi goes by the key (R-ALIBI) */
} axis_step_error;

typedef struct axis_step_set axis_step_set;
typedef struct axis_step {
    const char *lemma;
    uint32_t serves;
    int a_head; /* the number is the slope of the head (axis_slope()).. */
    int a_key;  /* ..that of the row and the key in the bias, else that of the setting */
    /* s after the step, for a key so far from the query; NULL: no step. */
    void (*ball)(arb_t s, const arb_t number, int64_t distance, slong prec);
    void (*exact)(mpz_t s, const mpz_t number, int64_t distance); /* on one grid */
    void (*start)(axis_step_error *e, const axis_step_set *step);
    /* delta of s and an upper bound of its size |s^| become those after the step; `after` bounds |s| after it, before a
     * clamp (infinite: not known). */
    void (*error)(mag_t delta, mag_t size, const axis_step_error *e, int64_t distance, const mag_t after);
} axis_step;

enum { AXIS_STEPS = 4 };
struct axis_step_set {
    const axis_step *row;
    double number;             /* of all keys; `a_key`: of the key that axis_step_at() was asked for last; NaN: root */
    attest_usual root;         /* alibi=usual: what the number is; power 0: none */
    const attest_tensor *bias; /* `a_key`: where the numbers are, that of key j at offset + j stride[3]; else NULL */
    int64_t offset;
};

/* The steps that are set, in the order of the formula, with their numbers for the row; returns how many. */
int axis_steps(axis_step_set steps[AXIS_STEPS], const ref_inputs *in, attest_row at);
/* The number; axis_slope_ball() where it is a root. */
void axis_step_ball(arb_t number, const axis_step_set *step, slong prec);
/* The slope of query head h: stored, or of alibi=usual where that is a power of two, else NaN; the same enclosed
 * (R-SLOPE-BALL); an upper bound of it. */
double axis_slope(const ref_inputs *in, int64_t h);
void axis_slope_ball(arb_t slope, const ref_inputs *in, int64_t h, slong prec);
void axis_slope_size(mag_t size, const ref_inputs *in, int64_t h);
/* Sets the number to that of key j; 1 if it is another one than that of all keys may be. */
int axis_step_at(axis_step_set *step, int64_t j);
/* bias_ij of the row and key j. */
double axis_bias(const ref_inputs *in, attest_row at, int64_t j);
/* The key's number, where each has its own. */
void axis_step_error_key(axis_step_error *e, axis_step_set *step, int64_t j);
void axis_step_error_start(axis_step_error *e, const axis_step_set *step, const axis_arithmetic *a);
void axis_step_error_stop(axis_step_error *e);

/* ---- decay.c ------------------------------------------------------------------------------------------------- */
typedef struct axis_decay {
    const char *lemma;
    uint32_t serves;
    int set;          /* there are factors */
    attest_role role; /* where they are stored */
    int a_head;       /* one for all tokens of a KV head (gamma) */
    int vector;       /* one a channel, inside the product <q,k> */
} axis_decay;

const axis_decay *axis_decay_of(const attest_problem *p);
/* Factors a token: 0 without decay, 1, d with decay=vector. */
int64_t axis_decay_width(const attest_problem *p);
/* What is stored of token t: gamma of the head, a_t (any c), its entry c, or the logarithm of one of these two
 * (attest_log_decays()); 1 without decay. */
double axis_decay_stored(const ref_inputs *in, int64_t b, int64_t g, int64_t t, int64_t c);
/* The factor itself: y encloses it, and is not finite where what is stored is not. */
void axis_decay_ball(arb_t y, const ref_inputs *in, int64_t b, int64_t g, int64_t t, int64_t c, slong prec);
/* The double nearest to it, which is within 2^-53 |a_t| + 2^-1075 (of a logarithm), or as stored. */
double axis_decay_factor(const ref_inputs *in, int64_t b, int64_t g, int64_t t, int64_t c);
/* An upper bound of |a_t|; 0 where what is stored is not finite. */
void axis_decay_size(mag_t y, const ref_inputs *in, int64_t b, int64_t g, int64_t t, int64_t c);

/* ---- gates.c ------------------------------------------------------------------------------------------------- */
typedef struct axis_gates {
    const char *lemma;
    uint32_t serves;
    int values, rows; /* multiplied by a gate */
    int before;       /* the row's gate comes before Norm */
    attest_role value_role, row_role;
    /* y encloses the gate of `head` at token `at`; 0 if a number that it reads is not finite. */
    int (*ball)(arb_t y, const attest_tensor *t, int64_t b, int64_t head, int64_t at, slong prec);
    int stored; /* the gate is a stored number */
    /* Relative error of computed gates of tokens [first,last); NULL: they are stored. */
    void (*error)(mag_t theta, const axis_arithmetic *a, const attest_tensor *t, int64_t b, int64_t first,
                  int64_t last);
} axis_gates;

const axis_gates *axis_gates_of(const attest_problem *p);

/* ---- dropout.c ----------------------------------------------------------------------------------------------- */
/* Does dropout keep the weight of key j in the row?  1 without dropout. */
int axis_keeps(const ref_inputs *in, attest_row at, int64_t j);
/* 1/(1-R): what a kept weight is multiplied by in u; 1 without dropout. */
void axis_dropout_ball(arb_t c, const attest_problem *p, slong prec);
void axis_dropout_exact(mpq_t c, const attest_problem *p);
void axis_dropout_size(mag_t c, const attest_problem *p);
/* Relative error of a term that a computed 1/(1-R) multiplies once; 0 without dropout, infinite for an R so near to 1
 * that a kernel may hold it as 1. */
void axis_dropout_error(mag_t theta, const attest_problem *p, const mag_t u, const mag_t u_div);

/* ---- norm.c: norm, affine and eps ---------------------------------------------------------------------------- */
/* Division by the root of the sum of squares. */
typedef struct axis_root {
    int root;     /* the norm is one of these */
    int length;   /* of u/t */
    int centered; /* the mean is subtracted */
    int mean;     /* the mean of the squares, not their sum */
} axis_root;

/* How an output is made of u, for who bounds its error. */
typedef enum axis_norm_kind {
    AXIS_NORM_QUOTIENT = 0, /* u/Z, Z a sum over the keys and a constant */
    AXIS_NORM_FLOOR = 1,    /* the larger of such a sum and a constant divides */
    AXIS_NORM_PLAIN = 2,    /* u */
    AXIS_NORM_LENGTH = 3,   /* u/t */
    AXIS_NORM_ROOT = 4
} axis_norm_kind;

typedef struct axis_norm {
    const char *lemma;
    uint32_t serves;
    axis_norm_kind kind;
    /* Norm in place: row->o holds u (times gout with pre-out) before and Norm(u, z) after; sets row->illposed, and
     * row->no_truth when a non-finite input is read. */
    void (*ball)(ref_row *row, const ref_inputs *in, int64_t h, slong prec);
    /* Z of the row of head h; NULL: no division by one. */
    void (*divisor)(arb_t z, const ref_row *row, const ref_inputs *in, int64_t h, slong prec);
    void (*exact)(mpq_t divisor, const mpq_t z, const attest_problem *p, int64_t keys);
    int eps, sink; /* of a quotient: eps, or e^sink of the head, is added to the sum */
    axis_root root;
} axis_norm;

const axis_norm *axis_norm_of(const attest_problem *p);
/* The norm's divisor (1 for none) at the precision of the row.  0: this norm is not a division by it. */
int axis_divisor(arb_t divisor, const ref_row *row, const ref_inputs *in, int64_t h);
/* x[e], u (times gout with pre-out) before and Norm after, `root` its divisor; 0: that is not surely positive. */
int axis_root_norm(arb_ptr x, arb_t root, const attest_problem *p, int64_t keys, slong prec);

#endif
