/* bound_input.c - given states as upper bounds: their size, and what the errors of a query's features do to them. */
#include "reference/bound/bound.h"

/* |q|-monomial of Kronecker row r (base-dim digits of r). */
static void monomial(mag_t y, mag_srcptr q, int64_t dim, int n, int64_t r)
{
    mag_one(y);
    for (; n > 0; n--, r /= dim)
        mag_mul(y, y, q + r % dim);
}

static void add_degree(mag_ptr u, mag_t z, const ref_inputs *in, mag_srcptr q, const mag_t coef, int n, int64_t b,
                       int64_t g)
{
    const attest_tensor *h0 = in->h0[n], *z0 = in->z0[n];
    const int64_t dim = attest_feature_dim(in->p), rows = attest_state_rows(dim, n, 0);
    AUTO_MAG(m, x);
    for (int64_t r = 0; r < rows; r++) {
        monomial(m, q, dim, n, r);
        mag_mul(m, m, coef);
        for (int64_t c = 0; u && h0 && c < in->p->e; c++) {
            mag_set_d(x, attest_load(h0, attest_offset(h0, b, g, r, c)));
            mag_addmul(u + c, m, x);
        }
        if (z0) {
            mag_set_d(x, attest_load(z0, attest_offset(z0, b, g, r, 0)));
            mag_addmul(z, m, x);
        }
    }
}

void bound_state_mass(mag_ptr u, mag_t z, const ref_inputs *in, attest_row at)
{
    const attest_problem *p = in->p;
    const attest_tensor *q = in->role[ATTEST_Q];
    mag_zero(z);
    for (int64_t c = 0; u && c < p->e; c++)
        mag_zero(u + c);
    if (p->axis[ATTEST_AXIS_STATE].value != ATTEST_STATE_DRAW)
        return;
    AUTO_MAG(coef);
    const slong dim = (slong)attest_feature_dim(p);
    mag_ptr size = _mag_vec_init(dim);
    arb_ptr phi = _arb_vec_init(dim);
    axis_phi(phi, in, q, attest_offset(q, at.b, at.h, at.i, 0), q->stride[3], ref_position(in, at.b, at.i), 128);
    for (slong c = 0; c < dim; c++)
        arb_get_mag(size + c, phi + c);
    _arb_vec_clear(phi, dim);
    for (int n = in->lowest; n <= in->highest; n++) {
        axis_degree_size(coef, p, n);
        add_degree(u, z, in, size, coef, n, at.b, attest_kv_head(p, at.h));
    }
    _mag_vec_clear(size, dim);
}

static void raise_entries(mag_t top, const attest_tensor *t, int64_t rows, int64_t b, int64_t g, int64_t channels)
{
    AUTO_MAG(x);
    for (int64_t r = 0; t && r < rows; r++)
        for (int64_t c = 0; c < channels; c++) {
            mag_set_d(x, attest_load(t, attest_offset(t, b, g, r, c)));
            mag_max(top, top, x);
        }
}

void bound_state_top(mag_t top, const ref_inputs *in, int64_t b, int64_t g)
{
    mag_zero(top);
    if (in->p->axis[ATTEST_AXIS_STATE].value != ATTEST_STATE_DRAW)
        return;
    for (int n = in->lowest; n <= in->highest; n++) {
        const int64_t rows = attest_state_rows(attest_feature_dim(in->p), n, 0);
        raise_entries(top, in->h0[n], rows, b, g, in->p->e);
        raise_entries(top, in->z0[n], rows, b, g, 1);
    }
}

/* Sum over the rows of |h0.n| in channel c, or of |z0.n|. */
static void column_mass(mag_t y, const attest_tensor *t, int64_t rows, int64_t b, int64_t g, int64_t c)
{
    AUTO_MAG(x);
    mag_zero(y);
    for (int64_t r = 0; t && r < rows; r++) {
        mag_set_d(x, attest_load(t, attest_offset(t, b, g, r, c)));
        mag_add(y, y, x);
    }
}

/* coef_n n t (Q + t)^(n-1) */
static void slope_of_degree(mag_t y, const mag_t t, const mag_t top, const attest_problem *p, int n)
{
    AUTO_MAG(x);
    axis_degree_size(y, p, n);
    mag_add(x, top, t);
    mag_pow_ui(x, x, n > 0 ? (ulong)n - 1 : 0);
    mag_mul(y, y, x);
    mag_mul(y, y, t);
    mag_mul_ui(y, y, (ulong)n);
}

/* Adds sum_n coef_n n t (Q + t)^(n-1) sum_r |h0.n_r|, the same of z0. */
static void add_slopes(mag_ptr u, mag_t z, const mag_t t, const mag_t top, const ref_inputs *in, attest_row at)
{
    const attest_problem *p = in->p;
    const int64_t g = attest_kv_head(p, at.h);
    AUTO_MAG(sum, slope);
    for (int n = in->lowest; n <= in->highest && !mag_is_zero(t); n++) {
        const int64_t rows = attest_state_rows(attest_feature_dim(p), n, 0);
        slope_of_degree(slope, t, top, p, n);
        for (int64_t c = 0; c < p->e; c++) {
            column_mass(sum, in->h0[n], rows, at.b, g, c);
            mag_addmul(u + c, slope, sum);
        }
        column_mass(sum, in->z0[n], rows, at.b, g, 0);
        mag_addmul(z, slope, sum);
    }
}

void bound_state_errors(mag_ptr u, mag_t z, const bound_model *m, const ref_inputs *in, attest_row at)
{
    AUTO_MAG(t, top, sum, relative);
    if (!m->given)
        return;
    bound_entry_error(t, m, in, ATTEST_Q, at.b, at.h, at.i, ref_position(in, at.b, at.i));
    bound_token_size(sum, top, in, ATTEST_Q, at.b, at.h, at.i);
    mag_mul(relative, top, m->feature); /* (F Q + t) for each factor: no entry errs by more */
    mag_add(t, t, relative);
    mag_mul(relative, m->scaled_tiny, m->room); /* of scale q, so that q errs by 1/|scale| of it */
    mag_add(t, t, relative);
    add_slopes(u, z, t, top, in, at);
}

void bound_query_lost(mag_ptr u, mag_t z, const bound_model *m, const ref_inputs *in, attest_row at)
{
    AUTO_MAG(t, top, sum);
    if (!m->given || !bound_stores_decayed(m))
        return;
    bound_token_size(sum, top, in, ATTEST_Q, at.b, at.h, at.i);
    mag_mul(t, m->scaled_tiny, m->room);
    add_slopes(u, z, t, top, in, at);
}
