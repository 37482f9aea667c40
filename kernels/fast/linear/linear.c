/* linear.c - linear-chunk-f32: the descriptor of linear.h, and the choice of the instruction set. */
#include "fast/linear/linear.h"

#include "fast/exp.h"
#include "fast/isa.h"

#ifdef FAST_PLANTED /* by a planted defect: the loops without extensions are part of this file, under this name */
#define linear_run_portable FAST_PLANTED
#include "fast/linear/linear_kernel.h"
#endif

static int supports(const attest_call *call)
{
    static const serve_table table = SERVE_LINEAR_TABLE(0);
    return serve_check(&table, call) && serve_linear(call);
}

static size_t workspace(const attest_call *call)
{
    return sizeof(float) * (size_t)(linear_threads(call->problem) * linear_lay_out(call->problem).each);
}

static attest_status run(const attest_call *call) { return FAST_CALL(linear_run, call); }

static const attest_numerics numerics = { STEP_ARITHMETIC, STEP_STATES, .exp_error = FAST_EXP_ERROR,
                                          .schedule = ATTEST_SCHEDULE_CHUNK };

const attest_kernel attest_kernel_linear_chunk_f32 = {
    .struct_size = sizeof attest_kernel_linear_chunk_f32,
    .form = ATTEST_CHUNK,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_U | ATTEST_GIVES_Z | ATTEST_GIVES_STATE | ATTEST_TAKES_STATE,
    .name = "linear-chunk-f32",
    .version = "1",
    .source = "kernels/fast/linear/linear.c",
    .summary = "one matrix between blocks of tokens, products of small matrices inside, in vectors and threads; float",
    .variants = "linear linear-elu linear-relu cosformer linear-cos term:1 retnet gla simple-gla sla "
                "sla-retnet sla-gla",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
