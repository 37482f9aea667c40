/* flash_bf16_avx512.c - softmax-flash-bf16 for AVX-512: compiled with -mavx512f -mfma. */
#ifdef FAST_FOR_AVX512
#define FLASH_BF16
#include "fast/softmax/flash_kernel.h"
#else
typedef int flash_bf16_no_avx512; /* ISO C has no empty file */
#endif
