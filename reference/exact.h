/* exact.h - private to the exact engine and the tie lemma: integers over one power of two.
 *
 * Inputs are dyadic rationals.  A span is the common grid of many of them, found by looking at exponents
 * only; on that grid they are integers, and so is every sum of products (derivations R-EXACT).  Rationals
 * appear when a sum is finished and divided by a factorial or by the norm.
 */
#ifndef ATTEST_EXACT_H
#define ATTEST_EXACT_H

#include "reference/engine.h"

#define EXACT_BITS_LIMIT (1l << 16)  /* of one integer */
#define EXACT_TOTAL_LIMIT (1l << 31) /* bits of all integers that are held at once */

/* ---- spans and integers ------------------------------------------------------------------------------------ */
/* The seen values are integers times 2^low, and smaller than 2^top in size; low = top = 0 where all are 0. */
typedef struct exact_span {
    long low, top;
    int finite;   /* no infinity, no NaN */
    int negative; /* some value < 0 */
    int any;      /* some value != 0 */
} exact_span;

void exact_span_start(exact_span *s);
void exact_span_see(exact_span *s, double x);
/* Turns the span of x into that of phi(x); 0 if phi is not rational on it. */
int exact_span_feature(exact_span *s, uint32_t feature);

/* out = x * 2^-low, for x on the grid. */
void exact_integer(mpz_t out, double x, long low);
/* out = phi(x) * 2^-low. */
void exact_feature_integer(mpz_t out, double x, uint32_t feature, long low);
/* out = numerator * 2^exponent / denominator, in lowest terms. */
void exact_ratio(mpq_t out, const mpz_t numerator, long exponent, const mpz_t denominator);
/* coefficient = scale^n / n!, or scale^n for weight=power: what a query applies to the state of degree n. */
void exact_degree_coefficient(mpq_t coefficient, const attest_problem *p, int n);
/* Smallest r with x <= 2^r; x >= 1. */
long exact_log2_up(int64_t x);

/* `count` integers, all 0; NULL if memory is short.  Back through exact_integers_free(). */
mpz_t *exact_integers_new(int64_t count);
void exact_integers_free(mpz_t *a, int64_t count);
mpq_t *exact_rationals_new(int64_t count);
void exact_rationals_free(mpq_t *a, int64_t count);

/* ---- the keys of one row ------------------------------------------------------------------------------------ */
typedef struct exact_keys {
    const ref_inputs *in;
    int64_t b, h, g, i;
    int64_t first, last;
    uint32_t feature;
    exact_span q, k, v, scale; /* q and k after phi */
    exact_span score;
} exact_keys;

/* 1 if every axis of p has a value whose bit is set in allowed[axis]; allowed[axis] = 0 stands for the default only. */
#define EXACT_ONLY(value) (1u << (value))
#define EXACT_ANY (~0u)
int exact_axes_allowed(const attest_problem *p, const uint32_t allowed[ATTEST_AXIS_COUNT]);

/* Looks at all that row (b,h,i) reads, its query only if `with_query`; 0 if a value is not finite or a feature
 * is not rational. */
int exact_keys_scan(exact_keys *r, const ref_inputs *in, int64_t b, int64_t h, int64_t i, int with_query);

double exact_load_q(const exact_keys *r, int64_t c);
double exact_load_k(const exact_keys *r, int64_t j, int64_t c);
double exact_load_v(const exact_keys *r, int64_t j, int64_t c);

/* Scores s_ij of keys first..last-1: score j is s[j-first] * 2^exponent, exponent <= 0. */
typedef struct exact_scores {
    int64_t count;
    mpz_t *s;
    long exponent;
} exact_scores;

attest_status exact_scores_new(exact_scores *s, const exact_keys *r, attest_error *err);
void exact_scores_free(exact_scores *s);

/* u[e] and z of the keys of r alone, pair by pair, given states left out. */
attest_status exact_sums(mpq_t *u, mpq_t z, const exact_keys *r, attest_error *err);

/* ---- states ---------------------------------------------------------------------------------------------------- */
/* Monomials of degree n: a tree.  Node r of level n is node parent[r] of level n-1 times letter[r].  Full
 * Kronecker: dim children each, row-major.  Packed: letters do not decrease, lexicographic. */
typedef struct exact_level {
    int64_t rows;
    int64_t *parent, *letter, *run; /* run: how often the last letter occurs */
    int64_t *child;                 /* first child in the next level; its letter is `from` */
    int64_t *from;
    mpz_t *multiplicity;            /* n!/I! packed, 1 full */
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

/* Axis values under which a state is the plain sum over visible keys. */
extern const uint32_t exact_states_served[ATTEST_AXIS_COUNT];

/* Which columns a state has: v (e columns), then 1. */
enum { EXACT_COLUMN_V = 1, EXACT_COLUMN_ONE = 2 };

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

/* s[rows][columns] += sum over keys j of [first,last) of monomials_n(phi(k_j)) (x) (v_j, 1), integers over
 * 2^(n*k.low + v.low); the grid of v holds 1. */
attest_status exact_state_add(mpz_t *s, const exact_tree *t, int degree, int columns, const exact_keys *r,
                              int64_t first, int64_t last, attest_error *err);

#endif
