/* linear_state_bf16_portable.c - linear-chunk-state-bf16 without instructions of any extension. */
#define LINEAR_STATE_BF16
#include "fast/linear/linear_kernel.h"
