/* ball_state.c - states in balls: what a given state adds to a row, and the state after the last key.
 *
 * S_n = D_0 h0.n + sum_j D_Tj phi(k_j)^(x n) (x) gin_j v_j with the decays up to the last key T; z-state without gin
 * and v; full Kronecker order, no 1/n!, no scale.
 */
#include "reference/ball/ball.h"

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

static attest_status no_memory(attest_error *err, int degree)
{
    return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for the state of degree %d", degree);
}

/* One degree: sum += coef <power, column of t>, the column decoded exactly. */
static void add_column(ref_row *row, arb_t sum, const attest_tensor *t, int64_t offset, arb_srcptr power,
                       arb_ptr column, const arb_t coef, int64_t rows, slong prec)
{
    AUTO_ARB(dot);
    for (int64_t r = 0; r < rows; r++) {
        arb_set_d(column + r, attest_load(t, offset + r * t->stride[2]));
        row->no_truth |= !arb_is_finite(column + r);
    }
    arb_dot(dot, NULL, 0, power, 1, column, 1, (slong)rows, prec);
    arb_addmul(sum, dot, coef, prec);
}

static attest_status add_degree(ref_row *row, const ref_inputs *in, arb_srcptr q, const arb_t decay, int64_t b,
                                int64_t g, int n, slong prec, attest_error *err)
{
    const int64_t dim = attest_feature_dim(in->p), rows = attest_state_rows(dim, n, 0);
    const attest_tensor *h0 = in->h0[n], *z0 = in->z0[n];
    attest_status status = ATTEST_OK;
    arb_ptr power = ref_ball_vector(rows), column = ref_ball_vector(rows);
    AUTO_ARB(coef);
    if (rows < 0 || !power || !column) {
        status = no_memory(err, n);
        goto out;
    }
    axis_degree_ball(coef, in->p, n, prec);
    arb_mul(coef, coef, decay, prec);
    ref_ball_kronecker(power, q, (slong)dim, n, prec);
    for (int64_t c = 0; c < row->e; c++)
        add_column(row, row->u + c, h0, attest_offset(h0, b, g, 0, c), power, column, coef, rows, prec);
    add_column(row, row->z, z0, attest_offset(z0, b, g, 0, 0), power, column, coef, rows, prec);
out:
    ref_ball_vector_free(power, rows);
    ref_ball_vector_free(column, rows);
    return status;
}

attest_status ref_ball_add_state(ref_row *row, const ref_inputs *in, arb_srcptr q, const arb_t decay, int64_t b,
                                 int64_t g, slong prec, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (int n = in->lowest; n <= in->highest && status == ATTEST_OK; n++)
        status = add_degree(row, in, q, decay, b, g, n, prec, err);
    return status;
}

/* ---- the state after the last key -------------------------------------------------------------------------------- */
typedef struct state_job {
    arb_ptr out;
    mag_ptr abs_scale; /* or NULL */
    const ref_inputs *in;
    int64_t b, g, rows, width; /* width: e, or 1 for the z-state */
    int degree, z_state;
    slong prec;
} state_job;

/* out (and abs_scale) += decay times the given state. */
static void add_given(const state_job *job, const ref_ball_product *decay)
{
    const attest_tensor *t = job->z_state ? job->in->z0[job->degree] : job->in->h0[job->degree];
    AUTO_ARB(x);
    AUTO_MAG(size);
    for (int64_t r = 0; r < job->rows; r++) {
        for (int64_t c = 0; c < job->width; c++) {
            arb_ptr out = job->out + r * job->width + c;
            arb_set_d(x, attest_load(t, attest_offset(t, job->b, job->g, r, job->z_state ? 0 : c)));
            arb_mul(x, x, decay->x + (decay->count > 1 ? r : 0), job->prec); /* per dimension: degree 1 only */
            arb_add(out, out, x, job->prec);
            arb_get_mag(size, x);
            if (job->abs_scale)
                mag_add(job->abs_scale + r * job->width + c, job->abs_scale + r * job->width + c, size);
        }
    }
}

/* out += power (x) values, abs_scale += |power| (x) |values|. */
static void add_key(const state_job *job, arb_srcptr power, arb_srcptr values, mag_srcptr values_mag)
{
    AUTO_MAG(size);
    for (int64_t r = 0; r < job->rows; r++) {
        arb_get_mag(size, power + r);
        for (int64_t c = 0; c < job->width; c++) {
            arb_addmul(job->out + r * job->width + c, power + r, values + c, job->prec);
            if (job->abs_scale)
                mag_addmul(job->abs_scale + r * job->width + c, size, values_mag + c);
        }
    }
}

/* gin_j v_j, or 1 for the z-state; times D_Tj where that is one number. */
static void load_values(const state_job *job, arb_ptr values, mag_ptr values_mag, const ref_ball_product *decay,
                        int64_t j)
{
    const attest_tensor *v = job->in->role[ATTEST_V];
    AUTO_ARB(gate);
    arb_one(gate);
    if (!job->z_state)
        ref_ball_value_gate(gate, job->in, job->b, job->g, j, job->prec);
    if (decay->count == 1)
        arb_mul(gate, gate, decay->x, job->prec);
    for (int64_t c = 0; c < job->width; c++) {
        if (job->z_state)
            arb_one(values + c);
        else
            arb_set_d(values + c, attest_load(v, attest_offset(v, job->b, job->g, j, c)));
        arb_mul(values + c, values + c, gate, job->prec);
        arb_get_mag(values_mag + c, values + c);
    }
}

static void zero_state(const state_job *job)
{
    for (int64_t at = 0; at < job->rows * job->width; at++) {
        arb_zero(job->out + at);
        if (job->abs_scale)
            mag_zero(job->abs_scale + at);
    }
}

/* Room for one key. */
typedef struct state_room {
    arb_ptr key, power, values;
    mag_ptr values_mag;
} state_room;

/* From the last key backwards: the way a product of decays grows. */
static void add_keys(const state_job *job, const state_room *room, ref_ball_product *decay)
{
    const attest_tensor *k = job->in->role[ATTEST_K];
    const slong dim = (slong)attest_feature_dim(job->in->p);
    int64_t first, last;
    ref_visible(job->in, job->b, ref_last_query(job->in, job->b), &first, &last);
    for (int64_t j = last - 1; j >= first; j--) {
        ref_ball_product_reach(decay, j);
        axis_phi(room->key, job->in, k, attest_offset(k, job->b, job->g, j, 0), k->stride[3], j, job->prec);
        for (slong c = 0; decay->count > 1 && c < dim; c++)
            arb_mul(room->key + c, room->key + c, decay->x + c, job->prec);
        ref_ball_kronecker(room->power, room->key, dim, job->degree, job->prec);
        load_values(job, room->values, room->values_mag, decay, j);
        add_key(job, room->power, room->values, room->values_mag);
    }
    if (attest_axis_value_of(job->in->p, ATTEST_AXIS_STATE) == ATTEST_STATE_NONE)
        return;
    if (last > first)
        ref_ball_product_reach(decay, -1);
    add_given(job, decay);
}

attest_status ref_ball_state(arb_ptr out, mag_ptr abs_scale, const ref_inputs *in, int64_t b, int64_t g, int degree,
                             int z_state, slong prec, attest_error *err)
{
    const int64_t dim = attest_feature_dim(in->p), rows = attest_state_rows(dim, degree, 0);
    const state_job job = { out, abs_scale, in, b, g, rows, z_state ? 1 : in->p->e, degree, z_state, prec };
    attest_status status = ATTEST_OK;
    ref_ball_product decay = { 0 };
    int64_t first, last;
    if (attest_axis_value_of(in->p, ATTEST_AXIS_UPDATE) != ATTEST_UPDATE_ADD)
        return ref_delta_state(out, abs_scale, in, b, g, prec, err);
    state_room room = { ref_ball_vector(dim), ref_ball_vector(rows), ref_ball_vector(job.width),
                        calloc((size_t)job.width, sizeof(mag_struct)) };
    if (rows < 0 || !room.key || !room.power || !room.values || !room.values_mag) {
        status = no_memory(err, degree);
        goto out;
    }
    ref_visible(in, b, ref_last_query(in, b), &first, &last);
    ATTEST_TRY(ref_ball_product_start(&decay, NULL, in, b, g, last - 1, prec, err));
    zero_state(&job);
    add_keys(&job, &room, &decay);
out:
    ref_ball_product_clear(&decay);
    ref_ball_vector_free(room.key, dim);
    ref_ball_vector_free(room.power, rows);
    ref_ball_vector_free(room.values, job.width);
    for (int64_t c = 0; room.values_mag && c < job.width; c++)
        mag_clear(room.values_mag + c);
    free(room.values_mag);
    return status;
}
