/* flash_rescale_lazy - a rise of the maximum by less than 1 rescales nothing, though the new maximum is taken. */
#include "fast/exp.h"

static inline vec rescale_large(vec m, vec risen)
{
    return vec_select(risen - m < vec_of(1), vec_of(1), fast_exp(m - risen));
}

#define flash_rescale rescale_large
#define FAST_PLANTED attest_defect_flash_rescale_lazy_run
#define attest_kernel_softmax_flash_f32 attest_defect_flash_rescale_lazy
#include "fast/softmax/flash.c"
