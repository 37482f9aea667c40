/* linear_recurrent_carried.c - linear-recurrent-f32 with its roundings redrawn, sums compensated: redrawn.h. */
#define REDRAW_CARRIED
#include "redraw.h"

#define attest_kernel_linear_recurrent_f32 attest_redrawn_linear_recurrent_carried
#include "cpu/linear_recurrent_f32.c"
