/* delta.c - delta-wy-f32: the descriptor of linear.h and delta_values.h, and the choice of the instruction set. */
#include "fast/linear/linear.h"

#include "fast/isa.h"

#include "cpu/steps/delta.h"

enum { CHUNK_MOST = 256 }; /* decays of pairs are kept for a whole chunk */

#ifdef FAST_PLANTED /* by a planted defect: the loops without extensions are part of this file, under this name */
#define linear_run_portable FAST_PLANTED
#include "fast/linear/linear_kernel.h"
#endif

static int supports(const attest_call *call)
{
    static const serve_table table = DELTA_TABLE(SERVE_STATE, 0);
    if (!serve_check(&table, call))
        return 0;
    if (step_min(call->problem->chunk, call->problem->m) > CHUNK_MOST)
        return serve_refuse(call, "a chunk of more than %d tokens is not served", CHUNK_MOST);
    return 1;
}

static size_t workspace(const attest_call *call)
{
    return sizeof(float) * (size_t)(linear_threads(call->problem) * linear_lay_out(call->problem).each);
}

static attest_status run(const attest_call *call) { return FAST_CALL(linear_run, call); }

static const attest_numerics numerics = { STEP_NUMERICS, STEP_STATES, .schedule = ATTEST_SCHEDULE_CHUNK };

const attest_kernel attest_kernel_delta_wy_f32 = {
    .struct_size = sizeof attest_kernel_delta_wy_f32,
    .form = ATTEST_CHUNK,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_STATE | ATTEST_TAKES_STATE,
    .name = "delta-wy-f32",
    .version = "1",
    .source = "kernels/fast/linear/delta.c",
    .summary = "delta rule: written values of a chunk by triangular systems of matrices, in vectors and threads; float",
    .variants = "deltanet gdn efla sla-deltanet sla-gdn",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
