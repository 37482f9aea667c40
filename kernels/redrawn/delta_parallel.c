/* delta_parallel.c - delta-parallel-f32 with its roundings redrawn: redrawn.h. */
#include "redraw.h"

#define attest_kernel_delta_parallel_f32 attest_redrawn_delta_parallel
#include "cpu/delta_parallel_f32.c"
