/* packed.c - taylor-packed-fast-f32: the descriptor of packed.h, and the choice of the instruction set. */
#include "fast/taylor/packed.h"

#include "fast/isa.h"

#ifdef FAST_PLANTED /* by a planted defect: the loops without extensions are part of this file, under this name */
#define packed_run_portable FAST_PLANTED
#include "fast/taylor/packed_kernel.h"
#endif

static int supports(const attest_call *call)
{
    static const serve_table table = DEGREES_TABLE(0);
    return serve_check(&table, call) && degrees_fit(call, 1);
}

static size_t workspace(const attest_call *call)
{
    const packed_layout at = packed_lay_out(call->problem);
    return sizeof(float) * (size_t)(at.all.scratch + at.all.threads * at.each);
}

static attest_status run(const attest_call *call) { return FAST_CALL(packed_run, call); }

static const attest_numerics numerics = { STEP_NUMERICS, STEP_STATES, .schedule = ATTEST_SCHEDULE_RECURRENT };

const attest_kernel attest_kernel_taylor_packed_fast_f32 = {
    .struct_size = sizeof attest_kernel_taylor_packed_fast_f32,
    .form = ATTEST_RECURRENT,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT | ATTEST_PACKED_STATE,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_U | ATTEST_GIVES_Z | ATTEST_GIVES_STATE | ATTEST_TAKES_STATE,
    .name = "taylor-packed-fast-f32",
    .version = "1",
    .source = "kernels/fast/taylor/packed.c",
    .summary = "packed states in registers while blocks of tokens and queries go by, in vectors and threads; float",
    .variants = "taylor term quadratic linear linear-elu linear-relu cosformer linear-cos elu-taylor relu-taylor "
                "cos-taylor based retnet gla simple-gla sla sla-retnet sla-gla",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
