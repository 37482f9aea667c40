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

/* Status of all functions here: ATTEST_OK, or ATTEST_BAD_INPUT for an argument outside the domain said (then spans
 * hold NaN, or nothing was written), ATTEST_INTERNAL or ATTEST_NO_MEMORY from the engines.  No quantity has a unit
 * but entropy (nats); scores and ranges are natural-logarithm units of a weight.  Rows are (b,h,i): batch entry,
 * query head, query, each inside the problem.  Work is at 256 bits: a span is as wide as two doubles' rounding unless
 * a value cancels. */

/* ---- formulas ---------------------------------------------------------------------------------------------------- */
/* Encloses the value of a formula given as text (printf-like, below 512 characters): decimal numbers, + - * / ^,
 * parentheses, and exp log sqrt abs, T(p,x) = sum_{n<=p} x^n/n!, fact(n), binom(n,k), min, max (p, n, k whole,
 * 0..100000). Decimals are exact ("0.1" is one tenth).  NaN: no real value (1/0, log -1).  BAD_INPUT: the text is no
 * formula. */
attest_status attest_evidence_value(attest_span *value, attest_error *err, const char *formula, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- rows of a truth --------------------------------------------------------------------------------------------- */
/* A row that reads a non-finite input has no truth: NaN from attest_evidence_row, BAD_INPUT from the others. */

/* Row of o or u (e spans), z or lse (one).  NaN: ill-posed, or an output that the variant lacks (u, z, lse of the delta
 * rule, lse of an empty row).  BAD_INPUT: another role. */
attest_status attest_evidence_row(attest_span *value, attest_truth *truth, uint32_t role, attest_row at,
                                  attest_error *err);
/* weight_j = w_ij/sum_j w_ij and score s_ij (scale and steps applied, no center taken off) of the visible keys:
 * *count of them, INTERNAL where there are more than `room`; either may be NULL.  NaN: weights whose sum may be 0. */
attest_status attest_evidence_weights(attest_span *weight, attest_span *score, int64_t room, int64_t *count,
                                      attest_truth *truth, attest_row at, attest_error *err);
/* Compares a row of o, u, z or lse of one truth with a row of another, number by number: adds to *match.
 * INTERNAL: a row has no value to compare, or other rows have other lengths. */
attest_status attest_evidence_same(attest_match *match, uint32_t role, attest_truth *one, attest_row at,
                                   attest_truth *two, attest_row there, attest_error *err);
/* x.y/(|x| |y|), x and y the o of the same row of two truths.  NaN: one is 0 or ill-posed.  BAD_INPUT: other widths. */
attest_status attest_evidence_cosine(attest_span *cosine, attest_truth *one, attest_truth *two, attest_row at,
                                     attest_error *err);
/* |x-y|/|y|, x and y the o of the same row of two truths, |x| the square root of the sum of squares.  NaN: y may be 0,
 * or a row is ill-posed.  BAD_INPUT: other widths. */
attest_status attest_evidence_distance(attest_span *distance, attest_truth *one, attest_truth *two, attest_row at,
                                       attest_error *err);
/* Mean and variance (sum (s - mean)^2 / count) of all visible scores of a truth, and the mean over all its rows of
 * max - min (0 for a row without keys).  NaN: no score at all. */
attest_status attest_evidence_moments(attest_span *mean, attest_span *variance, attest_span *range, attest_truth *truth,
                                      attest_error *err);
/* What the filter s > max - tau keeps of a softmax row: keys kept, max - min of their scores, and the softmax mass
 * sum_{dropped} e^s / sum e^s of the others.  tau > 0, at least one visible key.  INTERNAL where the enclosure of a
 * score does not decide whether it is kept. */
attest_status attest_evidence_filter(int64_t *kept, attest_span *range, attest_span *dropped, attest_truth *truth,
                                     double tau, attest_row at, attest_error *err);

/* ---- softmax over a list ----------------------------------------------------------------------------------------- */
typedef struct attest_gate_facts {
    attest_span entropy;  /* H = -sum p ln p, p = softmax(lambda s), in nats */
    attest_span slope;    /* dH/dlambda, from the power series of H around lambda */
    attest_span variance; /* of s under softmax(lambda s) */
    attest_span largest;  /* largest weight */
} attest_gate_facts;
/* Of `count` >= 1 finite numbers s and a finite lambda. */
attest_status attest_evidence_gate(attest_gate_facts *facts, const double *s, int64_t count, double lambda,
                                   attest_error *err);
/* sum_h softmax(lambda a)_h softmax(lambda b)_h, the same domain. */
attest_status attest_evidence_flow(attest_span *flow, const double *a, const double *b, int64_t count, double lambda,
                                   attest_error *err);

/* ---- truncated exponential --------------------------------------------------------------------------------------- */
/* The real root of T_p, p odd, 1..9999 (the only one: R-TAIL). */
attest_status attest_evidence_root(attest_span *root, int p, attest_error *err);
/* Largest score range R such that for every row with max - min <= R the weights of taylor:p, divided by their sum,
 * are within relative `tolerance` of softmax's (osc(P)/(1-max P) <= tolerance, R-TAIL, P = 1 - e^-x T_p(x)); at most
 * 1024, to a relative 1e-9: R = lo surely is within, hi not surely.  p >= 0, tolerance > 0 and finite. `center` is
 * max, min or mid (x in [-R,0], [0,R], [-R/2,R/2]); zero: x in [-R,R], R = max |s|. */
attest_status attest_evidence_reach(attest_span *range, int p, const char *center, double tolerance, attest_error *err);
/* Encloses that size, osc(P)/(1-max P), for one order p >= 0, 0..100000, and one range, finite and >= 0: the largest
 * relative error of a normalised weight over all rows whose scores span at most `range`; rows of many keys come as near
 * to it as one likes (R-TAIL).  Both ends infinite: max P >= 1 (the sum of the weights may vanish, the error has no
 * bound).  The precision is raised until the ends agree to 2^-20. */
attest_status attest_evidence_weight_error(attest_span *error, int p, const char *center, double range,
                                           attest_error *err);
/* Smallest p whose reach is at least `range` (finite, >= 0); BAD_INPUT (and -1) where no order below 512 reaches it. */
attest_status attest_evidence_order(int64_t *p, double range, const char *center, double tolerance, attest_error *err);
/* The identities I1 to I4 of R-TAIL on row (b,h,i) of a taylor:p truth and a softmax truth on the same inputs: I1 per
 * key, I2 per output component, I3 per pair of neighbouring keys, I4 once; both sides enclosed.  Adds to match[0..3].
 * p >= 0; BAD_INPUT where the rows see no key, or others than each other. */
attest_status attest_evidence_identities(attest_match match[4], attest_truth *taylor, attest_truth *softmax, int p,
                                         attest_row at, attest_error *err);

/* ---- work -------------------------------------------------------------------------------------------------------- */
/* Counted while the form runs on the inputs of head (0,0), feature maps already applied and not counted. */
typedef struct attest_work {
    int64_t products;        /* multiply-adds of scores, states and numerators */
    int64_t of_denominators; /* multiply-adds of the denominators */
    int64_t additions;       /* alone: sums of weights, of features */
    int64_t divisions;
    int64_t held; /* numbers stored between the first key and the last output, inputs and outputs apart */
} attest_work;
/* Forms: `pairs` W = Q K^T kept, W V and row sums of W; `state` S = sum phi(k)^T v and sum phi(k), then q S over q .
 * sum (both for norm=sum, weight=power:1; exact rationals); `streaming` softmax by a running maximum, sum and
 * numerator (norm=sum, weight=exp; enclosed; its exponentials and rescalings are not counted).  Every o is compared
 * with the truth's: adds to *match.  At least one key; masks full and causal.  BAD_INPUT: no such form, another
 * weight or norm, a denominator of 0, inputs that are not finite; UNSUPPORTED: irrational features. */
attest_status attest_evidence_work(attest_work *work, attest_match *match, const char *form, attest_truth *truth,
                                   attest_error *err);

/* ---- rules written out as published ------------------------------------------------------------------------------ */
/* Rows are vectors; q carries the scale, q and k their feature map (identity, relu, elu1 where x >= 0); gin, gout, b
 * and a are 1 where the problem has none, a scalar decay or gamma stands in every dimension.  Causal sums run over s <=
 * t
 * unless mask=full; of the other axes a rule knows nothing: a truth that has them differs from it.
 *
 *   linear              H_t = H_{t-1} + k_t^T v_t; o_t = q_t H_t
 *   kronecker           o_t = q_t^(x n) H_t, H_t = sum_s (k_s^(x n))^T v_s            n = number
 *   kronecker-short     the same, the read summed over the first d of d^n entries      n = number
 *   taylor-states       o_t = sum_{n<=P} 1/n! q_t^(x n) H_t^n                          P = number
 *   taylor-sum          o_t = sum_s sum_{n<=P} 1/n! (q_t.k_s)^n v_s                    P = number
 *   gates-text          o_t = sum_s gout_t w_ts gin_s v_s, w = T_P(q_t.k_s)            P = number
 *   gates-printed       o_t = sum_s gin_t w_ts gout_s v_s                              P = number
 *   gates-outside       o_t = gout_t sum_s w_ts (gin_s v_s)                            P = number
 *   factor-inside       H_t = H_{t-1} + gout_t k_t^T v_t; o_t = q_t H_t
 *   values-first        Q (K^T V) over all keys
 *   scores-first        (Q K^T) V over all keys
 *   absorbed            S_t = S_{t-1} + (gin_t k_t)^T v_t; o_t = (gout_t q_t) S_t
 *   gated               S_t = diag(a_t) S_{t-1} + (gin_t k_t)^T v_t; o_t = gout_t q_t S_t
 *   value-gate          S_t = S_{t-1} diag(a_t) + k_t^T v_t; o_t = q_t S_t             needs e = d
 *   retention-parallel  (Q K^T (.) D) V, D_ts = gamma^(t-s)
 *   retention-chunk     the same in chunks of `number` tokens, the state passed on     number >= 1
 *   ssd                 h_t = a_t h_{t-1} + k_t^T (gin_t v_t); o_t = q_t h_t + D v_t   D = extra[0]
 *   rwkv-bonus          o_t = r_t (S_{t-1} + diag(u) k_t^T v_t), S_t = diag(a_t) S_{t-1} + k_t^T v_t, r_t = a_t q_t;
 *                       u = extra[0..d-1], or 1/a_t with number = 1 (then a_t != 0)
 *   gated-delta         S_t = a_t (I - b_t k_t^T k_t) S_{t-1} + b_t k_t^T v_t; o_t = q_t S_t
 *   sla-delta           v' = b_t (gin_t v_t - k_t S_{t-1}); S_t = S_{t-1} + k_t^T v'; o_t = gout_t q_t S_t
 *   rwkv7               S_t = (diag(a_t) - (b_t x_t)^T x_t) S_{t-1} + b_t k_t^T v_t; o_t = q_t S_t, x_t = k_t + extra
 *
 * Rules with a state, the retentions and gates-printed need m = n.  A `number` that is a degree is 0..1000, and
 * d^number at most 2^20 where a state of that many rows is built. */
typedef struct attest_rule_extra {
    const double *value;
    int64_t count;
} attest_rule_extra;
/* Runs the rule in exact rationals on the inputs of `truth`, each batch entry and query head, and compares every row
 * with the truth's u (o where the variant has no u).  `extra`: the rule's own vector, NULL for the rules without.  Adds
 * to *match.  ATTEST_BAD_INPUT, before anything is run: no such rule, a shape, number or extra it cannot take, an input
 * that is not finite; ATTEST_UNSUPPORTED: irrational features. */
attest_status attest_evidence_rule(attest_match *match, const char *rule, int64_t number,
                                   const attest_rule_extra *extra, attest_truth *truth, attest_error *err);

#endif
