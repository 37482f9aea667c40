// my_kernel.cpp - a complete kernel library in C++17 to change: softmax attention in float, mask=full or causal.
//
// Build  c++ -std=c++17 -O2 -shared -fPIC -Ikernels kernels/template/my_kernel.cpp -o my_kernel.so
// Audit  build/attest audit ./my_kernel.so
#include "attest.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace
{

// Channel c of a row; attest also runs the kernel with strides other than those of C order.
struct row {
    float *data;
    int64_t stride;
    row(const attest_tensor *t, int64_t b, int64_t h, int64_t i)
        : data(static_cast<float *>(t->data) + b * t->stride[0] + h * t->stride[1] + i * t->stride[2]),
          stride(t->stride[3])
    {
    }
    float &operator[](int64_t c) const { return data[c * stride]; }
};

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

// One query: all scores and their maximum, then weights and sums, then o = u / l.
void one_row(const attest_problem *p, const attest_tensors *t, int64_t b, int64_t h, int64_t i)
{
    const int64_t g = h * p->hkv / p->hq;
    const bool causal = p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL;
    const float scale = static_cast<float>(p->scale);
    const row q(t->role[ATTEST_Q], b, h, i), o(t->role[ATTEST_O], b, h, i);
    std::vector<float> s(static_cast<size_t>(causal ? std::min(i + 1, p->m) : p->m));
    for (size_t j = 0; j < s.size(); j++) {
        const row k(t->role[ATTEST_K], b, g, static_cast<int64_t>(j));
        float dot = 0;
        for (int64_t c = 0; c < p->d; c++)
            dot += q[c] * k[c];
        s[j] = scale * dot;
    }
    const float most = *std::max_element(s.begin(), s.end());
    float l = 0;
    for (float &w : s)
        l += w = std::exp(w - most);
    for (int64_t c = 0; c < p->e; c++) {
        float u = 0;
        for (size_t j = 0; j < s.size(); j++)
            u += s[j] * row(t->role[ATTEST_V], b, g, static_cast<int64_t>(j))[c];
        o[c] = u / l;
    }
}

attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    for (int64_t at = 0; at < p->b * p->hq * p->n; at++)
        one_row(p, call->tensors, at / p->n / p->hq, at / p->n % p->hq, at % p->n);
    return ATTEST_OK;
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
    k.device = ATTEST_CPU;
    k.flags = ATTEST_DETERMINISTIC;
    k.outputs = ATTEST_GIVES_O;
    k.name = "my-kernel";
    k.version = "1";
    k.source = "my_kernel.cpp";
    k.summary = "softmax attention, two passes, float";
    k.variants = "softmax";
    k.numerics = &numerics;
    k.supports = supports;
    k.run = run;
    return k;
}
const attest_kernel kernel = make_kernel();
const attest_kernel *const kernels[] = { &kernel };

attest_library make_library()
{
    attest_library l = attest_library_init();
    l.abi_version = ATTEST_ABI_VERSION;
    l.name = "my library";
    l.kernels = kernels;
    l.kernel_count = 1;
    return l;
}
const attest_library library = make_library();

} // namespace

extern "C" const attest_library *attest_library_v2(const attest_host *host) { return host ? &library : nullptr; }
