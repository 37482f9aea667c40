/* taylor-packed-f32: polynomial attention as a recurrence over tokens, packed symmetric states in float.
 *
 * The recurrence is in taylor_recurrent.h; a state of degree n has one row for each of the C(dim+n-1,n)
 * non-decreasing index tuples, and the query side carries the multinomial coefficients.
 */
#include "steps/taylor_recurrent.h"

static size_t workspace(const attest_call *call) { return recurrent_workspace(call, 1); }

static attest_status run(const attest_call *call) { return recurrent_run(call, 1); }

static int supports(const attest_call *call) { return recurrent_supports(call, 1); }

static const attest_numerics numerics = { STEP_NUMERICS, STEP_STATES, .schedule = ATTEST_SCHEDULE_RECURRENT };

const attest_kernel attest_kernel_taylor_packed_f32 = {
    .struct_size = sizeof attest_kernel_taylor_packed_f32,
    .form = ATTEST_RECURRENT,
    .device = ATTEST_CPU,
    .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT | ATTEST_PACKED_STATE,
    .outputs = ATTEST_GIVES_O | ATTEST_GIVES_U | ATTEST_GIVES_Z | ATTEST_GIVES_STATE | ATTEST_TAKES_STATE,
    .name = "taylor-packed-f32",
    .version = "1",
    .source = "kernels/cpu/taylor_packed_f32.c",
    .summary = "states of the C(d+n-1,n) distinct monomials, updated token by token; float",
    .variants = "taylor term quadratic linear linear-elu linear-relu cosformer linear-cos elu-taylor relu-taylor "
                "cos-taylor based retnet gla simple-gla sla sla-retnet sla-gla",
    .numerics = &numerics,
    .supports = supports,
    .workspace = workspace,
    .run = run,
};
