/* softmax_split.c - softmax-split-f32 with its roundings redrawn: redrawn.h. */
#include "redraw.h"

#define attest_kernel_softmax_split_f32 attest_redrawn_softmax_split
#include "cpu/softmax_split_f32.c"
