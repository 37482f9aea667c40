/* softmax_two_pass.c - softmax-two-pass-f32 with its roundings redrawn: redrawn.h. */
#include "redraw.h"

#define attest_kernel_softmax_two_pass_f32 attest_redrawn_softmax_two_pass
#include "cpu/softmax_two_pass_f32.c"
