/* packed_avx512.c - packed_kernel.h for AVX-512: compiled with -mavx512f. */
#ifdef FAST_FOR_AVX512
#include "fast/taylor/packed_kernel.h"
#else
typedef int packed_no_avx512; /* ISO C has no empty file */
#endif
