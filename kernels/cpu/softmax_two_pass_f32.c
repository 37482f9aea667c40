/* softmax-two-pass-f32: softmax attention (weight=exp, any norm), two passes over a row's keys, everything in float.
 *
 * The row is in softmax_two_pass.h.  Inputs may be f32, f16 or bf16 (converted exactly), sums are float, o is
 * rounded once more to its type.  Errors of a row with N keys: score gamma_(d+1) and scale's rounding, then
 * scores.h; s-m one rounding, expf below 1 ulp, D_ij gamma_(i-j) with its product, gin one rounding, u gamma_N,
 * l gamma_(N-1), one division or norms.h, gout one rounding.
 */
#include "steps/softmax_two_pass.h"

static int supports(const attest_call *call)
{
    static const serve_table table = {
        .axis = { SERVE_PAIRS,
                  SERVE_PAIR_TENSORS, [ATTEST_AXIS_FILTER] = SERVE_FILTER, [ATTEST_AXIS_DECAY] = SERVE_SCALAR_DECAYS,
                  [ATTEST_AXIS_NORM] = SERVE_ALL_NORMS, [ATTEST_AXIS_AFFINE] = SERVE_AFFINE },
        .in = SERVE_UP_TO_F32,
        .acc = SERVE_BIT(ATTEST_F32),
        .p = SERVE_BIT(ATTEST_F32),
        .out = SERVE_UP_TO_F32,
    };
    return serve_check(&table, call);
}

static const attest_numerics numerics = { STEP_NUMERICS, .schedule = ATTEST_SCHEDULE_TWO_PASS };

const attest_kernel attest_kernel_softmax_two_pass_f32 = {
    .struct_size = sizeof attest_kernel_softmax_two_pass_f32,
    .form = ATTEST_PARALLEL,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT | ATTEST_SERIAL_SUMS,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_LSE,
    .name = "softmax-two-pass-f32",
    .version = "1",
    .source = "kernels/cpu/softmax_two_pass_f32.c",
    .summary = "all scores of a row, their maximum, then weights, sums and any norm; float",
    .variants = "softmax softmax1 fox gate divlen no-denominator floor-denominator l2norm rmsnorm layernorm "
                "gated-softmax",
    .numerics = &numerics,
    .supports = supports,
    .workspace = two_pass_workspace,
    .run = two_pass_run,
};
