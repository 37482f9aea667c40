/* exact_scan.c - the recurrences as associative scans (R-SCAN).
 *
 * Sum: a range of tokens is (a, S), its product of decays and its state begun from 0; (a,S) o (b,U) = (ab, bS + U).
 * Delta rule: a range is the affine map S -> M S + B; (M,B) o (N,C) = (NM, NB + C).  Any bracketing gives the same. */
#include "reference/exact/exact_forms.h"

/* Where the range [lo,hi) of at least two tokens splits. */
static int64_t split_of(uint64_t bracketing, int64_t lo, int64_t hi)
{
    uint64_t x = bracketing ^ (uint64_t)lo * 0x9e3779b97f4a7c15ull ^ (uint64_t)hi * 0xbf58476d1ce4e5b9ull;
    if (bracketing < 2)
        return bracketing ? lo + 1 : hi - 1;
    x = (x ^ x >> 31) * 0x94d049bb133111ebull;
    return lo + 1 + (int64_t)((x >> 33) % (uint64_t)(hi - lo - 1));
}

/* A range's composite: `first` then `second` entries. */
typedef struct element {
    exact_dyadic *first;  /* decays [width], or M [d*d] */
    exact_dyadic *second; /* state [cells], or B [d*e] */
} element;

typedef struct scan {
    const exact_form *f;
    int64_t first, second; /* entries */
    uint64_t bracketing;
    void (*leaf)(element *out, const exact_form *f, int64_t t);
    /* out = earlier o later; out holds zeros */
    void (*compose)(element *out, const exact_form *f, const element *earlier, const element *later);
} scan;

static attest_status element_new(element *x, const scan *s, attest_error *err)
{
    x->first = exact_dyadics_new(s->first);
    x->second = exact_dyadics_new(s->second);
    return x->first && x->second ? ATTEST_OK : attest_fail(err, ATTEST_NO_MEMORY, "exact forms: no memory for a scan");
}

static void element_free(element *x, const scan *s)
{
    exact_dyadics_free(x->first, s->first);
    exact_dyadics_free(x->second, s->second);
    *x = (element){ NULL, NULL };
}

/* The composite of the tokens [lo,hi), at least one. */
static attest_status range(element *out, const scan *s, int64_t lo, int64_t hi, attest_error *err)
{
    attest_status status = ATTEST_OK;
    element earlier = { NULL, NULL }, later = { NULL, NULL };
    ATTEST_TRY(element_new(out, s, err));
    if (hi - lo == 1) {
        s->leaf(out, s->f, lo);
        return ATTEST_OK;
    }
    const int64_t cut = split_of(s->bracketing, lo, hi);
    ATTEST_TRY(range(&earlier, s, lo, cut, err));
    ATTEST_TRY(range(&later, s, cut, hi, err));
    s->compose(out, s->f, &earlier, &later);
out:
    element_free(&later, s);
    element_free(&earlier, s);
    return status;
}

/* ---- sums ------------------------------------------------------------------------------------------------------ */

static void sum_leaf(element *out, const exact_form *f, int64_t t)
{
    for (int64_t c = 0; c < f->width; c++)
        exact_dyadic_set(&out->first[c], &f->a[t * f->width + c]);
    exact_form_write(out->second, f, t);
}

static void sum_compose(element *out, const exact_form *f, const element *earlier, const element *later)
{
    for (int64_t c = 0; c < f->width; c++)
        exact_dyadic_mul(&out->first[c], &earlier->first[c], &later->first[c]);
    for (int64_t k = 0; k < f->cells; k++)
        exact_dyadic_set(&out->second[k], &earlier->second[k]);
    exact_form_decay(out->second, f, 0, later->first);
    for (int64_t k = 0; k < f->cells; k++)
        exact_dyadic_add(&out->second[k], &out->second[k], &later->second[k]);
}

attest_status exact_form_scan(mpq_t *u, mpq_t *z, const exact_form *f, const ref_exact_form_options *o,
                              attest_error *err)
{
    const scan s = { f, f->width, f->cells, o->bracketing, sum_leaf, sum_compose };
    attest_status status = ATTEST_OK;
    element all = { NULL, NULL };
    exact_dyadic *given = NULL, *nothing = exact_form_copy(NULL, f->cells);
    for (int64_t i = 0; i < f->n; i++) {
        const int64_t last = f->last[i];
        given = exact_form_copy(NULL, f->given_cells);
        if (!given || !nothing) {
            status = attest_fail(err, ATTEST_NO_MEMORY, "exact forms: no memory for a state");
            goto out;
        }
        exact_form_given(given, f);
        if (last > 0) {
            ATTEST_TRY(range(&all, &s, 0, last, err));
            exact_form_decay(given, f, 1, all.first);
        }
        ATTEST_TRY(exact_form_read_late(u + i * f->e, z[i], f, i, last, last ? all.second : nothing, given, err));
        element_free(&all, &s);
        exact_dyadics_free(given, f->given_cells);
        given = NULL;
    }
out:
    element_free(&all, &s);
    exact_dyadics_free(given, f->given_cells);
    exact_dyadics_free(nothing, f->cells);
    return status;
}

/* ---- delta rule ------------------------------------------------------------------------------------------------ */

/* out[rows][columns] += a[rows][inner] b[inner][columns] */
static void add_product(exact_dyadic *out, const exact_dyadic *a, const exact_dyadic *b, int64_t rows, int64_t inner,
                        int64_t columns)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t k = 0; k < inner; k++)
            for (int64_t c = 0; c < columns; c++)
                exact_dyadic_addmul(&out[r * columns + c], &a[r * inner + k], &b[k * columns + c]);
}

/* M = (I - b k^T k) diag(a), B = k^T b gin v. */
static void delta_leaf(element *out, const exact_form *f, int64_t t)
{
    const int64_t d = f->d;
    const exact_dyadic *k = &f->k[t * d];
    exact_dyadic x;
    exact_dyadic_init(&x);
    for (int64_t r = 0; r < d; r++) {
        for (int64_t c = 0; c < d; c++) {
            exact_dyadic *m = &out->first[r * d + c];
            exact_dyadic_mul(&x, &k[r], &k[c]);
            exact_dyadic_mul(&x, &x, &f->beta[t]);
            exact_dyadic_set_d(m, r == c);
            exact_dyadic_sub(m, m, &x);
            if (f->width)
                exact_dyadic_mul(m, m, &f->a[t * f->width + (f->inside ? c : 0)]);
        }
        exact_dyadic_mul(&x, &k[r], &f->beta[t]);
        for (int64_t c = 0; c < f->e; c++)
            exact_dyadic_mul(&out->second[r * f->e + c], &x, &f->v[t * f->e + c]);
    }
    exact_dyadic_clear(&x);
}

static void delta_compose(element *out, const exact_form *f, const element *earlier, const element *later)
{
    const int64_t d = f->d, e = f->e;
    add_product(out->first, later->first, earlier->first, d, d, d);
    for (int64_t k = 0; k < d * e; k++)
        exact_dyadic_set(&out->second[k], &later->second[k]);
    add_product(out->second, later->first, earlier->second, d, d, e);
}

attest_status exact_form_delta_scan(mpq_t *u, mpq_t *z, const exact_form *f, const ref_exact_form_options *o,
                                    attest_error *err)
{
    const scan s = { f, f->d * f->d, f->d * f->e, o->bracketing, delta_leaf, delta_compose };
    attest_status status = ATTEST_OK;
    element all = { NULL, NULL };
    exact_dyadic *given = exact_dyadics_new(s.second), *state = NULL;
    (void)z;
    if (!given) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "exact forms: no memory for a state");
        goto out;
    }
    exact_form_delta_given(given, f);
    for (int64_t i = 0; i < f->n; i++) {
        state = exact_form_copy(f->last[i] ? NULL : given, s.second);
        if (!state) {
            status = attest_fail(err, ATTEST_NO_MEMORY, "exact forms: no memory for a state");
            goto out;
        }
        if (f->last[i] > 0) {
            ATTEST_TRY(range(&all, &s, 0, f->last[i], err));
            add_product(state, all.first, given, f->d, f->d, f->e);
            for (int64_t k = 0; k < s.second; k++)
                exact_dyadic_add(&state[k], &state[k], &all.second[k]);
        }
        exact_form_delta_read(u + i * f->e, f, i, state);
        element_free(&all, &s);
        exact_dyadics_free(state, s.second);
        state = NULL;
    }
out:
    element_free(&all, &s);
    exact_dyadics_free(state, s.second);
    exact_dyadics_free(given, s.second);
    return status;
}
