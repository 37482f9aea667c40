/* taylor-recurrent-f32: polynomial attention as a recurrence over tokens, full Kronecker states in float.
 *
 * The recurrence is in taylor_recurrent.h; a state of degree n has one row for each of the dim^n index tuples.
 */
#include "steps/taylor_recurrent.h"

static size_t workspace(const attest_call *call) { return recurrent_workspace(call, 0); }

static attest_status run(const attest_call *call) { return recurrent_run(call, 0); }

static int supports(const attest_call *call) { return recurrent_supports(call, 0); }

static const attest_numerics numerics = { STEP_NUMERICS, STEP_STATES, .schedule = ATTEST_SCHEDULE_RECURRENT };

const attest_kernel attest_kernel_taylor_recurrent_f32 = {
    .struct_size = sizeof attest_kernel_taylor_recurrent_f32,
    .form = ATTEST_RECURRENT,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_U | ATTEST_GIVES_Z | ATTEST_GIVES_STATE | ATTEST_TAKES_STATE,
    .name = "taylor-recurrent-f32",
    .version = "1",
    .source = "kernels/cpu/taylor_recurrent_f32.c",
    .summary = "states of all dim^n monomials, updated token by token; float",
    .variants = "taylor term quadratic linear linear-elu linear-relu cosformer linear-cos elu-taylor relu-taylor "
                "cos-taylor based retnet gla simple-gla sla sla-retnet sla-gla",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
