/* gauge.c - the natural scale of an element's error (design section 6), upward rounded. */
#include "reference/bound.h"

typedef struct gauge_job {
    const ref_row *row;
    const ref_inputs *in;
    int64_t b, h, i, g;
    int exponential;
    bound_sums sums; /* coef[0] = |w|, coef[1] = w S (exp) */
    mag_ptr given;   /* [e] absolute terms of the given states */
    mag_t given_z;
} gauge_job;

enum { SET_WEIGHT = 0, SET_SCORE = 1 };

static attest_status job_start(gauge_job *job, attest_error *err)
{
    const ref_row *row = job->row;
    attest_status status = bound_sums_init(&job->sums, row->keys, err);
    mag_init(job->given_z);
    job->given = _mag_vec_init((slong)job->in->p->e);
    if (status != ATTEST_OK)
        return status;
    mag_ptr w = _mag_vec_init((slong)row->keys), s = _mag_vec_init((slong)row->keys);
    for (int64_t j = 0; j < row->keys; j++) {
        arb_get_mag(w + j, row->w + j);
        if (job->exponential)
            mag_mul(s + j, w + j, row->mass + j);
    }
    mag_srcptr const set[BOUND_SETS] = { w, job->exponential ? s : NULL, NULL, NULL };
    bound_sums_fill(&job->sums, set);
    _mag_vec_clear(s, (slong)row->keys);
    _mag_vec_clear(w, (slong)row->keys);
    bound_state_mass(job->given, job->given_z, job->in, job->b, job->h, job->i);
    return ATTEST_OK;
}

static void job_clear(gauge_job *job)
{
    bound_sums_clear(&job->sums);
    _mag_vec_clear(job->given, (slong)job->in->p->e);
    mag_clear(job->given_z);
}

/* sum |w|(1+S) + |z0 terms| */
static void gauge_z(mag_t z, const gauge_job *job)
{
    mag_t s;
    mag_init(s);
    bound_sums_total(z, &job->sums, SET_WEIGHT);
    bound_sums_total(s, &job->sums, SET_SCORE);
    mag_add(z, z, s);
    mag_add(z, z, job->given_z);
    mag_clear(s);
}

static void gauge_lse(mag_t y, const gauge_job *job)
{
    mag_t low;
    mag_init(low);
    gauge_z(y, job);
    arb_get_mag_lower(low, job->row->z);
    mag_div(y, y, low);
    mag_clear(low);
}

/* sum |w v| + [exp] sum w S |v - center| + |h0 terms|; the score part of an unnormalised u moves with v itself. */
static void gauge_column(mag_t y, gauge_job *job, int64_t c, arb_srcptr center)
{
    const attest_tensor *v = job->in->role[ATTEST_V];
    mag_t s;
    mag_init(s);
    bound_sums_values(&job->sums, v, job->b, job->g, job->row->first, c);
    bound_sums_dot(y, &job->sums, SET_WEIGHT);
    if (job->exponential) {
        if (center)
            bound_sums_distances(&job->sums, v, job->b, job->g, job->row->first, c, center);
        bound_sums_dot(s, &job->sums, SET_SCORE);
        mag_add(y, y, s);
    }
    mag_add(y, y, job->given + c);
    mag_clear(s);
}

static void gauge_o(mag_ptr gauge, gauge_job *job)
{
    const int plain = job->in->p->axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_NONE;
    arb_t divisor;
    mag_t low;
    arb_init(divisor);
    mag_init(low);
    if (bound_divisor(divisor, job->row, job->in, job->h))
        arb_get_mag_lower(low, divisor);
    for (int64_t c = 0; c < job->in->p->e; c++) {
        if (mag_is_zero(low)) {
            mag_inf(gauge + c);
            continue;
        }
        gauge_column(gauge + c, job, c, plain ? NULL : job->row->o + c);
        mag_div(gauge + c, gauge + c, low);
    }
    mag_clear(low);
    arb_clear(divisor);
}

attest_status ref_gauge_row(mag_ptr gauge, const ref_row *row, const ref_inputs *in, attest_tensor_id id, int64_t b,
                            int64_t h, int64_t i, attest_error *err)
{
    const int64_t count = id.index == ATTEST_O || id.index == ATTEST_U ? in->p->e : 1;
    attest_status status = ATTEST_OK;
    if (row->empty || row->no_truth) {
        for (int64_t c = 0; c < count; c++)
            mag_zero(gauge + c);
        return ATTEST_OK;
    }
    gauge_job job = { .row = row, .in = in, .b = b, .h = h, .i = i, .g = attest_kv_head(in->p, h) };
    job.exponential = in->p->axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_EXP;
    ATTEST_TRY(job_start(&job, err));
    if (id.index == ATTEST_O)
        gauge_o(gauge, &job);
    else if (id.index == ATTEST_Z)
        gauge_z(gauge, &job);
    else if (id.index == ATTEST_LSE)
        gauge_lse(gauge, &job);
    else
        for (int64_t c = 0; c < count; c++)
            gauge_column(gauge + c, &job, c, NULL);
out:
    job_clear(&job);
    return status;
}
