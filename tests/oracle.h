/* oracle.h - what the outputs of a problem are: asked of the witness, for every test that compares with a formula.
 *
 * The witness (reference/witness) is the formula in plain MPFR, with masks, head map, features, decays and gates of its
 * own.  With the kernels it shares nothing, with the other engines the tensors and the parsed line; so a kernel or an
 * engine that is compared with it is compared with a second writing of the formula.  Who tests the witness itself, or
 * needs what it does not have (a bound's sizes, the keys that one row reads), does not ask here.
 *
 * Values are balls: the witness's value and its own proven error; not finite where it does not know the value.
 */
#ifndef ATTEST_TESTS_ORACLE_H
#define ATTEST_TESTS_ORACLE_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "reference/truth/truth.h"
#include "reference/witness/witness.h"

typedef struct oracle {
    const attest_problem *p;
    const attest_bundle *in; /* inputs, states full */
    mpfr_prec_t bits;
    ref_witness *row; /* [b*hq*n], asked once each */
    int *asked;
    attest_error err;
} oracle;

/* Borrows both. */
static inline void oracle_init(oracle *x, const attest_problem *p, const attest_bundle *in, mpfr_prec_t bits)
{
    const size_t rows = (size_t)(p->b * p->hq * p->n);
    *x = (oracle){ .p = p, .in = in, .bits = bits, .row = malloc(rows * sizeof *x->row) };
    x->asked = calloc(rows, sizeof *x->asked);
    ck_assert(x->row && x->asked);
}

static inline void oracle_clear(oracle *x)
{
    for (int64_t row = 0; row < x->p->b * x->p->hq * x->p->n; row++)
        if (x->asked[row])
            ref_witness_clear(&x->row[row]);
    free(x->row);
    free(x->asked);
}

static inline const ref_witness *oracle_row(oracle *x, int64_t b, int64_t h, int64_t i)
{
    const int64_t row = (b * x->p->hq + h) * x->p->n + i;
    if (!x->asked[row]) {
        ref_witness_init(&x->row[row]);
        x->asked[row] = 1;
        ck_assert_msg(ref_witness_row(&x->row[row], x->p, x->in, (attest_row){ b, h, i }, x->bits, &x->err) ==
                          ATTEST_OK,
                      "%s", x->err.text);
    }
    return &x->row[row];
}

/* o, u, z or lse of a row; lse of an empty row is -infinity. */
static inline void oracle_value(arb_t value, const ref_witness *row, attest_role output, int64_t c)
{
    if (output == ATTEST_O)
        ref_witness_ball(value, row->o[c], row->o_error[c]);
    else if (output == ATTEST_U)
        ref_witness_ball(value, row->u[c], row->u_error[c]);
    else if (output == ATTEST_Z)
        ref_witness_ball(value, row->z, row->z_error);
    else if (row->empty)
        arb_neg_inf(value);
    else
        ref_witness_ball(value, row->lse, row->lse_error);
}

/* state[rows*e] of ht.n, state[rows] of zt.n, of KV head (b,g), in the full layout. */
static inline void oracle_state(arb_ptr state, oracle *x, attest_tensor_id id, int64_t b, int64_t g)
{
    const int z = id.kind == ATTEST_KIND_ZT;
    const int64_t count = wit_state_rows(x->p, id.index) * (z ? 1 : x->p->e);
    mpfr_t *number = malloc(2 * (size_t)count * sizeof *number);
    ck_assert_ptr_nonnull(number);
    for (int64_t at = 0; at < 2 * count; at++)
        mpfr_init2(number[at], at < count ? x->bits : WIT_ERROR_BITS);
    ck_assert_msg(ref_witness_state(number, number + count, x->p, x->in, b, g, (int)id.index, z, x->bits, &x->err) ==
                      ATTEST_OK,
                  "%s", x->err.text);
    for (int64_t at = 0; at < count; at++)
        ref_witness_ball(state + at, number[at], number[count + at]);
    for (int64_t at = 0; at < 2 * count; at++)
        mpfr_clear(number[at]);
    free(number);
}

#endif
