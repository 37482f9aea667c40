/* chunked.c - taylor-chunk-fast-f32: the descriptor of chunked.h, and the choice of the instruction set. */
#include "fast/taylor/chunked.h"

#include "fast/isa.h"

#ifdef FAST_PLANTED /* by a planted defect: the loops without extensions are part of this file, under this name */
#define chunked_run_portable FAST_PLANTED
#include "fast/taylor/chunked_kernel.h"
#endif

static int supports(const attest_call *call)
{
    static const serve_table table = {
        .axis = { [ATTEST_AXIS_WEIGHT] = SERVE_POLYNOMIAL,
                  [ATTEST_AXIS_FEATURE] = SERVE_ALL_FEATURES,
                  [ATTEST_AXIS_ROPE] = SERVE_ROPE,
                  [ATTEST_AXIS_MASK] = SERVE_ALL_MASKS,
                  [ATTEST_AXIS_LENS] = SERVE_LENS,
                  [ATTEST_AXIS_GATES] = SERVE_ALL_GATES,
                  [ATTEST_AXIS_NORM] = SERVE_ALL_NORMS,
                  [ATTEST_AXIS_AFFINE] = SERVE_AFFINE,
                  [ATTEST_AXIS_EPS] = SERVE_EPS,
                  [ATTEST_AXIS_STATE] = SERVE_STATE },
        .in = SERVE_UP_TO_F32,
        .acc = SERVE_BIT(ATTEST_F32),
        .p = SERVE_BIT(ATTEST_F32),
        .out = SERVE_UP_TO_F32,
    };
    return serve_check(&table, call) && degrees_fit(call, 1);
}

static size_t workspace(const attest_call *call)
{
    const chunked_layout at = chunked_lay_out(call->problem);
    return sizeof(float) * (size_t)(at.all.scratch + at.all.threads * at.each);
}

static attest_status run(const attest_call *call) { return FAST_CALL(chunked_run, call); }

static const attest_numerics numerics = { STEP_NUMERICS, STEP_STATES, .schedule = ATTEST_SCHEDULE_CHUNK };

const attest_kernel attest_kernel_taylor_chunk_fast_f32 = {
    .struct_size = sizeof attest_kernel_taylor_chunk_fast_f32,
    .form = ATTEST_CHUNK,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT | ATTEST_PACKED_STATE,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_U | ATTEST_GIVES_Z | ATTEST_GIVES_STATE | ATTEST_TAKES_STATE,
    .name = "taylor-chunk-fast-f32",
    .version = "1",
    .source = "kernels/fast/taylor/chunked.c",
    .summary = "packed states between chunks of problem.chunk tokens, pairs inside, in vectors and threads; float",
    .variants = "taylor term quadratic linear linear-elu linear-relu cosformer linear-cos elu-taylor relu-taylor "
                "cos-taylor based",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
