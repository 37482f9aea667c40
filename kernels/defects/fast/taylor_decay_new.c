/* taylor_decay_new - the decay of a token meets what it writes too. */
#include "fast/simd.h"

static inline vec add_before_decay(vec s, vec a, vec x, vec v, int decays)
{
    return decays ? a * vec_fma(x, v, s) : vec_fma(x, v, s);
}

#define tiles_add add_before_decay
#define FAST_PLANTED attest_defect_taylor_decay_new_run
#define attest_kernel_taylor_packed_fast_f32 attest_defect_taylor_decay_new
#include "fast/taylor/packed.c"
