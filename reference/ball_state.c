/* ball_state.c - states in balls: what a given state adds to a row, and the state after the last key.
 *
 * S_n = h0.n + sum_j phi(k_j)^(x n) (x) gin_j v_j, z-state without gin and v; full Kronecker order, no 1/n!, no scale.
 */
#include "reference/ball.h"

#include <stdlib.h>

/* power of degree t+1 from degree t in place: entry r of degree t spreads to r*dim .. r*dim+dim-1, last first.
 * One product an entry and degree: relative error n 2^-prec, inside the ball. */
void ref_ball_kronecker(arb_ptr power, arb_srcptr x, slong dim, int n, slong prec)
{
    slong rows = 1;
    arb_one(power);
    for (int t = 0; t < n; t++) {
        for (slong r = rows - 1; r >= 0; r--)
            for (slong c = dim - 1; c >= 0; c--)
                arb_mul(power + r * dim + c, power + r, x + c, prec);
        rows *= dim;
    }
}

/* What a query multiplies <phi(q)^(x n), S_n> by: scale^n/n! (taylor), scale^P/P! (term), scale^P (power). */
static void coefficient(arb_t coef, const attest_problem *p, int n, slong prec)
{
    arb_t factorial;
    arb_init(factorial);
    arb_set_d(coef, p->scale);
    arb_pow_ui(coef, coef, (ulong)n, prec);
    if (attest_axis_value_of(p, ATTEST_AXIS_WEIGHT) != ATTEST_WEIGHT_POWER) {
        arb_fac_ui(factorial, (ulong)n, 2 * prec + 512);
        arb_div(coef, coef, factorial, prec);
    }
    arb_clear(factorial);
}

static attest_status no_memory(attest_error *err, int degree)
{
    return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for the state of degree %d", degree);
}

/* One degree: sum += coef <power, column of t>, the column decoded exactly. */
static void add_column(ref_row *row, arb_t sum, const attest_tensor *t, int64_t offset, arb_srcptr power,
                       arb_ptr column, const arb_t coef, int64_t rows, slong prec)
{
    arb_t dot;
    arb_init(dot);
    for (int64_t r = 0; r < rows; r++) {
        arb_set_d(column + r, attest_load(t, offset + r * t->stride[2]));
        row->no_truth |= !arb_is_finite(column + r);
    }
    arb_dot(dot, NULL, 0, power, 1, column, 1, (slong)rows, prec);
    arb_addmul(sum, dot, coef, prec);
    arb_clear(dot);
}

static attest_status add_degree(ref_row *row, const ref_inputs *in, arb_srcptr q, int64_t b, int64_t g, int n,
                                slong prec, attest_error *err)
{
    const int64_t dim = attest_feature_dim(in->p), rows = attest_state_rows(dim, n, 0);
    const attest_tensor *h0 = in->h0[n], *z0 = in->z0[n];
    attest_status status = ATTEST_OK;
    arb_ptr power = ref_ball_vector(rows), column = ref_ball_vector(rows);
    arb_t coef;
    arb_init(coef);
    if (rows < 0 || !power || !column) {
        status = no_memory(err, n);
        goto out;
    }
    coefficient(coef, in->p, n, prec);
    ref_ball_kronecker(power, q, (slong)dim, n, prec);
    for (int64_t c = 0; c < row->e; c++)
        add_column(row, row->u + c, h0, attest_offset(h0, b, g, 0, c), power, column, coef, rows, prec);
    add_column(row, row->z, z0, attest_offset(z0, b, g, 0, 0), power, column, coef, rows, prec);
out:
    arb_clear(coef);
    ref_ball_vector_free(power, rows);
    ref_ball_vector_free(column, rows);
    return status;
}

attest_status ref_ball_add_state(ref_row *row, const ref_inputs *in, arb_srcptr q, int64_t b, int64_t g, slong prec,
                                 attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (int n = in->lowest; n <= in->highest && status == ATTEST_OK; n++)
        status = add_degree(row, in, q, b, g, n, prec, err);
    return status;
}

/* ---- the state after the last key -------------------------------------------------------------------------------- */
typedef struct state_job {
    arb_ptr out;
    mag_ptr gauge; /* or NULL */
    const ref_inputs *in;
    int64_t b, g, rows, width; /* width: e, or 1 for the z-state */
    int degree, z_state;
    slong prec;
} state_job;

/* out (and gauge) = the given state, or 0. */
static void start_state(const state_job *job)
{
    const attest_tensor *t = job->z_state ? job->in->z0[job->degree] : job->in->h0[job->degree];
    const int given = attest_axis_value_of(job->in->p, ATTEST_AXIS_STATE) != ATTEST_STATE_NONE;
    for (int64_t r = 0; r < job->rows; r++) {
        for (int64_t c = 0; c < job->width; c++) {
            arb_ptr x = job->out + r * job->width + c;
            if (given)
                arb_set_d(x, attest_load(t, attest_offset(t, job->b, job->g, r, job->z_state ? 0 : c)));
            else
                arb_zero(x);
            if (job->gauge)
                arb_get_mag(job->gauge + r * job->width + c, x);
        }
    }
}

/* out += power (x) values, gauge += |power| (x) |values|. */
static void add_key(const state_job *job, arb_srcptr power, arb_srcptr values, mag_srcptr values_mag)
{
    mag_t size;
    mag_init(size);
    for (int64_t r = 0; r < job->rows; r++) {
        arb_get_mag(size, power + r);
        for (int64_t c = 0; c < job->width; c++) {
            arb_addmul(job->out + r * job->width + c, power + r, values + c, job->prec);
            if (job->gauge)
                mag_addmul(job->gauge + r * job->width + c, size, values_mag + c);
        }
    }
    mag_clear(size);
}

static void load_values(const state_job *job, arb_ptr values, mag_ptr values_mag, int64_t j)
{
    const attest_tensor *v = job->in->role[ATTEST_V], *gin = job->in->role[ATTEST_GIN];
    const int gated = !job->z_state && ref_gates_values(job->in->p);
    arb_t gate;
    arb_init(gate);
    if (gated)
        arb_set_d(gate, attest_load(gin, attest_offset(gin, job->b, job->g, j, 0)));
    for (int64_t c = 0; c < job->width; c++) {
        if (job->z_state)
            arb_one(values + c);
        else
            arb_set_d(values + c, attest_load(v, attest_offset(v, job->b, job->g, j, c)));
        if (gated)
            arb_mul(values + c, values + c, gate, job->prec);
        arb_get_mag(values_mag + c, values + c);
    }
    arb_clear(gate);
}

attest_status ref_ball_state(arb_ptr out, mag_ptr gauge, const ref_inputs *in, int64_t b, int64_t g, int degree,
                             int z_state, slong prec, attest_error *err)
{
    const attest_tensor *k = in->role[ATTEST_K];
    const int64_t dim = attest_feature_dim(in->p), rows = attest_state_rows(dim, degree, 0);
    const state_job job = { out, gauge, in, b, g, rows, z_state ? 1 : in->p->e, degree, z_state, prec };
    attest_status status = ATTEST_OK;
    int64_t first, last;
    arb_ptr key = ref_ball_vector(dim), power = ref_ball_vector(rows), values = ref_ball_vector(job.width);
    mag_ptr values_mag = calloc((size_t)job.width, sizeof *values_mag);
    if (rows < 0 || !key || !power || !values || !values_mag) {
        status = no_memory(err, degree);
        goto out;
    }
    start_state(&job);
    ref_visible(in, b, in->p->n - 1, &first, &last);
    for (int64_t j = first; j < last; j++) {
        ref_ball_phi(key, in, k, attest_offset(k, b, g, j, 0), k->stride[3], prec);
        ref_ball_kronecker(power, key, (slong)dim, degree, prec);
        load_values(&job, values, values_mag, j);
        add_key(&job, power, values, values_mag);
    }
out:
    ref_ball_vector_free(key, dim);
    ref_ball_vector_free(power, rows);
    ref_ball_vector_free(values, job.width);
    for (int64_t c = 0; values_mag && c < job.width; c++)
        mag_clear(values_mag + c);
    free(values_mag);
    return status;
}
