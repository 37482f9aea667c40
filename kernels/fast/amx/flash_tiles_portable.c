/* flash_tiles_portable.c - softmax-amx-bf16 without extensions: fused multiply-adds and the model of tile_product.h,
 * for the same bits as anywhere else. */
#define FAST_FUSED
#include "fast/amx/flash_tiles.h"
#include "fast/softmax/flash_kernel.h"
