// softmax-online-cuda-f32: softmax attention on a CUDA device, one block of threads a row, float.
//
// Formula    o_i = sum_j e^(s_ij) v_j / sum_j e^(s_ij),  s_ij = scale <q_i, k_j>,  lse_i = log sum_j e^(s_ij).
// Algorithm  per tile of 128 keys: each thread one score; m' = max(m, scores); a = e^(m-m'); each thread one weight
//            w = e^(s-m'); l = a l + sum w; channel by channel u = a u + sum w v.  At the end o = u/l, lse = m + log l.
//            Every sum is serial in the keys of a tile, so that the same input gives the same bits.
// Errors     with B tiles of b keys: score gamma_(d+1) and scale's rounding, sums gamma_(b+2B) (a contracted
//            multiply-add only leaves a rounding out), a rescaling one more exponential and the rounding of m-m';
//            expf is within 2 ulp (CUDA programming guide, mathematical functions; no fast-math): 2^-22 relative.
// Build      nvcc -O2 -std=c++17 -shared -Xcompiler -fPIC -Ikernels kernels/cuda/softmax.cu -o softmax.so
#include "attest.h"

#include <cstdio>
#include <cuda_runtime.h>

namespace {

constexpr int tile = 128;
constexpr int64_t widest = 8192; // channels of v: u and one tile's sum have to fit into shared memory

// ---- on the device ---------------------------------------------------------------------------------------

// A tensor by strides, as the device sees it; data is nullptr for an output that nobody wants.
struct view {
    float *data;
    int64_t stride[4];
    __device__ int64_t at(int64_t b, int64_t h, int64_t i, int64_t c) const
    {
        return b * stride[0] + h * stride[1] + i * stride[2] + c * stride[3];
    }
};

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
        a.o.data[a.o.at(b, h, i, c)] = visible > 0 ? u[c] / l : 0;
    if (a.lse.data && threadIdx.x == 0)
        a.lse.data[a.lse.at(b, h, i, 0)] = visible > 0 ? m + logf(l) : -INFINITY;
}

// ---- on the host: the kernel ---------------------------------------------------------------------------------

int refuse(char *why, size_t len, const char *reason)
{
    snprintf(why, len, "%s", reason);
    return 0;
}

int supports(const attest_problem *p, char *why, size_t len)
{
    if (p->axis_count != ATTEST_AXIS_COUNT)
        return refuse(why, len, "the host has another list of axes than this kernel");
    for (int a = 0; a < ATTEST_AXIS_COUNT; a++)
        if (p->axis[a].value != 0 && a != ATTEST_AXIS_MASK)
            return refuse(why, len, "only softmax (every axis but mask at its default) is served");
    if (p->in != ATTEST_F32 || p->acc != ATTEST_F32 || p->p != ATTEST_F32 || p->out != ATTEST_F32)
        return refuse(why, len, "only in, acc, p and out f32 are served");
    if (p->e > widest)
        return refuse(why, len, "e > 8192: a row of u does not fit into shared memory");
    if (p->b * p->hq > INT32_MAX / p->n)
        return refuse(why, len, "more than 2^31-1 rows: one block of threads a row");
    return 1;
}

view view_of(const attest_tensor *t)
{
    view v = {};
    if (t) {
        v.data = static_cast<float *>(t->data);
        for (int c = 0; c < 4; c++)
            v.stride[c] = t->stride[c];
    }
    return v;
}

attest_status run(const attest_problem *p, const attest_tensors *t, void *, void *stream)
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
        return ATTEST_NO_DEVICE;
    const arguments a = { view_of(t->role[ATTEST_Q]), view_of(t->role[ATTEST_K]), view_of(t->role[ATTEST_V]),
                          view_of(t->role[ATTEST_O]), view_of(t->role[ATTEST_LSE]),
                          p->hq, p->hkv, p->n, p->m, p->d, p->e,
                          static_cast<float>(p->scale), static_cast<int>(p->axis[ATTEST_AXIS_MASK].value) };
    const unsigned rows = static_cast<unsigned>(p->b * p->hq * p->n);
    softmax_row<<<rows, tile, static_cast<size_t>(p->e) * sizeof(float), static_cast<cudaStream_t>(stream)>>>(a);
    return cudaGetLastError() == cudaSuccess ? ATTEST_OK : ATTEST_KERNEL_ERROR;
}

const attest_numerics numerics = {
    sizeof(attest_numerics),
    ATTEST_SCHEDULE_ONLINE,
    tile,
    0,                       // splits
    0x1p-22,                 // exp_error
    ATTEST_NO,               // log2_domain
    ATTEST_NO,               // cast_in_sum
    ATTEST_ROUNDING_NEAREST, // p_rounding
    ATTEST_NO,               // acc_truncates
    0x1p-24,                 // acc_unit
    0,                       // block
    0x1p-24,                 // div_error: -prec-div=true is nvcc's default
    1 + ATTEST_F32,          // scale_dtype
    1 + ATTEST_F32,          // state_dtype
};

const attest_kernel kernel = {
    sizeof(attest_kernel),
    ATTEST_TILED,
    ATTEST_CUDA,
    ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT,
    ATTEST_GIVES_O | ATTEST_GIVES_LSE,
    0,
    "softmax-online-cuda-f32",
    "1",
    "kernels/cuda/softmax.cu",
    "online softmax over tiles of 128 keys, one block a row; float",
    "softmax",
    &numerics,
    nullptr,
    supports,
    nullptr,
    run,
};

// ---- on the host: device memory --------------------------------------------------------------------------------

attest_status status_of(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return ATTEST_OK;
    case cudaErrorMemoryAllocation: return ATTEST_NO_MEMORY;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver: return ATTEST_NO_DEVICE;
    default: return ATTEST_KERNEL_ERROR;
    }
}

attest_status device_alloc(void **pointer, size_t bytes)
{
    *pointer = nullptr;
    return status_of(cudaMalloc(pointer, bytes > 0 ? bytes : 1));
}

void device_free(void *pointer) { cudaFree(pointer); }

attest_status to_device(void *device, const void *host, size_t bytes)
{
    return status_of(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
}

attest_status to_host(void *host, const void *device, size_t bytes)
{
    return status_of(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
}

attest_status fill(void *device, int byte, size_t bytes) { return status_of(cudaMemset(device, byte, bytes)); }

attest_status sync() { return status_of(cudaDeviceSynchronize()); }

attest_status describe(char *text, size_t len)
{
    int device = 0, driver = 0, runtime = 0;
    cudaDeviceProp properties;
    attest_status status = status_of(cudaGetDevice(&device));
    if (status == ATTEST_OK)
        status = status_of(cudaGetDeviceProperties(&properties, device));
    if (status != ATTEST_OK) {
        snprintf(text, len, "no CUDA device");
        return ATTEST_NO_DEVICE;
    }
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    snprintf(text, len, "%s (compute %d.%d), driver for CUDA %d.%d, runtime %d.%d", properties.name, properties.major,
             properties.minor, driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    return ATTEST_OK;
}

const attest_memory memory = { sizeof(attest_memory), ATTEST_CUDA, device_alloc, device_free, to_device,
                               to_host, fill, sync, describe };

const attest_kernel *const kernels[] = { &kernel };

const attest_library library = { sizeof(attest_library), ATTEST_ABI_VERSION, "attest CUDA kernels", "nvcc -O2",
                                 kernels, 1, 0, &memory };

} // namespace

extern "C" const attest_library *attest_library_v1(const attest_host *)
{
    return &library;
}
