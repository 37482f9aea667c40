/* chunked_avx2.c - chunked_kernel.h for AVX2 and FMA: compiled with -mavx2 -mfma. */
#ifdef FAST_FOR_AVX2
#include "fast/taylor/chunked_kernel.h"
#else
typedef int chunked_no_avx2; /* ISO C has no empty file */
#endif
