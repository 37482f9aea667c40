/* exact_wy.c - the delta rule in chunks: WY form (R-WY).
 *
 * Inside a chunk that starts with state S_0, with D_jl the product of decays over t = l+1..j (from the chunk's start
 * for l = 0), the written values x_j = b_j (gin_j v_j - k_j S'_j) satisfy
 *     x_j + b_j sum_{l<j} <k_j, D_jl k_l> x_l = b_j gin_j v_j - b_j k_j D_j S_0,
 * (I + L) X = diag(b) (V - K S_0).  T = (I + L)^-1 diag(b) is unit lower triangular times diag(b); W = T K, U = T V,
 * X = U - W S_0.  Then S = D S_0 + sum_j D_j k_j^T x_j and o_i = scale q_i S, never token by token. */
#include "reference/exact/exact_forms.h"

void exact_form_delta_given(exact_dyadic *state, const exact_form *f)
{
    const ref_inputs *in = f->in;
    const int64_t g = attest_kv_head(in->p, f->h);
    for (int64_t a = 0; a < f->d && exact_given_state(in); a++)
        for (int64_t c = 0; c < f->e; c++)
            exact_dyadic_set_d(&state[a * f->e + c], attest_load(in->h0[1], attest_offset(in->h0[1], f->b, g, a, c)));
}

void exact_form_delta_read(mpq_t *u, const exact_form *f, int64_t i, const exact_dyadic *state)
{
    exact_dyadic sum;
    exact_dyadic_init(&sum);
    for (int64_t c = 0; c < f->e; c++) {
        exact_dyadic_set_d(&sum, 0.0);
        for (int64_t a = 0; a < f->d; a++)
            exact_dyadic_addmul(&sum, &f->q[i * f->d + a], &state[a * f->e + c]);
        exact_dyadic_mul(&sum, &sum, &f->scale);
        exact_dyadic_ratio(u[c], &sum);
    }
    exact_dyadic_clear(&sum);
}

/* out = the product of decays over t = from..to of key dimension c. */
static void decay_over(exact_dyadic *out, const exact_form *f, int64_t from, int64_t to, int64_t c)
{
    exact_dyadic_set_d(out, 1.0);
    for (int64_t t = from; f->width && t <= to; t++)
        exact_dyadic_mul(out, out, &f->a[t * f->width + (f->inside ? c : 0)]);
}

/* out = <k_j, D_jl k_l> */
static void gram(exact_dyadic *out, const exact_form *f, int64_t j, int64_t l)
{
    exact_dyadic x;
    exact_dyadic_init(&x);
    exact_dyadic_set_d(out, 0.0);
    for (int64_t a = 0; a < f->d; a++) {
        decay_over(&x, f, l + 1, j, a);
        exact_dyadic_mul(&x, &x, &f->k[l * f->d + a]);
        exact_dyadic_addmul(out, &x, &f->k[j * f->d + a]);
    }
    exact_dyadic_clear(&x);
}

/* T[count][count] of the tokens first..first+count-1, by forward substitution on the unit vectors:
 * T_jm = b_j ([j=m] - sum_{m<=l<j} <k_j, D_jl k_l> T_lm). */
static void transform(exact_dyadic *inverse, const exact_form *f, int64_t first, int64_t count)
{
    exact_dyadic g, x;
    exact_dyadic_init(&g);
    exact_dyadic_init(&x);
    for (int64_t m = 0; m < count; m++) {
        for (int64_t j = m; j < count; j++) {
            exact_dyadic *entry = &inverse[j * count + m];
            exact_dyadic_set_d(entry, j == m);
            for (int64_t l = m; l < j; l++) {
                gram(&g, f, first + j, first + l);
                exact_dyadic_mul(&x, &g, &inverse[l * count + m]);
                exact_dyadic_sub(entry, entry, &x);
            }
            exact_dyadic_mul(entry, entry, &f->beta[first + j]);
        }
    }
    exact_dyadic_clear(&x);
    exact_dyadic_clear(&g);
}

/* x[count][e] = T (V - K S_0), K_j = k_j times the decays from the chunk's start to j. */
static attest_status written(exact_dyadic *x, const exact_form *f, int64_t first, int64_t count,
                             const exact_dyadic *start, attest_error *err)
{
    exact_dyadic *inverse = exact_dyadics_new(count * count), rest, term;
    if (!inverse)
        return attest_fail(err, ATTEST_NO_MEMORY, "exact forms: no memory for a chunk");
    exact_dyadic_init(&rest);
    exact_dyadic_init(&term);
    transform(inverse, f, first, count);
    for (int64_t m = 0; m < count; m++) {
        for (int64_t c = 0; c < f->e; c++) {
            exact_dyadic_set(&rest, &f->v[(first + m) * f->e + c]);
            for (int64_t a = 0; a < f->d; a++) {
                decay_over(&term, f, first, first + m, a);
                exact_dyadic_mul(&term, &term, &f->k[(first + m) * f->d + a]);
                exact_dyadic_mul(&term, &term, &start[a * f->e + c]);
                exact_dyadic_sub(&rest, &rest, &term);
            }
            for (int64_t j = m; j < count; j++)
                exact_dyadic_addmul(&x[j * f->e + c], &inverse[j * count + m], &rest);
        }
    }
    exact_dyadic_clear(&term);
    exact_dyadic_clear(&rest);
    exact_dyadics_free(inverse, count * count);
    return ATTEST_OK;
}

/* state = D S_0 + sum_{j <= to} D_j k_j^T x_j, after token `to` of the chunk. */
static void state_after(exact_dyadic *state, const exact_form *f, int64_t first, int64_t to, const exact_dyadic *start,
                        const exact_dyadic *x)
{
    exact_dyadic factor;
    exact_dyadic_init(&factor);
    for (int64_t a = 0; a < f->d; a++) {
        decay_over(&factor, f, first, to, a);
        for (int64_t c = 0; c < f->e; c++)
            exact_dyadic_mul(&state[a * f->e + c], &start[a * f->e + c], &factor);
        for (int64_t j = first; j <= to; j++) {
            decay_over(&factor, f, j + 1, to, a);
            exact_dyadic_mul(&factor, &factor, &f->k[j * f->d + a]);
            for (int64_t c = 0; c < f->e; c++)
                exact_dyadic_addmul(&state[a * f->e + c], &factor, &x[(j - first) * f->e + c]);
        }
    }
    exact_dyadic_clear(&factor);
}

/* The keys [first, last), in chunks of `size` from `state` on: the queries that see first+1..last keys are read, none
 * where u is NULL. */
static attest_status chunks(mpq_t *u, const exact_form *f, exact_dyadic *state, int64_t first, int64_t last,
                            int64_t size, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int64_t cells = f->d * f->e;
    exact_dyadic *x = NULL, *now = exact_form_copy(state, cells);
    int64_t count = 0;
    if (!now)
        return attest_fail(err, ATTEST_NO_MEMORY, "exact forms: no memory for a state");
    for (int64_t start = first; start < last; start += count) {
        count = last - start < size ? last - start : size;
        x = exact_dyadics_new(count * f->e);
        if (!x) {
            status = attest_fail(err, ATTEST_NO_MEMORY, "exact forms: no memory for a chunk");
            goto out;
        }
        ATTEST_TRY(written(x, f, start, count, state, err));
        for (int64_t i = 0; u && i < f->n; i++) {
            if (f->last[i] <= start || f->last[i] > start + count)
                continue;
            state_after(now, f, start, f->last[i] - 1, state, x);
            exact_form_delta_read(u + i * f->e, f, i, now);
        }
        state_after(now, f, start, start + count - 1, state, x);
        for (int64_t k = 0; k < cells; k++)
            exact_dyadic_set(&state[k], &now[k]);
        exact_dyadics_free(x, count * f->e);
        x = NULL;
    }
out:
    exact_dyadics_free(x, count * f->e);
    exact_dyadics_free(now, cells);
    return status;
}

/* The queries before the first key read the given state; then [0,cut) and [cut,..). */
static attest_status two_parts(mpq_t *u, const exact_form *f, int64_t cut, int64_t size, int64_t size_after,
                               attest_error *err)
{
    attest_status status = ATTEST_OK;
    exact_dyadic *state = exact_dyadics_new(f->d * f->e);
    if (!state)
        return attest_fail(err, ATTEST_NO_MEMORY, "exact forms: no memory for a state");
    exact_form_delta_given(state, f);
    for (int64_t i = 0; i < f->n; i++)
        if (f->last[i] == 0)
            exact_form_delta_read(u + i * f->e, f, i, state);
    ATTEST_TRY(chunks(u, f, state, 0, cut, size, err));
    ATTEST_TRY(chunks(u, f, state, cut, f->tokens, size_after, err));
out:
    exact_dyadics_free(state, f->d * f->e);
    return status;
}

attest_status exact_form_wy(mpq_t *u, mpq_t *z, const exact_form *f, const ref_exact_form_options *o, attest_error *err)
{
    (void)z;
    return two_parts(u, f, 0, 1, o->size, err);
}

/* Two passes: the first as one chunk, its final state given to the second, also one chunk. */
attest_status exact_form_delta_carried(mpq_t *u, mpq_t *z, const exact_form *f, const ref_exact_form_options *o,
                                       attest_error *err)
{
    const int64_t cut = o->size < f->tokens ? o->size : f->tokens;
    (void)z;
    return two_parts(u, f, cut, f->tokens, f->tokens, err);
}

attest_status exact_form_delta_last(exact_dyadic *state, const exact_form *f, attest_error *err)
{
    exact_form_delta_given(state, f);
    return chunks(NULL, f, state, 0, f->tokens, f->tokens, err);
}
