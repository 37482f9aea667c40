/* flash_tiles.c - softmax-amx-bf16: the descriptor of fast/softmax/flash.h in the arithmetic of flash_tiles.h, and the
 * choice of the instruction set, which changes no bit. */
#include "fast/softmax/flash.h"

#include "fast/exp.h"
#include "fast/isa.h"
#include "model/tdpbf16.h"

#ifdef FAST_PLANTED /* by a planted defect: the loops without extensions are part of this file, under this name */
#define FAST_FUSED
#define flash_tiles_run_portable FAST_PLANTED
#include "fast/amx/flash_tiles.h"
#include "fast/softmax/flash_kernel.h"
#endif

static int supports(const attest_call *call)
{
    static const serve_table table = {
        .axis = { [ATTEST_AXIS_FILTER] = SERVE_FILTER,
                  [ATTEST_AXIS_MASK] = SERVE_ALL_MASKS,
                  [ATTEST_AXIS_WINDOW] = SERVE_WINDOW,
                  [ATTEST_AXIS_LENS] = SERVE_LENS,
                  [ATTEST_AXIS_DECAY] = SERVE_SCALAR_DECAYS,
                  [ATTEST_AXIS_GATES] = SERVE_BIT(ATTEST_GATES_NONE) | SERVE_BIT(ATTEST_GATES_OUT) |
                                        SERVE_BIT(ATTEST_GATES_PRE_OUT),
                  [ATTEST_AXIS_NORM] = SERVE_SUM_OR_SINK,
                  [ATTEST_AXIS_EPS] = SERVE_EPS,
                  [ATTEST_AXIS_CLAMP] = SERVE_CLAMP,
                  [ATTEST_AXIS_CAP] = SERVE_CAP,
                  [ATTEST_AXIS_ALIBI] = SERVE_ALIBI,
                  [ATTEST_AXIS_BIAS] = SERVE_BIAS },
        .in = SERVE_BIT(ATTEST_BF16),
        .acc = SERVE_BIT(ATTEST_F32),
        .p = SERVE_BIT(ATTEST_BF16),
        .out = SERVE_UP_TO_F32,
    };
    return serve_check(&table, call);
}

static size_t workspace(const attest_call *call)
{
    const flash_layout at = flash_lay_out(call->problem, FLASH_PANEL_MOST, 2 * TDP_PAIRS);
    return sizeof(float) * (size_t)(at.scratch + flash_threads(call->problem) * at.each);
}

static attest_status run(const attest_call *call)
{
#ifdef FAST_ALL_ISAS
    if (fast_has_amx() && fast_ask_amx())
        return flash_tiles_run_amx(call);
#endif
    return FAST_CALL(flash_tiles_run, call);
}

static const attest_numerics numerics = {
    STEP_ARITHMETIC,    STEP_CAST,           .exp_error = FAST_EXP_ERROR, .schedule = ATTEST_SCHEDULE_ONLINE,
    .tile = FLASH_KEYS, .block = FLASH_KEYS,
};

const attest_kernel attest_kernel_softmax_amx_bf16 = {
    .struct_size = sizeof attest_kernel_softmax_amx_bf16,
    .form = ATTEST_TILED,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT | ATTEST_FTZ,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_LSE,
    .name = "softmax-amx-bf16",
    .version = "1",
    .source = "kernels/fast/amx/flash_tiles.c",
    .summary = "online softmax in tiles of 64 keys, in products of tiles of bf16 numbers (AMX, TDPBF16PS)",
    .variants = "softmax softmax1 fox",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
