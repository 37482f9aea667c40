/* linear_state_bf16_avx512.c - linear-chunk-state-bf16 for AVX-512: compiled with -mavx512f -mfma. */
#ifdef FAST_FOR_AVX512
#define LINEAR_STATE_BF16
#include "fast/linear/linear_kernel.h"
#else
typedef int linear_state_bf16_no_avx512; /* ISO C has no empty file */
#endif
