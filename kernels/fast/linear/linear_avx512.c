/* linear_avx512.c - linear_kernel.h for AVX-512: compiled with -mavx512f. */
#ifdef FAST_FOR_AVX512
#include "fast/linear/linear_kernel.h"
#else
typedef int linear_no_avx512; /* ISO C has no empty file */
#endif
