/* witness_row.c - one row of the formula (derivations.md, section 0) by the witness, step by step as it is printed. */
#include "reference/witness/witness.h"

#include <stdlib.h>

typedef struct row_work {
    const wit_case *w;
    int64_t b, h, g, i;
    int64_t keys;
    int64_t *key;       /* the visible keys j */
    wit *s;             /* [keys] scores */
    int *kept;          /* [keys] 0: the filter drops the key */
    int open;           /* the filter's choice is not known */
    wit *phi_q, *phi_k; /* [wit_dim] */
    wit *u, *o;         /* [e] */
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
        r->keys += wit_sees(r->w, r->i, j) && wit_shows(r->w, r->b, r->h, r->i, j);
    r->key = malloc((size_t)(r->keys ? r->keys : 1) * sizeof *r->key);
    r->kept = calloc((size_t)(r->keys ? r->keys : 1), sizeof *r->kept);
    if (!r->key || !r->kept)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %lld keys", (long long)r->keys);
    int64_t n = 0;
    for (int64_t j = 0; j < p->m; j++)
        if (wit_sees(r->w, r->i, j) && wit_shows(r->w, r->b, r->h, r->i, j))
            r->key[n++] = j;
    return ATTEST_OK;
}

/* ---- the formula -------------------------------------------------------------------------------------------- */
/* s = min(clamp, cap tanh(s/cap) - slope_h |i+off-j| + bias_bhij), each step only if it is set */
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
    if (w->p->axis[ATTEST_AXIS_ALIBI].value != ATTEST_ALIBI_NONE) {
        const int64_t back = wit_back(w, r->i, j);
        wit_slope(&r->t, w, r->h);
        wit_set_ui(&r->x, (unsigned long)(back > 0 ? back : -back));
        wit_mul(&r->x, &r->x, &r->t);
        wit_sub(s, s, &r->x);
    }
    if (w->bias) {
        wit_set_double(&r->t, wit_bias(w, r->b, r->h, r->i, j));
        wit_add(s, s, &r->t);
    }
    if (clamp->value == ATTEST_CLAMP_SET) {
        wit_set_double(&r->t, clamp->number);
        wit_min(s, s, &r->t);
    }
}

/* r = <phi(q_i), phi(k_j)>, phi_q and phi_k as wit_map() gives them: with decay=vector every product of channels is
 * decayed, with cosformer the whole is turned by the distance. */
static void inner_product(row_work *r, wit *sum, int64_t j)
{
    const wit_case *w = r->w;
    const int vector = w->p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_VECTOR;
    wit_set_ui(sum, 0);
    for (int64_t c = 0; c < w->p->d; c++) {
        wit_mul(&r->t, &r->phi_k[c], &r->phi_q[c]);
        if (vector) {
            wit_decay(&r->x, w, r->b, r->g, c, j + 1, r->i);
            wit_mul(&r->t, &r->t, &r->x);
        }
        wit_add(sum, sum, &r->t);
    }
    if (w->p->axis[ATTEST_AXIS_FEATURE].value == ATTEST_FEATURE_COSFORMER) {
        wit_cosformer_angle(&r->t, w, wit_back(w, r->i, j));
        wit_cos(&r->t, &r->t);
        wit_mul(sum, sum, &r->t);
    }
}

static void scores(row_work *r)
{
    const wit_case *w = r->w;
    wit_map(r->phi_q, w, w->q, r->b, r->h, r->i, wit_back(w, r->i, 0));
    for (int64_t n = 0; n < r->keys; n++) {
        wit *s = &r->s[n];
        wit_map(r->phi_k, w, w->k, r->b, r->g, r->key[n], r->key[n]);
        inner_product(r, s, r->key[n]);
        wit_set_double(&r->t, w->p->scale);
        wit_mul(s, s, &r->t);
        bend_score(r, s, r->key[n]);
    }
}

/* Which keys have s > max - TAU.  A comparison that the errors leave open makes the row not known. */
static void filter(row_work *r)
{
    const attest_setting *setting = &r->w->p->axis[ATTEST_AXIS_FILTER];
    for (int64_t n = 0; n < r->keys; n++)
        r->kept[n] = 1;
    if (setting->value == ATTEST_FILTER_NONE || r->keys == 0)
        return;
    wit_set(&r->x, &r->s[0]);
    for (int64_t n = 1; n < r->keys; n++)
        wit_max(&r->x, &r->x, &r->s[n]);
    wit_set_double(&r->t, setting->number);
    wit_sub(&r->x, &r->x, &r->t);
    for (int64_t n = 0; n < r->keys; n++) {
        wit_sub(&r->t, &r->x, &r->s[n]);
        r->kept[n] = !wit_surely_not_negative(&r->t); /* max - TAU >= s: dropped */
        wit_sub(&r->t, &r->s[n], &r->x);
        r->open |= r->kept[n] && !wit_surely_positive(&r->t);
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
    const int outside = w->p->axis[ATTEST_AXIS_DECAY].value != ATTEST_DECAY_VECTOR; /* else D is in the score */
    for (int64_t n = 0; n < r->keys; n++) {
        if (!r->kept[n])
            continue;
        wit_sub(&r->x, &r->s[n], &r->c);
        weight(&r->x, &r->x, &w->p->axis[ATTEST_AXIS_WEIGHT]);
        if (outside) {
            wit_decay(&r->t, w, r->b, r->g, 0, r->key[n] + 1, r->i);
            wit_mul(&r->x, &r->x, &r->t);
        }
        wit_add(&r->z, &r->z, &r->x);
        wit_gin(&r->t, w, r->b, r->g, r->key[n]);
        wit_mul(&r->x, &r->x, &r->t);
        wit_dropped(&r->t, w, r->b, r->h, r->i, r->key[n]);
        wit_mul(&r->x, &r->x, &r->t);
        for (int64_t c = 0; c < w->p->e; c++) {
            wit_set_double(&r->t, wit_stored(w, w->v, r->b, r->g, r->key[n], c));
            wit_mul(&r->t, &r->t, &r->x);
            wit_add(&r->u[c], &r->u[c], &r->t);
        }
    }
    if (w->given_state) {
        wit_feature(r->phi_q, w, w->q, r->b, r->h, r->i, wit_back(w, r->i, 0));
        wit_add_given_state(r->u, &r->z, w, r->phi_q, r->b, r->g, r->i);
    }
}

/* update=delta, efla: u = scale phi(q) S; there is no z. */
static attest_status delta_sums(row_work *r, attest_error *err)
{
    const wit_case *w = r->w;
    const int64_t dim = wit_dim(w->p), e = w->p->e;
    wit *s = wit_array(dim * e, w->bits, err);
    if (!s)
        return ATTEST_NO_MEMORY;
    const attest_status status = wit_delta_state(s, w, r->b, r->g, r->i, err);
    wit_feature(r->phi_q, w, w->q, r->b, r->h, r->i, wit_back(w, r->i, 0));
    for (int64_t c = 0; status == ATTEST_OK && c < e; c++) {
        for (int64_t n = 0; n < dim; n++) {
            wit_mul(&r->t, &r->phi_q[n], &s[n * e + c]);
            wit_add(&r->u[c], &r->u[c], &r->t);
        }
        wit_set_double(&r->t, w->p->scale);
        wit_mul(&r->u[c], &r->u[c], &r->t);
    }
    wit_set_unknown(&r->z);
    wit_array_free(s, dim * e);
    return status;
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
    wit_gout(&r->t, r->w, r->b, r->h, r->i);
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
    if (first)
        gate_row(r);
    out->illposed = !norm_row(r);
    if (r->w->gain)
        gain_and_shift(r);
    if (!first)
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
    free(r->kept);
    wit_array_free(r->s, r->keys);
    wit_array_free(r->phi_q, wit_dim(r->w->p));
    wit_array_free(r->phi_k, wit_dim(r->w->p));
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
    r->phi_q = wit_array(wit_dim(w->p), w->bits, err);
    r->phi_k = wit_array(wit_dim(w->p), w->bits, err);
    r->u = wit_array(w->p->e, w->bits, err);
    r->o = wit_array(w->p->e, w->bits, err);
    return r->s && r->phi_q && r->phi_k && r->u && r->o ? ATTEST_OK : ATTEST_NO_MEMORY;
}

/* u and z of the row */
static attest_status formula(row_work *r, attest_error *err)
{
    if (r->w->delta)
        return delta_sums(r, err);
    scores(r);
    center(r);
    filter(r);
    sums(r);
    for (int64_t c = 0; r->open && c < r->w->p->e; c++)
        wit_set_unknown(&r->u[c]);
    if (r->open)
        wit_set_unknown(&r->z);
    return ATTEST_OK;
}

attest_status ref_witness_row(ref_witness *out, const attest_problem *p, const attest_bundle *in, attest_row at,
                              mpfr_prec_t bits, attest_error *err)
{
    attest_status status = ATTEST_OK;
    wit_case w;
    row_work r;
    ATTEST_TRY(wit_case_set(&w, p, in, at.b, bits, err));
    ATTEST_TRY(resize(out, p->e, bits, err));
    status = work_init(&r, &w, at.b, at.h, at.i, err);
    if (status == ATTEST_OK) {
        out->empty = r.keys == 0 && !w.given_state; /* reads nothing: o = u = 0, z = 0, lse = -inf */
        out->no_truth = !out->empty && !wit_reads_finite(&w, r.key, r.keys, at.b, at.h, at.i);
        out->lse_absent = p->axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_NONE &&
                          p->axis[ATTEST_AXIS_WEIGHT].value != ATTEST_WEIGHT_EXP;
        if (!out->empty && !out->no_truth)
            status = formula(&r, err);
        if (status == ATTEST_OK && !out->empty && !out->no_truth)
            results(&r, out);
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
