/* delta_h0_chunk_zero - the given state comes into play when the first chunk closes. */
#include "cpu/steps/chunk.h"

static inline real blind_first(chunk *a, real *u, real *x, real f, const row *r, double scale)
{
    row s = *r;
    attest_problem p = *r->p;
    s.p = &p;
    if (a->from == 0)
        p.axis[ATTEST_AXIS_STATE].value = ATTEST_STATE_NONE;
    return chunk_read(a, u, x, f, &s, scale);
}
#define chunk_read blind_first
#define attest_kernel_delta_chunk_f32 attest_defect_delta_h0_chunk_zero
#include "cpu/delta_chunk_f32.c"
