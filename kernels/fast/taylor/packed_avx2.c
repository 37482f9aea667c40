/* packed_avx2.c - packed_kernel.h for AVX2 and FMA: compiled with -mavx2 -mfma. */
#ifdef FAST_FOR_AVX2
#include "fast/taylor/packed_kernel.h"
#else
typedef int packed_no_avx2; /* ISO C has no empty file */
#endif
