/* decode_avx2.c - decode_kernel.h for AVX2 and FMA: compiled with -mavx2 -mfma. */
#ifdef FAST_FOR_AVX2
#include "fast/softmax/decode_kernel.h"
#else
typedef int decode_no_avx2; /* ISO C has no empty file */
#endif
