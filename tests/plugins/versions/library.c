/* library.c - softmax, compiled against a header of another year (headers.py): `old`, or `new` with what it adds.
 *
 * With -DODD_FLAG, -DODD_OUTPUT or -DODD_NEED (new only) it sets a bit that this project's header does not have.
 * Its run() fails, saying what, where the host does not keep the promises of attest.h.
 */
#include "good.h"

#if defined(ODD_FLAG)
#define FLAGS ATTEST_DETERMINISTIC | ATTEST_TEST_FLAG
#else
#define FLAGS ATTEST_DETERMINISTIC
#endif
#if defined(ODD_OUTPUT)
#define OUTPUTS ATTEST_GIVES_O | ATTEST_TEST_OUTPUT
#else
#define OUTPUTS ATTEST_GIVES_O
#endif
#if defined(ODD_NEED)
#define NEEDS ATTEST_TEST_NEED
#else
#define NEEDS 0
#endif

static const attest_kernel kernel;

/* Of what is not softmax all that this header names is accepted, so that only the rule for newer axes can refuse. */
static int supports(const attest_call *call)
{
    const int axis = attest_axis_unserved(call->problem, ATTEST_AXES_KNOWN);
    if (axis < 0)
        return call->problem->axis[ATTEST_AXIS_WEIGHT].value != ATTEST_WEIGHT_EXP || good_supports(call);
    snprintf(call->why, call->why_size, "axis number %d is newer than this kernel", axis);
    return 0;
}

/* What every host promises: NULL if it is so. */
static const char *broken_promise(const attest_call *call)
{
    const attest_tensors *t = call->tensors;
    if (call->self != &kernel)
        return "self is not the library's own descriptor";
    if (call->outputs != ATTEST_GIVES_O)
        return "o is wanted, and nothing else";
    for (uint32_t r = 0; r < ATTEST_ROLE_ROOM; r++)
        if (t->role[r] && r != ATTEST_Q && r != ATTEST_K && r != ATTEST_V && r != ATTEST_O)
            return "a role that is not used is not NULL";
#ifdef ATTEST_TEST_NEW
    if (call->problem->axis[ATTEST_TEST_AXIS].value != 0 || t->role[ATTEST_TEST_ROLE])
        return "what the host does not know is not 0";
    if (ATTEST_HAS(attest_problem, call->problem, later_number) || ATTEST_HAS(attest_tensors, t, later_pointer) ||
        ATTEST_HAS(attest_call, call, later_number) || !ATTEST_HAS(attest_problem, call->problem, splits) ||
        !ATTEST_HAS(attest_call, call, why_size))
        return "ATTEST_HAS is wrong";
#endif
    return NULL;
}

static attest_status run(const attest_call *call)
{
    const char *broken = broken_promise(call);
    if (!broken)
        return good_run(call->problem, call->tensors, call->workspace, call->problem->n);
    attest_refuse(call, broken);
    return ATTEST_KERNEL_ERROR;
}

#ifdef ATTEST_TEST_NEW
#define LATER , .later_number = -1, .later_pointer = &kernel
#else
#define LATER
#endif

static const attest_numerics numerics = { .struct_size = sizeof numerics, .schedule = ATTEST_SCHEDULE_TWO_PASS LATER };
static const attest_claim claim = { .struct_size = sizeof claim, .max_ulp = 1e9, .domain = "everywhere" LATER };
static const attest_kernel kernel = { .struct_size = sizeof kernel,
                                      .form = ATTEST_PARALLEL,
                                      .device = ATTEST_CPU,
                                      .flags = FLAGS,
                                      .outputs = OUTPUTS,
                                      .needs = NEEDS,
                                      .name = "other-year",
                                      .version = "1",
                                      .source = "tests/plugins/versions/library.c",
                                      .summary = "softmax",
                                      .variants = "softmax",
                                      .numerics = &numerics,
                                      .claim = &claim,
                                      .supports = supports,
                                      .workspace = good_workspace,
                                      .run = run LATER };
static const attest_kernel *const kernels[] = { &kernel };
static const attest_library library = { .struct_size = sizeof library,
                                        .abi_version = ATTEST_ABI_VERSION,
                                        .name = "of another year",
                                        .kernels = kernels,
                                        .kernel_count = 1 LATER };

const attest_library *attest_library_v2(const attest_host *host) { return host ? &library : NULL; }
