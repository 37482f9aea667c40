/* z0_ignored - the denominator starts from zero though the numerator goes on. */
#include "cpu/steps/states.h"

static inline void load_without_z(const state *s, const attest_tensor *h0, const attest_tensor *z0, int64_t b,
                                  int64_t g)
{
    (void)z0;
    state_load(s, h0, NULL, b, g);
}
#define state_load load_without_z
#define attest_kernel_taylor_chunk_f32 attest_defect_z0_ignored
#include "cpu/taylor_chunk_f32.c"
