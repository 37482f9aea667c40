/* property_runs.c - the same inputs once more: again and again, by other strides, for o alone. */
#include "props/properties/property_list.h"

#include "props/properties/relation.h"

#define RUNS 200       /* of the kernel's worker, which runs it twice each */
#define MOST_WORK 4096 /* b hq n m (d + e) of a case that is run so often */
#define EVERY 16       /* one case in so many, whatever the kernels between */

static int is_deterministic(const attest_prop_kernel *k) { return (k->flags & ATTEST_DETERMINISTIC) != 0; }

/* The bits of a run depend on where its outputs lie: what two runs have not in common. Modulo a prime, so that two
 * places differ by what lies between them alone, wherever the heap starts (those 251 * 16 bytes apart do not). */
static void violate_by_place(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    const attest_tensor *o = attest_bundle_role(outputs, ATTEST_O);
    const uint64_t place = o ? (uint64_t)(uintptr_t)o->data / 16 : 0;
    (void)p;
    (void)inputs;
    prop_violate_by(outputs, (double)(place % 251));
}

static int applies_repeat(const attest_problem *p, const attest_prop_kernel *k)
{
    return is_deterministic(k) &&
           (double)p->b * (double)p->hq * (double)p->n * (double)p->m * (double)(p->d + p->e) <= MOST_WORK;
}

static attest_status check_repeat(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    attest_bundle *inputs = NULL;
    attest_status status = ATTEST_OK;
    int inexact;
    attest_relation_init(&r, trial);
    if (attest_trial_word(trial, &attest_property_repeat, 0) % EVERY != 0)
        return ATTEST_OK;
    r.outputs |= ATTEST_GIVES_STATE;
    ATTEST_TRY(attest_relation_inputs(&inputs, &inexact, &r, trial, err));
    for (int k = 0; k < RUNS && !found->broken; k++)
        ATTEST_TRY(attest_relation_run(found, trial, &r, inputs, err));
out:
    attest_bundle_free(inputs);
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_repeat = {
    "repeat",
    "400 runs on the same inputs have the same bits",
    "all of deterministic kernels; cases of at most 4096 products, one in 16",
    "bits",
    ATTEST_NEEDS_NOTHING,
    applies_repeat,
    check_repeat,
    violate_by_place
};

static int applies_layout(const attest_problem *p, const attest_prop_kernel *k)
{
    (void)p;
    (void)k;
    return 1;
}

static attest_status check_layout(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.outputs |= ATTEST_GIVES_STATE;
    r.strided = 1;
    r.bits = is_deterministic(&trial->kernel);
    ATTEST_TRY(attest_relation_check(found, trial, &r, err));
out:
    attest_relation_clear(&r);
    return status;
}

const attest_property attest_property_layout = {
    "layout",
    "tensors with other strides than C order give the same outputs",
    "all, unless the kernel refuses them",
    "bits if declared deterministic (attest.h: whatever the strides), else both runs' bounds",
    ATTEST_NEEDS_NOTHING,
    applies_layout,
    check_layout,
    violate_by_place
};

static int applies_alone(const attest_problem *p, const attest_prop_kernel *k)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    return (k->outputs & ~(uint32_t)(ATTEST_GIVES_O | ATTEST_TAKES_STATE)) != 0 &&
           attest_problem_outputs(p, ids, ATTEST_MAX_TENSORS) > 1;
}

static attest_status check_alone(attest_finding *found, attest_trial *trial, attest_error *err)
{
    attest_relation r;
    attest_status status = ATTEST_OK;
    attest_relation_init(&r, trial);
    r.outputs = ATTEST_GIVES_O;
    r.bits = is_deterministic(&trial->kernel);
    ATTEST_TRY(attest_relation_check(found, trial, &r, err));
out:
    attest_relation_clear(&r);
    return status;
}

/* Who is asked for more gives another o. */
static void violate_by_outputs(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_outputs(p, ids, ATTEST_MAX_TENSORS);
    double part = 0;
    (void)inputs;
    for (size_t k = 0; k < count; k++)
        part += attest_bundle_get(outputs, ids[k]) != NULL;
    prop_violate_by(outputs, part);
}

const attest_property attest_property_o_alone = {
    "o-alone",
    "o is the same when no other output is asked for",
    "all with further outputs that the kernel gives",
    "bits if declared deterministic (the same bits on every run), else both runs' bounds",
    ATTEST_NEEDS_NOTHING,
    applies_alone,
    check_alone,
    violate_by_outputs
};
