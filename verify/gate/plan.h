/* plan.h - the kernels of a run: each library is loaded once, and what it says of its kernels is kept.
 *
 * A library that cannot be loaded, or whose worker dies or hangs on the way, is told in the plan and costs nobody else
 * anything.
 */
#ifndef ATTEST_PLAN_H
#define ATTEST_PLAN_H

#include "verify/base/base.h"
#include "verify/worker/worker.h"

typedef struct attest_plan_library {
    const char *path;      /* borrowed; NULL: the built-in kernels */
    attest_file_seen file; /* with its hash; of the built-in kernels attest-worker */
    size_t kernels;        /* it has, wanted or not */
    char failed[512];      /* why it cannot be loaded; "": it can */
} attest_plan_library;

typedef struct attest_plan_kernel {
    size_t library, index; /* number of the library, and in it */
    attest_kernel_facts facts;
    char name[512];                   /* as in results */
    char declare[ATTEST_DECLARATION]; /* what it is taken to declare besides; "": nothing */
} attest_plan_kernel;

typedef struct attest_plan {
    attest_plan_library *library;
    attest_plan_kernel *kernel; /* those that are wanted, library by library */
    size_t library_count, kernel_count;
} attest_plan;

/* What is wanted: every kernel for which `wanted` is 1. */
typedef int attest_plan_wanted(const void *context, const attest_kernel_facts *kernel);

/* ATTEST_BAD_INPUT: a kernel of this device (attest_device) would run under a setting in the environment that the
 * machine of cuda-host does not know: ATTEST_CUDA_HOST_GPU, ATTEST_CUDA_HOST_ORDER (kernels/cuda/host/machine.h). */
attest_status attest_device_settings(uint32_t device, attest_error *err);

/* ATTEST_BAD_INPUT: too few files may be open (attest_worker_room()); the only library is none, a kernel's name is too
 * long (attest_name_fits()), or attest_device_settings() of one that is wanted.  Other statuses: the built-in kernels
 * cannot be had. */
attest_status attest_plan_make(attest_plan *plan, const char *const *libraries, size_t count,
                               attest_plan_wanted *wanted, const void *context, double timeout_s, attest_error *err);
void attest_plan_clear(attest_plan *plan);

/* No kernel of the plan's libraries matches `glob` (NULL: any): ATTEST_BAD_INPUT with which there are in a library,
 * which built-in one may be meant, or that a library is no kernel.  Other statuses: they cannot be asked. */
attest_status attest_plan_no_kernel(const attest_plan *plan, const char *glob, double timeout_s, attest_error *err);

/* Kernel k of the plan is judged as if it declared these words besides (attest_facts_assume()), and those given before:
 * no key twice. */
attest_status attest_plan_assume(attest_plan *plan, size_t k, const char *words, attest_error *err);

/* A worker on a library, whose kernels must be those of the plan; tried twice.  ATTEST_IO if that fails. */
attest_status attest_plan_start(attest_worker **worker, const attest_plan *plan, size_t library, double timeout_s,
                                attest_error *err);

#endif
