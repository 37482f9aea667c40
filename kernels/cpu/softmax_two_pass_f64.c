/* softmax-two-pass-f64: softmax attention, two passes over a row's keys, everything in double.
 *
 * The row is in softmax_two_pass.h.  Errors of a row with N keys, in units of 2^-53: score gamma_(d+1), s-m one
 * rounding, exp below 1 ulp, u gamma_N, l gamma_(N-1) (a sink counts as a key), one division.
 */
#define ATTEST_STEP_F64
#include "softmax_two_pass.h"

static int supports(const attest_problem *p, char *why, size_t len)
{
    static const serve_table table = {
        .axis = { [ATTEST_AXIS_MASK] = SERVE_ALL_MASKS,
                  [ATTEST_AXIS_WINDOW] = SERVE_WINDOW,
                  [ATTEST_AXIS_LENS] = SERVE_LENS,
                  [ATTEST_AXIS_NORM] = SERVE_BIT(ATTEST_NORM_SUM) | SERVE_BIT(ATTEST_NORM_SINK) },
        .in = SERVE_BIT(ATTEST_F64),
        .acc = SERVE_BIT(ATTEST_F64),
        .p = SERVE_BIT(ATTEST_F64),
        .out = SERVE_BIT(ATTEST_F64),
    };
    return serve_check(&table, p, why, len);
}

static const attest_numerics numerics = { STEP_NUMERICS, .schedule = ATTEST_SCHEDULE_TWO_PASS };

const attest_kernel attest_kernel_softmax_two_pass_f64 = {
    .struct_size = sizeof attest_kernel_softmax_two_pass_f64,
    .form = ATTEST_PARALLEL,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_LSE,
    .name = "softmax-two-pass-f64",
    .version = "1",
    .source = "kernels/cpu/softmax_two_pass_f64.c",
    .summary = "all scores of a row, their maximum, then weights and sums; double",
    .variants = "softmax softmax1",
    .numerics = &numerics,
    .supports = supports,
    .workspace = two_pass_workspace,
    .run = two_pass_run,
};
