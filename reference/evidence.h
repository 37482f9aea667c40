/* evidence.h - numbers for the ledger of claims (`attest claims`): enclosures and exact comparisons, no verdicts.
 *
 * Everything is evaluated in ball arithmetic or in rationals; what leaves are outward-rounded doubles (lo below, hi
 * above the real value) and counts.  Whoever asks decides what the numbers mean.  A NaN in a span: there is no such
 * value (ill-posed, absent).  No header of MPFR, GMP or FLINT is needed by a caller, no kernel is run.
 */
#ifndef ATTEST_EVIDENCE_H
#define ATTEST_EVIDENCE_H

#include "reference/reference.h"

typedef struct attest_span {
    double lo, hi;
} attest_span;

/* Values compared one by one. */
typedef struct attest_match {
    int64_t compared;
    int64_t different; /* rationals that differ, or enclosures that do not touch */
    int64_t rational;  /* how many of `compared` were exact rationals on both sides */
    double distance;   /* upper bound of the largest |difference| */
    double apart;      /* lower bound of the largest |difference| */
} attest_match;

/* ---- formulas ---------------------------------------------------------------------------------------------------- */
/* Encloses the value of a formula given as text (printf-like): decimal numbers, + - * / ^, parentheses, and
 * exp log sqrt abs, T(p,x) = sum_{n<=p} x^n/n!, fact(n), binom(n,k), min, max.  Decimals are exact ("0.1" is one
 * tenth).  ATTEST_BAD_INPUT where the text is no formula. */
attest_status attest_evidence_value(attest_span *value, attest_error *err, const char *formula, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- rows of a truth --------------------------------------------------------------------------------------------- */
/* Row (b,h,i) of o or u (e spans), z or lse (one). */
attest_status attest_evidence_row(attest_span *value, attest_truth *truth, uint32_t role, int64_t b, int64_t h,
                                  int64_t i, attest_error *err);
/* Weights divided by their sum and scores of the visible keys: *count of them, at most `room`; either may be NULL. */
attest_status attest_evidence_weights(attest_span *weight, attest_span *score, int64_t room, int64_t *count,
                                      attest_truth *truth, int64_t b, int64_t h, int64_t i, attest_error *err);
/* Compares row (b,h,i) of o, u, z or lse of one truth with row (b2,h2,i2) of another: adds to *match. */
attest_status attest_evidence_same(attest_match *match, uint32_t role, attest_truth *one, int64_t b, int64_t h,
                                   int64_t i, attest_truth *two, int64_t b2, int64_t h2, int64_t i2, attest_error *err);
/* Cosine of the angle between the o of two rows. */
attest_status attest_evidence_cosine(attest_span *cosine, attest_truth *one, attest_truth *two, int64_t b, int64_t h,
                                     int64_t i, attest_error *err);
/* Mean and variance (divided by the count) of all scores of a truth, and the mean over its rows of max - min. */
attest_status attest_evidence_moments(attest_span *mean, attest_span *variance, attest_span *range, attest_truth *truth,
                                      attest_error *err);
/* What the filter s > max - tau keeps of a softmax row: keys kept, max - min of their scores, the softmax mass of those
 * dropped. */
attest_status attest_evidence_filter(int64_t *kept, attest_span *range, attest_span *dropped, attest_truth *truth,
                                     double tau, int64_t b, int64_t h, int64_t i, attest_error *err);

/* ---- softmax over a list ----------------------------------------------------------------------------------------- */
typedef struct attest_gate_facts {
    attest_span entropy;  /* H of softmax(lambda s), in nats */
    attest_span slope;    /* dH/dlambda, from the power series of H around lambda */
    attest_span variance; /* of s under softmax(lambda s) */
    attest_span largest;  /* largest weight */
} attest_gate_facts;
attest_status attest_evidence_gate(attest_gate_facts *facts, const double *s, int64_t count, double lambda,
                                   attest_error *err);
/* sum_h softmax(lambda a)_h softmax(lambda b)_h */
attest_status attest_evidence_flow(attest_span *flow, const double *a, const double *b, int64_t count, double lambda,
                                   attest_error *err);

/* ---- truncated exponential --------------------------------------------------------------------------------------- */
/* The real root of T_p, p odd. */
attest_status attest_evidence_root(attest_span *root, int p, attest_error *err);
/* Largest score range R such that for every row with max - min <= R the weights of taylor:p, divided by their sum, are
 * within relative `tolerance` of softmax's (osc(P)/(1-max P) <= tolerance, R-TAIL, P = 1 - e^-x T_p(x)).
 * `center` is max, min or mid (x in [-R,0], [0,R], [-R/2,R/2]); zero: x in [-R,R], R = max |s|. */
attest_status attest_evidence_reach(attest_span *range, int p, const char *center, double tolerance, attest_error *err);
/* Smallest p whose reach is at least `range`. */
attest_status attest_evidence_order(int64_t *p, double range, const char *center, double tolerance, attest_error *err);
/* Theory A1.1 (R-TAIL) on row (b,h,i) of a taylor:p truth and a softmax truth on the same inputs: I1 per key, I2 per
 * output component, I3 per pair of neighbouring keys, I4 once; both sides enclosed.  Adds to match[0..3]. */
attest_status attest_evidence_identities(attest_match match[4], attest_truth *taylor, attest_truth *softmax, int p,
                                         int64_t b, int64_t h, int64_t i, attest_error *err);

/* ---- rules written out as published ------------------------------------------------------------------------------ */
/* Names and formulas: the table in evidence_rules.c. */
/* Runs the rule in exact rationals on the inputs of `truth`, each batch entry and query head, and compares every row
 * with the truth's u (o where the variant has no u).  `number` is the rule's own whole number (a chunk length, a
 * degree), `extra` its own vector (a bonus, a skip); both unused by most.  Adds to *match. */
attest_status attest_evidence_rule(attest_match *match, const char *rule, int64_t number, const double *extra,
                                   attest_truth *truth, attest_error *err);

#endif
