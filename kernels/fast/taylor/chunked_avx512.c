/* chunked_avx512.c - chunked_kernel.h for AVX-512: compiled with -mavx512f. */
#if defined(__AVX512F__)
#include "fast/taylor/chunked_kernel.h"
#else
typedef int chunked_no_avx512; /* ISO C has no empty file */
#endif
