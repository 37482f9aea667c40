/* softmax-two-pass-f64: softmax attention (weight=exp, any norm), two passes over a row's keys, everything in double.
 *
 * The row is in softmax_two_pass.h.  Errors of a row with N keys, in units of 2^-53: score gamma_(d+1), then
 * scores.h; s-m one rounding, exp below 1 ulp, D_ij gamma_(i-j) with its product, gin one rounding, u gamma_N,
 * l gamma_(N-1), one division or norms.h, gout one rounding.  Angles of rope and cosformer have no
 * wider format to be formed in: their sines and cosines err by abs(angle) 4u.
 */
#define ATTEST_STEP_F64
#include "steps/softmax_two_pass.h"

static int supports(const attest_call *call)
{
    static const serve_table table = {
        .axis = { SERVE_PAIRS,
                  SERVE_PAIR_TENSORS, [ATTEST_AXIS_FILTER] = SERVE_FILTER, [ATTEST_AXIS_DECAY] = SERVE_SCALAR_DECAYS,
                  [ATTEST_AXIS_NORM] = SERVE_ALL_NORMS, [ATTEST_AXIS_AFFINE] = SERVE_AFFINE },
        .in = SERVE_BIT(ATTEST_F64),
        .acc = SERVE_BIT(ATTEST_F64),
        .p = SERVE_BIT(ATTEST_F64),
        .out = SERVE_BIT(ATTEST_F64),
    };
    return serve_check(&table, call);
}

static const attest_numerics numerics = { STEP_NUMERICS, .schedule = ATTEST_SCHEDULE_TWO_PASS };

const attest_kernel attest_kernel_softmax_two_pass_f64 = {
    .struct_size = sizeof attest_kernel_softmax_two_pass_f64,
    .form = ATTEST_PARALLEL,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT | ATTEST_SERIAL_SUMS,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_LSE,
    .name = "softmax-two-pass-f64",
    .version = "1",
    .source = "kernels/cpu/softmax_two_pass_f64.c",
    .summary = "all scores of a row, their maximum, then weights, sums and any norm; double",
    .variants = "softmax softmax1 fox gate divlen no-denominator floor-denominator l2norm rmsnorm layernorm "
                "gated-softmax",
    .numerics = &numerics,
    .supports = supports,
    .workspace = two_pass_workspace,
    .run = two_pass_run,
};
