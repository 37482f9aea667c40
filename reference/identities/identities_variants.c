/* identities_variants.c - identities between variants, and between ways to write one weight. */
#include "reference/exact/exact.h"
#include "reference/identities/identities_private.h"

/* ---- weights: one side is another variant, or a sum of them -------------------------------------------------------
 */

/* into += factor * the engine's u and z of the right side with weight `value:order`. */
static attest_status add_weight(identity_rows *into, const identity_job *job, uint32_t value, uint32_t order,
                                const mpq_t factor, attest_error *err)
{
    attest_status status = ATTEST_OK;
    identity_side side;
    identity_rows rows;
    ATTEST_TRY(identity_rows_new(&rows, &job->right.p, err));
    identity_side_with(&side, &job->right, ATTEST_AXIS_WEIGHT, value, order);
    ATTEST_TRY(identity_rows_engine(&rows, &side, job, 0, err));
    for (int64_t k = 0; k < rows.n * rows.e; k++) {
        mpq_mul(rows.u[k], rows.u[k], factor);
        mpq_add(into->u[k], into->u[k], rows.u[k]);
    }
    for (int64_t i = 0; i < rows.n; i++) {
        mpq_mul(rows.z[i], rows.z[i], factor);
        mpq_add(into->z[i], into->z[i], rows.z[i]);
    }
out:
    identity_rows_free(&rows);
    return status;
}

typedef struct weight_term {
    uint32_t value, order;
    long factor;
} weight_term;

/* The left side's rows = sum of factor * rows of the right side under each weight. */
static attest_status sum_of_weights(identity_job *job, const weight_term *terms, int count, attest_error *err)
{
    attest_status status = ATTEST_OK;
    identity_rows left, right = { 0 };
    AUTO_MPQ(factor);
    ATTEST_TRY(identity_rows_new(&left, &job->left.p, err));
    ATTEST_TRY(identity_rows_new(&right, &job->right.p, err));
    ATTEST_TRY(identity_rows_engine(&left, &job->left, job, 0, err));
    for (int k = 0; k < count; k++) {
        mpq_set_si(factor, terms[k].factor, 1);
        ATTEST_TRY(add_weight(&right, job, terms[k].value, terms[k].order, factor, err));
    }
    identity_compare_rows(job, &left, &right, 1);
out:
    identity_rows_free(&right);
    identity_rows_free(&left);
    return status;
}

/* power:P = P! term:P */
attest_status identity_power_term(identity_job *job, attest_error *err)
{
    const uint32_t order = job->right.p.axis[ATTEST_AXIS_WEIGHT].order;
    weight_term term = { ATTEST_WEIGHT_TERM, order, 1 };
    for (uint32_t k = 2; k <= order; k++)
        term.factor *= (long)k;
    return sum_of_weights(job, &term, 1, err);
}

/* taylor:P = sum of term:n over n = 0..P */
attest_status identity_taylor_terms(identity_job *job, attest_error *err)
{
    weight_term terms[ATTEST_MAX_ORDER + 1];
    const int order = (int)job->right.p.axis[ATTEST_AXIS_WEIGHT].order;
    for (int n = 0; n <= order; n++)
        terms[n] = (weight_term){ ATTEST_WEIGHT_TERM, (uint32_t)n, 1 };
    return sum_of_weights(job, terms, order + 1, err);
}

/* linear = taylor:1 - taylor:0 */
attest_status identity_first_order(identity_job *job, attest_error *err)
{
    static const weight_term terms[] = { { ATTEST_WEIGHT_TAYLOR, 1, 1 }, { ATTEST_WEIGHT_TAYLOR, 0, -1 } };
    return sum_of_weights(job, terms, 2, err);
}

/* ---- masks ------------------------------------------------------------------------------------------------------ */

/* Last row under a causal mask = last row under the full one: both by the pairwise form of the exact engine, so it is
 * the masks alone that are compared. */
attest_status identity_last_row(identity_job *job, attest_error *err)
{
    attest_status status = ATTEST_OK;
    identity_side full;
    identity_rows causal, all = { 0 };
    ATTEST_TRY(identity_rows_new(&causal, &job->left.p, err));
    ATTEST_TRY(identity_rows_new(&all, &job->right.p, err));
    identity_side_with(&full, &job->right, ATTEST_AXIS_MASK, ATTEST_MASK_FULL, 0);
    ATTEST_TRY(identity_rows_engine(&causal, &job->left, job, 1, err));
    ATTEST_TRY(identity_rows_engine(&all, &full, job, 1, err));
    const int64_t i = all.n - 1;
    identity_compare(job, causal.z[i], all.z[i]);
    for (int64_t c = 0; c < all.e; c++) {
        identity_compare(job, causal.u[i * all.e + c], all.u[i * all.e + c]);
        if (causal.defined[i] && all.defined[i])
            identity_compare(job, causal.o[i * all.e + c], all.o[i * all.e + c]);
    }
out:
    identity_rows_free(&all);
    identity_rows_free(&causal);
    return status;
}

/* ---- norms ------------------------------------------------------------------------------------------------------ */

/* y = u/t has the components of u times one positive factor: sign(y_c) = sign(u_c) and y_c^2 |u|^2 = u_c^2 |y|^2, so
 * y_c/norm2(y) = u_c/norm2(u). */
static void compare_directions(identity_job *job, mpq_t *u, mpq_t *y, int64_t e)
{
    mpq_t a, b, uu, yy;
    mpq_inits(a, b, uu, yy, NULL);
    for (int64_t c = 0; c < e; c++) {
        mpq_mul(a, u[c], u[c]);
        mpq_add(uu, uu, a);
        mpq_mul(b, y[c], y[c]);
        mpq_add(yy, yy, b);
    }
    for (int64_t c = 0; c < e; c++) {
        mpq_mul(a, u[c], u[c]);
        mpq_mul(a, a, yy);
        mpq_mul(b, y[c], y[c]);
        mpq_mul(b, b, uu);
        identity_compare(job, a, b);
        mpq_set_si(a, mpq_sgn(u[c]), 1);
        mpq_set_si(b, mpq_sgn(y[c]), 1);
        identity_compare(job, a, b);
    }
    mpq_clears(a, b, uu, yy, NULL);
}

/* u of the left side pairwise, u/t of the right side by states. */
attest_status identity_length_l2(identity_job *job, attest_error *err)
{
    attest_status status = ATTEST_OK;
    identity_rows left, right = { 0 };
    AUTO_MPQ(t);
    ATTEST_TRY(identity_rows_new(&left, &job->left.p, err));
    ATTEST_TRY(identity_rows_new(&right, &job->right.p, err));
    ATTEST_TRY(identity_rows_engine(&left, &job->left, job, 0, err));
    ATTEST_TRY(
        identity_rows_form(&right, &job->right, job, (ref_exact_form_options){ .kind = REF_FORM_RECURRENT }, err));
    for (int64_t i = 0; i < left.n; i++) {
        int64_t first, last;
        ref_visible(&job->right.in, job->b, i, &first, &last);
        if (last <= first) /* u/0: ill-posed */
            continue;
        mpq_set_si(t, last - first, 1);
        for (int64_t c = 0; c < left.e; c++)
            mpq_div(right.u[i * left.e + c], right.u[i * left.e + c], t);
        compare_directions(job, left.u + i * left.e, right.u + i * left.e, left.e);
    }
out:
    identity_rows_free(&right);
    identity_rows_free(&left);
    return status;
}

/* ---- gates ------------------------------------------------------------------------------------------------------ */

/* o_i = sum_j A_ij v_j, A_ij = gout_i (w_ij/Z_i) gin_j: gates as rows and columns of the weight matrix.  Returns
 * whether Z_i is not 0. */
static int matrix_row(mpq_t *o, const exact_form *f, const exact_keys *r, mpq_t *scratch)
{
    const attest_setting *norm = &r->in->p->axis[ATTEST_AXIS_NORM];
    mpq_t *values = scratch; /* [e] of exact_form_pair(): not used */
    mpq_t w, total, entry, x;
    mpq_inits(w, total, entry, x, NULL);
    for (int64_t j = r->first; j < r->last; j++)
        exact_form_pair(values, total, f, r->i, j);
    mpq_set_d(x, r->in->p->axis[ATTEST_AXIS_EPS].number);
    mpq_add(total, total, x);
    if (norm->value == ATTEST_NORM_NONE)
        mpq_set_ui(total, 1, 1);
    const int defined = mpq_sgn(total) != 0;
    for (int64_t c = 0; c < f->e; c++)
        mpq_set_ui(o[c], 0, 1);
    for (int64_t j = r->first; defined && j < r->last; j++) {
        mpq_set_ui(w, 0, 1);
        exact_form_pair(values, w, f, r->i, j);
        mpq_div(entry, w, total);
        mpq_set_d(x, exact_load_gout(r));
        mpq_mul(entry, entry, x);
        mpq_set_d(x, exact_load_gin(r, j));
        mpq_mul(entry, entry, x);
        for (int64_t c = 0; c < f->e; c++) {
            mpq_set_d(x, exact_load_v(r, j, c));
            mpq_mul(x, x, entry);
            mpq_add(o[c], o[c], x);
        }
    }
    mpq_clears(w, total, entry, x, NULL);
    return defined;
}

attest_status identity_gate_matrix(identity_job *job, attest_error *err)
{
    attest_status status = ATTEST_OK;
    exact_form f;
    int open = 0;
    identity_rows left;
    mpq_t *o = exact_rationals_new(2 * job->left.p.e);
    ATTEST_TRY(identity_rows_new(&left, &job->left.p, err));
    if (!o) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "identities: no memory for a row");
        goto out;
    }
    ATTEST_TRY(identity_rows_engine(&left, &job->left, job, 1, err));
    ATTEST_TRY(exact_form_open(&f, &job->right.in, job->b, job->h, 0, err));
    open = 1;
    for (int64_t i = 0; i < left.n; i++) {
        exact_keys r;
        if (!exact_keys_scan(&r, &job->right.in, (attest_row){ job->b, job->h, i }, 1) ||
            !matrix_row(o, &f, &r, o + left.e) || !left.defined[i])
            continue;
        for (int64_t c = 0; c < left.e; c++)
            identity_compare(job, left.o[i * left.e + c], o[c]);
    }
out:
    if (open)
        exact_form_close(&f);
    exact_rationals_free(o, 2 * job->left.p.e);
    identity_rows_free(&left);
    return status;
}

/* ---- powers of the inner product --------------------------------------------------------------------------------- */

/* power[n] = <phi(q_i),phi(k_j)>^n and kronecker[n] = <phi(q_i)^(x n), phi(k_j)^(x n)>, n = 0..highest. */
static void both_powers(mpq_t *power, mpq_t *kronecker, const exact_form *left, const exact_form *f, int64_t i,
                        int64_t j)
{
    const exact_dyadic *q = &f->qm[i * f->monomials], *k = &f->km[j * f->monomials];
    exact_dyadic x, sum;
    exact_dyadic_init(&x);
    exact_dyadic_init(&sum);
    for (int64_t c = 0; c < left->d; c++)
        exact_dyadic_addmul(&sum, &left->q[i * left->d + c], &left->k[j * left->d + c]);
    exact_dyadic_set_d(&x, 1.0);
    for (int n = 0; n <= f->highest; n++) {
        exact_dyadic_ratio(power[n], &x);
        exact_dyadic_mul(&x, &x, &sum);
    }
    for (int n = 0; n <= f->highest; n++) {
        const exact_level *l = &f->tree.level[n];
        exact_dyadic_set_d(&sum, 0.0);
        for (int64_t row = 0; row < l->rows; row++, q++, k++) {
            exact_dyadic_mul(&x, q, k);
            mpz_mul(x.m, x.m, l->multiplicity[row]);
            exact_dyadic_add(&sum, &sum, &x);
        }
        exact_dyadic_ratio(kronecker[n], &sum);
    }
    exact_dyadic_clear(&sum);
    exact_dyadic_clear(&x);
}

/* What is compared of a pair: each degree, or the sum with scale^n/n!. */
typedef void compare_powers(identity_job *job, mpq_t *power, mpq_t *kronecker, int highest);

static void each_degree(identity_job *job, mpq_t *power, mpq_t *kronecker, int highest)
{
    for (int n = 0; n <= highest; n++)
        identity_compare(job, power[n], kronecker[n]);
}

static void series(identity_job *job, mpq_t *power, mpq_t *kronecker, int highest)
{
    mpq_t left, right, coefficient;
    mpq_inits(left, right, coefficient, NULL);
    for (int n = 0; n <= highest; n++) {
        axis_degree_exact(coefficient, &job->left.p, n);
        mpq_mul(power[n], power[n], coefficient);
        mpq_add(left, left, power[n]);
        axis_degree_exact(coefficient, &job->right.p, n);
        mpq_mul(kronecker[n], kronecker[n], coefficient);
        mpq_add(right, right, kronecker[n]);
    }
    identity_compare(job, left, right);
    mpq_clears(left, right, coefficient, NULL);
}

static attest_status pairs(identity_job *job, int packed, compare_powers *compare, attest_error *err)
{
    attest_status status = ATTEST_OK;
    exact_form left, right;
    int opened = 0, count = 0;
    mpq_t *power = NULL, *kronecker = NULL;
    ATTEST_TRY(exact_form_open(&left, &job->left.in, job->b, job->h, 0, err));
    opened = 1;
    ATTEST_TRY(exact_form_open(&right, &job->right.in, job->b, job->h, packed, err));
    opened = 2;
    count = right.highest + 1;
    power = exact_rationals_new(count);
    kronecker = exact_rationals_new(count);
    if (!power || !kronecker) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "identities: no memory for powers");
        goto out;
    }
    for (int64_t i = 0; i < right.n; i++) {
        for (int64_t j = 0; j < right.last[i] && j < left.last[i]; j++) {
            both_powers(power, kronecker, &left, &right, i, j);
            compare(job, power, kronecker, right.highest);
        }
    }
out:
    exact_rationals_free(kronecker, count);
    exact_rationals_free(power, count);
    if (opened > 1)
        exact_form_close(&right);
    if (opened > 0)
        exact_form_close(&left);
    return status;
}

attest_status identity_kronecker(identity_job *job, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (int packed = 0; packed < 2; packed++)
        ATTEST_TRY(pairs(job, packed, each_degree, err));
out:
    return status;
}

attest_status identity_feature_power(identity_job *job, attest_error *err) { return pairs(job, 0, series, err); }
