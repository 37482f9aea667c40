/* exact.h - the exact engine, and what the tie lemma needs of it: integers over one power of two.
 *
 * Answers what a row holds as rationals, where every step is rational, in several forms. Shares no sum with the ball
 * engine.
 *
 * Rationals appear when a sum is finished and divided by a factorial or by the norm (R-EXACT).  What an axis value does
 * to integers is in axis/, integers and their grids are engine/dyadic.h.
 */
#ifndef ATTEST_EXACT_H
#define ATTEST_EXACT_H

#include "reference/axis/axis.h"
#include "reference/engine/engine.h"

#define EXACT_BITS_LIMIT (1l << 16)  /* of one integer */
#define EXACT_WORK_LIMIT (1l << 27)  /* bits of one integer times keys times (d+e): a tenth of a second a row */
#define EXACT_TOTAL_LIMIT (1l << 31) /* bits of all integers that are held at once */

/* ---- the keys of one row ------------------------------------------------------------------------------------ */
typedef struct exact_keys {
    const ref_inputs *in;
    int64_t b, h, g, i;
    int64_t first, last; /* the first visible key, and behind the last one */
    int64_t keys;        /* how many are visible: all between without attn_mask */
    int64_t from, until; /* decays of the tokens t = from..until are read; until: i, or the last key of a final state */
    const axis_feature *feature;
    exact_span q, k, v, scale;    /* q and k after phi; v: and 1 */
    exact_span gin, gout, beta;   /* gin: and 1 */
    exact_span decay;             /* of every product of decays that occurs; finite: what is read is */
    exact_span product, score;    /* scale <phi(q), phi(k)>; the score after its steps, the threshold of the filter */
    struct ref_exact_cache *head; /* k and v are the spans of all keys of the head (exact_integer.h); or NULL */
} exact_keys;

/* Axes that u, z and states do not read, as axis_served() takes them. */
#define EXACT_NO_NORM (1u << ATTEST_AXIS_NORM | 1u << ATTEST_AXIS_EPS | 1u << ATTEST_AXIS_AFFINE)

/* Looks at all that row (b,h,i) reads, its query, its gate and its scores only if `with_query`; 0 if a value is not
 * finite or a feature is not rational. */
int exact_keys_scan(exact_keys *r, const ref_inputs *in, attest_row at, int with_query);
/* The same with query, for a variant without gates, decay and delta rule whose keys and values are known to lie in
 * the spans k (before phi) and v (and 1): of all it looks at the query alone. */
int exact_keys_of_head(exact_keys *r, const ref_inputs *in, attest_row at, const exact_span *k, const exact_span *v);

/* Is key j of [first,last) visible? */
int exact_sees(const exact_keys *r, int64_t j);

/* out = phi(x), for x on the grid 2^low. */
void exact_feature_dyadic(exact_dyadic *out, double x, const exact_keys *r, long low);

double exact_load_q(const exact_keys *r, int64_t c);
double exact_load_k(const exact_keys *r, int64_t j, int64_t c);
double exact_load_v(const exact_keys *r, int64_t j, int64_t c);
double exact_load_gin(const exact_keys *r, int64_t j);              /* 1 without gates on values */
double exact_load_gout(const exact_keys *r);                        /* 1 without gates on rows */
double exact_load_beta(const exact_keys *r, int64_t t);             /* b_t of the delta rule */
double exact_load_decay(const exact_keys *r, int64_t t, int64_t c); /* a_t, a_tc or gamma; 1 without decay */
/* Is a state given? */
int exact_given_state(const ref_inputs *in);

/* Products of decays: of key j over t = j+1..until in entry j-first, of a given state over t = 0..until in entry
 * `count`, `width` integers over 2^exponent each. */
typedef struct exact_decays {
    int64_t count, width;
    mpz_t *d;
    long exponent;
} exact_decays;

attest_status exact_decays_new(exact_decays *a, const exact_keys *r, attest_error *err);
void exact_decays_free(exact_decays *a);

/* Scores s_ij of keys first..last-1: score j is s[j-first] * 2^exponent, exponent <= 0. */
typedef struct exact_scores {
    int64_t count;
    mpz_t *s;
    long exponent;
} exact_scores;

attest_status exact_scores_new(exact_scores *s, const exact_keys *r, attest_error *err);
void exact_scores_free(exact_scores *s);

/* All that row (b,h,i) reads, of its head where that can be (exact_integer.h); 0: not served.  norm=0: u and z alone
 * are wanted, which know no norm. */
int exact_row_keys(exact_keys *r, const ref_inputs *in, attest_row at, int norm);

/* Upper bound of the bits of every integer of the row (R-EXACT-SIZE); -1: a given state is not finite. */
long exact_row_bits(const exact_keys *r);

/* u[e] and z of row r, pair by pair, given states in; update=delta: token by token, z = 0.  The norm is not read. */
attest_status exact_row_sums(mpq_t *u, mpq_t z, const exact_keys *r, attest_error *err);
/* o[e] from u and z, not in lowest terms; 0, and o left as it is, where the divisor is 0.  Norms sum, floor, none,
 * length. */
int exact_row_output(mpq_t *o, mpq_t *u, const mpq_t z, const exact_keys *r);

static inline int exact_is_delta(const attest_problem *p)
{
    return attest_axis_value_of(p, ATTEST_AXIS_UPDATE) == ATTEST_UPDATE_DELTA;
}

/* ---- update=delta (R-EXACT-DELTA) -------------------------------------------------------------------------------- */
/* Bits of every integer after the tokens of r; -1: h0 is not finite. */
long exact_delta_bits(const exact_keys *r);
/* s[d][e] = the state after the keys of r, decayed to r->until. */
attest_status exact_delta_state(exact_dyadic *s, const exact_keys *r, attest_error *err);
/* u[e] = scale phi(q) S. */
attest_status exact_delta_sums(mpq_t *u, const exact_keys *r, attest_error *err);

/* ---- states ---------------------------------------------------------------------------------------------------- */
/* Monomials of degree n: a tree.  Node r of level n is node parent[r] of level n-1 times letter[r].  Full
 * Kronecker: dim children each, row-major.  Packed: letters do not decrease, lexicographic. */
typedef struct exact_level {
    int64_t rows;
    int64_t *parent, *letter, *run; /* run: how often the last letter occurs */
    int64_t *child;                 /* first child in the next level; its letter is `from` */
    int64_t *from;
    mpz_t *multiplicity; /* n!/I! packed, 1 full */
} exact_level;

typedef struct exact_tree {
    int64_t dim;
    int degrees; /* levels 0..degrees-1 */
    int packed;
    exact_level *level;
} exact_tree;

attest_status exact_tree_new(exact_tree *t, int64_t dim, int highest, int packed, attest_error *err);
void exact_tree_free(exact_tree *t);

/* m[n][r] = the monomials of x up to degree `highest`; m as exact_monomials_new() gives it. */
mpz_t **exact_monomials_new(const exact_tree *t);
void exact_monomials_free(mpz_t **m, const exact_tree *t);
void exact_monomials_of(mpz_t **m, const exact_tree *t, mpz_t *x, int highest);

/* Which columns a state has: v (e columns), then 1. */
enum { EXACT_COLUMN_V = 1, EXACT_COLUMN_ONE = 2 };
int64_t exact_columns(const attest_problem *p, int columns); /* how many that are */

/* h0.n and z0.n of one KV head as integers over 2^exponent; columns as above, missing tensors 0. */
typedef struct exact_given {
    int64_t rows, columns;
    mpz_t *a; /* [rows][columns] */
    long exponent;
} exact_given;

/* The grid of h0.n and z0.n; finite=0 where one holds a non-finite value. */
void exact_given_span(exact_span *s, const ref_inputs *in, int64_t b, int64_t g, int degree, int columns);
attest_status exact_given_new(exact_given *a, const ref_inputs *in, int64_t b, int64_t g, int degree, int columns,
                              attest_error *err);
void exact_given_free(exact_given *a);

#include "reference/exact/exact_forms.h"   /* recurrent, chunked, split, scan, WY */
#include "reference/exact/exact_integer.h" /* integers of fixed size */

#endif
