/* flash_tiles_amx.c - softmax-amx-bf16 for AMX: compiled with -mamx-tile -mamx-bf16 -mavx512f -mavx512bf16 -mfma. */
#ifdef FAST_FOR_AMX
#include "fast/amx/flash_tiles.h"
#include "fast/softmax/flash_kernel.h"
#else
typedef int flash_tiles_no_amx; /* ISO C has no empty file */
#endif
