/* silent: correct, and it gives lse in base 2, of which, as of all else, it declares nothing. */
#define PLUGIN_SMALL 9
#include "../good.h"

static attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    const attest_tensor *tq = t->role[ATTEST_Q], *tk = t->role[ATTEST_K], *lse = t->role[ATTEST_LSE];
    const int causal = p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL;
    for (int64_t row = 0; lse && row < p->b * p->hq * p->n; row++) {
        const int64_t b = row / p->n / p->hq, h = row / p->n % p->hq, i = row % p->n;
        const int64_t keys = causal && i + 1 < p->m ? i + 1 : p->m;
        float *s = call->workspace, m = -INFINITY, l = 0;
        for (int64_t j = 0; j < keys; j++) {
            float dot = 0;
            for (int64_t c = 0; c < p->d; c++)
                dot += good_row(tq, b, h, i)[c * tq->stride[3]] *
                       good_row(tk, b, h * p->hkv / p->hq, j)[c * tk->stride[3]];
            m = fmaxf(m, s[j] = (float)p->scale * dot);
        }
        for (int64_t j = 0; j < keys; j++)
            l += expf(s[j] - m);
        good_row(lse, b, h, i)[0] = (m + logf(l)) * 1.44269504F;
    }
    return good_run(p, t, call->workspace, p->n);
}

static const attest_numerics nothing = { .struct_size = sizeof nothing };
static const attest_kernel kernel = { .struct_size = sizeof kernel,
                                      .form = ATTEST_PARALLEL,
                                      .device = ATTEST_CPU,
                                      .flags = ATTEST_DETERMINISTIC,
                                      .outputs = ATTEST_GIVES_O | ATTEST_GIVES_LSE,
                                      .name = "silent",
                                      .version = "1",
                                      .source = "tests/plugins/worker/silent.c",
                                      .summary = "softmax that says nothing",
                                      .variants = "softmax",
                                      .numerics = &nothing,
                                      .limits = PLUGIN_LIMITS,
                                      .supports = good_supports,
                                      .workspace = good_workspace,
                                      .run = run };
static const attest_kernel *const kernels[] = { &kernel };
static const attest_library library = { .struct_size = sizeof library,
                                        .abi_version = ATTEST_ABI_VERSION,
                                        .name = "silent",
                                        .kernels = kernels,
                                        .kernel_count = 1 };
const attest_library *attest_library_v2(const attest_host *host) { return host ? &library : NULL; }
