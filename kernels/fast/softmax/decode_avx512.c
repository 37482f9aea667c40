/* decode_avx512.c - decode_kernel.h for AVX-512: compiled with -mavx512f. */
#ifdef FAST_FOR_AVX512
#include "fast/softmax/decode_kernel.h"
#else
typedef int decode_no_avx512; /* ISO C has no empty file */
#endif
