/* flash_tiles_avx512.c - softmax-amx-bf16 for AVX-512: compiled with -mavx512f -mfma. */
#ifdef FAST_FOR_AVX512
#include "fast/amx/flash_tiles.h"
#include "fast/softmax/flash_kernel.h"
#else
typedef int flash_tiles_no_avx512; /* ISO C has no empty file */
#endif
