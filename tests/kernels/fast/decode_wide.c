/* decode_wide.c - decode_kernel.h with the panels and groups of avx512, in portable code that fuses multiply-adds. */
#define FAST_WIDE
#include "fast/softmax/decode_kernel.h"
