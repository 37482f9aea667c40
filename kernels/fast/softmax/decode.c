/* decode.c - softmax-decode-f32: the descriptor of decode.h, and the choice of the instruction set. */
#include "fast/softmax/decode.h"

#include "cpu/steps/entries.h"
#include "fast/exp.h"
#include "fast/isa.h"

#ifdef FAST_PLANTED /* by a planted defect: the loops without extensions are part of this file, under this name */
#define decode_run_portable FAST_PLANTED
#include "fast/softmax/decode_kernel.h"
#endif

static int supports(const attest_call *call)
{
    static const serve_table table = {
        .axis = { SERVE_PAIRS, [ATTEST_AXIS_NORM] = SERVE_ALL_NORMS, [ATTEST_AXIS_AFFINE] = SERVE_AFFINE },
        .in = SERVE_UP_TO_F32,
        .acc = SERVE_BIT(ATTEST_F32),
        .p = SERVE_BIT(ATTEST_F32),
        .out = SERVE_UP_TO_F32,
    };
    return serve_check(&table, call);
}

static size_t workspace(const attest_call *call)
{
    const decode_layout at = decode_lay_out(call->problem, FLASH_PANEL_MOST);
    const int64_t threads = decode_threads(call->problem, 1); /* of groups of any size */
    return sizeof(float) * (size_t)(at.scratch + threads * at.each);
}

static attest_status run_one(const attest_call *call) { return FAST_CALL(decode_run, call); }

static attest_status run(const attest_call *call) { return entries_each(call, run_one); }

static const attest_numerics numerics = {
    STEP_ARITHMETIC,    .exp_error = FAST_EXP_ERROR, .schedule = ATTEST_SCHEDULE_SPLIT,
    .tile = FLASH_KEYS, .block = FLASH_KEYS,
};

static const attest_limits limits = { .struct_size = sizeof limits, .n = { .most = DECODE_QUERIES } };

const attest_kernel attest_kernel_softmax_decode_f32 = {
    .struct_size = sizeof attest_kernel_softmax_decode_f32,
    .form = ATTEST_SPLIT,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_LSE,
    .name = "softmax-decode-f32",
    .version = "1",
    .source = "kernels/fast/softmax/decode.c",
    .summary = "few queries, many keys: problem.splits parts side by side, in vectors and threads, joined; float",
    .variants = "softmax softmax1",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
    .limits = &limits,
};
