/* witness_state.c - states by the witness, from their definition: sums over every row of the Kronecker power. */
#include "reference/witness/witness.h"

int64_t wit_state_rows(const attest_problem *p, unsigned degree)
{
    int64_t rows = 1;
    for (unsigned n = 0; n < degree; n++)
        rows *= wit_dim(p);
    return rows;
}

void wit_monomial(wit *r, const wit *phi, const attest_problem *p, unsigned degree, int64_t index)
{
    wit_set_ui(r, 1);
    for (unsigned n = 0; n < degree; n++) {
        wit_mul(r, r, &phi[index % wit_dim(p)]);
        index /= wit_dim(p);
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
static void add_element(wit *sum, const wit *factor, const wit_case *w, const attest_tensor *t, int64_t b, int64_t g,
                        int64_t row, int64_t c, wit *scratch)
{
    wit_set_double(scratch, wit_stored(w, t, b, g, row, c));
    wit_mul(scratch, scratch, factor);
    wit_add(sum, sum, scratch);
}

void wit_add_given_state(wit *u, wit *z, const wit_case *w, const wit *phi_q, int64_t b, int64_t g, int64_t i)
{
    const int vector = w->p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_VECTOR;
    wit factor, decay, reading, scratch;
    wit *const all[] = { &factor, &decay, &reading, &scratch };
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
        wit_init(all[n], w->bits);
    for (unsigned n = w->lowest; n <= w->highest; n++) {
        const attest_tensor *h0 = wit_state_tensor(w, ATTEST_KIND_H0, n);
        const attest_tensor *z0 = wit_state_tensor(w, ATTEST_KIND_Z0, n);
        const int64_t rows = wit_state_rows(w->p, n);
        coefficient(&factor, w, n);
        for (int64_t row = 0; row < rows; row++) {
            if (row == 0 || vector) /* vector: degree 1, row c is key dimension c */
                wit_decay(&decay, w, b, g, row, 0, i);
            wit_monomial(&reading, phi_q, w->p, n, row);
            wit_mul(&reading, &reading, &factor);
            wit_mul(&reading, &reading, &decay);
            add_element(z, &reading, w, z0, b, g, row, 0, &scratch);
            for (int64_t c = 0; c < w->p->e; c++)
                add_element(&u[c], &reading, w, h0, b, g, row, c, &scratch);
        }
    }
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
        wit_clear(all[n]);
}

/* A final state in work: S_n of KV head (b,g) after key `last`. */
typedef struct state_work {
    const wit_case *w;
    int64_t b, g, last;
    unsigned degree;
    int z_state;
    wit *phi; /* [m*dim] phi(k_j) */
    wit sum, x, gate, scratch;
} state_work;

/* One element: the given one and the monomial of every key visible to the last query, times gin v, each decayed by
 * the tokens after it up to the last visible one. */
static void state_element(state_work *k, int64_t row, int64_t c)
{
    const wit_case *w = k->w;
    wit_set_ui(&k->sum, 0);
    if (w->given_state) {
        wit_decay(&k->x, w, k->b, k->g, row, 0, k->last);
        add_element(&k->sum, &k->x, w, wit_state_tensor(w, k->z_state ? ATTEST_KIND_Z0 : ATTEST_KIND_H0, k->degree),
                    k->b, k->g, row, c, &k->scratch);
    }
    for (int64_t j = 0; j < w->p->m; j++) {
        if (!wit_sees(w, w->len_q - 1, j))
            continue;
        wit_decay(&k->x, w, k->b, k->g, row, j + 1, k->last);
        wit_monomial(&k->scratch, &k->phi[j * wit_dim(w->p)], w->p, k->degree, row);
        wit_mul(&k->x, &k->x, &k->scratch);
        if (k->z_state) {
            wit_add(&k->sum, &k->sum, &k->x);
            continue;
        }
        wit_gin(&k->gate, w, k->b, k->g, j);
        wit_mul(&k->x, &k->x, &k->gate);
        add_element(&k->sum, &k->x, w, w->v, k->b, k->g, j, c, &k->scratch);
    }
}

static attest_status added_state(mpfr_t *value, mpfr_t *error, state_work *k, attest_error *err)
{
    const wit_case *w = k->w;
    const int64_t dim = wit_dim(w->p), columns = k->z_state ? 1 : w->p->e;
    wit *const all[] = { &k->sum, &k->x, &k->gate, &k->scratch };
    k->phi = wit_array(w->p->m * dim, w->bits, err);
    if (!k->phi)
        return ATTEST_NO_MEMORY;
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
        wit_init(all[n], w->bits);
    for (int64_t j = 0; j < w->p->m; j++)
        wit_feature(&k->phi[j * dim], w, w->k, k->b, k->g, j, j);
    for (int64_t row = 0; row < wit_state_rows(w->p, k->degree); row++)
        for (int64_t c = 0; c < columns; c++) {
            state_element(k, row, c);
            mpfr_set(value[row * columns + c], k->sum.v, MPFR_RNDN);
            mpfr_set(error[row * columns + c], k->sum.e, MPFR_RNDU);
        }
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
        wit_clear(all[n]);
    wit_array_free(k->phi, w->p->m * dim);
    return ATTEST_OK;
}

static attest_status delta_state(mpfr_t *value, mpfr_t *error, const state_work *k, attest_error *err)
{
    const wit_case *w = k->w;
    const int64_t count = wit_dim(w->p) * w->p->e;
    wit *s = wit_array(count, w->bits, err);
    if (!s)
        return ATTEST_NO_MEMORY;
    const attest_status status = wit_delta_state(s, w, k->b, k->g, w->len_q - 1, err);
    for (int64_t n = 0; status == ATTEST_OK && n < count; n++) {
        mpfr_set(value[n], s[n].v, MPFR_RNDN);
        mpfr_set(error[n], s[n].e, MPFR_RNDU);
    }
    wit_array_free(s, count);
    return status;
}

attest_status ref_witness_state(mpfr_t *value, mpfr_t *error, const attest_problem *p, const attest_bundle *in,
                                int64_t b, int64_t g, int degree, int z_state, mpfr_prec_t bits, attest_error *err)
{
    attest_status status = ATTEST_OK;
    wit_case w;
    ATTEST_TRY(wit_case_set(&w, p, in, b, bits, err));
    if (p->axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_EXP || degree < (int)w.lowest || degree > (int)w.highest ||
        p->axis[ATTEST_AXIS_WINDOW].value != ATTEST_WINDOW_NONE || (w.delta && z_state))
        return attest_fail(err, ATTEST_BAD_INPUT, "this variant has no state of degree %d", degree);
    state_work k = {
        .w = &w, .b = b, .g = g, .last = wit_last(&w, w.len_q - 1), .degree = (unsigned)degree, .z_state = z_state
    };
    status = w.delta ? delta_state(value, error, &k, err) : added_state(value, error, &k, err);
out:
    return status;
}
