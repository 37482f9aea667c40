/* yard_exact.c - the exact engine on every row of a problem, for its time. */
#include "reference/yardstick.h"

#include <stdlib.h>

#include "kernels/attest_float.h"
#include "reference/engine.h"

int attest_yard_exact_serves(const attest_problem *p, const attest_bundle *in)
{
    ref_inputs inputs;
    ref_inputs_set(&inputs, p, in);
    int serves = 1;
    for (int64_t row = 0; serves && row < p->b * p->hq * p->n; row++)
        serves = ref_exact_serves(&inputs, row / p->n / p->hq, row / p->n % p->hq, row % p->n);
    return serves;
}

static mpq_t *rationals_new(int64_t count)
{
    mpq_t *x = malloc((size_t)count * sizeof *x);
    for (int64_t i = 0; x && i < count; i++)
        mpq_init(x[i]);
    return x;
}

static void rationals_free(mpq_t *x, int64_t count)
{
    for (int64_t i = 0; x && i < count; i++)
        mpq_clear(x[i]);
    free(x);
}

attest_status attest_yard_exact(double *o, const attest_problem *p, const attest_bundle *in, attest_error *err)
{
    const int64_t cells = p->n * p->e;
    attest_status status = ATTEST_OK;
    ref_inputs inputs;
    ref_inputs_set(&inputs, p, in);
    mpq_t *u = rationals_new(cells), *row_o = rationals_new(cells), *z = rationals_new(p->n);
    int *defined = malloc((size_t)p->n * sizeof *defined);
    if (!u || !row_o || !z || !defined)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for the rationals"));
    for (int64_t h = 0; h < p->b * p->hq; h++) {
        ATTEST_TRY(ref_exact_rows(u, z, row_o, defined, &inputs, h / p->hq, h % p->hq, err));
        for (int64_t at = 0; at < cells; at++) {
            const uint64_t bits = defined[at / p->e] ? ref_round_rational(row_o[at], ATTEST_F64) : 0x7ff8000000000000u;
            o[h * cells + at] = attest_bits_f64(bits);
        }
    }
out:
    rationals_free(u, cells);
    rationals_free(row_o, cells);
    rationals_free(z, p->n);
    free(defined);
    return status;
}
