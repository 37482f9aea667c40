/* chunked_avx512.c - chunked_kernel.h for AVX-512: compiled with -mavx512f. */
#ifdef FAST_FOR_AVX512
#include "fast/taylor/chunked_kernel.h"
#else
typedef int chunked_no_avx512; /* ISO C has no empty file */
#endif
