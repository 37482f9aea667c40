/* flash_avx512.c - flash_kernel.h for AVX-512: compiled with -mavx512f. */
#ifdef FAST_FOR_AVX512
#include "fast/softmax/flash_kernel.h"
#else
typedef int flash_no_avx512; /* ISO C has no empty file */
#endif
