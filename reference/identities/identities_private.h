/* identities_private.h - inside reference/: the two sides of an identity and what its checks are made of. */
#ifndef ATTEST_IDENTITIES_PRIVATE_H
#define ATTEST_IDENTITIES_PRIVATE_H

#include "reference/engine/engine.h"
#include "reference/identities/identities.h"

/* A side: a problem of its own (a check may change its axes) on borrowed inputs.  `in` points into the side. */
typedef struct identity_side {
    attest_problem p;
    const attest_bundle *bundle;
    ref_inputs in;
} identity_side;

void identity_side_set(identity_side *s, const attest_problem *p, const attest_bundle *bundle);
/* `out` = the side with one axis changed. */
void identity_side_with(identity_side *out, const identity_side *s, attest_axis axis, uint32_t value, uint32_t order);

typedef struct identity_job {
    identity_side left, right;
    int64_t b, h; /* the head at hand */
    int64_t compared, different;
} identity_job;

/* Counts one comparison. */
void identity_compare(identity_job *job, const mpq_t left, const mpq_t right);

/* All rows of one head. */
typedef struct identity_rows {
    int64_t n, e;
    mpq_t *u, *z, *o; /* [n*e], [n], [n*e] */
    int *defined;     /* [n]: o is */
} identity_rows;

attest_status identity_rows_new(identity_rows *r, const attest_problem *p, attest_error *err);
void identity_rows_free(identity_rows *r);
/* u and z (with_o: and o) of the head by the exact engine. */
attest_status identity_rows_engine(identity_rows *r, const identity_side *s, const identity_job *job, int with_o,
                                   attest_error *err);
attest_status identity_rows_form(identity_rows *r, const identity_side *s, const identity_job *job,
                                 ref_exact_form_options options, attest_error *err);
/* Compares u and, where `with_z`, z of all rows. */
void identity_compare_rows(identity_job *job, const identity_rows *a, const identity_rows *b, int with_z);

/* ---- the checks: one head each ----------------------------------------------------------------------------------- */
typedef attest_status identity_check(identity_job *job, attest_error *err);
identity_check identity_recurrent, identity_packed, identity_chunked, identity_split, identity_carried, identity_state,
    identity_scan, identity_gate_matrix, identity_feature_power, identity_kronecker, identity_length_l2,
    identity_power_term, identity_last_row, identity_taylor_terms, identity_first_order;

#endif
