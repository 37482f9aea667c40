// events.cu - times on the device, for cuda-run --times: events around a launch, and what empties the caches.
//
// A library of its own, beside the one with the kernels: both use the default stream.  On the CPU (host/) a launch has
// ended when it returns: there the time is the clock's, and nothing is emptied.
#include <cuda_runtime.h>

#define EVENTS_API extern "C" __attribute__((visibility("default")))

#ifdef CUDA_HOST
#include <chrono>

namespace
{
std::chrono::steady_clock::time_point begun;
}

EVENTS_API const char *events_clock() { return "clock of the CPU"; }
EVENTS_API int events_begin() { return begun = std::chrono::steady_clock::now(), 0; }
EVENTS_API double events_end()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}
EVENTS_API int events_flush() { return 0; }
#else
namespace
{
constexpr size_t more_than_caches = 256u << 20; // bytes; an H100 has 50 MiB of L2, a B200 126
cudaEvent_t from, to;
void *much;
} // namespace

EVENTS_API const char *events_clock() { return "CUDA events"; }

// 0, or the cudaError_t.
EVENTS_API int events_begin()
{
    cudaError_t error = from ? cudaSuccess : cudaEventCreate(&from);
    if (error == cudaSuccess && !to)
        error = cudaEventCreate(&to);
    return error == cudaSuccess ? cudaEventRecord(from, nullptr) : error;
}

// Seconds since events_begin(); negative: failed.
EVENTS_API double events_end()
{
    float milliseconds;
    if (cudaEventRecord(to, nullptr) != cudaSuccess || cudaEventSynchronize(to) != cudaSuccess ||
        cudaEventElapsedTime(&milliseconds, from, to) != cudaSuccess)
        return -1;
    return milliseconds * 1e-3;
}

// Writes more than the caches hold.
EVENTS_API int events_flush()
{
    cudaError_t error = much ? cudaSuccess : cudaMalloc(&much, more_than_caches);
    if (error == cudaSuccess)
        error = cudaMemset(much, 1, more_than_caches);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}
#endif
