/* taylor_direct.c - taylor-direct-f32 with its roundings redrawn: redrawn.h. */
#include "redraw.h"

#define attest_kernel_taylor_direct_f32 attest_redrawn_taylor_direct
#include "cpu/taylor_direct_f32.c"
