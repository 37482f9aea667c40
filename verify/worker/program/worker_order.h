/* worker_order.h - the order of threads on cuda-host during one request.
 *
 * The machine of kernels/cuda/host, which is part of the library, reads it from the environment at each launch.
 */
#ifndef ATTEST_WORKER_ORDER_H
#define ATTEST_WORKER_ORDER_H

#include <stdlib.h>

#include "verify/worker/worker_protocol.h"

static inline void order_begin(const attest_packet_request *request)
{
    if (request->order[0])
        setenv(ATTEST_WORKER_ORDER, request->order, 1);
}

/* Who sends an order has seen that there is none in the environment. */
static inline void order_end(const attest_packet_request *request)
{
    if (request->order[0])
        unsetenv(ATTEST_WORKER_ORDER);
}

#endif
