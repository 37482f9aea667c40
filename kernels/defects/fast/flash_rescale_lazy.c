/* flash_rescale_lazy - a rise of the maximum by less than 1 rescales nothing, though the new maximum is taken. */
#include "fast/exp.h"

static inline float rescale_large(float m, float risen) { return risen - m < 1 ? 1 : fast_exp(vec_of(m - risen))[0]; }

#define flash_rescale rescale_large
#define FAST_PLANTED attest_defect_flash_rescale_lazy_run
#define attest_kernel_softmax_flash_f32 attest_defect_flash_rescale_lazy
#include "fast/softmax/flash.c"
