/* linear_avx2.c - linear_kernel.h for AVX2 and FMA: compiled with -mavx2 -mfma. */
#ifdef FAST_FOR_AVX2
#include "fast/linear/linear_kernel.h"
#else
typedef int linear_no_avx2; /* ISO C has no empty file */
#endif
