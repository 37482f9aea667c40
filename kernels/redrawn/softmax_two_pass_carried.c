/* softmax_two_pass_carried.c - softmax-two-pass-f32 with its roundings redrawn, sums compensated: redrawn.h. */
#define REDRAW_CARRIED
#include "redraw.h"

#define attest_kernel_softmax_two_pass_f32 attest_redrawn_softmax_two_pass_carried
#include "cpu/softmax_two_pass_f32.c"
