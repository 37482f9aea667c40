// softmax-online-cuda-f32: softmax attention on a CUDA device, one block of threads a row, float.
//
// Formula    o_i = sum_j e^(s_ij) v_j / sum_j e^(s_ij),  s_ij = scale <q_i, k_j>,  lse_i = log sum_j e^(s_ij).
// Algorithm  per tile of 128 keys: each thread one score; m' = max(m, scores); a = e^(m-m'); each thread one weight
//            w = e^(s-m'); l = a l + sum w; channel by channel u = a u + sum w v.  At the end o = u/l, lse = m + log l.
//            Every sum is serial in the keys of a tile, so that the same input gives the same bits.
// Errors     with B tiles of b keys: score gamma_(d+1) and scale's rounding, sums gamma_(b+2B) (a contracted
//            multiply-add only leaves a rounding out), a rescaling one more exponential and the rounding of m-m';
//            expf is within 2 ulp (CUDA programming guide, mathematical functions; no fast-math): 2^-22 relative; on
//            the CPU it is the C library's, within 1 ulp (glibc manual, errors in math functions): 2^-23.
// Build      nvcc -O2 -std=c++17 -shared -Xcompiler -fPIC -Ikernels kernels/cuda/softmax.cu -o softmax.so,
//            or for the CPU by a C++ compiler alone (host/cuda_runtime.h)
#include "library.h"

namespace {

constexpr int tile = 128;
constexpr int64_t widest = 8192; // channels of v: u and one tile's sum have to fit into shared memory

// ---- on the device ---------------------------------------------------------------------------------------

typedef cuda_library::view<float> view;

struct arguments {
    view q, k, v, o, lse;
    int64_t hq, hkv, n, m, d, e;
    float scale;
    int mask;
};

__device__ int64_t visible_keys(const arguments &a, int64_t i)
{
    const int64_t last = i + 1 + (a.mask == ATTEST_MASK_CAUSAL_BR ? a.m - a.n : 0);
    if (a.mask == ATTEST_MASK_FULL || last > a.m)
        return a.m;
    return last > 0 ? last : 0;
}

__device__ float score(const arguments &a, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const int64_t g = h * a.hkv / a.hq;
    float dot = 0;
    for (int64_t c = 0; c < a.d; c++)
        dot += a.q.data[a.q.at(b, h, i, c)] * a.k.data[a.k.at(b, g, j, c)];
    return a.scale * dot;
}

// s[0..keys) become weights of the new maximum, which is returned in every thread.
__device__ float weigh_tile(float *s, int keys, float m)
{
    __syncthreads();
    for (int j = 0; j < keys; j++)
        m = s[j] > m ? s[j] : m; // a NaN never is the maximum; it comes back through its own weight
    __syncthreads();
    if (threadIdx.x < keys)
        s[threadIdx.x] = expf(s[threadIdx.x] - m);
    __syncthreads();
    return m;
}

__global__ void softmax_row(arguments a)
{
    extern __shared__ float u[]; // [e]
    __shared__ float s[tile];
    const int64_t i = blockIdx.x % a.n, h = blockIdx.x / a.n % a.hq, b = blockIdx.x / a.n / a.hq;
    const int64_t g = h * a.hkv / a.hq, visible = visible_keys(a, i);
    float m = -INFINITY, l = 0;
    for (int64_t c = threadIdx.x; c < a.e; c += tile)
        u[c] = 0;
    for (int64_t first = 0; first < visible; first += tile) {
        const int keys = (int)(visible - first < tile ? visible - first : tile);
        if (threadIdx.x < keys)
            s[threadIdx.x] = score(a, b, h, i, first + threadIdx.x);
        const float new_m = weigh_tile(s, keys, m), alpha = first == 0 ? 0 : expf(m - new_m);
        float part = 0;
        for (int j = 0; j < keys; j++)
            part += s[j];
        l = l * alpha + part;
        for (int64_t c = threadIdx.x; c < a.e; c += tile) {
            float sum = 0;
            for (int j = 0; j < keys; j++)
                sum += s[j] * a.v.data[a.v.at(b, g, first + j, c)];
            u[c] = u[c] * alpha + sum;
        }
        m = new_m;
        __syncthreads(); // s is free for the next tile
    }
    for (int64_t c = threadIdx.x; c < a.e; c += tile)
        a.o.put(b, h, i, c, visible > 0 ? u[c] / l : 0);
    if (a.lse.data && threadIdx.x == 0)
        a.lse.data[a.lse.at(b, h, i, 0)] = visible > 0 ? m + logf(l) : -INFINITY;
}

// ---- on the host: the kernel ---------------------------------------------------------------------------------

int supports(const attest_call *call)
{
    const attest_problem *p = call->problem;
    if (attest_axis_unserved(p, ATTEST_BIT(ATTEST_AXIS_MASK)) >= 0)
        return attest_refuse(call, "only softmax (every axis but mask at its default) is served");
    if (p->axis[ATTEST_AXIS_MASK].value > ATTEST_MASK_CAUSAL_BR)
        return attest_refuse(call, "only mask=full, causal and causal-br are served");
    if (p->in != ATTEST_F32 || p->acc != ATTEST_F32 || p->p != ATTEST_F32 || p->out != ATTEST_F32)
        return attest_refuse(call, "only in, acc, p and out f32 are served");
    if (p->b * p->hq > INT32_MAX / p->n)
        return attest_refuse(call, "more than 2^31-1 rows: one block of threads a row");
    return 1;
}

attest_status run(const attest_call *call)
{
    const attest_problem *p = call->problem;
    const attest_tensors *t = call->tensors;
    if (!cuda_library::present())
        return ATTEST_NO_DEVICE;
    const auto view_of = cuda_library::view_of<float>;
    const arguments a = { view_of(t->role[ATTEST_Q]), view_of(t->role[ATTEST_K]), view_of(t->role[ATTEST_V]),
                          view_of(t->role[ATTEST_O]), view_of(t->role[ATTEST_LSE]),
                          p->hq, p->hkv, p->n, p->m, p->d, p->e,
                          static_cast<float>(p->scale), static_cast<int>(p->axis[ATTEST_AXIS_MASK].value) };
    const unsigned rows = static_cast<unsigned>(p->b * p->hq * p->n);
    softmax_row<<<rows, tile, static_cast<size_t>(p->e) * sizeof(float), cuda_library::stream_of(call)>>>(a);
    return cuda_library::launched(call);
}

#ifdef CUDA_HOST
constexpr double exp_error = 0x1p-23;
#else
constexpr double exp_error = 0x1p-22;
#endif

attest_numerics declare_numerics()
{
    attest_numerics n = attest_numerics_init();
    n.schedule = ATTEST_SCHEDULE_ONLINE;
    n.tile = tile;
    n.exp_error = exp_error;
    n.log2_domain = ATTEST_NO;
    n.cast_in_sum = ATTEST_NO;
    n.p_rounding = ATTEST_ROUNDING_NEAREST;
    n.acc_truncates = ATTEST_NO;
    n.acc_unit = 0x1p-24;
    n.division = ATTEST_DIVISION_AFTER_SUM;
    n.div_error = 0x1p-24; // -prec-div=true is nvcc's default
    n.scale_dtype = 1 + ATTEST_F32;
    n.state_dtype = 1 + ATTEST_F32;
    return n;
}

const attest_numerics numerics = declare_numerics();
const attest_limits limits = cuda_library::widths(0, widest);

attest_kernel declare_kernel()
{
    attest_kernel k = cuda_library::kernel_of("softmax-online-cuda-f32", "kernels/cuda/softmax.cu", &numerics, &limits);
    k.form = ATTEST_TILED;
    k.outputs |= ATTEST_GIVES_LSE;
    k.summary = "online softmax over tiles of 128 keys, one block a row; float";
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
    return cuda_library::library("attest CUDA kernels: softmax", kernels);
}
