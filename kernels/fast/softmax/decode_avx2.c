/* decode_avx2.c - decode_kernel.h for AVX2 and FMA: compiled with -mavx2 -mfma. */
#if defined(__AVX2__) && defined(__FMA__)
#include "fast/softmax/decode_kernel.h"
#else
typedef int decode_no_avx2; /* ISO C has no empty file */
#endif
