/* declares: softmax kernels that differ in what only version 2 can say.  `limited` serves some sizes; `narrow` keeps
 * its scores in bf16; `vague` has a logarithm that no bound covers; `divided` divides before it sums; `paths` is
 * another kernel from 33 keys on; `ordered` needs C order, and fails in any other; `talker` fails and says why;
 * `anything` puts 7 into rows without a key.
 */
#include "good.h"

static attest_status run(const attest_call *call)
{
    return good_run(call->problem, call->tensors, call->workspace, call->problem->n);
}

static attest_status run_ordered(const attest_call *call)
{
    const attest_tensor *q = call->tensors->role[ATTEST_Q];
    return q->stride[2] == q->shape[3] ? run(call) : ATTEST_KERNEL_ERROR;
}

static attest_status run_talker(const attest_call *call)
{
    attest_refuse(call, "the moon is full");
    return ATTEST_KERNEL_ERROR;
}

static int serves_br(const attest_call *call)
{
    return attest_axis_unserved(call->problem, ATTEST_BIT(ATTEST_AXIS_MASK)) < 0 ||
           attest_refuse(call, "only softmax with any mask");
}

/* Rows of mask=causal-br with more queries than keys: the first n - m are empty. */
static attest_status run_anything(const attest_call *call)
{
    attest_problem p = *call->problem;
    const int64_t empty = p.n - p.m;
    const attest_tensor *o = call->tensors->role[ATTEST_O];
    p.axis[ATTEST_AXIS_MASK].value = ATTEST_MASK_FULL;
    for (int64_t row = 0; row < p.b * p.hq * p.n; row++) {
        const int64_t b = row / p.n / p.hq, h = row / p.n % p.hq, i = row % p.n;
        p.m = i - empty + 1;
        if (i >= empty)
            good_softmax_row(&p, call->tensors, call->workspace, b, h, i);
        p.m = call->problem->m;
        for (int64_t c = 0; i < empty && c < p.e; c++)
            good_row(o, b, h, i)[c * o->stride[3]] = 7;
    }
    return ATTEST_OK;
}

#define SIZED .struct_size = sizeof(attest_numerics), .schedule = ATTEST_SCHEDULE_TWO_PASS
static const attest_numerics plain = { SIZED };
static const attest_numerics narrow = { SIZED, .score_dtype = 1 + ATTEST_BF16 };
static const attest_numerics vague = {
    .struct_size = sizeof vague, .schedule = ATTEST_SCHEDULE_SPLIT, .splits = 2, .log_error = 0x1p-20
};
static const attest_numerics divided = { SIZED, .division = ATTEST_DIVISION_THEN_CAST };
static const attest_numerics anything = { SIZED, .empty_row = ATTEST_EMPTY_ANY };
static const attest_numerics unknown = { .struct_size = sizeof unknown };
static const attest_numerics coarse = {
    .struct_size = sizeof coarse, .schedule = ATTEST_SCHEDULE_ONLINE, .tile = 16, .acc_unit = 0x1p-20
};
static const attest_numerics broken = { .struct_size = sizeof broken, .exp_error = 1 };

static const attest_numerics *of_problem(const attest_call *call)
{
    return call->problem->m == 77 ? &broken : call->problem->m > 32 ? &coarse : &plain;
}

static const attest_limits limits = {
    .struct_size = sizeof limits, .n = { .multiple = 4 }, .d = { .most = 8 }, .m = { .least = 2 }
};

#define KERNEL(id, go, serves, number, ...)                                                                            \
    static const attest_kernel kernel_##id = { .struct_size = sizeof(attest_kernel),                                   \
                                               .form = ATTEST_PARALLEL,                                                \
                                               .device = ATTEST_CPU,                                                   \
                                               .flags = ATTEST_DETERMINISTIC,                                          \
                                               .outputs = ATTEST_GIVES_O,                                              \
                                               .name = #id,                                                            \
                                               .version = "1",                                                         \
                                               .source = "tests/plugins/declares.c",                                   \
                                               .summary = #id,                                                         \
                                               .variants = "softmax",                                                  \
                                               .numerics = &number,                                                    \
                                               .supports = serves,                                                     \
                                               .workspace = good_workspace,                                            \
                                               .run = go,                                                              \
                                               __VA_ARGS__ };
KERNEL(limited, run, good_supports, plain, .limits = &limits)
KERNEL(narrow, run, good_supports, narrow, .claim = NULL)
KERNEL(vague, run, good_supports, vague, .claim = NULL)
KERNEL(divided, run, good_supports, divided, .claim = NULL)
KERNEL(paths, run, good_supports, unknown, .numerics_of = of_problem)
KERNEL(ordered, run_ordered, good_supports, plain, .needs = ATTEST_NEEDS_C_ORDER)
KERNEL(talker, run_talker, good_supports, plain, .claim = NULL)
KERNEL(anything, run_anything, serves_br, anything, .claim = NULL)

static const attest_kernel *const kernels[] = { &kernel_limited, &kernel_narrow,  &kernel_vague,  &kernel_divided,
                                                &kernel_paths,   &kernel_ordered, &kernel_talker, &kernel_anything };
static const attest_library library = { .struct_size = sizeof library,
                                        .abi_version = ATTEST_ABI_VERSION,
                                        .name = "declares",
                                        .kernels = kernels,
                                        .kernel_count = sizeof kernels / sizeof kernels[0] };

const attest_library *attest_library_v2(const attest_host *host) { return host ? &library : NULL; }
