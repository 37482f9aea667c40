/* cast-weights: softmax-online-f32 whose weights meet v in bf16, whatever the problem says. */
#include "regressed.h"

static float to_bf16(uint32_t dtype, float x)
{
    (void)dtype;
    return attest_bf16_to_f32(attest_bf16_from_f32(x));
}
#define step_round to_bf16
#include "cpu/softmax_online_f32.c"
REGRESSED(attest_kernel_softmax_online_f32, ATTEST_UNKNOWN)
