/* linear_wide.c - linear_kernel.h with the vectors of avx512, in portable code that fuses multiply-adds. */
#define FAST_WIDE
#include "fast/linear/linear_kernel.h"
