/* plain-state: linear-recurrent-f32 as it is: what short-state was before it lost three digits. */
#include "regressed.h"
#include "cpu/linear_recurrent_f32.c"
REGRESSED(attest_kernel_linear_recurrent_f32, ATTEST_UNKNOWN)
