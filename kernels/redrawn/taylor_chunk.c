/* taylor_chunk.c - taylor-chunk-f32 with its roundings redrawn: redrawn.h. */
#include "redraw.h"

#define attest_kernel_taylor_chunk_f32 attest_redrawn_taylor_chunk
#include "cpu/taylor_chunk_f32.c"
