/* flash.c - softmax-flash-f32: the descriptor of flash.h, and the choice of the instruction set. */
#include "fast/softmax/flash.h"

#include "cpu/steps/entries.h"
#include "fast/exp.h"
#include "fast/isa.h"

#ifdef FAST_PLANTED /* by a planted defect: the loops without extensions are part of this file, under this name */
#define flash_run_portable FAST_PLANTED
#include "fast/softmax/flash_kernel.h"
#endif

static int supports(const attest_call *call)
{
    static const serve_table table = {
        .axis = { SERVE_PAIRS, [ATTEST_AXIS_FILTER] = SERVE_FILTER, [ATTEST_AXIS_DECAY] = SERVE_SCALAR_DECAYS,
                  [ATTEST_AXIS_NORM] = SERVE_SUM_OR_SINK },
        .in = SERVE_UP_TO_F32,
        .acc = SERVE_BIT(ATTEST_F32),
        .p = SERVE_BIT(ATTEST_F32),
        .out = SERVE_UP_TO_F32,
    };
    return serve_check(&table, call);
}

static size_t workspace(const attest_call *call)
{
    const flash_layout at = flash_lay_out(call->problem, FLASH_PANEL_MOST, 1);
    return sizeof(float) * (size_t)(at.scratch + flash_threads(call->problem) * at.each);
}

static attest_status run_one(const attest_call *call) { return FAST_CALL(flash_run, call); }

static attest_status run(const attest_call *call) { return entries_each(call, run_one); }

static const attest_numerics numerics = {
    STEP_ARITHMETIC,    .exp_error = FAST_EXP_ERROR, .schedule = ATTEST_SCHEDULE_ONLINE,
    .tile = FLASH_KEYS, .block = FLASH_KEYS,
};

const attest_kernel attest_kernel_softmax_flash_f32 = {
    .struct_size = sizeof attest_kernel_softmax_flash_f32,
    .form = ATTEST_TILED,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_LSE,
    .name = "softmax-flash-f32",
    .version = "1",
    .source = "kernels/fast/softmax/flash.c",
    .summary = "online softmax in tiles of 64 keys, packed, in vectors and threads; float",
    .variants = "softmax softmax1 fox",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
