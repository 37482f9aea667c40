/* chunk_share_undecayed - A closed chunk adds its keys as if all stood at its end. */
#include "cpu/steps/degrees.h"

static inline void add_undecayed(const degrees *a, const real *x, real f, const real *v)
{
    (void)f;
    degrees_add(a, x, 1, v);
}
#define degrees_add add_undecayed
#define attest_kernel_taylor_chunk_f32 attest_defect_chunk_share_undecayed
#include "cpu/taylor_chunk_f32.c"
