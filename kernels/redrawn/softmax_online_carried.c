/* softmax_online_carried.c - softmax-online-f32 with its roundings redrawn, sums compensated: redrawn.h. */
#define REDRAW_CARRIED
#include "redraw.h"

#define attest_kernel_softmax_online_f32 attest_redrawn_softmax_online_carried
#include "cpu/softmax_online_f32.c"
