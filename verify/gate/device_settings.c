/* device_settings.c - what the environment says to the machine of cuda-host; see plan.h. */
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/host/order.h"
#include "kernels/model/mma.h"
#include "verify/gate/plan.h"

attest_status attest_device_settings(uint32_t device, attest_error *err)
{
    const char *gpu = getenv("ATTEST_CUDA_HOST_GPU"), *order = getenv("ATTEST_CUDA_HOST_ORDER");
    launch_order read;
    if (device != ATTEST_CUDA_HOST)
        return ATTEST_OK;
    if (gpu && !mma_core_of(gpu) && strcmp(gpu, "exact") != 0)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "ATTEST_CUDA_HOST_GPU=%.80s in the environment: v100, a100, a2, ada, l40s, h100, h200, b200 "
                           "or exact",
                           gpu);
    if (!launch_order_read(&read, order))
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "ATTEST_CUDA_HOST_ORDER=%.80s in the environment: forward, reverse, greedy, greedy-reverse "
                           "or random:SEED",
                           order);
    return ATTEST_OK;
}
