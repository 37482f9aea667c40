/* exact_form_parts.c - the inputs of one head as dyadics, and what every form does with a state: decay it, write a
 * token, read it with a query (R-RECURRENT, R-PACKED, R-DECAY-STATE). */
#include "reference/exact/exact_forms.h"

#include <stdlib.h>
#include <string.h>

/* ---- inputs ---------------------------------------------------------------------------------------------------- */

static attest_status no_memory(attest_error *err)
{
    return attest_fail(err, ATTEST_NO_MEMORY, "exact forms: no memory");
}

static void load_keys(exact_form *f, const exact_keys *r)
{
    const int delta = exact_is_delta(f->in->p);
    exact_dyadic gin;
    exact_dyadic_init(&gin);
    for (int64_t t = 0; t < f->tokens; t++) {
        for (int64_t c = 0; c < f->d; c++)
            exact_feature_dyadic(&f->k[t * f->d + c], exact_load_k(r, t, c), r, r->k.low);
        exact_dyadic_set_d(&gin, exact_load_gin(r, t));
        for (int64_t c = 0; c < f->e; c++) {
            exact_dyadic_set_d(&f->v[t * f->e + c], exact_load_v(r, t, c));
            exact_dyadic_mul(&f->v[t * f->e + c], &f->v[t * f->e + c], &gin);
        }
        exact_dyadic_set_d(&f->beta[t], delta ? exact_load_beta(r, t) : 0.0);
    }
    exact_dyadic_clear(&gin);
}

/* Monomials of x in the layout of the tree, all degrees. */
static void monomials_of(exact_dyadic *m, const exact_form *f, const exact_dyadic *x)
{
    exact_dyadic *above = m, *here = m + 1;
    exact_dyadic_set_d(m, 1.0);
    for (int n = 1; n <= f->highest; n++) {
        const exact_level *l = &f->tree.level[n];
        for (int64_t row = 0; row < l->rows; row++)
            exact_dyadic_mul(&here[row], &above[l->parent[row]], &x[l->letter[row]]);
        above = here;
        here += l->rows;
    }
}

/* Scans the row of query i: ATTEST_UNSUPPORTED where a value is not finite or not rational. */
static attest_status scan_row(exact_keys *r, const exact_form *f, int64_t i, attest_error *err)
{
    const char *why = NULL;
    if (!exact_keys_scan(r, f->in, (attest_row){ f->b, f->h, i }, 1))
        why = "an input is not finite or its feature not rational";
    else if (r->first > 0 && r->last > r->first)
        why = "the visible keys are no prefix";
    return why ? attest_fail(err, ATTEST_UNSUPPORTED, "exact forms: %s", why) : ATTEST_OK;
}

static attest_status load_inputs(exact_form *f, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int64_t times = f->n > f->tokens ? f->n : f->tokens;
    exact_keys r;
    f->q = exact_dyadics_new(f->n * f->d);
    f->k = exact_dyadics_new(f->tokens * f->d);
    f->v = exact_dyadics_new(f->tokens * f->e);
    f->beta = exact_dyadics_new(f->tokens);
    f->a = exact_dyadics_new(times * f->width);
    f->qm = exact_dyadics_new(f->n * f->monomials);
    f->km = exact_dyadics_new(f->tokens * f->monomials);
    if (!f->q || !f->k || !f->v || !f->beta || !f->a || !f->qm || !f->km)
        return no_memory(err);
    for (int64_t i = 0; i < f->n; i++) {
        ATTEST_TRY(scan_row(&r, f, i, err));
        f->last[i] = r.last;
        for (int64_t c = 0; c < f->d && r.until >= 0; c++)
            exact_feature_dyadic(&f->q[i * f->d + c], exact_load_q(&r, c), &r, r.q.low);
        monomials_of(&f->qm[i * f->monomials], f, &f->q[i * f->d]);
    }
    load_keys(f, &r); /* the last query sees every key that another one sees */
    for (int64_t t = 0; t < f->tokens; t++)
        monomials_of(&f->km[t * f->monomials], f, &f->k[t * f->d]);
    for (int64_t t = r.from > 0 ? r.from : 0; f->width && t < times; t++) /* a_0 is read only by given states */
        for (int64_t c = 0; c < f->width; c++)
            exact_dyadic_set_d(&f->a[t * f->width + c], exact_load_decay(&r, t, c));
out:
    return status;
}

attest_status exact_form_open(exact_form *f, const ref_inputs *in, int64_t b, int64_t h, int packed, attest_error *err)
{
    const attest_problem *p = in->p;
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    attest_status status = ATTEST_OK;
    exact_keys r;
    memset(f, 0, sizeof *f);
    exact_dyadic_init(&f->scale);
    *f = (exact_form){ .in = in, .b = b, .h = h, .n = p->n, .d = p->d, .e = p->e, .scale = f->scale };
    if (!axis_served(p, AXIS_FORM, EXACT_NO_NORM, NULL)) {
        status = attest_fail(err, ATTEST_UNSUPPORTED, "exact forms: the variant has no plain sum as its state");
        goto out;
    }
    f->width = axis_decay_width(p);
    f->inside = axis_decay_of(p)->vector;
    f->highest = (int)weight->order;
    f->lowest = axis_weight_of(p)->series ? 0 : f->highest;
    exact_dyadic_set_d(&f->scale, p->scale);
    ATTEST_TRY(scan_row(&r, f, p->n - 1, err));
    f->tokens = r.last;
    ATTEST_TRY(exact_tree_new(&f->tree, p->d, f->highest, packed, err));
    for (int n = 0; n <= f->highest; n++) {
        f->monomials += f->tree.level[n].rows;
        f->cells += n < f->lowest ? 0 : f->tree.level[n].rows * (p->e + 1);
        f->given_cells += n < f->lowest ? 0 : attest_state_rows(p->d, n, 0) * (p->e + 1);
    }
    f->last = calloc((size_t)p->n, sizeof *f->last);
    status = f->last ? load_inputs(f, err) : no_memory(err);
out:
    if (status != ATTEST_OK)
        exact_form_close(f);
    return status;
}

void exact_form_close(exact_form *f)
{
    const int64_t times = f->n > f->tokens ? f->n : f->tokens;
    exact_dyadics_free(f->q, f->n * f->d);
    exact_dyadics_free(f->k, f->tokens * f->d);
    exact_dyadics_free(f->v, f->tokens * f->e);
    exact_dyadics_free(f->beta, f->tokens);
    exact_dyadics_free(f->a, times * f->width);
    exact_dyadics_free(f->qm, f->n * f->monomials);
    exact_dyadics_free(f->km, f->tokens * f->monomials);
    exact_tree_free(&f->tree);
    free(f->last);
    exact_dyadic_clear(&f->scale);
    memset(f, 0, sizeof *f);
}

/* ---- states ---------------------------------------------------------------------------------------------------- */

exact_dyadic *exact_form_copy(const exact_dyadic *x, int64_t count)
{
    exact_dyadic *a = exact_dyadics_new(count);
    for (int64_t k = 0; x && a && k < count; k++)
        exact_dyadic_set(&a[k], &x[k]);
    return a;
}

void exact_form_given(exact_dyadic *full, const exact_form *f)
{
    const ref_inputs *in = f->in;
    const int64_t g = attest_kv_head(in->p, f->h), columns = f->e + 1;
    for (int n = f->lowest; n <= f->highest && exact_given_state(in); n++) {
        const attest_tensor *h0 = in->h0[n], *z0 = in->z0[n];
        for (int64_t row = 0; row < attest_state_rows(f->d, n, 0); row++, full += columns) {
            for (int64_t c = 0; c < f->e; c++)
                exact_dyadic_set_d(&full[c], attest_load(h0, attest_offset(h0, f->b, g, row, c)));
            if (z0) /* the delta rule has none */
                exact_dyadic_set_d(&full[f->e], attest_load(z0, attest_offset(z0, f->b, g, row, 0)));
        }
    }
}

/* decay=vector: the one degree is 1, row c of both layouts is key dimension c. */
void exact_form_decay(exact_dyadic *state, const exact_form *f, int full, const exact_dyadic *a)
{
    const int64_t cells = full ? f->given_cells : f->cells;
    for (int64_t k = 0; f->width && k < cells; k++)
        exact_dyadic_mul(&state[k], &state[k], &a[f->inside ? k / (f->e + 1) : 0]);
}

void exact_form_write(exact_dyadic *state, const exact_form *f, int64_t t)
{
    const exact_dyadic *m = &f->km[t * f->monomials];
    for (int n = 0; n <= f->highest; m += f->tree.level[n].rows, n++) {
        for (int64_t row = 0; n >= f->lowest && row < f->tree.level[n].rows; row++, state += f->e + 1) {
            for (int64_t c = 0; c < f->e; c++)
                exact_dyadic_addmul(&state[c], &m[row], &f->v[t * f->e + c]);
            exact_dyadic_add(&state[f->e], &state[f->e], &m[row]);
        }
    }
}

/* The row of the tree that holds the monomial of row `index` of the full Kronecker state of degree n. */
static int64_t tree_row(const exact_tree *t, int n, int64_t index)
{
    int64_t letters[ATTEST_MAX_ORDER];
    for (int k = n - 1; k >= 0; k--, index /= t->dim)
        letters[k] = index % t->dim;
    for (int k = 1; t->packed && k < n; k++)
        for (int l = k; l > 0 && letters[l] < letters[l - 1]; l--) {
            const int64_t swap = letters[l];
            letters[l] = letters[l - 1];
            letters[l - 1] = swap;
        }
    int64_t row = 0;
    for (int k = 0; k < n; k++)
        row = t->level[k].child[row] + letters[k] - t->level[k].from[row];
    return row;
}

/* out = T_P(x) */
static void taylor(mpq_t out, const mpq_t x, int order)
{
    AUTO_MPQ(step);
    mpq_set_ui(out, 1, 1);
    for (int n = order; n > 0; n--) { /* 1 + x/n (...) */
        mpq_set_ui(step, 1, (unsigned long)n);
        mpq_mul(out, out, x);
        mpq_mul(out, out, step);
        mpq_set_ui(step, 1, 1);
        mpq_add(out, out, step);
    }
}

/* s_ij */
static void score(mpq_t s, const exact_form *f, int64_t i, int64_t j)
{
    exact_dyadic sum, term;
    exact_dyadic_init(&sum);
    exact_dyadic_init(&term);
    for (int64_t c = 0; c < f->d; c++) {
        exact_dyadic_mul(&term, &f->q[i * f->d + c], &f->k[j * f->d + c]);
        for (int64_t t = j + 1; f->inside && t <= i; t++)
            exact_dyadic_mul(&term, &term, &f->a[t * f->width + c]);
        exact_dyadic_add(&sum, &sum, &term);
    }
    exact_dyadic_mul(&sum, &sum, &f->scale);
    exact_dyadic_ratio(s, &sum);
    exact_dyadic_clear(&term);
    exact_dyadic_clear(&sum);
}

/* c_i over the keys that query i sees. */
static void center(mpq_t c, const exact_form *f, int64_t i)
{
    const axis_center *kind = axis_center_of(f->in->p);
    AUTO_MPQ(s, least);
    mpq_set_ui(c, 0, 1);
    for (int64_t j = 0; (kind->least || kind->greatest) && j < f->last[i]; j++) {
        score(s, f, i, j);
        if (j == 0 || mpq_cmp(s, c) > 0)
            mpq_set(c, s);
        if (j == 0 || mpq_cmp(s, least) < 0)
            mpq_set(least, s);
    }
    if (kind->least && !kind->greatest)
        mpq_set(c, least);
    if (kind->least && kind->greatest) {
        mpq_add(c, c, least);
        mpq_div_2exp(c, c, 1);
    }
}

/* What query i applies to the state of degree n: scale^n/n! (scale^n), with a center times T_{P-n}(-c_i). */
static void coefficient_of(mpq_t out, const exact_form *f, int64_t i, int n)
{
    axis_degree_exact(out, f->in->p, n);
    if (attest_axis_value_of(f->in->p, ATTEST_AXIS_CENTER) == ATTEST_CENTER_ZERO)
        return;
    AUTO_MPQ(c, factor);
    center(c, f, i);
    mpq_neg(c, c);
    taylor(factor, c, f->highest - n);
    mpq_mul(out, out, factor);
}

attest_status exact_form_read(mpq_t *u, mpq_t z, const exact_form *f, int64_t i, int full, const exact_dyadic *state,
                              attest_error *err)
{
    const exact_dyadic *m = &f->qm[i * f->monomials];
    exact_dyadic *sum = exact_dyadics_new(f->e + 1), weighted;
    AUTO_MPQ(coefficient, x);
    if (!sum)
        return no_memory(err);
    exact_dyadic_init(&weighted);
    for (int n = 0; n <= f->highest; m += f->tree.level[n].rows, n++) {
        const exact_level *l = &f->tree.level[n];
        const int64_t rows = n < f->lowest ? 0 : full ? attest_state_rows(f->d, n, 0) : l->rows;
        for (int64_t row = 0; row < rows; row++, state += f->e + 1) {
            exact_dyadic_set(&weighted, &m[full ? tree_row(&f->tree, n, row) : row]);
            if (!full)
                mpz_mul(weighted.m, weighted.m, l->multiplicity[row]);
            for (int64_t c = 0; c <= f->e; c++)
                exact_dyadic_addmul(&sum[c], &weighted, &state[c]);
        }
        if (rows)
            coefficient_of(coefficient, f, i, n);
        for (int64_t c = 0; rows && c <= f->e; c++) {
            mpq_ptr target = c < f->e ? u[c] : z;
            exact_dyadic_ratio(x, &sum[c]);
            mpq_mul(x, x, coefficient);
            mpq_add(target, target, x);
            exact_dyadic_set_d(&sum[c], 0.0);
        }
    }
    exact_dyadic_clear(&weighted);
    exact_dyadics_free(sum, f->e + 1);
    return ATTEST_OK;
}

attest_status exact_form_read_late(mpq_t *u, mpq_t z, const exact_form *f, int64_t i, int64_t from,
                                   const exact_dyadic *state, const exact_dyadic *given, attest_error *err)
{
    attest_status status = ATTEST_OK;
    exact_dyadic *s = exact_form_copy(state, f->cells), *g = exact_form_copy(given, f->given_cells);
    if (!s || !g) {
        status = no_memory(err);
        goto out;
    }
    for (int64_t t = from; t <= i; t++) {
        exact_form_decay(s, f, 0, &f->a[t * f->width]);
        exact_form_decay(g, f, 1, &f->a[t * f->width]);
    }
    ATTEST_TRY(exact_form_read(u, z, f, i, 0, s, err));
    if (given)
        ATTEST_TRY(exact_form_read(u, z, f, i, 1, g, err));
out:
    exact_dyadics_free(g, f->given_cells);
    exact_dyadics_free(s, f->cells);
    return status;
}

/* ---- pairs ------------------------------------------------------------------------------------------------------ */

static void weight_of(mpq_t w, const mpq_t x, const attest_problem *p)
{
    const axis_weight *weight = axis_weight_of(p);
    const unsigned order = p->axis[ATTEST_AXIS_WEIGHT].order;
    AUTO_MPQ(factor);
    if (weight->series) {
        taylor(w, x, (int)order);
    } else {
        mpq_set_ui(w, 1, 1);
        for (unsigned n = 1; n <= order; n++) {
            mpq_set_ui(factor, 1, weight->factorial ? n : 1);
            mpq_mul(w, w, x);
            mpq_mul(w, w, factor);
        }
    }
}

void exact_form_pair(mpq_t *u, mpq_t z, const exact_form *f, int64_t i, int64_t j)
{
    AUTO_MPQ(x, w);
    center(w, f, i);
    score(x, f, i, j);
    mpq_sub(x, x, w);
    weight_of(w, x, f->in->p);
    for (int64_t t = j + 1; f->width && !f->inside && t <= i; t++) {
        exact_dyadic_ratio(x, &f->a[t]);
        mpq_mul(w, w, x);
    }
    mpq_add(z, z, w);
    for (int64_t c = 0; c < f->e; c++) {
        exact_dyadic_ratio(x, &f->v[j * f->e + c]);
        mpq_mul(x, x, w);
        mpq_add(u[c], u[c], x);
    }
}
