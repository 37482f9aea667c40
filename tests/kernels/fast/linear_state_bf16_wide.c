/* linear_state_bf16_wide.c - linear_kernel.h with states stored as bf16 and the vectors of avx512, in portable code
 * that fuses multiply-adds. */
#define FAST_WIDE
#define LINEAR_STATE_BF16
#include "fast/linear/linear_kernel.h"
