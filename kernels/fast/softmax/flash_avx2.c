/* flash_avx2.c - flash_kernel.h for AVX2 and FMA: compiled with -mavx2 -mfma. */
#ifdef FAST_FOR_AVX2
#include "fast/softmax/flash_kernel.h"
#else
typedef int flash_no_avx2; /* ISO C has no empty file */
#endif
