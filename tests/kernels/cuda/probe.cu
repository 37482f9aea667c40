// probe.cu - small kernels for test_cuda_host.c: what the machine of kernels/cuda/host gives, each way to go wrong, and
// the functions of warp.h.  probe_run(name, x, count) runs the kernel of that name on x; 0, or a line that says why.
#include "warp.h"

#include <cstdio>

namespace {

__global__ void lanes(float *x)
{
    const int lane = threadIdx.x % 32;
    const float down = __shfl_down_sync(0xffffffffu, x[lane], 3, 8), up = __shfl_up_sync(0xffffffffu, x[lane], 2);
    const float named = __shfl_sync(0xffffffffu, x[lane], 5, 16), across = __shfl_xor_sync(0xffffffffu, x[lane], 9);
    const unsigned odd = __ballot_sync(0xffffffffu, lane & 1);
    const int all = __all_sync(0xffffffffu, lane < 32), any = __any_sync(0xffffffffu, lane > 31);
    __syncwarp();
    x[lane] = down + 100 * up + 10000 * named + 1000000 * across;
    x[32 + lane] = odd == 0xaaaaaaaau && all && !any ? 1.0f : 0.0f;
}

// Half a warp each, under masks of its own, at the same time.
__global__ void halves(float *x)
{
    const int lane = threadIdx.x;
    const float sum = lane < 16 ? __shfl_xor_sync(0x0000ffffu, x[lane], 1) : __shfl_xor_sync(0xffff0000u, x[lane], 2);
    x[lane] = sum;
}

// The same of votes: lane 9 votes against, and lane 20 alone of its half votes for.
__global__ void half_votes(float *x)
{
    const int lane = threadIdx.x, low = lane < 16, yes = low ? lane != 9 : lane == 20;
    const unsigned votes = low ? __ballot_sync(0x0000ffffu, yes) : __ballot_sync(0xffff0000u, yes);
    const int any = low ? __any_sync(0x0000ffffu, yes) : __any_sync(0xffff0000u, 0);
    const int all = low ? __all_sync(0x0000ffffu, 1) : __all_sync(0xffff0000u, yes);
    x[lane] = (float)votes;
    x[32 + lane] = (float)(2 * any + all);
}

// Lanes from 40 on end before the rest of their warp meets, under a mask that names them too.
__global__ void ended(float *x)
{
    if (threadIdx.x >= 40)
        return;
    x[threadIdx.x] = 1;
    __syncwarp();
    const unsigned votes = __ballot_sync(0xffffffffu, 1);
    const int any = __any_sync(0xffffffffu, 0), all = __all_sync(0xffffffffu, 1);
    const float other = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 1);
    x[threadIdx.x] = votes == (threadIdx.x < 32 ? 0xffffffffu : 0xffu) && !any && all ? other + 1 : 0;
}

// A block of 16 threads: a full mask names lanes that there are not.
__global__ void small(float *x)
{
    __syncwarp();
    x[threadIdx.x] = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 1);
}

// A block's sum by a tree; poison where nothing was written; static and dynamic memory.
__global__ void tree(float *x)
{
    extern __shared__ float part[];
    __shared__ float never[4];
    part[threadIdx.x] = x[threadIdx.x];
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) {
        x[0] = part[0];
        x[1] = never[3];
    }
}

// Each instance of a template has an array of its own, whatever its size.
template <int which, int size> __device__ float *array_of_instance()
{
    __shared__ float r[size];
    return r;
}

__global__ void instances(float *x)
{
    float *const array[] = { array_of_instance<0, 4>(), array_of_instance<1, 4>(), array_of_instance<2, 8>() };
    for (int i = 0; i < 16; i++)
        array[i / 4 < 2 ? i / 4 : 2][i / 4 < 2 ? i % 4 : i - 8] = (float)i;
    for (int i = 0; i < 16; i++)
        x[i] = array[i / 4 < 2 ? i / 4 : 2][i / 4 < 2 ? i % 4 : i - 8];
    x[16] = array_of_instance<1, 4>() == array[1];
}

// Where shared arrays begin: at the multiples of their alignment that are odd, so that no greater one is met by chance.
__global__ void alignments(float *x)
{
    __shared__ float four[3];
    __shared__ double eight[3];
    __shared__ __align__(16) char sixteen[3];
    alignas(double) __shared__ char as_double[2];
    __shared__ alignas(sizeof(double) * 4) char more[1][3];
    __shared__ __align__(1024) char page[5];
    extern __shared__ __align__(64) float rest[];
    const void *const at[] = { four, eight, sixteen, as_double, more, page, rest };
    for (int i = 0; i < 7; i++)
        x[i] = (float)(reinterpret_cast<uintptr_t>(at[i]) & -reinterpret_cast<uintptr_t>(at[i]));
}

// Copies that are on their way cannot be read; after the wait they can, and the rest of 16 bytes is zero.
__global__ void copies(float *x)
{
    __shared__ __align__(16) float s[64];
    for (int i = 0; i < 64; i++)
        s[i] = 7;
    warp::copy_16(&s[0], &x[0], 16);
    warp::copy_commit();
    warp::copy_16(&s[4], &x[4], 8);
    warp::copy_commit();
    x[8] = s[0] != s[0];
    warp::copy_wait<1>();
    x[9] = s[1];
    x[10] = s[4] != s[4];
    warp::copy_wait<0>();
    x[11] = s[5];
    x[12] = s[6];
}

// d = a b + d with a[i][t] = i + 16 t, b[t][j] = t - j, d[i][j] = j: small integers, so exact; matrices by ldmatrix.
template <class type> __global__ void product(float *x)
{
    __shared__ __align__(16) uint16_t a[16][16];
    __shared__ __align__(16) uint16_t b[16][16];
    const int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) {
        a[i / 16][i % 16] = (uint16_t)type::pack((float)(i / 16 + 16 * (i % 16)), 0);
        b[i / 16][i % 16] = (uint16_t)type::pack((float)(i / 16 - i % 16), 0);
    }
    __syncthreads();
    uint32_t left[4], right[4];
    float d[4] = { (float)(lane % 4 * 2), (float)(lane % 4 * 2 + 1), (float)(lane % 4 * 2), (float)(lane % 4 * 2 + 1) };
    warp::load_matrices<false>(left, &a[lane % 16][lane / 16 * 8]);
    warp::load_matrices<true>(right, &b[lane % 16][lane / 16 * 8]);
    type::multiply(d, left, right[0], right[1]);
    for (int r = 0; r < 4; r++)
        x[(lane / 4 + r / 2 * 8) * 8 + lane % 4 * 2 + r % 2] = d[r];
}

// ---- ways to go wrong --------------------------------------------------------------------------------------------

__global__ void branch(float *) // some threads at one barrier, others at another
{
    if (threadIdx.x < 40)
        __syncthreads();
    else
        __syncthreads();
}

__global__ void forever(float *) // a warp waits for a lane that waits for the block
{
    if (threadIdx.x == 5)
        __syncthreads();
    else
        __syncwarp();
}

__global__ void gone(float *x) // the lane that is asked for has ended
{
    if (threadIdx.x != 3)
        x[threadIdx.x] = __shfl_sync(0xffffffffu, 1.0f, 3);
}

__global__ void nobody(float *x) // of 16 threads: a lane that there is not
{
    x[threadIdx.x] = __shfl_sync(0xffffffffu, 1.0f, 20);
}

template <class type> __global__ void mma(float *x)
{
    const uint32_t a[4] = {};
    float d[4] = {};
    type::multiply(d, a, 0, 0);
    x[threadIdx.x] = d[0];
}

__global__ void alien(float *x) { x[threadIdx.x] = __shfl_xor_sync(0x0000ffffu, x[threadIdx.x], 1); }

__global__ void outside(float *x)
{
    if (threadIdx.x < 16)
        x[threadIdx.x] = __shfl_sync(0x0000ffffu, x[threadIdx.x], 20);
}

__global__ void masks(float *x)
{
    if (threadIdx.x % 2 == 0)
        x[0] = __shfl_sync(0xffffffffu, 1.0f, 0);
    else
        x[0] = (float)__ballot_sync(0xffffffffu, 1);
}

__global__ void crooked(float *x)
{
    __shared__ __align__(16) float s[8];
    warp::copy_16(&s[1], x, 16);
    warp::copy_wait<0>();
}

__global__ void forgotten(float *x)
{
    __shared__ __align__(16) float s[8];
    warp::copy_16(&s[0], x, 16);
    warp::copy_commit();
}

__global__ void unaligned(float *x)
{
    __shared__ float s[8];
    warp::copy_16(&s[0], x, 16);
    warp::copy_wait<0>();
}

__global__ void unaligned_dynamic(float *x)
{
    extern __shared__ float of_floats[];
    warp::copy_16(&of_floats[0], x, 16);
    warp::copy_wait<0>();
}

__global__ void two_alignments(float *x)
{
    extern __shared__ float of_floats[];
    extern __shared__ __align__(16) float of_rows[];
    x[0] = of_floats[0] + of_rows[0];
}

// What lies in another memory than the instruction's.
__device__ void copy(void *to, const void *from)
{
    warp::copy_16(to, from, 16);
    warp::copy_commit();
    warp::copy_wait<0>();
}

__global__ void copy_to_device(float *x) { copy(&x[4], &x[0]); }

__global__ void copy_from_shared(float *)
{
    __shared__ __align__(16) float s[8];
    copy(&s[0], &s[4]);
}

__global__ void copy_from_own(float *x)
{
    __shared__ __align__(16) float s[4];
    __align__(16) float mine[4] = { x[0] };
    copy(s, mine);
}

__global__ void copy_over_end(float *x)
{
    __shared__ __align__(16) float s[6];
    copy(&s[4], x);
}

__global__ void row_of_device(float *x)
{
    uint32_t r[4];
    warp::load_matrices<false>(r, &x[0]);
    x[threadIdx.x] = (float)r[0];
}

__global__ void row_of_own(float *x)
{
    uint32_t r[4];
    __align__(16) uint16_t mine[8] = { (uint16_t)x[0] };
    warp::load_matrices<true>(r, mine);
    x[threadIdx.x] = (float)r[0];
}

__global__ void row_over_end(float *x)
{
    __shared__ __align__(16) uint16_t s[12];
    uint32_t r[4];
    s[threadIdx.x % 12] = 0;
    __syncwarp();
    warp::load_matrices<true>(r, &s[threadIdx.x / 31 * 8]);
    x[threadIdx.x] = (float)r[0];
}

__global__ void beyond_shared(float *x)
{
    __shared__ float s[8];
    volatile float *p = s;
    p[8 + (int)x[0]] = 1;
}

__global__ void before_shared(float *x)
{
    __shared__ float s[8];
    volatile float *p = s;
    p[-1 - (int)x[0]] = 1;
}

__global__ void beyond_device(float *x)
{
    if (threadIdx.x == 0)
        x[64] = 1; // of 64
}

__global__ void greedy_array(float *x)
{
    __shared__ float s[13000];
    x[0] = s[0];
}

__global__ void both_memories(float *x)
{
    extern __shared__ float rest[];
    __shared__ float s[10000];
    x[0] = s[0] + rest[0];
}

__global__ void nothing(float *) {}

// ---- functions ------------------------------------------------------------------------------------------------------

__global__ void functions(float *x, int which)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = which == 0 ? warp::exp(x[i]) : which == 1 ? warp::log(x[i]) : warp::tanh(x[i]);
}

struct probe {
    const char *name;
    void (*kernel)(float *);
    unsigned threads;
    size_t dynamic;
};

const probe probes[] = {
    { "lanes", lanes, 32, 0 },
    { "halves", halves, 32, 0 },
    { "half-votes", half_votes, 32, 0 },
    { "ended", ended, 64, 0 },
    { "small", small, 16, 0 },
    { "tree", tree, 64, 64 * sizeof(float) },
    { "instances", instances, 1, 0 },
    { "alignments", alignments, 1, 64 },
    { "copies", copies, 1, 0 },
    { "product-bf16", product<warp::bf16>, 32, 0 },
    { "product-f16", product<warp::f16>, 32, 0 },
    { "branch", branch, 64, 0 },
    { "forever", forever, 32, 0 },
    { "gone", gone, 32, 0 },
    { "nobody", nobody, 16, 0 },
    { "short-product", product<warp::bf16>, 16, 0 },
    { "short-mma", mma<warp::f16>, 16, 0 },
    { "mma-bf16", mma<warp::bf16>, 32, 0 },
    { "mma-f16", mma<warp::f16>, 32, 0 },
    { "alien", alien, 32, 0 },
    { "outside", outside, 32, 0 },
    { "masks", masks, 32, 0 },
    { "crooked", crooked, 1, 0 },
    { "unaligned", unaligned, 1, 0 },
    { "unaligned-dynamic", unaligned_dynamic, 1, 64 },
    { "two-alignments", two_alignments, 1, 64 },
    { "forgotten", forgotten, 1, 0 },
    { "copy-to-device", copy_to_device, 1, 0 },
    { "copy-from-shared", copy_from_shared, 1, 0 },
    { "copy-from-own", copy_from_own, 1, 0 },
    { "copy-over-end", copy_over_end, 1, 0 },
    { "row-of-device", row_of_device, 32, 0 },
    { "row-of-own", row_of_own, 32, 0 },
    { "row-over-end", row_over_end, 32, 0 },
    { "beyond-shared", beyond_shared, 1, 0 },
    { "before-shared", before_shared, 1, 0 },
    { "beyond-device", beyond_device, 32, 0 },
    { "greedy-array", greedy_array, 1, 0 },
    { "both-memories", both_memories, 32, 10000 },
    { "too-much", nothing, 32, 64 * 1024 },
    { "too-many", nothing, 1025, 0 },
};

const char *outcome(cudaError_t error) { return error == cudaSuccess ? nullptr : cudaGetErrorString(error); }

} // namespace

#define PUBLIC extern "C" __attribute__((visibility("default")))

PUBLIC const char *probe_run(const char *name, float *host, size_t count)
{
    void *x = nullptr;
    const char *wrong = "no such probe";
    if (cudaMalloc(&x, count * sizeof(float)) != cudaSuccess)
        return "no memory";
    cudaMemcpy(x, host, count * sizeof(float), cudaMemcpyHostToDevice);
    for (const probe &p : probes)
        if (strcmp(p.name, name) == 0) {
            void (*kernel)(float *) = p.kernel;
            kernel<<<1, p.threads, p.dynamic>>>(static_cast<float *>(x));
            wrong = outcome(cudaDeviceSynchronize());
        }
    cudaMemcpy(host, x, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(x);
    return wrong;
}

// What cudaFuncSetAttribute() says of `bytes` of dynamic shared memory for the kernel of that name.
PUBLIC int probe_allow(const char *name, int bytes)
{
    for (const probe &p : probes)
        if (strcmp(p.name, name) == 0)
            return cudaFuncSetAttribute(p.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    return -1;
}

// What a launch of a kernel that does nothing is told.
PUBLIC int probe_launch(const unsigned *grid, const unsigned *size, size_t dynamic)
{
    (void)cudaGetLastError();
    nothing<<<dim3(grid[0], grid[1], grid[2]), dim3(size[0], size[1], size[2]), dynamic>>>(nullptr);
    return cudaGetLastError();
}

// which: 0 exp, 1 log, 2 tanh; count is a multiple of 256.
PUBLIC const char *probe_function(int which, float *host, size_t count)
{
    void *x = nullptr;
    cudaMalloc(&x, count * sizeof(float));
    cudaMemcpy(x, host, count * sizeof(float), cudaMemcpyHostToDevice);
    functions<<<count / 256, 256>>>(static_cast<float *>(x), which);
    const char *wrong = outcome(cudaGetLastError());
    cudaMemcpy(host, x, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(x);
    return wrong;
}
