// racy.cu - softmax in float that is right but for a barrier: the last thread of a block writes the maximum that all of
// them read.  In forward order that thread is the one that opens the barrier before and goes on first.
#include "library.h"

namespace {

constexpr int threads = 64;
constexpr int64_t most_keys = 512;

typedef cuda_library::view<float> view;

struct arguments {
    view q, k, v, o;
    int64_t hq, hkv, n, m, d, e;
    float scale;
};

__global__ void softmax_row(arguments a)
{
    __shared__ float s[most_keys];
    __shared__ float top;
    const int64_t i = blockIdx.x % a.n, h = blockIdx.x / a.n % a.hq, b = blockIdx.x / a.n / a.hq, g = h * a.hkv / a.hq;
    for (int64_t j = threadIdx.x; j < a.m; j += threads) {
        float dot = 0;
        for (int64_t c = 0; c < a.d; c++)
            dot += a.q.data[a.q.at(b, h, i, c)] * a.k.data[a.k.at(b, g, j, c)];
        s[j] = a.scale * dot;
    }
    __syncthreads();
    if (threadIdx.x == threads - 1) {
        float m = s[0];
        for (int64_t j = 1; j < a.m; j++)
            m = s[j] > m ? s[j] : m;
        top = m;
    }
    const float m = top; // a barrier is missing before it
    for (int64_t c = threadIdx.x; c < a.e; c += threads) {
        float l = 0, u = 0;
        for (int64_t j = 0; j < a.m; j++) {
            const float w = expf(s[j] - m);
            l += w;
            u += w * a.v.data[a.v.at(b, g, j, c)];
        }
        a.o.put(b, h, i, c, u / l);
    }
}

int supports(const attest_call *call)
{
    const attest_problem *p = call->problem;
    if (attest_axis_unserved(p, 0) >= 0)
        return attest_refuse(call, "only softmax (every axis at its default) is served");
    if (p->in != ATTEST_F32 || p->acc != ATTEST_F32 || p->p != ATTEST_F32 || p->out != ATTEST_F32)
        return attest_refuse(call, "only in, acc, p and out f32 are served");
    return p->m <= most_keys ? 1 : attest_refuse(call, "at most 512 keys");
}

attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    const auto view_of = cuda_library::view_of<float>;
    const arguments a = { view_of(t->role[ATTEST_Q]), view_of(t->role[ATTEST_K]), view_of(t->role[ATTEST_V]),
                          view_of(t->role[ATTEST_O]), p->hq, p->hkv, p->n, p->m, p->d, p->e,
                          static_cast<float>(p->scale) };
    softmax_row<<<static_cast<unsigned>(p->b * p->hq * p->n), threads, 0, cuda_library::stream_of(call)>>>(a);
    return cuda_library::launched(call);
}

attest_numerics declare_numerics()
{
    attest_numerics n = attest_numerics_init();
    n.schedule = ATTEST_SCHEDULE_TWO_PASS;
    n.exp_error = 0x1p-22;
    return n;
}

const attest_numerics numerics = declare_numerics();
const attest_limits limits = cuda_library::widths(0, 0);

attest_kernel declare_kernel()
{
    attest_kernel k = cuda_library::kernel_of("racy-cuda-f32", "tests/kernels/cuda/racy.cu", &numerics, &limits);
    k.form = ATTEST_PARALLEL;
    k.summary = "softmax without a barrier that it needs";
    k.variants = "softmax";
    k.supports = supports;
    k.run = run;
    return k;
}

const attest_kernel kernel = declare_kernel();
const attest_kernel *const kernels[] = { &kernel };

} // namespace

extern "C" const attest_library *attest_library_v2(const attest_host *)
{
    return cuda_library::library("a race", kernels);
}
