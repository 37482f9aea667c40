/* evidence_rules.h - inside reference/: what the published rules work on (evidence_rules.c has the table). */
#ifndef ATTEST_EVIDENCE_RULES_H
#define ATTEST_EVIDENCE_RULES_H

#include "reference/evidence/evidence_private.h"
#if defined(__has_include) && __has_include(<flint/fmpq_mat.h>)
#include <flint/fmpq_mat.h>
#else
#include <fmpq_mat.h>
#endif

/* One query head's inputs as rationals, and its result. */
typedef struct rule_job {
    const attest_problem *p;
    int64_t n, m, d, e;
    fmpq_mat_t q, k, v;      /* [n,d] with scale, [m,d], [m,e] */
    fmpq_mat_t gin, gout, b; /* [m,1], [n,1], [m,1]; 1 without */
    fmpq_mat_t a;            /* [m,d], a scalar decay or gamma repeated over d; 1 without */
    int64_t number;
    const double *extra;
    fmpq_mat_t out; /* [n,e] */
} rule_job;

/* evidence_inputs.c: fills the job from query head (b,h), its features and scale applied, `out` 0; number and extra
 * stay.  `inverse`: no a_t may be 0.  ATTEST_BAD_INPUT: an input that is not finite, or such an a_t;
 * ATTEST_UNSUPPORTED: irrational features.  ref_rule_stop is due after it whatever it returned. */
attest_status ref_rule_start(rule_job *job, const ref_inputs *in, int inverse, int64_t b, int64_t h, attest_error *err);
void ref_rule_stop(rule_job *job);
/* One value of a rule against one of a row: *rational where the row is rational, else its ball. */
void ref_rule_compare(attest_match *match, const fmpq_t value, const mpq_t *rational, const arb_t ball);
/* x = value, which is finite */
void ref_rule_double(fmpq_t x, double value);
/* row = row t of x */
void ref_rule_row(fmpq_mat_t row, const fmpq_mat_t x, slong t);
/* s += x^T y for rows x, y */
void ref_rule_outer(fmpq_mat_t s, const fmpq_mat_t x, const fmpq_mat_t y);
/* row t of the result */
void ref_rule_put(rule_job *job, slong t, const fmpq_mat_t row);
/* Number of keys that query i sees: i+1, or all with mask=full. */
slong ref_rule_visible(const rule_job *job, slong i);

/* One token after another: evidence_scans.c */
void ref_rule_linear(rule_job *job);
void ref_rule_factor_inside(rule_job *job);
void ref_rule_absorbed(rule_job *job);
void ref_rule_gated(rule_job *job);
void ref_rule_value_gate(rule_job *job);
void ref_rule_ssd(rule_job *job);
void ref_rule_bonus(rule_job *job);
void ref_rule_gated_delta(rule_job *job);
void ref_rule_sla_delta(rule_job *job);
void ref_rule_removal(rule_job *job);

#endif
