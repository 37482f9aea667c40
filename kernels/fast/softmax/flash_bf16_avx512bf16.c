/* flash_bf16_avx512bf16.c - softmax-flash-bf16 for AVX512-BF16: compiled with -mavx512f -mavx512bf16 -mfma. */
#ifdef FAST_FOR_AVX512BF16
#define FLASH_BF16
#include "fast/softmax/flash_kernel.h"
#else
typedef int flash_bf16_no_avx512bf16; /* ISO C has no empty file */
#endif
