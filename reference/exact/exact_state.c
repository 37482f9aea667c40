/* exact_state.c - states as integers: monomials of keys, full Kronecker or packed, and the given ones. */
#include "reference/exact/exact.h"

#include <stdlib.h>

/* ---- monomials ------------------------------------------------------------------------------------------------- */

static attest_status level_new(exact_level *l, int64_t rows, attest_error *err)
{
    l->rows = rows;
    l->parent = calloc((size_t)rows, sizeof *l->parent);
    l->letter = calloc((size_t)rows, sizeof *l->letter);
    l->run = calloc((size_t)rows, sizeof *l->run);
    l->child = calloc((size_t)rows, sizeof *l->child);
    l->from = calloc((size_t)rows, sizeof *l->from);
    l->multiplicity = exact_integers_new(rows);
    if (!l->parent || !l->letter || !l->run || !l->child || !l->from || !l->multiplicity)
        return attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for %lld monomials", (long long)rows);
    return ATTEST_OK;
}

static void level_free(exact_level *l)
{
    free(l->parent);
    free(l->letter);
    free(l->run);
    free(l->child);
    free(l->from);
    exact_integers_free(l->multiplicity, l->rows);
}

/* The children of level n-1, in order: letters from..dim-1 each.  A node I+a has n!/(I+a)! = (n-1)!/I! * n / (number
 * of a in I+a) orderings; letters do not decrease, so that number is the length of the last run. */
static void level_fill(exact_level *l, exact_level *above, const exact_tree *t, int n)
{
    int64_t row = 0;
    for (int64_t r = 0; r < above->rows; r++) {
        above->child[r] = row;
        for (int64_t a = above->from[r]; a < t->dim; a++, row++) {
            l->parent[row] = r;
            l->letter[row] = a;
            l->run[row] = n > 1 && a == above->letter[r] ? above->run[r] + 1 : 1;
            l->from[row] = t->packed ? a : 0;
            mpz_set_ui(l->multiplicity[row], 1);
            if (t->packed) {
                mpz_mul_ui(l->multiplicity[row], above->multiplicity[r], (unsigned long)n);
                mpz_divexact_ui(l->multiplicity[row], l->multiplicity[row], (unsigned long)l->run[row]);
            }
        }
    }
}

attest_status exact_tree_new(exact_tree *t, int64_t dim, int highest, int packed, attest_error *err)
{
    attest_status status = ATTEST_OK;
    *t = (exact_tree){ .dim = dim, .degrees = highest + 1, .packed = packed };
    t->level = calloc((size_t)t->degrees, sizeof *t->level);
    if (!t->level)
        return attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for %d degrees", t->degrees);
    for (int n = 0; n <= highest; n++) {
        const int64_t rows = attest_state_rows(dim, n, packed);
        if (rows < 0 || rows > EXACT_TOTAL_LIMIT / 64) {
            status = attest_fail(err, ATTEST_UNSUPPORTED, "exact engine: too many monomials of degree %d", n);
            goto out;
        }
        ATTEST_TRY(level_new(&t->level[n], rows, err));
        if (n == 0)
            mpz_set_ui(t->level[0].multiplicity[0], 1);
        else
            level_fill(&t->level[n], &t->level[n - 1], t, n);
    }
out:
    if (status != ATTEST_OK)
        exact_tree_free(t);
    return status;
}

void exact_tree_free(exact_tree *t)
{
    for (int n = 0; t->level && n < t->degrees; n++)
        level_free(&t->level[n]);
    free(t->level);
    t->level = NULL;
}

mpz_t **exact_monomials_new(const exact_tree *t)
{
    mpz_t **m = calloc((size_t)t->degrees, sizeof *m);
    for (int n = 0; m && n < t->degrees; n++) {
        m[n] = exact_integers_new(t->level[n].rows);
        if (!m[n]) {
            exact_monomials_free(m, t);
            return NULL;
        }
    }
    return m;
}

void exact_monomials_free(mpz_t **m, const exact_tree *t)
{
    for (int n = 0; m && n < t->degrees; n++)
        exact_integers_free(m[n], t->level[n].rows);
    free(m);
}

void exact_monomials_of(mpz_t **m, const exact_tree *t, mpz_t *x, int highest)
{
    mpz_set_ui(m[0][0], 1);
    for (int n = 1; n <= highest; n++) {
        const exact_level *l = &t->level[n];
        for (int64_t r = 0; r < l->rows; r++)
            mpz_mul(m[n][r], m[n - 1][l->parent[r]], x[l->letter[r]]);
    }
}

/* ---- states ------------------------------------------------------------------------------------------------------ */

/* s[rows][columns] += sum over the keys of r of D monomials_n(phi(k_j)) (x) (gin_j v_j, 1), integers over
 * 2^(n*k.low + gin.low + v.low + decay.low); decay=vector has degree 1, its D multiplies the key's entries. */
static attest_status add_keys(mpz_t *s, const exact_tree *t, int degree, int columns, const exact_keys *r,
                              const exact_decays *decays, attest_error *err)
{
    const attest_problem *p = r->in->p;
    const int64_t count = exact_columns(p, columns), values = columns & EXACT_COLUMN_V ? p->e : 0;
    const int inside = axis_decay_of(p)->vector;
    attest_status status = ATTEST_OK;
    mpz_t *k = exact_integers_new(p->d), *v = exact_integers_new(count);
    mpz_t **m = exact_monomials_new(t);
    AUTO_MPZ(gin);
    if (!k || !v || !m) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for the state of degree %d", degree);
        goto out;
    }
    for (int64_t j = r->first; j < r->last; j++) {
        mpz_t *decay = decays->d + (j - r->first) * decays->width;
        for (int64_t c = 0; c < p->d; c++) {
            axis_feature_integer(k[c], exact_load_k(r, j, c), r->feature, r->k.low);
            if (inside)
                mpz_mul(k[c], k[c], decay[c]);
        }
        for (int64_t c = 0; c < count; c++) {
            exact_integer(gin, c < values ? exact_load_gin(r, j) : 1.0, r->gin.low);
            exact_integer(v[c], c < values ? exact_load_v(r, j, c) : 1.0, r->v.low);
            mpz_mul(v[c], v[c], gin);
            if (decays->width && !inside)
                mpz_mul(v[c], v[c], decay[0]);
        }
        exact_monomials_of(m, t, k, degree);
        for (int64_t row = 0; row < t->level[degree].rows; row++)
            for (int64_t c = 0; c < count; c++)
                mpz_addmul(s[row * count + c], m[degree][row], v[c]);
    }
out:
    exact_monomials_free(m, t);
    exact_integers_free(v, count);
    exact_integers_free(k, p->d);
    return status;
}

/* The row whose visible keys a final state has seen, on any query head of KV head g. */
static int final_keys(exact_keys *r, const ref_inputs *in, int64_t b, int64_t g)
{
    const attest_problem *p = in->p;
    return exact_keys_scan(r, in, (attest_row){ b, g * (p->hq / p->hkv), ref_last_query(in, b) }, 0);
}

/* R-EXACT-SIZE for a state: n factors of a key, one of v, its gate, the decays, the sum, the given state's own grid. */
int ref_exact_state_serves(const ref_inputs *in, int64_t b, int64_t g, int degree)
{
    const attest_problem *p = in->p;
    exact_keys r;
    exact_span given;
    const int64_t rows = attest_state_rows(p->d, degree, 0);
    if (degree < in->lowest || degree > in->highest || rows < 0 || !axis_served(p, AXIS_STATE, EXACT_NO_NORM, NULL) ||
        !final_keys(&r, in, b, g))
        return 0;
    if (exact_is_delta(p)) {
        const long bits = exact_delta_bits(&r);
        return bits >= 0 && bits <= EXACT_BITS_LIMIT && rows <= EXACT_TOTAL_LIMIT / p->e / bits;
    }
    exact_given_span(&given, in, b, g, degree, EXACT_COLUMN_V | EXACT_COLUMN_ONE);
    const long low = degree * r.k.low + r.gin.low + r.v.low;
    const long top = degree * r.k.top + r.gin.top + r.v.top + exact_log2_up(r.last - r.first + 1);
    const long bits = (top > given.top ? top : given.top) - (low < given.low ? low : given.low) + r.decay.top -
                      r.decay.low + 2;
    return given.finite && bits <= EXACT_BITS_LIMIT && rows <= EXACT_TOTAL_LIMIT / (p->e + 1) / bits;
}

static attest_status delta_state(mpq_t *out, const exact_keys *r, attest_error *err)
{
    const int64_t count = r->in->p->d * r->in->p->e;
    attest_status status = ATTEST_OK;
    exact_dyadic *s = exact_dyadics_new(count);
    if (!s)
        return attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for a state");
    ATTEST_TRY(exact_delta_state(s, r, err));
    for (int64_t k = 0; k < count; k++)
        exact_dyadic_ratio(out[k], &s[k]);
out:
    exact_dyadics_free(s, count);
    return status;
}

/* out = sum over the keys + decayed given state. */
static attest_status sum_state(mpq_t *out, const exact_keys *r, int degree, int columns, attest_error *err)
{
    const attest_problem *p = r->in->p;
    const int inside = axis_decay_of(p)->vector;
    const int64_t count = attest_state_rows(p->d, degree, 0) * exact_columns(p, columns);
    const long exponent = degree * r->k.low + r->gin.low + r->v.low + r->decay.low;
    attest_status status = ATTEST_OK;
    exact_tree tree = { 0 };
    exact_given given = { 0 };
    exact_decays decays = { 0 };
    mpz_t one;
    AUTO_MPQ(x);
    mpz_init_set_ui(one, 1);
    mpz_t *s = exact_integers_new(count);
    if (!s) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "exact engine: no memory for the state of degree %d", degree);
        goto out;
    }
    ATTEST_TRY(exact_tree_new(&tree, p->d, degree, 0, err));
    ATTEST_TRY(exact_given_new(&given, r->in, r->b, r->g, degree, columns, err));
    ATTEST_TRY(exact_decays_new(&decays, r, err));
    ATTEST_TRY(add_keys(s, &tree, degree, columns, r, &decays, err));
    for (int64_t k = 0; k < count; k++) {
        mpz_t *decay = decays.d + decays.count * decays.width + (inside ? k / given.columns : 0);
        if (decays.width)
            mpz_mul(given.a[k], given.a[k], *decay);
        exact_ratio(out[k], s[k], exponent, one);
        exact_ratio(x, given.a[k], given.exponent + decays.exponent, one);
        mpq_add(out[k], out[k], x);
    }
out:
    exact_decays_free(&decays);
    exact_given_free(&given);
    exact_tree_free(&tree);
    exact_integers_free(s, count);
    mpz_clear(one);
    return status;
}

attest_status ref_exact_state(mpq_t *out, const ref_inputs *in, int64_t b, int64_t g, int degree, int z_state,
                              attest_error *err)
{
    exact_keys r;
    if (!ref_exact_state_serves(in, b, g, degree) || !final_keys(&r, in, b, g) || (z_state && exact_is_delta(in->p)))
        return attest_fail(err, ATTEST_BAD_INPUT, "the exact engine does not serve the state of degree %d", degree);
    if (exact_is_delta(in->p))
        return delta_state(out, &r, err);
    return sum_state(out, &r, degree, z_state ? EXACT_COLUMN_ONE : EXACT_COLUMN_V, err);
}
