/* softmax-online-f32: softmax attention in one pass over tiles of 32 keys, everything in float.
 *
 * The row is in softmax_online.h.  Inputs may be f32, f16 or bf16 (converted exactly); o is rounded once more to
 * its type.
 */
#include "steps/softmax_online.h"

static int supports(const attest_call *call)
{
    static const serve_table table = {
        .axis = { SERVE_PAIRS, SERVE_PAIR_TENSORS, [ATTEST_AXIS_FILTER] = SERVE_FILTER,
                  [ATTEST_AXIS_DECAY] = SERVE_SCALAR_DECAYS, [ATTEST_AXIS_NORM] = SERVE_SUM_OR_SINK },
        .in = SERVE_UP_TO_F32,
        .acc = SERVE_BIT(ATTEST_F32),
        .p = SERVE_BIT(ATTEST_F32),
        .out = SERVE_UP_TO_F32,
    };
    return serve_check(&table, call);
}

static const attest_numerics numerics = { STEP_NUMERICS, .schedule = ATTEST_SCHEDULE_ONLINE, .tile = ONLINE_TILE };

const attest_kernel attest_kernel_softmax_online_f32 = {
    .struct_size = sizeof attest_kernel_softmax_online_f32,
    .form = ATTEST_TILED,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT | ATTEST_SERIAL_SUMS,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_LSE,
    .name = "softmax-online-f32",
    .version = "1",
    .source = "kernels/cpu/softmax_online_f32.c",
    .summary = "online softmax over tiles of 32 keys with a running maximum; float",
    .variants = "softmax softmax1 fox",
    .numerics = &numerics,
    .supports = supports,
    .workspace = online_workspace,
    .run = online_run,
};
