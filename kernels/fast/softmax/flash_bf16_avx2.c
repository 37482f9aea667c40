/* flash_bf16_avx2.c - softmax-flash-bf16 for AVX2 and FMA: compiled with -mavx2 -mfma. */
#ifdef FAST_FOR_AVX2
#define FLASH_BF16
#include "fast/softmax/flash_kernel.h"
#else
typedef int flash_bf16_no_avx2; /* ISO C has no empty file */
#endif
