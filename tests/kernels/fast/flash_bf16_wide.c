/* flash_bf16_wide.c - flash_kernel.h in the arithmetic of flash_bf16.h, with the panels and groups of avx512, in
 * portable code that fuses multiply-adds, and the model of dot.h. */
#define FAST_WIDE
#define FLASH_BF16
#include "fast/softmax/flash_kernel.h"
