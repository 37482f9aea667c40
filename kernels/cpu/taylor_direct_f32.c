/* taylor-direct-f32: attention with a polynomial weight, evaluated pair by pair.
 *
 * The row is in direct.h; W = T_P (taylor), x^P/P! (term), x^P (power).
 */
#include "steps/direct.h"

static int supports(const attest_call *call)
{
    static const serve_table table = {
        .axis = { SERVE_PAIRS,
                  SERVE_PAIR_TENSORS, [ATTEST_AXIS_WEIGHT] = SERVE_POLYNOMIAL, [ATTEST_AXIS_CENTER] = SERVE_ALL_CENTERS,
                  [ATTEST_AXIS_FILTER] = SERVE_FILTER, [ATTEST_AXIS_DECAY] = SERVE_ALL_DECAYS,
                  [ATTEST_AXIS_NORM] = SERVE_ALL_NORMS, [ATTEST_AXIS_AFFINE] = SERVE_AFFINE },
        .in = SERVE_UP_TO_F32,
        .acc = SERVE_BIT(ATTEST_F32),
        .p = SERVE_BIT(ATTEST_F32),
        .out = SERVE_UP_TO_F32,
    };
    return serve_check(&table, call);
}

static const attest_numerics numerics = { STEP_NUMERICS, .schedule = ATTEST_SCHEDULE_DIRECT };

const attest_kernel attest_kernel_taylor_direct_f32 = {
    .struct_size = sizeof attest_kernel_taylor_direct_f32,
    .form = ATTEST_PARALLEL,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT | ATTEST_SERIAL_SUMS,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_U | ATTEST_GIVES_Z | ATTEST_GIVES_LSE,
    .name = "taylor-direct-f32",
    .version = "1",
    .source = "kernels/cpu/taylor_direct_f32.c",
    .summary = "polynomial weight by Horner per pair, around zero or the row's max, min or middle; float",
    .variants = "taylor term quadratic linear linear-elu linear-relu cosformer linear-cos elu-taylor relu-taylor "
                "cos-taylor shifted filtered retnet gla simple-gla sla sla-retnet sla-gla based",
    .numerics = &numerics,
    .supports = supports,
    .workspace = direct_workspace,
    .run = direct_run,
};
