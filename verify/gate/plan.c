/* plan.c - see plan.h. */
#include "verify/gate/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/door/door.h"
#include "verify/base/base.h"
#include "verify/gate/runner.h"

/* What ended a worker on its way may have come from outside: once more.  Not a program that let its time go by without
 * a first line: it would take it twice. */
static attest_status start_twice(attest_worker **worker, const char *path, double timeout_s, attest_error *err)
{
    const double start = attest_now_seconds();
    const attest_status status = attest_worker_start(worker, path, timeout_s, err);
    const int late = path && attest_door_is(path) && attest_now_seconds() - start >= timeout_s;
    return status == ATTEST_IO && !late ? attest_worker_start(worker, path, timeout_s, err) : status;
}

static attest_status add_kernels(attest_plan *plan, size_t library, const attest_worker *worker,
                                 attest_plan_wanted *wanted, const void *context, attest_error *err)
{
    const size_t count = attest_worker_kernel_count(worker);
    attest_plan_kernel *grown = realloc(plan->kernel, (plan->kernel_count + count + 1) * sizeof *grown);
    if (!grown)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu kernels", plan->kernel_count + count);
    plan->kernel = grown;
    plan->library[library].kernels = count;
    for (size_t k = 0; k < count; k++) {
        attest_plan_kernel *to = &plan->kernel[plan->kernel_count];
        *to = (attest_plan_kernel){ .library = library, .index = k, .facts = *attest_worker_kernel(worker, k) };
        const attest_subject subject = { .facts = &to->facts, .library = plan->library[library].path };
        attest_subject_name(to->name, sizeof to->name, &subject);
        plan->kernel_count += wanted(context, &to->facts) != 0;
    }
    return ATTEST_OK;
}

attest_status attest_plan_make(attest_plan *plan, const char *const *libraries, size_t count,
                               attest_plan_wanted *wanted, const void *context, double timeout_s, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_worker *worker = NULL;
    char *path = NULL;
    *plan = (attest_plan){ .library = calloc(count + 1, sizeof *plan->library), .library_count = count };
    if (!plan->library)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu libraries", count);
    ATTEST_TRY(attest_worker_path(&path, err)); /* without it no library is at fault */
    for (size_t l = 0; l < count; l++) {
        plan->library[l].path = libraries[l];
        ATTEST_TRY(attest_library_hash(plan->library[l].file_hash, libraries[l], err));
        status = start_twice(&worker, libraries[l], timeout_s, err);
        if (status == ATTEST_NO_MEMORY || !libraries[l] || (status == ATTEST_BAD_INPUT && count == 1))
            ATTEST_TRY(status);
        if (status != ATTEST_OK)
            snprintf(plan->library[l].failed, sizeof plan->library[l].failed, "%.500s", err->text);
        else
            ATTEST_TRY(add_kernels(plan, l, worker, wanted, context, err));
        status = ATTEST_OK;
        attest_worker_free(worker);
        worker = NULL;
    }
out:
    free(path);
    attest_worker_free(worker);
    if (status != ATTEST_OK)
        attest_plan_clear(plan);
    return status;
}

void attest_plan_clear(attest_plan *plan)
{
    free(plan->library);
    free(plan->kernel);
    *plan = (attest_plan){ .library = NULL };
}

/* The kernels that a worker has are those of the plan. */
static attest_status check_kernels(const attest_worker *worker, const attest_plan *plan, size_t library,
                                   attest_error *err)
{
    const attest_plan_library *l = &plan->library[library];
    int same = attest_worker_kernel_count(worker) == l->kernels;
    for (size_t k = 0; same && k < plan->kernel_count; k++)
        if (plan->kernel[k].library == library)
            same = strcmp(attest_worker_kernel(worker, plan->kernel[k].index)->name, plan->kernel[k].facts.name) == 0;
    return same ? ATTEST_OK
                : attest_fail(err, ATTEST_IO, "%s: other kernels than when it was first loaded",
                              l->path ? l->path : "built-in kernels");
}

attest_status attest_plan_assume(attest_plan *plan, size_t k, const char *words, attest_error *err)
{
    attest_plan_kernel *kernel = &plan->kernel[k];
    attest_status status = ATTEST_OK;
    const size_t held = strlen(kernel->declare);
    if (held + 1 + strlen(words) >= sizeof kernel->declare)
        return attest_fail(err, ATTEST_BAD_INPUT, "a declaration has at most %zu bytes", sizeof kernel->declare - 1);
    ATTEST_TRY(attest_facts_assume(&kernel->facts, words, err));
    snprintf(kernel->declare + held, sizeof kernel->declare - held, "%s%s", held ? " " : "", words);
out:
    return status;
}

/* The words were taken once, when they were given. */
static attest_status assume(attest_worker *worker, const attest_plan *plan, size_t library, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (size_t k = 0; k < plan->kernel_count; k++)
        if (plan->kernel[k].library == library && *plan->kernel[k].declare)
            ATTEST_TRY(attest_worker_assume(worker, plan->kernel[k].index, plan->kernel[k].declare, err));
out:
    return status;
}

attest_status attest_plan_start(attest_worker **worker, const attest_plan *plan, size_t library, double timeout_s,
                                attest_error *err)
{
    attest_status status = start_twice(worker, plan->library[library].path, timeout_s, err);
    if (status == ATTEST_OK)
        status = check_kernels(*worker, plan, library, err);
    if (status == ATTEST_OK)
        status = assume(*worker, plan, library, err);
    if (status == ATTEST_OK || status == ATTEST_NO_MEMORY)
        return status;
    attest_worker_free(*worker);
    *worker = NULL;
    return ATTEST_IO;
}
