/* flash_bf16_portable.c - softmax-flash-bf16 without extensions: fused multiply-adds and the model of dot.h, for the
 * same bits as anywhere else. */
#define FAST_FUSED
#define FLASH_BF16
#include "fast/softmax/flash_kernel.h"
