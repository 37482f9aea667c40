/* property_truth.c - the first statement of all: every element of every output is within its bound of the truth. */
#include "props/properties/property_list.h"

#include "props/properties/trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int applies_truth(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)p, (void)k;
    return 1;
}

/* Adds element x of `got`, whose error is at least `ratio` times its bound. */
static void add_element(attest_finding *found, attest_tensor_id id, const attest_tensor *got, int64_t x, double ratio)
{
    char name[32];
    int64_t at[4], rest = x;
    if (isnan(ratio))
        return; /* no bound is claimed */
    found->compared++;
    if (ratio <= found->ratio)
        return;
    found->ratio = ratio;
    if (ratio <= 1)
        return;
    found->broken = 1;
    for (int axis = 3; axis >= 0; rest /= got->shape[axis--])
        at[axis] = rest % got->shape[axis];
    attest_tensor_id_print(name, sizeof name, id);
    snprintf(found->what, sizeof found->what,
             "%s[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "] is %a (%.9g), %.3g times its bound from the truth",
             name, at[0], at[1], at[2], at[3], attest_load(got, x), attest_load(got, x), ratio);
}

static attest_status check_output(attest_finding *found, const attest_trial *trial, attest_tensor_id id,
                                  attest_error *err)
{
    const attest_tensor *got = attest_bundle_get(trial->outputs, id);
    attest_status status = ATTEST_OK;
    if (!got)
        return ATTEST_OK;
    const size_t count = (size_t)attest_tensor_count(got) + 1;
    double *bound = calloc(count, sizeof *bound), *ratio = calloc(count, sizeof *ratio);
    if (!bound || !ratio) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "no memory for bounds");
        goto out;
    }
    ATTEST_TRY(trial->host->bounds(trial->host->context, bound, ratio, &trial->c, trial->inputs, id, got, err));
    for (int64_t x = 0; x < attest_tensor_count(got); x++)
        add_element(found, id, got, x, ratio[x]);
out:
    free(bound);
    free(ratio);
    return status;
}

static attest_status check_truth(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_outputs(&trial->c.problem, ids, ATTEST_MAX_TENSORS);
    attest_status status = ATTEST_OK;
    for (size_t k = 0; trial->host->bounds && k < count; k++)
        ATTEST_TRY(check_output(found, trial, ids[k], err));
out:
    return status;
}

const attest_property attest_property_truth = {
    "truth",
    "every element of every output is within its derived bound of the true value",
    "all",
    "the run's bound (R-JUDGE)",
    ATTEST_NEEDS_BOUNDS,
    applies_truth,
    check_truth,
    attest_violate_by_row
};
