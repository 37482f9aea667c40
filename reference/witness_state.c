/* witness_state.c - states by the witness, from their definition: sums over every row of the Kronecker power. */
#include "reference/witness.h"

#include <stdlib.h>

const attest_tensor *wit_state_tensor(const wit_case *w, uint32_t kind, unsigned degree)
{
    return attest_bundle_get(w->in, (attest_tensor_id){ kind, degree });
}

int64_t wit_state_rows(const attest_problem *p, unsigned degree)
{
    int64_t rows = 1;
    for (unsigned n = 0; n < degree; n++)
        rows *= p->d;
    return rows;
}

void wit_monomial(wit *r, const wit *phi, const attest_problem *p, unsigned degree, int64_t index)
{
    wit_set_ui(r, 1);
    for (unsigned n = 0; n < degree; n++) {
        wit_mul(r, r, &phi[index % p->d]);
        index /= p->d;
    }
}

/* What a query multiplies degree n by: scale^n/n! in taylor and term, scale^n in power. */
static void coefficient(wit *r, const wit_case *w, unsigned degree)
{
    wit factor;
    wit_init(&factor, w->bits);
    wit_set_ui(r, 1);
    for (unsigned n = 1; n <= degree; n++) {
        wit_set_double(&factor, w->p->scale);
        wit_mul(r, r, &factor);
    }
    for (unsigned n = 1; w->p->axis[ATTEST_AXIS_WEIGHT].value != ATTEST_WEIGHT_POWER && n <= degree; n++) {
        wit_set_ui(&factor, n);
        wit_div(r, r, &factor);
    }
    wit_clear(&factor);
}

/* *sum += factor * element (b,g,row,c) of t */
static void add_element(wit *sum, const wit *factor, const attest_tensor *t, int64_t b, int64_t g, int64_t row,
                        int64_t c, wit *scratch)
{
    wit_set_double(scratch, attest_load(t, attest_offset(t, b, g, row, c)));
    wit_mul(scratch, scratch, factor);
    wit_add(sum, sum, scratch);
}

void wit_add_given_state(wit *u, wit *z, const wit_case *w, const wit *phi_q, int64_t b, int64_t g)
{
    wit factor, reading, scratch;
    wit_init(&factor, w->bits);
    wit_init(&reading, w->bits);
    wit_init(&scratch, w->bits);
    for (unsigned n = w->lowest; n <= w->highest; n++) {
        const attest_tensor *h0 = wit_state_tensor(w, ATTEST_KIND_H0, n);
        const attest_tensor *z0 = wit_state_tensor(w, ATTEST_KIND_Z0, n);
        const int64_t rows = wit_state_rows(w->p, n);
        coefficient(&factor, w, n);
        for (int64_t row = 0; row < rows; row++) {
            wit_monomial(&reading, phi_q, w->p, n, row);
            wit_mul(&reading, &reading, &factor);
            add_element(z, &reading, z0, b, g, row, 0, &scratch);
            for (int64_t c = 0; c < w->p->e; c++)
                add_element(&u[c], &reading, h0, b, g, row, c, &scratch);
        }
    }
    wit_clear(&factor);
    wit_clear(&reading);
    wit_clear(&scratch);
}

/* One element of S_n: the given one, plus the monomial of every key visible to the last query, times gin v. */
static void state_element(wit *sum, const wit_case *w, wit *const *phi_k, int64_t b, int64_t g, unsigned degree,
                          int64_t row, int64_t c, int z_state, wit *scratch)
{
    wit_set_ui(sum, 0);
    if (w->given_state) {
        const attest_tensor *t = wit_state_tensor(w, z_state ? ATTEST_KIND_Z0 : ATTEST_KIND_H0, degree);
        wit_set_double(sum, attest_load(t, attest_offset(t, b, g, row, c)));
    }
    for (int64_t j = 0; j < w->p->m; j++) {
        if (!wit_sees(w->p, w->len, w->p->n - 1, j))
            continue;
        wit_monomial(&scratch[0], phi_k[j], w->p, degree, row);
        if (z_state) {
            wit_add(sum, sum, &scratch[0]);
            continue;
        }
        if (w->gin) {
            wit_set_double(&scratch[1], attest_load(w->gin, attest_offset(w->gin, b, g, j, 0)));
            wit_mul(&scratch[0], &scratch[0], &scratch[1]);
        }
        add_element(sum, &scratch[0], w->v, b, g, j, c, &scratch[1]);
    }
}

attest_status ref_witness_state(mpfr_t *value, mpfr_t *error, const attest_problem *p, const attest_bundle *in,
                                int64_t b, int64_t g, int degree, int z_state, mpfr_prec_t bits, attest_error *err)
{
    attest_status status = ATTEST_OK;
    wit_case w;
    wit *phi = NULL, **phi_k = NULL, *t = NULL;
    ATTEST_TRY(wit_case_set(&w, p, in, b, bits, err));
    if (p->axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_EXP || degree < (int)w.lowest || degree > (int)w.highest ||
        p->axis[ATTEST_AXIS_WINDOW].value != ATTEST_WINDOW_NONE)
        return attest_fail(err, ATTEST_BAD_INPUT, "this variant has no state of degree %d", degree);
    phi = wit_array(p->m * p->d, bits, err);
    t = wit_array(3, bits, err);
    phi_k = malloc((size_t)p->m * sizeof *phi_k);
    if (!phi || !t || !phi_k) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "no memory for the witness's states");
        goto out;
    }
    for (int64_t j = 0; j < p->m; j++) {
        phi_k[j] = &phi[j * p->d];
        wit_feature(phi_k[j], &w, w.k, b, g, j);
    }
    const int64_t rows = wit_state_rows(p, (unsigned)degree), columns = z_state ? 1 : p->e;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t c = 0; c < columns; c++) {
            state_element(&t[0], &w, phi_k, b, g, (unsigned)degree, row, c, z_state, &t[1]);
            mpfr_set(value[row * columns + c], t[0].v, MPFR_RNDN);
            mpfr_set(error[row * columns + c], t[0].e, MPFR_RNDU);
        }
out:
    wit_array_free(phi, p->m * p->d);
    wit_array_free(t, 3);
    free(phi_k);
    return status;
}
