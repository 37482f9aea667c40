/* taylor_recurrent.c - taylor-recurrent-f32 with its roundings redrawn: redrawn.h. */
#include "redraw.h"

#define attest_kernel_taylor_recurrent_f32 attest_redrawn_taylor_recurrent
#include "cpu/taylor_recurrent_f32.c"
