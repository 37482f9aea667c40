/* flash_tiles_avx2.c - softmax-amx-bf16 for AVX2 and FMA: compiled with -mavx2 -mfma. */
#ifdef FAST_FOR_AVX2
#include "fast/amx/flash_tiles.h"
#include "fast/softmax/flash_kernel.h"
#else
typedef int flash_tiles_no_avx2; /* ISO C has no empty file */
#endif
