/* plan.c - see plan.h; and what a run of a plan takes (gate.h, gate_private.h). */
#include "verify/gate/plan.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/door/door.h"
#include "verify/base/base.h"
#include "verify/gate/gate_private.h"
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

static void see(attest_file_seen *file, const char *path)
{
    attest_file_see(file, path);
    attest_file_hash(file->hash, path);
}

static attest_status add_kernels(attest_plan *plan, size_t library, const attest_worker *worker,
                                 attest_plan_wanted *wanted, const void *context, attest_error *err)
{
    const size_t count = attest_worker_kernel_count(worker);
    attest_status status = ATTEST_OK;
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
        if (!wanted(context, &to->facts))
            continue;
        plan->kernel_count++;
        ATTEST_TRY(attest_name_fits(subject.library, to->facts.name, err));
        ATTEST_TRY(attest_device_settings(to->facts.device_type, err));
    }
out:
    return status;
}

attest_status attest_plan_make(attest_plan *plan, const char *const *libraries, size_t count,
                               attest_plan_wanted *wanted, const void *context, double timeout_s, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_worker *worker = NULL;
    char *path = NULL;
    unsigned long long limit;
    if (attest_worker_room(count, &limit) < 1) /* later it would look like a kernel's fault */
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "the limit of open files, %llu (ulimit -n), is too small for workers of %zu %s: %zu are "
                           "needed",
                           limit, count, count == 1 ? "library" : "libraries", attest_worker_files(count));
    *plan = (attest_plan){ .library = calloc(count + 1, sizeof *plan->library), .library_count = count };
    if (!plan->library)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu libraries", count);
    ATTEST_TRY(attest_worker_path(&path, err)); /* without it no library is at fault */
    for (size_t l = 0; l < count; l++) {
        plan->library[l].path = libraries[l];
        ATTEST_TRY(attest_name_fits(libraries[l], NULL, err));
        if (!libraries[l] || !attest_door_is(libraries[l]))
            see(&plan->library[l].file, libraries[l] ? libraries[l] : path);
        else
            attest_command_hash(plan->library[l].file.hash, libraries[l] + strlen(ATTEST_DOOR_PREFIX));
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

/* ---- none -------------------------------------------------------------------------------------------------------- */
static int any(const void *context, const attest_kernel_facts *kernel)
{
    (void)context, (void)kernel;
    return 1;
}

/* Letters to add, drop or change that make one word of the other (Levenshtein); of long words more than they have. */
static size_t distance(const char *a, const char *b)
{
    enum { MOST = 128 };
    size_t row[MOST + 1];
    const size_t n = strlen(b);
    if (n > MOST)
        return SIZE_MAX;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; *a; a++, i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            const size_t change = corner + (*a != b[j - 1]), least = row[j] < row[j - 1] ? row[j] : row[j - 1];
            corner = row[j];
            row[j] = change < least + 1 ? change : least + 1;
        }
    }
    return row[n];
}

/* The kernel whose name is next to the word, if a third of its letters or fewer are others; NULL: none. */
static const char *next_to(const attest_plan *all, const char *word)
{
    const char *found = NULL;
    size_t least = strlen(word) / 3 + 1;
    for (size_t k = 0; k < all->kernel_count; k++) {
        const size_t far = distance(word, all->kernel[k].facts.name);
        found = far < least ? all->kernel[k].facts.name : found;
        least = far < least ? far : least;
    }
    return found;
}

/* `a, b, .. and 3 more`: as many as have room. */
static void list_kernels(char *text, size_t len, const attest_plan *all)
{
    size_t at = 0, k = 0;
    *text = '\0';
    for (; k < all->kernel_count && at + strlen(all->kernel[k].facts.name) + 32 < len; k++)
        at += (size_t)snprintf(text + at, len - at, "%s%s", k ? ", " : "", all->kernel[k].facts.name);
    if (k < all->kernel_count)
        snprintf(text + at, len - at, " and %zu more", all->kernel_count - k);
}

attest_status attest_plan_no_kernel(const attest_plan *plan, const char *glob, double timeout_s, attest_error *err)
{
    const char *word = glob ? glob : "*", *path = plan->library[0].path, *near;
    attest_status status = ATTEST_OK;
    attest_plan all = { .library = NULL };
    char names[400];
    if (strchr(word, '/') || strstr(word, ".so"))
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "no kernel matches '%.200s': this is a name or a glob of names, a library goes to --library "
                           "(`attest gate`) or is the target (`attest audit`)",
                           word);
    ATTEST_TRY(attest_plan_make(&all, &path, 1, any, NULL, timeout_s, err));
    list_kernels(names, sizeof names, &all);
    if (path)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "no kernel of %.200s matches '%.200s': it has %s", path, word,
                               *names ? names : "none"));
    near = next_to(&all, word);
    status = attest_fail(err, ATTEST_BAD_INPUT, "no kernel matches '%.200s'%s%s%s (`attest list kernels`)", word,
                         near ? ": did you mean " : "", near ? near : "", near ? "?" : "");
out:
    attest_plan_clear(&all);
    return status;
}

/* ---- as if it declared more -------------------------------------------------------------------------------------- */
/* The kernels that a worker has are those of the plan. */
static attest_status check_kernels(attest_worker *worker, const attest_plan *plan, size_t library, attest_error *err)
{
    const attest_plan_library *l = &plan->library[library];
    attest_status status = ATTEST_OK;
    int same = attest_worker_kernel_count(worker) == l->kernels;
    ATTEST_TRY(attest_worker_expect(worker, &l->file, err));
    for (size_t k = 0; same && k < plan->kernel_count; k++)
        if (plan->kernel[k].library == library)
            same = strcmp(attest_worker_kernel(worker, plan->kernel[k].index)->name, plan->kernel[k].facts.name) == 0;
    if (!same)
        status = attest_fail(err, ATTEST_IO, "%s: other kernels than when it was first loaded",
                             l->path ? l->path : "built-in kernels");
out:
    return status;
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

/* ---- what a run of it takes -------------------------------------------------------------------------------------- */
long attest_gate_threads(const attest_gate *gate)
{
#ifdef _OPENMP
    unsigned long long limit;
    const long wanted = gate->options->jobs > 0 ? gate->options->jobs : omp_get_num_procs(),
               room = attest_worker_room(gate->plan->library_count, &limit);
    return wanted < room || room < 1 ? wanted : room;
#else
    (void)gate;
    return 1;
#endif
}

attest_status attest_gate_memory(uint64_t *bytes, size_t *largest, const attest_gate *gate, attest_error *err)
{
    enum { MOST = 64 };
    const size_t threads = (size_t)(attest_gate_threads(gate) < MOST ? attest_gate_threads(gate) : MOST);
    const uint64_t total = attest_memory_total();
    uint64_t top[MOST] = { 0 }; /* [threads], falling */
    attest_case c;
    *bytes = *largest = 0;
    for (size_t i = 0; i < gate->suite->case_count; i++) {
        uint64_t size;
        attest_suite_case(&c, gate->suite, i);
        const attest_status status = attest_case_memory(&size, &c.problem, err);
        if (status != ATTEST_OK)
            return attest_fail_prefix(err, status, attest_suite_line(gate->suite, i));
        if (size > total)
            continue;
        *largest = size > top[0] ? i : *largest;
        for (size_t t = 0; t < threads; t++)
            if (size > top[t]) {
                const uint64_t smaller = top[t];
                top[t] = size;
                size = smaller;
            }
    }
    for (size_t t = 0; t < threads; t++)
        *bytes += top[t];
    return ATTEST_OK;
}

int attest_gate_reaches(const attest_gate *gate, uint32_t device)
{
    int found = 0;
    for (size_t k = 0; k < gate->plan->kernel_count && !found; k++) {
        const attest_plan_kernel *kernel = &gate->plan->kernel[k];
        attest_worker *worker = NULL;
        attest_error why;
        char text[256];
        if (kernel->facts.device_type != device ||
            attest_plan_start(&worker, gate->plan, kernel->library, gate->options->timeout, &why) != ATTEST_OK)
            continue;
        for (size_t i = 0; i < gate->suite->case_count && !found; i++) {
            attest_case c;
            attest_suite_case(&c, gate->suite, i);
            found = attest_worker_supports(worker, kernel->index, &c.problem, text, sizeof text) > 0;
        }
        attest_worker_free(worker);
    }
    return found;
}
