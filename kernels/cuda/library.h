/* library.h - what the libraries of this folder share on the host's side: memory, tensors, launches, descriptors.
 *
 * A .cu compiles by nvcc, for a GPU, or by a C++ compiler alone, for the CPU (host/cuda_runtime.h, which defines
 * CUDA_HOST): the same source, and results that say which of the two it was.
 */
#ifndef ATTEST_CUDA_LIBRARY_H
#define ATTEST_CUDA_LIBRARY_H

#include "attest.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cuda_runtime.h>
#include <thread>

namespace cuda_library
{

#ifdef CUDA_HOST
constexpr uint32_t device = ATTEST_CUDA_HOST;
constexpr const char *built = "C++ on the CPU: threads as fibres, tensor cores by their model";
#else
constexpr uint32_t device = ATTEST_CUDA;
constexpr const char *built = "nvcc -O2";
#endif

/* A tensor of T by strides, as a kernel sees it; data is nullptr for an output that nobody wants. */
template <class T> struct view {
    T *data;
    int64_t stride[4];
    __device__ int64_t at(int64_t b, int64_t h, int64_t i, int64_t c) const
    {
        return b * stride[0] + h * stride[1] + i * stride[2] + c * stride[3];
    }
    __device__ T *row(int64_t b, int64_t h, int64_t i) const { return data + at(b, h, i, 0); }
    /* Of an output: nothing where nobody wants it. */
    __device__ void put(int64_t b, int64_t h, int64_t i, int64_t c, T x) const
    {
        if (data)
            data[at(b, h, i, c)] = x;
    }
};

template <class T> inline view<T> view_of(const attest_tensor *t)
{
    view<T> v = {};
    if (t) {
        v.data = static_cast<T *>(t->data);
        for (int c = 0; c < 4; c++)
            v.stride[c] = t->stride[c];
    }
    return v;
}

inline attest_status status_of(cudaError_t error)
{
    if (error != cudaSuccess)
        (void)cudaGetLastError(); // it is told here: the next launch must not find it
    switch (error) {
    case cudaSuccess: return ATTEST_OK;
    case cudaErrorMemoryAllocation: return ATTEST_NO_MEMORY;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver: return ATTEST_NO_DEVICE;
    default: return ATTEST_KERNEL_ERROR;
    }
}

/* 1 if there is a GPU, or what stands for one. */
inline int present()
{
    int devices = 0;
    return status_of(cudaGetDeviceCount(&devices)) == ATTEST_OK && devices > 0;
}

/* Before a launch: `kernel` may have so many bytes of dynamic shared memory, more than 48 KiB too. */
template <class... P> inline attest_status allow(const attest_call *call, void (*kernel)(P...), size_t bytes)
{
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                   static_cast<int>(bytes));
    if (error != cudaSuccess)
        attest_refuse(call, cudaGetErrorString(error));
    return status_of(error);
}

inline cudaStream_t stream_of(const attest_call *call) { return static_cast<cudaStream_t>(call->stream); }

/* After a launch: its status, with the reason of a failure in call->why. */
inline attest_status launched(const attest_call *call)
{
    const cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        return ATTEST_OK;
    attest_refuse(call, cudaGetErrorString(error));
    return ATTEST_KERNEL_ERROR;
}

/* ---- attest_memory ------------------------------------------------------------------------------------------- */
inline attest_status allocate(void *, void **pointer, size_t bytes)
{
    *pointer = nullptr;
    return status_of(cudaMalloc(pointer, bytes > 0 ? bytes : 1));
}

inline void release(void *, void *pointer) { cudaFree(pointer); }

inline attest_status to_device(void *, void *device, const void *host, size_t bytes)
{
    return status_of(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
}

inline attest_status to_host(void *, void *host, const void *device, size_t bytes)
{
    return status_of(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
}

inline attest_status fill(void *, void *device, int byte, size_t bytes)
{
    return status_of(cudaMemset(device, byte, bytes));
}

/* Standard error says what failed: a status has no words. */
inline attest_status sync(void *)
{
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        fprintf(stderr, "cudaDeviceSynchronize: %s\n", cudaGetErrorString(error));
    return status_of(error);
}

/* What is on the second stream begins 2 ms after the last copy was put there: long enough for what is put on another
 * stream meanwhile.  On the CPU all that is on a stream waits for sync(). */
#ifdef CUDA_HOST
inline cudaError_t keep_busy(cudaStream_t) { return cudaSuccess; }
inline void move_begin() {}
#else
inline std::atomic<int64_t> begin_ns{ 0 }; // of the steady clock
inline int64_t now_ns()
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}
inline void move_begin() { begin_ns = now_ns() + 2000000; }
inline void wait_for_begin(void *)
{
    while (now_ns() < begin_ns)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
}
inline cudaError_t keep_busy(cudaStream_t stream) { return cudaLaunchHostFunc(stream, wait_for_begin, nullptr); }
#endif

inline attest_status copy_later(void *, void **stream, void *to, const void *from, size_t bytes)
{
    static thread_local cudaStream_t other = nullptr;
    cudaError_t error = cudaSuccess;
    move_begin();
    if (!*stream) {
        if (!other)
            error = cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
        if (error == cudaSuccess)
            error = keep_busy(other);
        if (error != cudaSuccess)
            return status_of(error);
        *stream = other;
    }
    error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(*stream));
    move_begin();
    return status_of(error);
}

inline attest_status describe(void *, char *text, size_t len)
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
    if (driver == 0) /* the CPU */
        snprintf(text, len, "%s", properties.name);
    else
        snprintf(text, len, "%s (compute %d.%d), driver for CUDA %d.%d, runtime %d.%d", properties.name,
                 properties.major, properties.minor, driver / 1000, driver % 1000 / 10, runtime / 1000,
                 runtime % 1000 / 10);
    return ATTEST_OK;
}

inline attest_memory memory()
{
    attest_memory m = attest_memory_init();
    m.device = device;
    m.alloc = allocate;
    m.free = release;
    m.to_device = to_device;
    m.to_host = to_host;
    m.fill = fill;
    m.sync = sync;
    m.describe = describe;
    m.copy_later = copy_later;
    return m;
}

/* ---- descriptors --------------------------------------------------------------------------------------------- */
/* A kernel that gives o, and the same bits every time; the caller adds form, words, supports and run, and what else it
 * gives. */
inline attest_kernel kernel_of(const char *name, const char *source, const attest_numerics *numerics,
                               const attest_limits *limits)
{
    attest_kernel k = attest_kernel_init();
    k.device = device;
    k.flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT;
    k.outputs = ATTEST_GIVES_O;
    k.name = name;
    k.version = "1";
    k.source = source;
    k.numerics = numerics;
    k.limits = limits;
    return k;
}

/* d and e at most; 0 = no limit. */
inline attest_limits widths(int64_t d, int64_t e)
{
    attest_limits l = attest_limits_init();
    l.d.most = d;
    l.e.most = e;
    return l;
}

/* The library of these kernels: a source calls it once, with a name and an array that last. */
template <uint32_t count>
inline const attest_library *library(const char *name, const attest_kernel *const (&kernels)[count])
{
    static const attest_memory shared = memory();
    static const attest_library made = [&] {
        attest_library l = attest_library_init();
        l.abi_version = ATTEST_ABI_VERSION;
        l.name = name;
        l.build_flags = built;
        l.kernels = kernels;
        l.kernel_count = count;
        l.memory = &shared;
        return l;
    }();
    return &made;
}

} // namespace cuda_library

#endif
