/* packed_avx2.c - packed_kernel.h for AVX2 and FMA: compiled with -mavx2 -mfma. */
#if defined(__AVX2__) && defined(__FMA__)
#include "fast/taylor/packed_kernel.h"
#else
typedef int packed_no_avx2; /* ISO C has no empty file */
#endif
