/* softmax_online.c - softmax-online-f32 with its roundings redrawn: redrawn.h. */
#include "redraw.h"

#define attest_kernel_softmax_online_f32 attest_redrawn_softmax_online
#include "cpu/softmax_online_f32.c"
