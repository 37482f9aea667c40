/* delta_recurrent.c - delta-recurrent-f32 with its roundings redrawn: redrawn.h. */
#include "redraw.h"

#define attest_kernel_delta_recurrent_f32 attest_redrawn_delta_recurrent
#include "cpu/delta_recurrent_f32.c"
