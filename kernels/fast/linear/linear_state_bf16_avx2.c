/* linear_state_bf16_avx2.c - linear-chunk-state-bf16 for AVX2 and FMA: compiled with -mavx2 -mfma. */
#ifdef FAST_FOR_AVX2
#define LINEAR_STATE_BF16
#include "fast/linear/linear_kernel.h"
#else
typedef int linear_state_bf16_no_avx2; /* ISO C has no empty file */
#endif
