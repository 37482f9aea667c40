/* linear_state_bf16.c - linear-chunk-state-bf16: linear-chunk-f32 with states that are stored as bf16 between chunks,
 * and the choice of the instruction set. */
#include "fast/linear/linear.h"

#include "fast/exp.h"
#include "fast/isa.h"

#ifdef FAST_PLANTED /* by a planted defect: the loops without extensions are part of this file, under this name */
#define LINEAR_STATE_BF16
#define linear_state_bf16_run_portable FAST_PLANTED
#include "fast/linear/linear_kernel.h"
#endif

/* No norm that divides by what is made of the states: a rounding to bf16 each chunk does not keep such a divisor from 0
 * where its terms have both signs. */
static int supports(const attest_call *call)
{
    static const serve_table table = {
        .axis = { [ATTEST_AXIS_WEIGHT] = SERVE_BIT(ATTEST_WEIGHT_TERM) | SERVE_BIT(ATTEST_WEIGHT_POWER),
                  [ATTEST_AXIS_FEATURE] = SERVE_ALL_FEATURES,
                  [ATTEST_AXIS_ROPE] = SERVE_ROPE,
                  [ATTEST_AXIS_MASK] = SERVE_ALL_MASKS,
                  [ATTEST_AXIS_LENS] = SERVE_LENS,
                  [ATTEST_AXIS_DECAY] = SERVE_ALL_DECAYS,
                  [ATTEST_AXIS_DECAY_INPUT] = SERVE_DECAY_INPUT,
                  [ATTEST_AXIS_GATES] = SERVE_ALL_GATES,
                  [ATTEST_AXIS_NORM] = SERVE_BIT(ATTEST_NORM_NONE) | SERVE_BIT(ATTEST_NORM_LENGTH),
                  [ATTEST_AXIS_STATE] = SERVE_STATE },
        .in = SERVE_UP_TO_F32,
        .acc = SERVE_BIT(ATTEST_F32),
        .p = SERVE_BIT(ATTEST_F32),
        .out = SERVE_UP_TO_F32,
    };
    return serve_check(&table, call) && serve_linear(call);
}

static size_t workspace(const attest_call *call)
{
    return sizeof(float) * (size_t)(linear_threads(call->problem) * linear_lay_out(call->problem).each);
}

static attest_status run(const attest_call *call) { return FAST_CALL(linear_state_bf16_run, call); }

static const attest_numerics numerics = { STEP_ARITHMETIC, .exp_error = FAST_EXP_ERROR,
                                          .schedule = ATTEST_SCHEDULE_CHUNK, .state_dtype = 1 + ATTEST_BF16 };

const attest_kernel attest_kernel_linear_chunk_state_bf16 = {
    .struct_size = sizeof attest_kernel_linear_chunk_state_bf16,
    .form = ATTEST_CHUNK,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_U | ATTEST_GIVES_Z | ATTEST_GIVES_STATE | ATTEST_TAKES_STATE,
    .name = "linear-chunk-state-bf16",
    .version = "1",
    .source = "kernels/fast/linear/linear_state_bf16.c",
    .summary = "linear-chunk-f32 with its states stored as bf16 between chunks",
    .variants = "linear linear-cos term:1 retnet gla simple-gla sla sla-retnet sla-gla",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
