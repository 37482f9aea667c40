/* flash_rescale_lost - the sums so far keep the weight of the old maximum when it rises. */
#include "fast/simd.h"

static inline vec keep(vec m, vec risen) { return vec_select(m == risen, vec_of(1), vec_of(1)); }

#define flash_rescale keep
#define FAST_PLANTED attest_defect_flash_rescale_lost_run
#define attest_kernel_softmax_flash_f32 attest_defect_flash_rescale_lost
#include "fast/softmax/flash.c"
