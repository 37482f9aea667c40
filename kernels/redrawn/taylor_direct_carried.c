/* taylor_direct_carried.c - taylor-direct-f32 with its roundings redrawn, sums compensated: redrawn.h. */
#define REDRAW_CARRIED
#include "redraw.h"

#define attest_kernel_taylor_direct_f32 attest_redrawn_taylor_direct_carried
#include "cpu/taylor_direct_f32.c"
