/* linear_recurrent.c - linear-recurrent-f32 with its roundings redrawn: redrawn.h. */
#include "redraw.h"

#define attest_kernel_linear_recurrent_f32 attest_redrawn_linear_recurrent
#include "cpu/linear_recurrent_f32.c"
