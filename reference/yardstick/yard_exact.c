/* yard_exact.c - the exact engine on every row of a problem, for its time. */
#include "reference/yardstick/yardstick.h"

#include <stdlib.h>

#include "kernels/attest_float.h"
#include "reference/exact/exact.h"

int attest_yard_exact_serves(const attest_problem *p, const attest_bundle *in)
{
    attest_error err;
    ref_inputs inputs;
    int serves = ref_inputs_set(&inputs, p, in, &err) == ATTEST_OK;
    for (int64_t row = 0; serves && row < p->b * p->hq * p->n; row++)
        serves = ref_exact_serves(&inputs, (attest_row){ row / p->n / p->hq, row / p->n % p->hq, row % p->n });
    ref_inputs_clear(&inputs);
    return serves;
}

attest_status attest_yard_exact(double *o, const attest_problem *p, const attest_bundle *in, attest_error *err)
{
    const int64_t cells = p->n * p->e;
    attest_status status = ATTEST_OK;
    ref_inputs inputs;
    ref_exact_cache cache;
    uint64_t *bits = malloc((size_t)cells * sizeof *bits);
    ref_exact_cache_init(&cache);
    ATTEST_TRY(ref_inputs_set(&inputs, p, in, err));
    inputs.exact = &cache;
    if (!bits)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for a head's outputs"));
    for (int64_t h = 0; h < p->b * p->hq; h++) {
        ATTEST_TRY(ref_exact_rounded(bits, ATTEST_F64, &inputs, h / p->hq, h % p->hq, err));
        for (int64_t at = 0; at < cells; at++)
            o[h * cells + at] = attest_bits_f64(bits[at]);
    }
out:
    free(bits);
    ref_inputs_clear(&inputs);
    ref_exact_cache_clear(&cache);
    return status;
}
