// my_kernel.cu - a complete CUDA kernel library to change: softmax attention in float, a thread a query.
//
// Build  nvcc -std=c++17 -O2 -shared -Xcompiler -fPIC -Ikernels/cuda kernels/template/my_kernel.cu -o my_kernel.so
// Audit  build/attest audit ./my_kernel.so
#include "library.h"

#include <cmath>

namespace
{

// One query: the scores' maximum, then weights and sums, then o = u / l.
__global__ void softmax_rows(attest_problem p, cuda_library::view<float> q, cuda_library::view<float> k,
                             cuda_library::view<float> v, cuda_library::view<float> o)
{
    const int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= p.b * p.hq * p.n)
        return;
    const int64_t b = at / p.n / p.hq, h = at / p.n % p.hq, i = at % p.n, g = h * p.hkv / p.hq;
    const bool causal = p.axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL;
    const int64_t keys = causal && i + 1 < p.m ? i + 1 : p.m;
    const float scale = static_cast<float>(p.scale);
    float most = -INFINITY;
    for (int pass = 0; pass < 2; pass++) {
        float l = 0;
        for (int64_t c = 0; pass && c < p.e; c++)
            o.row(b, h, i)[c] = 0;
        for (int64_t j = 0; j < keys; j++) {
            float dot = 0;
            for (int64_t c = 0; c < p.d; c++)
                dot = fmaf(q.row(b, h, i)[c], k.row(b, g, j)[c], dot);
            const float s = scale * dot;
            most = pass ? most : fmaxf(most, s);
            const float w = pass ? expf(s - most) : 0;
            l += w;
            for (int64_t c = 0; pass && c < p.e; c++)
                o.row(b, h, i)[c] += w * v.row(b, g, j)[c];
        }
        for (int64_t c = 0; pass && c < p.e; c++)
            o.row(b, h, i)[c] /= l;
    }
}

// What the kernel computes; everything else is refused with a reason.
int supports(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const int axis = attest_axis_unserved(p, ATTEST_BIT(ATTEST_AXIS_MASK)); // softmax, any mask
    if (axis >= 0)
        return attest_refuse_axis(call, axis);
    if (p->axis[ATTEST_AXIS_MASK].value > ATTEST_MASK_CAUSAL)
        return attest_refuse_axis(call, ATTEST_AXIS_MASK);
    if (p->in != ATTEST_F32 || p->acc != ATTEST_F32 || p->p != ATTEST_F32 || p->out != ATTEST_F32)
        return attest_refuse(call, "only f32");
    return 1;
}

attest_status run(const attest_call *call)
{
    if (!cuda_library::present())
        return ATTEST_NO_DEVICE;
    const attest_problem p = *call->problem;
    const attest_tensor *const *role = call->tensors->role;
    const cuda_library::view<float> q = cuda_library::view_of<float>(role[ATTEST_Q]);
    const cuda_library::view<float> k = cuda_library::view_of<float>(role[ATTEST_K]);
    const cuda_library::view<float> v = cuda_library::view_of<float>(role[ATTEST_V]);
    const cuda_library::view<float> o = cuda_library::view_of<float>(role[ATTEST_O]);
    const unsigned blocks = static_cast<unsigned>((p.b * p.hq * p.n + 127) / 128);
    cudaStream_t stream = static_cast<cudaStream_t>(call->stream);
    softmax_rows<<<blocks, 128, 0, stream>>>(p, q, k, v, o);
    return cuda_library::launched(call);
}

// What you know of your arithmetic; 0 = unknown, and then the bound is the loosest of its class.
attest_numerics make_numerics()
{
    attest_numerics n = attest_numerics_init();
    n.schedule = ATTEST_SCHEDULE_TWO_PASS;
    return n;
}
const attest_numerics numerics = make_numerics();

attest_kernel make_kernel()
{
    attest_kernel k = attest_kernel_init();
    k.form = ATTEST_PARALLEL;
    k.device = cuda_library::device;
    k.flags = ATTEST_DETERMINISTIC;
    k.outputs = ATTEST_GIVES_O;
    k.name = "my-kernel";
    k.version = "1";
    k.source = "my_kernel.cu";
    k.summary = "softmax attention, two passes, a thread a query";
    k.variants = "softmax";
    k.numerics = &numerics;
    k.supports = supports;
    k.run = run;
    return k;
}
const attest_kernel kernel = make_kernel();
const attest_kernel *const kernels[] = { &kernel };

} // namespace

extern "C" const attest_library *attest_library_v2(const attest_host *)
{
    return cuda_library::library("my library", kernels);
}
