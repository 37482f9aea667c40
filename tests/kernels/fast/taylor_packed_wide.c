/* taylor_packed_wide.c - packed_kernel.h with the vectors of avx512, in portable code that fuses multiply-adds. */
#define FAST_WIDE
#include "fast/taylor/packed_kernel.h"
