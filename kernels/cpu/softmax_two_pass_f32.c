/* softmax-two-pass-f32: softmax attention, two passes over a row's keys, everything in float.
 *
 * The row is in softmax_two_pass.h.  Inputs may be f32, f16 or bf16 (converted exactly), sums are float, o is
 * rounded once more to its type.  Errors of a row with N keys: score gamma_(d+1) and scale's rounding, s-m one
 * rounding, expf below 1 ulp, u gamma_N, l gamma_(N-1) (a sink counts as a key), one division.
 */
#include "softmax_two_pass.h"

static int supports(const attest_problem *p, char *why, size_t len)
{
    static const serve_table table = {
        .axis = { [ATTEST_AXIS_MASK] = SERVE_ALL_MASKS,
                  [ATTEST_AXIS_WINDOW] = SERVE_WINDOW,
                  [ATTEST_AXIS_LENS] = SERVE_LENS,
                  [ATTEST_AXIS_NORM] = SERVE_BIT(ATTEST_NORM_SUM) | SERVE_BIT(ATTEST_NORM_SINK) },
        .in = SERVE_UP_TO_F32,
        .acc = SERVE_BIT(ATTEST_F32),
        .p = SERVE_BIT(ATTEST_F32),
        .out = SERVE_UP_TO_F32,
    };
    return serve_check(&table, p, why, len);
}

static const attest_numerics numerics = { STEP_NUMERICS, .schedule = ATTEST_SCHEDULE_TWO_PASS };

const attest_kernel attest_kernel_softmax_two_pass_f32 = {
    .struct_size = sizeof attest_kernel_softmax_two_pass_f32,
    .form = ATTEST_PARALLEL,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_LSE,
    .name = "softmax-two-pass-f32",
    .version = "1",
    .source = "kernels/cpu/softmax_two_pass_f32.c",
    .summary = "all scores of a row, their maximum, then weights and sums; float",
    .variants = "softmax softmax1",
    .numerics = &numerics,
    .supports = supports,
    .workspace = two_pass_workspace,
    .run = two_pass_run,
};
