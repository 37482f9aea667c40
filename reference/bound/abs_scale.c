/* abs_scale.c - the natural scale of an element's error (derivations.md, section 0), upward rounded. */
#include "reference/bound/bound.h"

typedef struct abs_scale_job {
    const ref_row *row;
    const ref_inputs *in;
    int64_t b, h, i, g;
    int exponential;
    bound_sums sums; /* coef[0] = |w|, coef[1] = w S (exp) */
    mag_ptr w, s;    /* [keys] the same, for gated values */
    mag_ptr given;   /* [e] absolute terms of the given states */
    mag_t given_z;
} abs_scale_job;

enum { SET_WEIGHT = 0, SET_SCORE = 1 };

static attest_status job_start(abs_scale_job *job, attest_error *err)
{
    const ref_row *row = job->row;
    attest_status status = bound_sums_init(&job->sums, row->keys, err);
    mag_init(job->given_z);
    job->given = _mag_vec_init((slong)job->in->p->e);
    if (status != ATTEST_OK)
        return status;
    mag_ptr w = job->w = _mag_vec_init((slong)row->keys), s = job->s = _mag_vec_init((slong)row->keys);
    for (int64_t j = 0; j < row->keys; j++) {
        arb_get_mag(w + j, row->w + j);
        if (job->exponential)
            mag_mul(s + j, w + j, row->mass + j);
    }
    mag_srcptr const set[BOUND_SETS] = { w, job->exponential ? s : NULL, NULL, NULL };
    bound_sums_fill(&job->sums, set);
    bound_state_mass(job->given, job->given_z, job->in, (attest_row){ job->b, job->h, job->i });
    for (int64_t c = 0; c < job->in->p->e; c++)
        mag_mul(job->given + c, job->given + c, row->decay0);
    mag_mul(job->given_z, job->given_z, row->decay0);
    return ATTEST_OK;
}

static void job_clear(abs_scale_job *job)
{
    bound_sums_clear(&job->sums);
    _mag_vec_clear(job->given, (slong)job->in->p->e);
    if (job->w)
        _mag_vec_clear(job->w, (slong)job->row->keys);
    if (job->s)
        _mag_vec_clear(job->s, (slong)job->row->keys);
    mag_clear(job->given_z);
}

/* sum |w|(1+S) + |z0 terms| */
static void abs_scale_z(mag_t z, const abs_scale_job *job)
{
    AUTO_MAG(s);
    bound_sums_total(z, &job->sums, SET_WEIGHT);
    bound_sums_total(s, &job->sums, SET_SCORE);
    mag_add(z, z, s);
    mag_add(z, z, job->given_z);
}

static void abs_scale_lse(mag_t y, const abs_scale_job *job)
{
    AUTO_MAG(low);
    abs_scale_z(y, job);
    arb_get_mag_lower(low, job->row->z);
    mag_div(y, y, low);
}

/* sum |w gin v| + [exp] sum w S |gin v - center|, key by key. */
static void gated_column(mag_t y, const abs_scale_job *job, int64_t c, arb_srcptr center)
{
    const attest_tensor *v = job->in->role[ATTEST_V];
    AUTO_ARB(x);
    AUTO_MAG(size);
    mag_zero(y);
    for (int64_t j = 0; j < job->row->keys; j++) {
        arb_set_d(x, attest_load(v, attest_offset(v, job->b, job->g, job->row->key[j], c)));
        arb_mul(x, x, ref_row_pass(job->row, job->in->p) + j, 128);
        arb_get_mag(size, x);
        mag_addmul(y, job->w + j, size);
        if (center)
            arb_sub(x, x, center, 128);
        arb_get_mag(size, x);
        mag_addmul(y, job->s + j, size); /* 0 unless exp */
    }
    mag_add(y, y, job->given + c);
}

/* sum |w v| + [exp] sum w S |v - center| + |h0 terms|; the score part of an unnormalised u moves with v itself. */
static void abs_scale_column(mag_t y, abs_scale_job *job, int64_t c, arb_srcptr center)
{
    const attest_tensor *v = job->in->role[ATTEST_V];
    AUTO_MAG(s);
    if (ref_row_pass(job->row, job->in->p)) {
        gated_column(y, job, c, center);
        return;
    }
    bound_sums_values(&job->sums, v, job->b, job->g, job->row->key, c);
    bound_sums_dot(y, &job->sums, SET_WEIGHT);
    if (job->exponential) {
        if (center)
            bound_sums_distances(&job->sums, v, job->b, job->g, job->row->key, c, center);
        bound_sums_dot(s, &job->sums, SET_SCORE);
        mag_add(y, y, s);
    }
    mag_add(y, y, job->given + c);
}

/* Does the divisor move with the weights, so that the score part of o is about the distance to u/Z?  -1: not known at
 * this precision (a floor about as large as z). */
static int divisor_moves(const abs_scale_job *job)
{
    const axis_norm_kind norm = axis_norm_of(job->in->p)->kind;
    AUTO_ARB(floor);
    int moves = norm != AXIS_NORM_PLAIN && norm != AXIS_NORM_LENGTH;
    if (norm != AXIS_NORM_FLOOR)
        return moves;
    arb_set_d(floor, job->in->p->axis[ATTEST_AXIS_NORM].number);
    moves = arb_gt(job->row->z, floor) ? 1 : arb_lt(job->row->z, floor) ? 0 : -1;
    return moves;
}

/* Z times the abs_scale of u_c/Z; that quotient stands for o_ic in the formula: gout multiplies both
 * (R-ABS-SCALE-GATE). */
static void abs_scale_quotient(mag_t y, abs_scale_job *job, int64_t c, const arb_t divisor, int moves)
{
    AUTO_ARB(center);
    AUTO_MAG(still);
    arb_div(center, job->row->u + c, divisor, job->row->prec);
    abs_scale_column(y, job, c, moves ? center : NULL);
    if (moves < 0) {
        abs_scale_column(still, job, c, NULL);
        mag_max(y, y, still);
    }
}

/* Gauges of u through the Jacobian of a norm by a root s, y = Norm(u): with g the abs_scales of its argument (of u,
 * times gout before the norm, over t) at most (g_c + [centered] mean g + |y_c| sum |y| g / m)/s, m = e or 1
 * (R-ABS-SCALE-NORM). */
static void through_root(mag_ptr g, const abs_scale_job *job, const axis_root *kind, const arb_t root, arb_srcptr y)
{
    const int64_t e = job->in->p->e;
    AUTO_MAG(low, mean, moved, x);
    arb_get_mag_lower(low, root);
    for (int64_t c = 0; c < e; c++) {
        if (kind->centered)
            mag_add(mean, mean, g + c);
        arb_get_mag(x, y + c);
        mag_addmul(moved, x, g + c);
    }
    mag_div_ui(mean, mean, (ulong)e);
    if (kind->mean)
        mag_div_ui(moved, moved, (ulong)e);
    for (int64_t c = 0; c < e; c++) {
        mag_add(g + c, g + c, mean);
        arb_get_mag(x, y + c);
        mag_addmul(g + c, x, moved);
        mag_div(g + c, g + c, low);
    }
}

/* abs_scale = |gain| abs_scale + |shift| */
static void through_affine(mag_ptr abs_scale, const ref_inputs *in)
{
    const attest_tensor *gain = in->role[ATTEST_GAIN], *shift = in->role[ATTEST_SHIFT];
    AUTO_MAG(x);
    for (int64_t c = 0; in->p->axis[ATTEST_AXIS_AFFINE].value != ATTEST_AFFINE_NONE && c < in->p->e; c++) {
        mag_set_d(x, attest_load(gain, attest_offset(gain, c, 0, 0, 0)));
        mag_mul(abs_scale + c, abs_scale + c, x);
        mag_set_d(x, attest_load(shift, attest_offset(shift, c, 0, 0, 0)));
        mag_add(abs_scale + c, abs_scale + c, x);
    }
}

static void abs_scale_root(mag_ptr abs_scale, abs_scale_job *job, const axis_root *kind)
{
    const attest_problem *p = job->in->p;
    const int before = axis_gates_of(p)->before;
    arb_ptr y = _arb_vec_init((slong)p->e);
    AUTO_ARB(x);
    AUTO_MAG(gate);
    arb_get_mag(gate, job->row->gout);
    arb_one(x);
    if (before)
        arb_set(x, job->row->gout);
    for (int64_t c = 0; c < p->e; c++) {
        arb_mul(y + c, job->row->u + c, x, job->row->prec);
        abs_scale_column(abs_scale + c, job, c, NULL);
        if (before)
            mag_mul(abs_scale + c, abs_scale + c, gate);
        if (kind->length && job->row->keys)
            mag_div_ui(abs_scale + c, abs_scale + c, (ulong)job->row->keys);
    }
    const int good = axis_root_norm(y, x, p, job->row->keys, job->row->prec);
    if (good)
        through_root(abs_scale, job, kind, x, y);
    through_affine(abs_scale, job->in);
    for (int64_t c = 0; c < p->e; c++) {
        if (!good)
            mag_inf(abs_scale + c);
        else if (!before)
            mag_mul(abs_scale + c, abs_scale + c, gate);
    }
    _arb_vec_clear(y, (slong)p->e);
}

/* update=delta, efla: |gout| times the absolute terms of u (R-ABS-SCALE-DELTA). */
static void abs_scale_delta(mag_ptr abs_scale, const ref_row *row)
{
    AUTO_MAG(gate);
    arb_get_mag(gate, row->gout);
    for (int64_t c = 0; c < row->e; c++)
        mag_mul(abs_scale + c, gate, row->delta.terms + c);
}

static void abs_scale_o(mag_ptr abs_scale, abs_scale_job *job)
{
    const axis_root kind = axis_norm_of(job->in->p)->root;
    if (kind.root) {
        abs_scale_root(abs_scale, job, &kind);
        return;
    }
    const int moves = divisor_moves(job);
    AUTO_ARB(divisor);
    AUTO_MAG(low, gate);
    arb_get_mag(gate, job->row->gout);
    if (axis_divisor(divisor, job->row, job->in, job->h))
        arb_get_mag_lower(low, divisor);
    for (int64_t c = 0; c < job->in->p->e; c++) {
        if (mag_is_zero(low)) {
            mag_inf(abs_scale + c);
            continue;
        }
        abs_scale_quotient(abs_scale + c, job, c, divisor, moves);
        mag_div(abs_scale + c, abs_scale + c, low);
        mag_mul(abs_scale + c, abs_scale + c, gate);
    }
}

attest_status ref_abs_scale_row(mag_ptr abs_scale, const ref_row *row, const ref_inputs *in, attest_tensor_id id,
                                attest_row at, attest_error *err)
{
    const int64_t count = id.index == ATTEST_O || id.index == ATTEST_U ? in->p->e : 1;
    attest_status status = ATTEST_OK;
    if (row->empty || row->no_truth) {
        for (int64_t c = 0; c < count; c++)
            mag_zero(abs_scale + c);
        return ATTEST_OK;
    }
    if (attest_axis_value_of(in->p, ATTEST_AXIS_UPDATE) != ATTEST_UPDATE_ADD) {
        abs_scale_delta(abs_scale, row);
        return ATTEST_OK;
    }
    abs_scale_job job = { .row = row, .in = in, .b = at.b, .h = at.h, .i = at.i, .g = attest_kv_head(in->p, at.h) };
    job.exponential = in->p->axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_EXP;
    ATTEST_TRY(job_start(&job, err));
    if (id.index == ATTEST_O)
        abs_scale_o(abs_scale, &job);
    else if (id.index == ATTEST_Z)
        abs_scale_z(abs_scale, &job);
    else if (id.index == ATTEST_LSE)
        abs_scale_lse(abs_scale, &job);
    else
        for (int64_t c = 0; c < count; c++)
            abs_scale_column(abs_scale + c, &job, c, NULL);
out:
    job_clear(&job);
    return status;
}

attest_status ref_abs_scale_kept(mag_srcptr *abs_scale, ref_row *row, const ref_inputs *in, attest_tensor_id id,
                                 attest_row at, attest_error *err)
{
    mag_ptr *kept = &row->abs_scale[id.index - ATTEST_O];
    if (!*kept) {
        const slong count = id.index == ATTEST_O || id.index == ATTEST_U ? (slong)in->p->e : 1;
        mag_ptr made = _mag_vec_init(count);
        const attest_status status = ref_abs_scale_row(made, row, in, id, at, err);
        if (status != ATTEST_OK) {
            _mag_vec_clear(made, count);
            return status;
        }
        *kept = made;
    }
    *abs_scale = *kept;
    return ATTEST_OK;
}
