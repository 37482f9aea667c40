/* bound_adjoint.c - the delta rule read backwards: what an error made at token t is worth to a query (R-ADJOINT).
 *
 * The error of the state is carried on by (I - b k^T k) diag(a), so that the query sees an error at token t through
 * y_t: y_i = phi(q), y_(t-1) = diag(a_t) (I - b_t k_t^T k_t) y_t.  y is formed in double, beside a bound of what that
 * changes.
 */
#include "reference/bound/bound_row.h"

#include <float.h>
#include <stdlib.h>

/* Each is within 2^-50 of the norm2 of phi, of which an upper bound is returned; infinite where it is not known so
 * well. */
static double read_phi(double *x, arb_ptr phi, const ref_inputs *in, attest_role role, int64_t b, int64_t head,
                       int64_t token, int64_t position)
{
    const attest_tensor *t = in->role[role];
    const int64_t dim = attest_feature_dim(in->p);
    AUTO_MAG(norm, rest, size);
    if (!axis_phi(phi, in, t, attest_offset(t, b, head, token, 0), t->stride[3], position, 96))
        return (double)INFINITY;
    for (int64_t r = 0; r < dim; r++) {
        x[r] = arf_get_d(arb_midref(phi + r), ARF_RND_NEAR);
        arb_get_mag(size, phi + r);
        mag_addmul(norm, size, size);
        mag_addmul(rest, arb_radref(phi + r), arb_radref(phi + r));
    }
    mag_sqrt(norm, norm);
    mag_sqrt(rest, rest);
    mag_mul_2exp_si(size, norm, -51);
    return mag_cmp(rest, size) > 0 ? (double)INFINITY : ref_mag_upper(norm);
}

static double norm_of(const double *x, int64_t dim)
{
    double squares = 0;
    AUTO_MAG(y);
    for (int64_t r = 0; r < dim; r++)
        squares += x[r] * x[r];
    if (!(squares <= DBL_MAX))
        return (double)INFINITY;
    mag_set_d(y, squares);
    mag_sqrt(y, y);
    return ref_mag_upper(y) * (1 + (double)(dim + 4) * 0x1p-52) + 0x1p-500; /* squares that vanish */
}

static void add_product(mag_t sum, double x, const mag_t error)
{
    AUTO_MAG(y);
    if (x >= 0 && x <= DBL_MAX)
        mag_set_d(y, x);
    else
        mag_inf(y);
    if (!mag_is_zero(error))
        mag_addmul(sum, y, error);
}

/* One token: adds what its errors are worth, and takes y and its error back to the token before. */
static void take_back(mag_t sum, double *y, double *off, const double *k, double key, const bound_errors *errors,
                      const row_job *job, int64_t t)
{
    const ref_inputs *in = job->in;
    const attest_tensor *beta = in->role[ATTEST_BETA];
    const int64_t dim = attest_feature_dim(in->p);
    const double b = attest_load(beta, attest_offset(beta, job->b, job->g, t, 0)), size = norm_of(y, dim) + *off;
    const double share = 1 + __builtin_fabs(b) * key * key, slack = (double)(dim + 16) * 0x1p-49;
    double dot = 0, most = 0;
    for (int64_t r = 0; r < dim; r++)
        dot += y[r] * k[r];
    add_product(sum, (__builtin_fabs(dot) + *off * key + slack * key * size) * (1 + 0x1p-50), errors->local + t);
    add_product(sum, size, errors->plain + t);
    for (int64_t r = 0; r < dim; r++)
        y[r] -= b * dot * k[r];
    const double least = key * (1 - 0x1p-25), low = 1 - b * least * least, high = 1 - b * key * key;
    double grow = 1 + 0x1p-20; /* of I - b k^T k: 1 and 1 - b norm2(k)^2 */
    grow = __builtin_fabs(low) > grow ? __builtin_fabs(low) * (1 + 0x1p-20) : grow;
    grow = __builtin_fabs(high) > grow ? __builtin_fabs(high) * (1 + 0x1p-20) : grow;
    *off = (grow * *off + slack * share * size) * (1 + 0x1p-50) + 0x1p-500;
    add_product(sum, norm_of(y, dim) + *off, errors->decayed + t);
    for (int64_t r = 0; r < dim; r++) {
        const double a = t > 0 ? axis_decay_factor(in, job->b, job->g, t, axis_decay_of(in->p)->vector ? r : 0) : 1;
        most = __builtin_fabs(a) > most ? __builtin_fabs(a) : most;
        y[r] *= a;
    }
    /* the product, and of a logarithm the factor itself */
    const int logs = attest_log_decays(in->p);
    const double unit = logs ? 0x1p-51 : 0x1p-52, tiny = logs ? 0x1p-1074 : 0;
    *off = (most * *off + (unit * most + tiny) * (size * share + *off)) * (1 + 0x1p-50);
}

void bound_adjoint_sum(mag_t sum, const row_job *job, const bound_errors *errors)
{
    const ref_inputs *in = job->in;
    const int64_t dim = attest_feature_dim(in->p);
    double *y = calloc((size_t)(2 * dim), sizeof *y), off;
    arb_ptr phi;
    mag_inf(sum);
    if (!y || in->p->axis[ATTEST_AXIS_UPDATE].value != ATTEST_UPDATE_DELTA || job->model.unknown) {
        free(y);
        return;
    }
    phi = _arb_vec_init((slong)dim);
    off = 0x1p-49 * read_phi(y, phi, in, ATTEST_Q, job->b, job->h, job->i, ref_position(in, job->b, job->i));
    mag_zero(sum);
    for (int64_t t = job->row->keys - 1; t >= 0; t--) {
        const double key = read_phi(y + dim, phi, in, ATTEST_K, job->b, job->g, t, t);
        take_back(sum, y, &off, y + dim, key, errors, job, t);
    }
    _arb_vec_clear(phi, (slong)dim);
    free(y);
}
