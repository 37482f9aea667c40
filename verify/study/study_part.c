/* study_part.c - see study_part.h. */
#include "verify/study/study_part.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

attest_status study_path(char path[4096], const char *dir, const attest_study *study, const char *suffix,
                         attest_error *err)
{
    if (snprintf(path, 4096, "%s/study-%s.%s", dir, study->name, suffix) >= 4096)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: the path is too long", dir);
    return ATTEST_OK;
}

/* The kernel of a result: its number, or run->kernels. */
static size_t kernel_of(const study_run *run, const attest_result *r)
{
    if (run->plan.kernel_count == 0)
        return 0;
    size_t k = 0;
    while (k < run->kernels && strcmp(run->plan.kernel[k].name, r->kernel) != 0)
        k++;
    return k;
}

static attest_status take_over(study_run *run, attest_results *old, const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result r;
    for (size_t i = 0; i < old->count; i++) {
        ATTEST_TRY(attest_results_get(&r, old, i, err));
        if (strcmp(r.suite_hash, run->hash) != 0)
            return attest_fail(err, ATTEST_BAD_INPUT, "--resume: %s is of a run with other values, kernels or rounds",
                               path);
        const size_t k = kernel_of(run, &r);
        const size_t number = (size_t)r.point;
        if (r.point < 0 || number >= run->grid.count || k >= run->kernels || run->slot[k * run->grid.count + number])
            continue;
        ATTEST_TRY(study_add(run, k, &run->grid.point[number], &r, err));
        run->end->kept++;
    }
out:
    return status;
}

attest_status study_part_open(study_run *run, attest_error *err)
{
    const attest_study_request *q = run->request;
    attest_status status = ATTEST_OK;
    attest_results old[2] = { { 0 }, { 0 } };
    char path[4096], before[4096];
    ATTEST_TRY(study_path(path, q->out, q->study, "part", err));
    ATTEST_TRY(study_path(before, q->out, q->study, "part.before", err)); /* of a resumed run that was killed at once */
    if (!q->resume) {
        unlink(before);
        return attest_results_create(run->results, path, err);
    }
    if (access(path, F_OK) != 0 && access(before, F_OK) != 0)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "--resume: there is no %s: no such study of %s was ended before its end", path, q->out);
    if (access(before, F_OK) == 0)
        ATTEST_TRY(attest_results_open_part(&old[0], before, err));
    if (access(path, F_OK) == 0)
        ATTEST_TRY(attest_results_open_part(&old[1], path, err));
    if (!old[0].files && rename(path, before) != 0)
        ATTEST_TRY(attest_fail(err, attest_of_errno(ATTEST_IO), "%s: %s", path, strerror(errno)));
    ATTEST_TRY(attest_results_create(run->results, path, err));
    ATTEST_TRY(take_over(run, &old[0], path, err));
    ATTEST_TRY(take_over(run, &old[1], path, err));
    unlink(before);
out:
    attest_results_clear(&old[0]);
    attest_results_clear(&old[1]);
    return status;
}
