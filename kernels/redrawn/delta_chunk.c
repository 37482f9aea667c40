/* delta_chunk.c - delta-chunk-f32 with its roundings redrawn: redrawn.h. */
#include "redraw.h"

#define attest_kernel_delta_chunk_f32 attest_redrawn_delta_chunk
#include "cpu/delta_chunk_f32.c"
