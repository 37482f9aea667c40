/* evidence_scans.c - published recurrences: one state, one token after another, in exact rational matrices.
 *
 * Rows are vectors 1 x d; S is d x e; k_t^T v_t is an outer product.  No rule applies `scale`: it is folded into q.
 */
#include "reference/evidence/evidence_rules.h"

static void scale_row(fmpq_mat_t row, const fmpq_t by) { fmpq_mat_scalar_mul_fmpq(row, row, by); }

/* row_c *= weights(t,c) */
static void times_row(fmpq_mat_t row, const fmpq_mat_t weights, slong t)
{
    for (slong c = 0; c < fmpq_mat_ncols(row); c++)
        fmpq_mul(fmpq_mat_entry(row, 0, c), fmpq_mat_entry(row, 0, c), fmpq_mat_entry(weights, t, c));
}

/* S = diag(a_t) S */
static void decay_rows(fmpq_mat_t s, const fmpq_mat_t a, slong t)
{
    for (slong r = 0; r < fmpq_mat_nrows(s); r++)
        for (slong c = 0; c < fmpq_mat_ncols(s); c++)
            fmpq_mul(fmpq_mat_entry(s, r, c), fmpq_mat_entry(s, r, c), fmpq_mat_entry(a, t, r));
}

/* S = S diag(a_t), for e = d */
static void decay_columns(fmpq_mat_t s, const fmpq_mat_t a, slong t)
{
    for (slong r = 0; r < fmpq_mat_nrows(s); r++)
        for (slong c = 0; c < fmpq_mat_ncols(s); c++)
            fmpq_mul(fmpq_mat_entry(s, r, c), fmpq_mat_entry(s, r, c), fmpq_mat_entry(a, t, c));
}

/* ---- scans: one state, one token after another ------------------------------------------------------------------- */
typedef struct scan {
    fmpq_mat_t s, q, k, v, y, z, old; /* [d,e], then rows: [1,d] q k, [1,e] v y, z [1,e], old [d,e] */
} scan;

typedef void (*scan_step)(rule_job *job, scan *x, slong t); /* updates s, leaves the output row in y */

static void run_scan(rule_job *job, scan_step step)
{
    const slong d = (slong)job->d, e = (slong)job->e;
    scan x;
    fmpq_mat_init(x.s, d, e);
    fmpq_mat_init(x.old, d, e);
    fmpq_mat_init(x.q, 1, d);
    fmpq_mat_init(x.k, 1, d);
    fmpq_mat_init(x.v, 1, e);
    fmpq_mat_init(x.y, 1, e);
    fmpq_mat_init(x.z, 1, e);
    for (slong t = 0; t < (slong)job->n; t++) {
        ref_rule_row(x.q, job->q, t);
        ref_rule_row(x.k, job->k, t);
        ref_rule_row(x.v, job->v, t);
        step(job, &x, t);
        ref_rule_put(job, t, x.y);
    }
    fmpq_mat_clear(x.s);
    fmpq_mat_clear(x.old);
    fmpq_mat_clear(x.q);
    fmpq_mat_clear(x.k);
    fmpq_mat_clear(x.v);
    fmpq_mat_clear(x.y);
    fmpq_mat_clear(x.z);
}

#define ONE(matrix, t) fmpq_mat_entry((matrix), (t), 0)

/* H_t = H_{t-1} + k^T v; o = q H_t */
static void step_linear(rule_job *job, scan *x, slong t)
{
    (void)job;
    (void)t;
    ref_rule_outer(x->s, x->k, x->v);
    fmpq_mat_mul(x->y, x->q, x->s);
}

/* The row's factor multiplied into each write: H_t = H_{t-1} + g_t k^T v; o = q H_t */
static void step_factor_inside(rule_job *job, scan *x, slong t)
{
    scale_row(x->v, ONE(job->gout, t));
    step_linear(job, x, t);
}

/* k~ = gin k, q~ = gout q; S = S + k~^T v; y = q~ S */
static void step_absorbed(rule_job *job, scan *x, slong t)
{
    scale_row(x->k, ONE(job->gin, t));
    scale_row(x->q, ONE(job->gout, t));
    step_linear(job, x, t);
}

/* S = diag(a_t) S + (gin k)^T v; y = gout q S: GLA; RetNet and SSD with a_t the same for all rows */
static void step_gated(rule_job *job, scan *x, slong t)
{
    decay_rows(x->s, job->a, t);
    step_absorbed(job, x, t);
}

/* S = S diag(a_t) + k^T v; o = q S */
static void step_value_gate(rule_job *job, scan *x, slong t)
{
    decay_columns(x->s, job->a, t);
    step_linear(job, x, t);
}

/* h = a h + B^T (dt x); y = C h + D x: gin is dt, extra[0] is D */
static void step_ssd(rule_job *job, scan *x, slong t)
{
    AUTO_FMPQ(skip);
    ref_rule_double(skip, job->extra[0]);
    fmpq_mat_set(x->z, x->v);
    scale_row(x->z, skip);
    scale_row(x->v, ONE(job->gin, t));
    decay_rows(x->s, job->a, t);
    step_linear(job, x, t);
    fmpq_mat_add(x->y, x->y, x->z);
}

/* RWKV-5, RWKV-6: o = r (S + diag(u) k^T v), then S = diag(w_t) S + k^T v, read with r_t = w_t q_t; u = extra, or
 * 1/w_t with number = 1 (what makes the rule a point of the axes). */
static void step_bonus(rule_job *job, scan *x, slong t)
{
    AUTO_FMPQ(u);
    times_row(x->q, job->a, t); /* r = w q */
    fmpq_mat_set(x->old, x->s); /* S_{t-1} */
    decay_rows(x->s, job->a, t);
    ref_rule_outer(x->s, x->k, x->v);
    for (slong r = 0; r < (slong)job->d; r++) {
        if (job->number == 1)
            fmpq_inv(u, fmpq_mat_entry(job->a, t, r));
        else
            ref_rule_double(u, job->extra[r]);
        fmpq_mul(fmpq_mat_entry(x->k, 0, r), fmpq_mat_entry(x->k, 0, r), u);
    }
    ref_rule_outer(x->old, x->k, x->v);
    fmpq_mat_mul(x->y, x->q, x->old);
}

/* S = a (I - b k^T k) S + b k^T v; o = q S: gated delta rule as published */
static void step_gated_delta(rule_job *job, scan *x, slong t)
{
    fmpq_mat_mul(x->z, x->k, x->s); /* k S */
    scale_row(x->z, ONE(job->b, t));
    fmpq_mat_neg(x->z, x->z);
    ref_rule_outer(x->s, x->k, x->z);
    decay_rows(x->s, job->a, t);
    scale_row(x->v, ONE(job->b, t));
    step_linear(job, x, t);
}

/* v' = b (G v - k S_{t-1}); S = S + k^T v'; y = G q S: no decay */
static void step_sla_delta(rule_job *job, scan *x, slong t)
{
    fmpq_mat_mul(x->z, x->k, x->s);
    scale_row(x->v, ONE(job->gin, t));
    fmpq_mat_sub(x->v, x->v, x->z);
    scale_row(x->v, ONE(job->b, t));
    scale_row(x->q, ONE(job->gout, t));
    step_linear(job, x, t);
}

/* RWKV-7, transposed: S = (diag(w_t) - (a k^)^T k^) S + k~^T v; o = r S, with k^ the removal key, k~ = b k the written
 * one, rate a = b.  extra[r] tells how far the removal key is from k: k^_r = k_r + extra[r]. */
static void step_removal(rule_job *job, scan *x, slong t)
{
    AUTO_FMPQ(off);
    fmpq_mat_t removal, left;
    fmpq_mat_init(removal, 1, (slong)job->d);
    fmpq_mat_init(left, 1, (slong)job->d);
    for (slong r = 0; r < (slong)job->d; r++) {
        ref_rule_double(off, job->extra[r]);
        fmpq_add(fmpq_mat_entry(removal, 0, r), fmpq_mat_entry(x->k, 0, r), off);
    }
    fmpq_mat_mul(x->z, removal, x->s);
    fmpq_mat_set(left, removal);
    scale_row(left, ONE(job->b, t));
    fmpq_mat_neg(left, left);
    decay_rows(x->s, job->a, t);
    ref_rule_outer(x->s, left, x->z);
    scale_row(x->v, ONE(job->b, t));
    step_linear(job, x, t);
    fmpq_mat_clear(removal);
    fmpq_mat_clear(left);
}

void ref_rule_linear(rule_job *job) { run_scan(job, step_linear); }
void ref_rule_factor_inside(rule_job *job) { run_scan(job, step_factor_inside); }
void ref_rule_absorbed(rule_job *job) { run_scan(job, step_absorbed); }
void ref_rule_gated(rule_job *job) { run_scan(job, step_gated); }
void ref_rule_value_gate(rule_job *job) { run_scan(job, step_value_gate); }
void ref_rule_ssd(rule_job *job) { run_scan(job, step_ssd); }
void ref_rule_bonus(rule_job *job) { run_scan(job, step_bonus); }
void ref_rule_gated_delta(rule_job *job) { run_scan(job, step_gated_delta); }
void ref_rule_sla_delta(rule_job *job) { run_scan(job, step_sla_delta); }
void ref_rule_removal(rule_job *job) { run_scan(job, step_removal); }
