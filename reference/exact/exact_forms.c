/* exact_forms.c - the forms of the sum over keys: token by token, in chunks, split and merged, in two passes
 * (R-RECURRENT, R-PACKED, R-CHUNK, R-DECAY-STATE). */
#include "reference/exact/exact_forms.h"

static attest_status no_memory(attest_error *err)
{
    return attest_fail(err, ATTEST_NO_MEMORY, "exact forms: no memory for a state");
}

static const exact_dyadic *decay_of(const exact_form *f, int64_t t) { return &f->a[t * f->width]; }

/* Both states by token t. */
static void step(exact_dyadic *state, exact_dyadic *given, const exact_form *f, int64_t t)
{
    exact_form_decay(state, f, 0, decay_of(f, t));
    exact_form_decay(given, f, 1, decay_of(f, t));
    exact_form_write(state, f, t);
}

/* Tokens from..: the queries that see at least `from` keys and at most `most`; `given` is used up. */
static attest_status tokens(mpq_t *u, mpq_t *z, const exact_form *f, exact_dyadic *given, int64_t from, int64_t most,
                            attest_error *err)
{
    attest_status status = ATTEST_OK;
    int64_t t = from;
    exact_dyadic *state = exact_form_copy(NULL, f->cells);
    if (!state)
        return no_memory(err);
    for (int64_t i = 0; i < f->n; i++) {
        if (f->last[i] < from || f->last[i] > most)
            continue;
        for (; t < f->last[i]; t++)
            step(state, given, f, t);
        ATTEST_TRY(exact_form_read_late(u + i * f->e, z[i], f, i, t, state, given, err));
    }
out:
    exact_dyadics_free(state, f->cells);
    return status;
}

static attest_status recurrent(mpq_t *u, mpq_t *z, const exact_form *f, const ref_exact_form_options *o,
                               attest_error *err)
{
    exact_dyadic *given = exact_form_copy(NULL, f->given_cells);
    attest_status status;
    (void)o;
    if (!given)
        return no_memory(err);
    exact_form_given(given, f);
    status = tokens(u, z, f, given, 0, f->tokens, err);
    exact_dyadics_free(given, f->given_cells);
    return status;
}

/* state := state decayed over the chunk + the chunk's own state, begun from 0. */
static attest_status add_chunk(exact_dyadic *state, exact_dyadic *given, const exact_form *f, int64_t first,
                               int64_t size, attest_error *err)
{
    exact_dyadic *part = exact_form_copy(NULL, f->cells);
    if (!part)
        return no_memory(err);
    for (int64_t t = first; t < first + size; t++) {
        exact_form_decay(part, f, 0, decay_of(f, t));
        exact_form_write(part, f, t);
        exact_form_decay(state, f, 0, decay_of(f, t));
        exact_form_decay(given, f, 1, decay_of(f, t));
    }
    for (int64_t k = 0; k < f->cells; k++)
        exact_dyadic_add(&state[k], &state[k], &part[k]);
    exact_dyadics_free(part, f->cells);
    return ATTEST_OK;
}

static attest_status chunked(mpq_t *u, mpq_t *z, const exact_form *f, const ref_exact_form_options *o,
                             attest_error *err)
{
    attest_status status = ATTEST_OK;
    int64_t done = 0; /* keys in the state */
    exact_dyadic *state = exact_form_copy(NULL, f->cells), *given = exact_form_copy(NULL, f->given_cells);
    if (!state || !given) {
        status = no_memory(err);
        goto out;
    }
    exact_form_given(given, f);
    for (int64_t i = 0; i < f->n; i++) {
        for (; f->last[i] - done >= o->size; done += o->size)
            ATTEST_TRY(add_chunk(state, given, f, done, o->size, err));
        ATTEST_TRY(exact_form_read_late(u + i * f->e, z[i], f, i, done, state, given, err));
        for (int64_t j = done; j < f->last[i]; j++)
            exact_form_pair(u + i * f->e, z[i], f, i, j);
    }
out:
    exact_dyadics_free(given, f->given_cells);
    exact_dyadics_free(state, f->cells);
    return status;
}

/* Keys [0,cut) and [cut,..) as states of their own, each decayed to the query; h0 goes with the first. */
static attest_status split(mpq_t *u, mpq_t *z, const exact_form *f, const ref_exact_form_options *o, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int64_t t = 0;
    exact_dyadic *one = exact_form_copy(NULL, f->cells), *two = exact_form_copy(NULL, f->cells);
    exact_dyadic *given = exact_form_copy(NULL, f->given_cells);
    if (!one || !two || !given) {
        status = no_memory(err);
        goto out;
    }
    exact_form_given(given, f);
    for (int64_t i = 0; i < f->n; i++) {
        for (; t < f->last[i]; t++) {
            exact_form_decay(one, f, 0, decay_of(f, t));
            exact_form_decay(two, f, 0, decay_of(f, t));
            exact_form_decay(given, f, 1, decay_of(f, t));
            exact_form_write(t < o->size ? one : two, f, t);
        }
        ATTEST_TRY(exact_form_read_late(u + i * f->e, z[i], f, i, t, one, given, err));
        ATTEST_TRY(exact_form_read_late(u + i * f->e, z[i], f, i, t, two, NULL, err));
    }
out:
    exact_dyadics_free(given, f->given_cells);
    exact_dyadics_free(two, f->cells);
    exact_dyadics_free(one, f->cells);
    return status;
}

/* full += key j's term of the definition of ht after `count` keys: its product of decays over t = j+1..count-1, times
 * its factors, index by index of the full layout. */
static void define_key(exact_dyadic *full, const exact_form *f, int64_t j, int64_t count)
{
    exact_dyadic x;
    exact_dyadic_init(&x);
    for (int n = f->lowest; n <= f->highest; n++) {
        for (int64_t index = 0; index < attest_state_rows(f->d, n, 0); index++) {
            for (int64_t c = 0; c <= f->e; c++, full++) {
                exact_dyadic_set_d(&x, 1.0);
                for (int64_t k = 0, rest = index; k < n; k++, rest /= f->d)
                    exact_dyadic_mul(&x, &x, &f->k[j * f->d + rest % f->d]);
                for (int64_t t = j + 1; f->width && t < count; t++)
                    exact_dyadic_mul(&x, &x, &decay_of(f, t)[f->inside ? index : 0]);
                if (c < f->e)
                    exact_dyadic_mul(&x, &x, &f->v[j * f->e + c]);
                exact_dyadic_add(full, full, &x);
            }
        }
    }
    exact_dyadic_clear(&x);
}

static attest_status carried(mpq_t *u, mpq_t *z, const exact_form *f, const ref_exact_form_options *o,
                             attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int64_t cut = o->size < f->tokens ? o->size : f->tokens;
    exact_dyadic *h0 = exact_form_copy(NULL, f->given_cells), *ht = NULL;
    if (!h0)
        return no_memory(err);
    exact_form_given(h0, f);
    ht = exact_form_copy(h0, f->given_cells);
    if (!ht) {
        status = no_memory(err);
        goto out;
    }
    ATTEST_TRY(tokens(u, z, f, h0, 0, cut - 1, err));
    for (int64_t t = 0; t < cut; t++)
        exact_form_decay(ht, f, 1, decay_of(f, t));
    for (int64_t j = 0; j < cut; j++)
        define_key(ht, f, j, cut);
    ATTEST_TRY(tokens(u, z, f, ht, cut, f->tokens, err));
out:
    exact_dyadics_free(ht, f->given_cells);
    exact_dyadics_free(h0, f->given_cells);
    return status;
}

/* ---- one door ---------------------------------------------------------------------------------------------------- */

/* NULL: no such form; the token-by-token delta rule is the engine's own. */
static const struct {
    exact_form_run *add, *delta;
} forms[] = {
    [REF_FORM_RECURRENT] = { recurrent, NULL },
    [REF_FORM_CHUNK] = { chunked, exact_form_wy },
    [REF_FORM_SPLIT] = { split, NULL },
    [REF_FORM_CARRIED] = { carried, exact_form_delta_carried },
    [REF_FORM_SCAN] = { exact_form_scan, exact_form_delta_scan },
};

attest_status ref_exact_form(mpq_t *u, mpq_t *z, const ref_inputs *in, int64_t b, int64_t h,
                             const ref_exact_form_options *options, attest_error *err)
{
    const attest_problem *p = in->p;
    const int delta = exact_is_delta(p);
    attest_status status = ATTEST_OK;
    exact_form f;
    if (options->kind >= sizeof forms / sizeof forms[0] ||
        !(delta ? forms[options->kind].delta : forms[options->kind].add))
        return attest_fail(err, ATTEST_UNSUPPORTED, "exact forms: this variant has no such form");
    if (options->size < (options->kind == REF_FORM_CHUNK))
        return attest_fail(err, ATTEST_BAD_INPUT, "exact forms: size is %lld, must be at least 1 (chunk) or 0",
                           (long long)options->size);
    const int packed = options->packed && !delta && options->kind != REF_FORM_SCAN;
    for (int64_t k = 0; k < p->n * p->e; k++)
        mpq_set_ui(u[k], 0, 1);
    for (int64_t i = 0; i < p->n; i++)
        mpq_set_ui(z[i], 0, 1);
    ATTEST_TRY(exact_form_open(&f, in, b, h, packed, err));
    status = (delta ? forms[options->kind].delta : forms[options->kind].add)(u, z, &f, options, err);
    exact_form_close(&f);
out:
    return status;
}

/* Cell (0, 0) of degree n in a full state. */
static int64_t degree_start(const exact_form *f, int degree)
{
    int64_t start = 0;
    for (int n = f->lowest; n < degree; n++)
        start += attest_state_rows(f->d, n, 0) * (f->e + 1);
    return start;
}

/* state[given_cells] after all tokens. */
static attest_status last_state(exact_dyadic *state, const exact_form *f, int delta, attest_error *err)
{
    if (delta)
        return exact_form_delta_last(state, f, err);
    exact_dyadic *given = exact_form_copy(NULL, f->given_cells);
    if (!given)
        return no_memory(err);
    exact_form_given(given, f);
    for (int64_t t = 0; t < f->tokens; t++)
        step(state, given, f, t);
    for (int64_t k = 0; k < f->cells; k++)
        exact_dyadic_add(&state[k], &state[k], &given[k]);
    exact_dyadics_free(given, f->given_cells);
    return ATTEST_OK;
}

attest_status ref_exact_form_state(mpq_t *out, const ref_inputs *in, int64_t b, int64_t h, int degree, int z_state,
                                   attest_error *err)
{
    const int delta = exact_is_delta(in->p);
    attest_status status = ATTEST_OK;
    exact_dyadic *state = NULL;
    exact_form f;
    ATTEST_TRY(exact_form_open(&f, in, b, h, 0, err));
    state = exact_form_copy(NULL, f.given_cells);
    status = state ? last_state(state, &f, delta, err) : no_memory(err);
    const int64_t columns = delta ? f.e : f.e + 1, count = attest_state_rows(f.d, degree, 0) * (z_state ? 1 : f.e);
    const exact_dyadic *from = state + (delta || !state ? 0 : degree_start(&f, degree));
    for (int64_t k = 0; status == ATTEST_OK && k < count; k++)
        exact_dyadic_ratio(out[k], &from[z_state ? k * columns + f.e : k / f.e * columns + k % f.e]);
    exact_dyadics_free(state, f.given_cells);
    exact_form_close(&f);
out:
    return status;
}
