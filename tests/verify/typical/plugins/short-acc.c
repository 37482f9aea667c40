/* short-acc: softmax-two-pass-f32 whose numerator is added up with 21 digits. */
#include "regressed.h"

#define step_add_value add_21
#include "cpu/softmax_two_pass_f32.c"
REGRESSED(attest_kernel_softmax_two_pass_f32, ATTEST_UNKNOWN)
