/* taylor_chunk_wide.c - chunked_kernel.h with the vectors of avx512, in portable code that fuses multiply-adds. */
#define FAST_WIDE
#include "fast/taylor/chunked_kernel.h"
