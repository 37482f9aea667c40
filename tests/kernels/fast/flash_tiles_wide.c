/* flash_tiles_wide.c - fast/softmax/flash_kernel.h in the arithmetic of fast/amx/flash_tiles.h, with the panels and
 * groups of avx512, in portable code that fuses multiply-adds, and the model of tile_product.h. */
#define FAST_WIDE
#include "fast/amx/flash_tiles.h"
#include "fast/softmax/flash_kernel.h"
