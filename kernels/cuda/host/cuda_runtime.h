/* cuda_runtime.h - the part of CUDA C++ that kernels here use, as C++17 on the CPU, by machine.h: no CUDA toolkit.
 *
 * translate.sed rewrites what is not C++ (launches, shared arrays), line by line; a .cu then compiles with this folder
 * before all others on the include path.  CUDA_HOST is defined there.
 * Device memory is the host's.  A launch on the default stream has ended when it returns.  What is put on another one
 * runs in order at cudaStreamSynchronize() or cudaDeviceSynchronize(): whatever should wait for it and is not on that
 * stream comes too early, always.  Arithmetic is that of the host's compiler, without contraction: __fmaf_rn and the
 * like round once, as on a GPU.
 */
#ifndef ATTEST_CUDA_HOST_RUNTIME_H
#define ATTEST_CUDA_HOST_RUNTIME_H

#include "machine.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <vector>

#define CUDA_HOST 1

#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

typedef cuda_host_index uint3;
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    operator cuda_host_index() const { return { x, y, z }; }
};

using std::max;
using std::min;

/* ---- threads ------------------------------------------------------------------------------------------------ */
#define threadIdx (cuda_host_now()->thread)
#define blockIdx (cuda_host_now()->block)
#define blockDim (cuda_host_now()->size)
#define gridDim (cuda_host_now()->grid)

#define CUDA_HOST_PLACE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define CUDA_HOST_ALL 0xffffffffu

inline void __syncthreads(CUDA_HOST_PLACE) { cuda_host_barrier({ file, line }); }

inline void __syncwarp(uint32_t mask = CUDA_HOST_ALL, CUDA_HOST_PLACE)
{
    cuda_host_meet(mask, "__syncwarp", cuda_host_nothing, nullptr, 0, nullptr, 0, { file, line });
}

inline unsigned cuda_host_lane() { return cuda_host_now()->rank % CUDA_HOST_LANES; }

template <class T> inline T cuda_host_take(uint32_t mask, T value, unsigned from, const char *what, cuda_host_place at)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle moves 4 or 8 bytes");
    cuda_host_shuffled mine = { 0, from };
    uint64_t taken = 0;
    memcpy(&mine.value, &value, sizeof value);
    cuda_host_meet(mask, what, cuda_host_shuffle, &mine, sizeof mine, &taken, sizeof taken, at);
    memcpy(&value, &taken, sizeof value);
    return value;
}

template <class T> inline T __shfl_sync(uint32_t mask, T value, int from, int width = 32, CUDA_HOST_PLACE)
{
    const unsigned w = static_cast<unsigned>(width), lane = cuda_host_lane(), base = lane / w * w;
    return cuda_host_take(mask, value, base + static_cast<unsigned>(from) % w, "__shfl_sync", { file, line });
}

template <class T> inline T __shfl_xor_sync(uint32_t mask, T value, int by, int width = 32, CUDA_HOST_PLACE)
{
    const unsigned w = static_cast<unsigned>(width), lane = cuda_host_lane(), to = lane ^ static_cast<unsigned>(by);
    return cuda_host_take(mask, value, to / w > lane / w ? lane : to, "__shfl_xor_sync", { file, line });
}

template <class T> inline T __shfl_down_sync(uint32_t mask, T value, unsigned by, int width = 32, CUDA_HOST_PLACE)
{
    const unsigned w = static_cast<unsigned>(width), lane = cuda_host_lane();
    return cuda_host_take(mask, value, lane % w + by < w ? lane + by : lane, "__shfl_down_sync", { file, line });
}

template <class T> inline T __shfl_up_sync(uint32_t mask, T value, unsigned by, int width = 32, CUDA_HOST_PLACE)
{
    const unsigned w = static_cast<unsigned>(width), lane = cuda_host_lane();
    return cuda_host_take(mask, value, lane % w >= by ? lane - by : lane, "__shfl_up_sync", { file, line });
}

inline uint32_t __ballot_sync(uint32_t mask, int predicate, CUDA_HOST_PLACE)
{
    const uint32_t mine = predicate != 0;
    uint32_t votes = 0;
    cuda_host_meet(mask, "__ballot_sync", cuda_host_ballot, &mine, sizeof mine, &votes, sizeof votes, { file, line });
    return votes;
}
inline int __any_sync(uint32_t mask, int predicate, CUDA_HOST_PLACE)
{
    return __ballot_sync(mask, predicate, file, line) != 0;
}
inline int __all_sync(uint32_t mask, int predicate, CUDA_HOST_PLACE)
{
    return __ballot_sync(mask, !predicate, file, line) == 0; // nobody against it
}

/* ---- arithmetic: one rounding a function --------------------------------------------------------------------- */
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline float __fdiv_rn(float a, float b) { return a / b; }

template <class To, class From> inline To cuda_host_bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
inline float __int_as_float(int bits) { return cuda_host_bits<float>(bits); }
inline int __float_as_int(float x) { return cuda_host_bits<int>(x); }
inline float __uint_as_float(unsigned bits) { return cuda_host_bits<float>(bits); }
inline unsigned __float_as_uint(float x) { return cuda_host_bits<unsigned>(x); }

/* ---- what translate.sed writes -------------------------------------------------------------------------------- */
/* An address that the line has for itself in every instance of a template. */
#define CUDA_HOST_HERE                                                                                                 \
    ([]() -> const void * {                                                                                            \
        static const char here = 0;                                                                                    \
        return &here;                                                                                                  \
    }())

/* Aligned as T and as `as`, a type. */
template <class T, class as> constexpr size_t cuda_host_alignment()
{
    static_assert(alignof(T) <= CUDA_HOST_ALIGNMENT && alignof(as) <= CUDA_HOST_ALIGNMENT, "a stricter alignment");
    return alignof(as) > alignof(T) ? alignof(as) : alignof(T);
}
template <class T, class as> inline T &cuda_host_array(const void *which, CUDA_HOST_PLACE)
{
    return *static_cast<T *>(cuda_host_shared(sizeof(T), cuda_host_alignment<T, as>(), which, { file, line }));
}
template <class T, class as> inline T *cuda_host_extern(CUDA_HOST_PLACE)
{
    return static_cast<T *>(cuda_host_dynamic(cuda_host_alignment<T, as>(), { file, line }));
}

typedef int cudaError_t;
/* What is put on a stream and has not run yet. */
struct cuda_host_stream {
    std::deque<std::function<void()>> waits;
};
typedef cuda_host_stream *cudaStream_t;
enum {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorLaunchFailure = 719,
    cudaErrorNotSupported = 801
};

/* The thread's error that nobody has asked for yet; its line if the launch did not end with one of its own. */
struct cuda_host_error {
    cudaError_t code;
    const char *line;
};
inline cuda_host_error &cuda_host_last()
{
    static thread_local cuda_host_error last = { cudaSuccess, nullptr };
    return last;
}

/* cudaFuncAttributeMaxDynamicSharedMemorySize of a kernel, -1: nobody set it. */
template <class... P> inline int &cuda_host_allowed(void (*kernel)(P...))
{
    struct allowance {
        void (*kernel)(P...);
        int bytes;
    };
    static thread_local std::deque<allowance> all;
    for (allowance &a : all)
        if (a.kernel == kernel)
            return a.bytes;
    all.push_back({ kernel, -1 });
    return all.back().bytes;
}

/* Does it now on the default stream, later on another. */
inline void cuda_host_put(cudaStream_t stream, const std::function<void()> &act)
{
    if (stream)
        stream->waits.push_back(act);
    else
        act();
}

template <class... P> struct cuda_host_launcher {
    void (*kernel)(P...);
    dim3 grid, size;
    size_t dynamic;
    cudaStream_t stream;
    void operator()(P... argument) const
    {
        const cuda_host_launcher launch = *this;
        const int allowed = cuda_host_allowed(kernel);
        const int error = cuda_host_configure(grid, size, dynamic, allowed);
        if (error != cudaSuccess)
            cuda_host_last() = { error, nullptr };
        else
            cuda_host_put(stream, [=] { launch.run(allowed, argument...); });
    }
    void run(int allowed, P... argument) const
    {
        auto thread = [&] { kernel(argument...); };
        const int error = cuda_host_launch(
            grid, size, dynamic, allowed, [](void *body) { (*static_cast<decltype(thread) *>(body))(); }, &thread);
        if (error != cudaSuccess)
            cuda_host_last() = { error, nullptr };
    }
};
template <class... P>
inline cuda_host_launcher<P...> cuda_host_start(void (*kernel)(P...), dim3 grid, dim3 size, size_t dynamic = 0,
                                                cudaStream_t stream = nullptr)
{
    return { kernel, grid, size, dynamic, stream };
}

/* ---- the runtime ------------------------------------------------------------------------------------------------ */
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 };
enum { cudaStreamNonBlocking = 1 };
enum { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
struct cudaDeviceProp {
    char name[256];
    int major, minor;
};

inline cudaError_t cuda_host_told(const char *wrong)
{
    if (wrong)
        cuda_host_last().line = wrong;
    return wrong ? cudaErrorLaunchFailure : cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int *count) { return *count = 1, cudaSuccess; }
inline cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
    const char *gpu = cuda_host_gpu();
    *p = {};
    snprintf(p->name, sizeof p->name, "cuda-host: fibres on the CPU, tensor cores of %s", gpu ? gpu : "no GPU");
    return cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int *version) { return *version = 0, cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int *version) { return *version = 0, cudaSuccess; }
inline cudaError_t cudaMalloc(void **pointer, size_t size)
{
    return (*pointer = cuda_host_allocate(size)) ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind)
{
    return memcpy(to, from, size), cudaSuccess;
}
inline cudaError_t cudaMemset(void *to, int byte, size_t size) { return memset(to, byte, size), cudaSuccess; }
inline cudaError_t cudaGetLastError()
{
    const cudaError_t code = cuda_host_last().code;
    cuda_host_last().code = cudaSuccess;
    return code;
}
/* The thread's streams, which last as long as it does. */
inline std::deque<cuda_host_stream> &cuda_host_streams()
{
    static thread_local std::deque<cuda_host_stream> streams;
    return streams;
}
/* Others than cudaStreamNonBlocking wait for the default stream, which this machine does not do. */
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    if (flags != cudaStreamNonBlocking)
        return cudaErrorNotSupported;
    cuda_host_streams().emplace_back();
    return *stream = &cuda_host_streams().back(), cudaSuccess;
}
inline void cuda_host_run(cuda_host_stream &stream)
{
    for (; !stream.waits.empty(); stream.waits.pop_front())
        stream.waits.front()();
}
inline void cuda_host_run_all()
{
    for (cuda_host_stream &stream : cuda_host_streams())
        cuda_host_run(stream);
}
/* As CUDA does it with pageable memory: the host's bytes are taken before it returns, and are there when it returns. */
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream)
{
    const char *bytes = static_cast<const char *>(from);
    if (kind == cudaMemcpyDeviceToHost && stream)
        cuda_host_run(*stream);
    if (kind == cudaMemcpyHostToDevice) {
        const std::vector<char> taken(bytes, bytes + size);
        cuda_host_put(stream, [=] { memcpy(to, taken.data(), size); });
    } else {
        cuda_host_put(kind == cudaMemcpyDeviceToHost ? nullptr : stream, [=] { memcpy(to, from, size); });
    }
    return cudaSuccess;
}
inline cudaError_t cudaFree(void *pointer)
{
    cuda_host_run_all(); // it waits for the device
    return cuda_host_told(cuda_host_release(pointer));
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (stream)
        cuda_host_run(*stream);
    return cuda_host_last().code;
}
inline cudaError_t cudaDeviceSynchronize()
{
    cuda_host_run_all();
    const cudaError_t code = cudaGetLastError();
    return code != cudaSuccess ? code : cuda_host_told(cuda_host_canaries());
}
inline const char *cudaGetErrorString(cudaError_t code)
{
    const char *line = cuda_host_last().line;
    return code == cudaSuccess ? "no error" : line ? line : cuda_host_line();
}
template <class... P> inline cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), int attribute, int value)
{
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return cudaSuccess;
    if (value < 0 || value > cuda_host_shared_most()) {
        cuda_host_last() = { cudaErrorInvalidValue,
                             "cudaFuncSetAttribute(): no GPU of this kind has so much shared memory" };
        return cudaErrorInvalidValue;
    }
    cuda_host_allowed(kernel) = value;
    return cudaSuccess;
}

#endif
