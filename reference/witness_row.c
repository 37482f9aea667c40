/* witness_row.c - one row of the formula of design section 3 by the witness, step by step as it is printed. */
#include "kernels/attest_float.h"
#include "reference/witness.h"

#include <stdlib.h>

typedef struct row_work {
    const wit_case *w;
    int64_t b, h, g, i;
    int64_t keys;
    int64_t *key;    /* the visible keys j */
    wit *s;          /* [keys] scores */
    wit *phi_q, *phi_k; /* [d] */
    wit *u, *o;      /* [e] */
    wit z, lse, c, x, t;
} row_work;

/* ---- weights W(x) ----------------------------------------------------------------------------------------- */
static void weight_exp(wit *r, const wit *x, unsigned order)
{
    (void)order;
    wit_exp(r, x);
}

static void weight_power(wit *r, const wit *x, unsigned order)
{
    wit y;
    wit_init(&y, mpfr_get_prec(r->v));
    wit_set_ui(&y, 1);
    for (unsigned n = 0; n < order; n++)
        wit_mul(&y, &y, x);
    wit_set(r, &y);
    wit_clear(&y);
}

static void weight_term(wit *r, const wit *x, unsigned order)
{
    wit factor, factorial;
    wit_init(&factor, mpfr_get_prec(r->v));
    wit_init(&factorial, mpfr_get_prec(r->v));
    wit_set_ui(&factorial, 1);
    for (unsigned n = 2; n <= order; n++) {
        wit_set_ui(&factor, n);
        wit_mul(&factorial, &factorial, &factor);
    }
    weight_power(r, x, order);
    wit_div(r, r, &factorial);
    wit_clear(&factor);
    wit_clear(&factorial);
}

static void weight_taylor(wit *r, const wit *x, unsigned order)
{
    wit sum, term;
    wit_init(&sum, mpfr_get_prec(r->v));
    wit_init(&term, mpfr_get_prec(r->v));
    for (unsigned n = 0; n <= order; n++) {
        weight_term(&term, x, n);
        wit_add(&sum, &sum, &term);
    }
    wit_set(r, &sum);
    wit_clear(&sum);
    wit_clear(&term);
}

static void weight(wit *r, const wit *x, const attest_setting *setting)
{
    static void (*const map[])(wit *, const wit *, unsigned) = {
        [ATTEST_WEIGHT_EXP] = weight_exp,
        [ATTEST_WEIGHT_TAYLOR] = weight_taylor,
        [ATTEST_WEIGHT_TERM] = weight_term,
        [ATTEST_WEIGHT_POWER] = weight_power,
    };
    map[setting->value](r, x, setting->order);
}

/* ---- what the row reads ------------------------------------------------------------------------------------- */
static attest_status find_keys(row_work *r, attest_error *err)
{
    const attest_problem *p = r->w->p;
    for (int64_t j = 0; j < p->m; j++)
        r->keys += wit_sees(p, r->w->len, r->i, j);
    r->key = malloc((size_t)(r->keys ? r->keys : 1) * sizeof *r->key);
    if (!r->key)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %lld keys", (long long)r->keys);
    int64_t n = 0;
    for (int64_t j = 0; j < p->m; j++)
        if (wit_sees(p, r->w->len, r->i, j))
            r->key[n++] = j;
    return ATTEST_OK;
}

static int is_finite(double x)
{
    return (attest_f64_bits(x) >> 52 & 0x7ff) != 0x7ff;
}

static int finite_run(const attest_tensor *t, int64_t i0, int64_t i1, int64_t i2, int64_t count)
{
    for (int64_t c = 0; c < count; c++)
        if (!is_finite(attest_load(t, attest_offset(t, i0, i1, i2, c))))
            return 0;
    return 1;
}

static int reads_finite(const row_work *r)
{
    const wit_case *w = r->w;
    int good = finite_run(w->q, r->b, r->h, r->i, w->p->d);
    for (int64_t n = 0; n < r->keys; n++)
        good = good && finite_run(w->k, r->b, r->g, r->key[n], w->p->d) &&
               finite_run(w->v, r->b, r->g, r->key[n], w->p->e) &&
               (!w->gin || is_finite(attest_load(w->gin, attest_offset(w->gin, r->b, r->g, r->key[n], 0))));
    if (w->gout)
        good = good && is_finite(attest_load(w->gout, attest_offset(w->gout, r->b, r->h, r->i, 0)));
    for (int64_t c = 0; w->gain && c < w->p->e; c++)
        good = good && is_finite(attest_load(w->gain, attest_offset(w->gain, c, 0, 0, 0))) &&
               is_finite(attest_load(w->shift, attest_offset(w->shift, c, 0, 0, 0)));
    if (w->slope && r->keys > 0)
        good = good && is_finite(attest_load(w->slope, attest_offset(w->slope, r->h, 0, 0, 0)));
    if (w->sink)
        good = good && is_finite(attest_load(w->sink, attest_offset(w->sink, r->h, 0, 0, 0)));
    for (unsigned n = w->lowest; w->given_state && good && n <= w->highest; n++) {
        const attest_tensor *h0 = wit_state_tensor(w, ATTEST_KIND_H0, n);
        const attest_tensor *z0 = wit_state_tensor(w, ATTEST_KIND_Z0, n);
        const int64_t rows = wit_state_rows(w->p, n);
        for (int64_t row = 0; row < rows; row++)
            good = good && finite_run(h0, r->b, r->g, row, w->p->e) && finite_run(z0, r->b, r->g, row, 1);
    }
    return good;
}

/* ---- the formula -------------------------------------------------------------------------------------------- */
/* s = min(clamp, cap tanh(s/cap) - slope_h |i+off-j|), each step only if it is set */
static void bend_score(row_work *r, wit *s, int64_t j)
{
    const wit_case *w = r->w;
    const attest_setting *cap = &w->p->axis[ATTEST_AXIS_CAP], *clamp = &w->p->axis[ATTEST_AXIS_CLAMP];
    if (cap->value == ATTEST_CAP_SET) {
        wit_set_double(&r->t, cap->number);
        wit_div(s, s, &r->t);
        wit_tanh(s, s);
        wit_mul(s, s, &r->t);
    }
    if (w->slope) {
        const int64_t back = wit_back(w->p, w->len, r->i, j);
        wit_set_double(&r->t, attest_load(w->slope, attest_offset(w->slope, r->h, 0, 0, 0)));
        wit_set_ui(&r->x, (unsigned long)(back > 0 ? back : -back));
        wit_mul(&r->x, &r->x, &r->t);
        wit_sub(s, s, &r->x);
    }
    if (clamp->value == ATTEST_CLAMP_SET) {
        wit_set_double(&r->t, clamp->number);
        wit_min(s, s, &r->t);
    }
}

/* s_ij from scale <phi(q_i), phi(k_j)> */
static void scores(row_work *r)
{
    const wit_case *w = r->w;
    wit_feature(r->phi_q, w, w->q, r->b, r->h, r->i);
    for (int64_t n = 0; n < r->keys; n++) {
        wit *s = &r->s[n];
        wit_set_ui(s, 0);
        wit_feature(r->phi_k, w, w->k, r->b, r->g, r->key[n]);
        for (int64_t c = 0; c < w->p->d; c++) {
            wit_mul(&r->t, &r->phi_k[c], &r->phi_q[c]);
            wit_add(s, s, &r->t);
        }
        wit_set_double(&r->t, w->p->scale);
        wit_mul(s, s, &r->t);
        bend_score(r, s, r->key[n]);
    }
}

/* c_i: 0, max, min, or (max+min)/2 of the row's scores. */
static void center(row_work *r)
{
    const uint32_t kind = r->w->p->axis[ATTEST_AXIS_CENTER].value;
    if (kind == ATTEST_CENTER_ZERO || r->keys == 0)
        return;
    wit_set(&r->x, &r->s[0]);
    wit_set(&r->t, &r->s[0]);
    for (int64_t n = 1; n < r->keys; n++) {
        wit_max(&r->x, &r->x, &r->s[n]);
        wit_min(&r->t, &r->t, &r->s[n]);
    }
    if (kind == ATTEST_CENTER_MID) {
        wit_add(&r->c, &r->x, &r->t);
        wit_set_ui(&r->t, 2);
        wit_div(&r->c, &r->c, &r->t);
    } else {
        wit_set(&r->c, kind == ATTEST_CENTER_MAX ? &r->x : &r->t);
    }
}

/* u_i and z_i over the visible keys, then the given states. */
static void sums(row_work *r)
{
    const wit_case *w = r->w;
    for (int64_t n = 0; n < r->keys; n++) {
        wit_sub(&r->x, &r->s[n], &r->c);
        weight(&r->x, &r->x, &w->p->axis[ATTEST_AXIS_WEIGHT]);
        wit_add(&r->z, &r->z, &r->x);
        if (w->gin) {
            wit_set_double(&r->t, attest_load(w->gin, attest_offset(w->gin, r->b, r->g, r->key[n], 0)));
            wit_mul(&r->x, &r->x, &r->t);
        }
        for (int64_t c = 0; c < w->p->e; c++) {
            wit_set_double(&r->t, attest_load(w->v, attest_offset(w->v, r->b, r->g, r->key[n], c)));
            wit_mul(&r->t, &r->t, &r->x);
            wit_add(&r->u[c], &r->u[c], &r->t);
        }
    }
    if (w->given_state)
        wit_add_given_state(r->u, &r->z, w, r->phi_q, r->b, r->g);
}

/* The norm's divisor in r->x; 0 if there is none. */
static int divisor(row_work *r)
{
    const attest_problem *p = r->w->p;
    const uint32_t norm = p->axis[ATTEST_AXIS_NORM].value;
    if (norm == ATTEST_NORM_NONE)
        return 0;
    if (norm == ATTEST_NORM_LENGTH) {
        wit_set_ui(&r->x, (unsigned long)r->keys);
        return 1;
    }
    if (norm == ATTEST_NORM_FLOOR) {
        wit_set_double(&r->x, p->axis[ATTEST_AXIS_NORM].number);
        wit_max(&r->x, &r->x, &r->z);
        return 1;
    }
    if (norm == ATTEST_NORM_SINK) {
        wit_set_double(&r->t, attest_load(r->w->sink, attest_offset(r->w->sink, r->h, 0, 0, 0)));
        wit_exp(&r->t, &r->t);
    } else {
        wit_set_double(&r->t, p->axis[ATTEST_AXIS_EPS].number);
    }
    wit_add(&r->x, &r->z, &r->t);
    return 1;
}

/* o_i times gout_i */
static void gate_row(row_work *r)
{
    const attest_tensor *gout = r->w->gout;
    wit_set_double(&r->t, attest_load(gout, attest_offset(gout, r->b, r->h, r->i, 0)));
    for (int64_t c = 0; c < r->w->p->e; c++)
        wit_mul(&r->o[c], &r->o[c], &r->t);
}

static void divide_all(row_work *r, const wit *by)
{
    for (int64_t c = 0; c < r->w->p->e; c++)
        wit_div(&r->o[c], &r->o[c], by);
}

/* r->o, u or gout u, becomes l2, rms or layernorm of itself or of itself/t.  0: ill-posed. */
static int divide_by_root(row_work *r, uint32_t norm)
{
    const int64_t e = r->w->p->e;
    wit count;
    wit_init(&count, r->w->bits);
    if (norm == ATTEST_NORM_LENGTH_L2 || norm == ATTEST_NORM_LENGTH_RMS || norm == ATTEST_NORM_LENGTH_LAYERNORM) {
        wit_set_ui(&count, (unsigned long)r->keys);
        divide_all(r, &count);
    }
    wit_set_ui(&count, (unsigned long)e);
    wit_set_ui(&r->x, 0);
    if (norm == ATTEST_NORM_LAYERNORM || norm == ATTEST_NORM_LENGTH_LAYERNORM) {
        for (int64_t c = 0; c < e; c++)
            wit_add(&r->x, &r->x, &r->o[c]);
        wit_div(&r->x, &r->x, &count); /* the mean */
        for (int64_t c = 0; c < e; c++)
            wit_sub(&r->o[c], &r->o[c], &r->x);
        wit_set_ui(&r->x, 0);
    }
    for (int64_t c = 0; c < e; c++) {
        wit_mul(&r->t, &r->o[c], &r->o[c]);
        wit_add(&r->x, &r->x, &r->t);
    }
    if (norm != ATTEST_NORM_L2 && norm != ATTEST_NORM_LENGTH_L2)
        wit_div(&r->x, &r->x, &count);
    wit_clear(&count);
    wit_set_double(&r->t, r->w->p->axis[ATTEST_AXIS_EPS].number);
    wit_add(&r->x, &r->x, &r->t);
    if (!wit_surely_positive(&r->x))
        return 0;
    wit_sqrt(&r->x, &r->x);
    divide_all(r, &r->x);
    return 1;
}

/* o_i becomes gain o_i + shift. */
static void gain_and_shift(row_work *r)
{
    for (int64_t c = 0; c < r->w->p->e; c++) {
        wit_set_double(&r->t, attest_load(r->w->gain, attest_offset(r->w->gain, c, 0, 0, 0)));
        wit_set_double(&r->x, attest_load(r->w->shift, attest_offset(r->w->shift, c, 0, 0, 0)));
        wit_mul(&r->t, &r->t, &r->o[c]);
        wit_add(&r->o[c], &r->t, &r->x);
    }
}

/* r->o becomes Norm(r->o, z).  0: ill-posed. */
static int norm_row(row_work *r)
{
    const uint32_t norm = r->w->p->axis[ATTEST_AXIS_NORM].value;
    if (norm >= ATTEST_NORM_L2)
        return divide_by_root(r, norm);
    if (!divisor(r))
        return 1;
    divide_all(r, &r->x);
    return !wit_may_be_zero(&r->x);
}

/* o_i = gout_i Norm(u_i, z_i) (the gate before or after the norm) and lse_i = c_i + ln z_i. */
static void results(row_work *r, ref_witness *out)
{
    const attest_problem *p = r->w->p;
    const int first = p->axis[ATTEST_AXIS_GATES].value == ATTEST_GATES_PRE_OUT;
    for (int64_t c = 0; c < p->e; c++)
        wit_set(&r->o[c], &r->u[c]);
    if (r->w->gout && first)
        gate_row(r);
    out->illposed = !norm_row(r);
    if (r->w->gain)
        gain_and_shift(r);
    if (r->w->gout && !first)
        gate_row(r);
    if (!wit_surely_positive(&r->z))
        out->lse_absent = 1;
    wit_log(&r->lse, &r->z);
    wit_add(&r->lse, &r->lse, &r->c);
}

/* ---- the row ---------------------------------------------------------------------------------------------- */
static attest_status resize(ref_witness *out, int64_t e, mpfr_prec_t bits, attest_error *err)
{
    mpfr_t **const arrays[] = { &out->u, &out->o, &out->u_error, &out->o_error };
    ref_witness_clear(out);
    ref_witness_init(out);
    mpfr_set_prec(out->z, bits);
    mpfr_set_prec(out->lse, bits);
    mpfr_set_prec(out->z_error, WIT_ERROR_BITS);
    mpfr_set_prec(out->lse_error, WIT_ERROR_BITS);
    mpfr_t *made[4] = { NULL, NULL, NULL, NULL };
    for (size_t a = 0; a < 4; a++) {
        made[a] = calloc((size_t)e, sizeof *made[a]);
        if (!made[a]) {
            while (a-- > 0)
                free(made[a]);
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %lld values of the witness", (long long)e);
        }
    }
    for (size_t a = 0; a < 4; a++) {
        for (int64_t c = 0; c < e; c++)
            mpfr_init2(made[a][c], a < 2 ? bits : WIT_ERROR_BITS);
        *arrays[a] = made[a];
    }
    out->e = e;
    return ATTEST_OK;
}

static void store(mpfr_t value, mpfr_t error, const wit *x)
{
    mpfr_set(value, x->v, MPFR_RNDN); /* the same precision: exact */
    mpfr_set(error, x->e, MPFR_RNDU);
}

static void work_clear(row_work *r)
{
    free(r->key);
    wit_array_free(r->s, r->keys);
    wit_array_free(r->phi_q, r->w->p->d);
    wit_array_free(r->phi_k, r->w->p->d);
    wit_array_free(r->u, r->w->p->e);
    wit_array_free(r->o, r->w->p->e);
    wit *const single[] = { &r->z, &r->lse, &r->c, &r->x, &r->t };
    for (size_t n = 0; n < sizeof single / sizeof single[0]; n++)
        wit_clear(single[n]);
}

static attest_status work_init(row_work *r, const wit_case *w, int64_t b, int64_t h, int64_t i, attest_error *err)
{
    *r = (row_work){ .w = w, .b = b, .h = h, .g = wit_head(w->p, h), .i = i };
    wit *const single[] = { &r->z, &r->lse, &r->c, &r->x, &r->t };
    for (size_t n = 0; n < sizeof single / sizeof single[0]; n++)
        wit_init(single[n], w->bits);
    const attest_status status = find_keys(r, err);
    if (status != ATTEST_OK) {
        r->keys = 0;
        return status;
    }
    r->s = wit_array(r->keys, w->bits, err);
    r->phi_q = wit_array(w->p->d, w->bits, err);
    r->phi_k = wit_array(w->p->d, w->bits, err);
    r->u = wit_array(w->p->e, w->bits, err);
    r->o = wit_array(w->p->e, w->bits, err);
    return r->s && r->phi_q && r->phi_k && r->u && r->o ? ATTEST_OK : ATTEST_NO_MEMORY;
}

attest_status ref_witness_row(ref_witness *out, const attest_problem *p, const attest_bundle *in, int64_t b, int64_t h,
                              int64_t i, mpfr_prec_t bits, attest_error *err)
{
    attest_status status = ATTEST_OK;
    wit_case w;
    row_work r;
    ATTEST_TRY(wit_case_set(&w, p, in, b, bits, err));
    ATTEST_TRY(resize(out, p->e, bits, err));
    status = work_init(&r, &w, b, h, i, err);
    if (status == ATTEST_OK) {
        out->empty = r.keys == 0 && !w.given_state; /* reads nothing: o = u = 0, z = 0, lse = -inf */
        out->no_truth = !out->empty && !reads_finite(&r);
        out->lse_absent = p->axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_NONE &&
                          p->axis[ATTEST_AXIS_WEIGHT].value != ATTEST_WEIGHT_EXP;
        if (!out->empty && !out->no_truth) {
            scores(&r);
            center(&r);
            sums(&r);
            results(&r, out);
        }
        for (int64_t c = 0; !out->no_truth && c < p->e; c++) {
            store(out->u[c], out->u_error[c], &r.u[c]);
            store(out->o[c], out->o_error[c], &r.o[c]);
        }
        if (!out->no_truth) {
            store(out->z, out->z_error, &r.z);
            store(out->lse, out->lse_error, &r.lse);
        }
        if (out->empty)
            mpfr_set_inf(out->lse, -1);
    }
    work_clear(&r);
out:
    return status;
}
