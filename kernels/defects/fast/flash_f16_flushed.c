/* flash_f16_flushed - numbers of f16 below the normal ones are read as 0. */
#include <stdint.h>
#include <string.h>

static inline float flushed_f16(uint16_t h)
{
    const uint32_t bits = ((uint32_t)(h & 0x7fff) << 13) + (112u << 23), sign = (uint32_t)(h & 0x8000) << 16;
    const uint32_t special = (h & 0x7c00) == 0x7c00 ? 0x7f800000u : 0, kept = h & 0x7c00 ? bits | special : 0;
    const uint32_t all = kept | sign;
    float x;
    memcpy(&x, &all, sizeof x);
    return x;
}

#define fast_f16 flushed_f16
#define FAST_PLANTED attest_defect_flash_f16_flushed_run
#define attest_kernel_softmax_flash_f32 attest_defect_flash_f16_flushed
#include "fast/softmax/flash.c"
