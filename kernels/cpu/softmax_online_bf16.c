/* softmax-online-bf16: softmax attention in one pass over tiles of 32 keys, bf16 in, sums in float.
 *
 * The row is in softmax_online.h.  The products of the scores are exact in float; the weight is cast to bf16 (to
 * nearest even) before it meets v, so its products with v are exact too; the denominator adds the uncast weights;
 * o is rounded once to bf16, or left in float.
 */
#include "steps/softmax_online.h"

static int supports(const attest_call *call)
{
    static const serve_table table = {
        .axis = { SERVE_PAIRS, SERVE_PAIR_TENSORS, [ATTEST_AXIS_FILTER] = SERVE_FILTER,
                  [ATTEST_AXIS_DECAY] = SERVE_SCALAR_DECAYS, [ATTEST_AXIS_NORM] = SERVE_SUM_OR_SINK },
        .in = SERVE_BIT(ATTEST_BF16),
        .acc = SERVE_BIT(ATTEST_F32),
        .p = SERVE_BIT(ATTEST_BF16),
        .out = SERVE_BIT(ATTEST_BF16) | SERVE_BIT(ATTEST_F32),
    };
    return serve_check(&table, call);
}

static const attest_numerics numerics = { STEP_NUMERICS, STEP_CAST, .schedule = ATTEST_SCHEDULE_ONLINE,
                                          .tile = ONLINE_TILE };

const attest_kernel attest_kernel_softmax_online_bf16 = {
    .struct_size = sizeof attest_kernel_softmax_online_bf16,
    .form = ATTEST_TILED,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT | ATTEST_SERIAL_SUMS,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_LSE,
    .name = "softmax-online-bf16",
    .version = "1",
    .source = "kernels/cpu/softmax_online_bf16.c",
    .summary = "online softmax over tiles of 32 keys with a running maximum; weights cast to bf16, sums in float",
    .variants = "softmax softmax1 fox",
    .numerics = &numerics,
    .supports = supports,
    .workspace = online_workspace,
    .run = online_run,
};
