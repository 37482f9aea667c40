/* call.h - asks one kernel of a loaded library: builds the attest_call that each of its functions gets.
 */
#ifndef ATTEST_CALL_H
#define ATTEST_CALL_H

#include "kernels/tensor/tensor.h"

/* A kernel, ready to be asked. */
typedef struct attest_loaded {
    const attest_kernel *kernel; /* whole, in this host's layout */
    const attest_kernel *self;   /* where its library has it, maybe in another layout: for calls, never read here */
    void *context;               /* of its library's open() */
    void *stream;                /* what run() works on; NULL: the device's default one */
} attest_loaded;

/* A kernel that was compiled with this host. */
static inline attest_loaded attest_own(const attest_kernel *kernel)
{
    return (attest_loaded){ .kernel = kernel, .self = kernel };
}

/* 1 if the sizes are inside the kernel's limits and its supports() says so; else 0 with the reason, never empty. */
int attest_kernel_supports(attest_loaded k, const attest_problem *p, char *why, size_t len);

/* Bytes of workspace. */
size_t attest_kernel_workspace(attest_loaded k, const attest_problem *p);

/* What numerics_of() says; NULL without it. */
const attest_numerics *attest_kernel_numerics(attest_loaded k, const attest_problem *p);

/* run() on the stream of `k`.  `why` (or NULL with len 0) gets its words. */
attest_status attest_kernel_run(attest_loaded k, const attest_problem *p, const attest_view *view, void *workspace,
                                size_t workspace_size, char *why, size_t len);

#endif
