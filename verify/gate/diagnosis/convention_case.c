/* convention_case.c - a case that ran, as a convention would have it: problem, inputs, outputs. */
#include <string.h>

#include "verify/gate/diagnosis/convention.h"

/* Which KV head of the run stands at head g of the changed problem. */
static int64_t kv_head(const attest_changed *t, int64_t g)
{
    const attest_problem *was = &t->was->problem;
    return t->heads == ATTEST_HEADS_IN_TURN ? g % was->hkv : t->heads == ATTEST_HEADS_FIRST ? 0 : g;
}

/* The index in the run's tensor of index `at` along an axis of this letter. */
static int64_t index_of(const attest_changed *t, char letter, int64_t at)
{
    return letter == 'g'   ? kv_head(t, at)
           : letter == 'm' ? at + t->skipped_keys
           : letter == 'n' ? at + t->skipped_queries
                           : at;
}

/* Adds tensor `id` of the changed problem with the elements that the run has of it.  *there = 0: it has none. */
static attest_status copy(attest_bundle *to, int *there, const attest_changed *t, const attest_bundle *from,
                          attest_tensor_id id, attest_error *err)
{
    const attest_tensor *old = attest_bundle_get(from, id);
    const char *letters = attest_tensor_axes(&t->c.problem, id), *were = attest_tensor_axes(&t->was->problem, id);
    const int packed = (t->flags & ATTEST_PACKED_STATE) != 0 && from == t->outputs;
    attest_status status = ATTEST_OK;
    attest_tensor *new, shape;
    *there = 0;
    attest_tensor_describe(&shape, &t->c.problem, id, packed);
    if (!old || old->rank != shape.rank || old->dtype != shape.dtype || (letters && strcmp(letters, were) != 0) ||
        (!letters && memcmp(shape.shape, old->shape, sizeof shape.shape) != 0))
        return ATTEST_OK;
    ATTEST_TRY(attest_bundle_add(to, &t->c.problem, id, packed, &new, err));
    *there = 1;
    if (!letters) {
        memcpy(new->data, old->data, attest_tensor_bytes(new));
        goto out;
    }
    for (int64_t at = 0; at < attest_tensor_count(new); at++) {
        int64_t rest = at, offset = 0;
        for (int axis = new->rank - 1; axis >= 0; axis--) {
            offset += index_of(t, letters[axis], rest % new->shape[axis]) * old->stride[axis];
            rest /= new->shape[axis];
        }
        attest_store_bits(new, at, attest_load_bits(old, offset));
    }
out:
    return status;
}

/* The setting of a row, where the case has another one. */
static attest_status change_setting(attest_changed *t, int *applies, const char *text, attest_error *err)
{
    const char *value = strchr(text, '=') + 1;
    attest_status status = ATTEST_OK;
    attest_setting setting;
    *applies = 0;
    for (size_t a = 0; a < ATTEST_AXIS_COUNT; a++) {
        attest_setting *is = &t->c.problem.axis[attest_axes[a].axis];
        if (strlen(attest_axes[a].key) != (size_t)(value - 1 - text) ||
            strncmp(attest_axes[a].key, text, (size_t)(value - 1 - text)) != 0)
            continue;
        ATTEST_TRY(attest_axis_parse(&setting, attest_axes[a].axis, value, err));
        *applies = !attest_setting_equal(is, &setting);
        *is = setting;
        return ATTEST_OK;
    }
    status = attest_fail(err, ATTEST_INTERNAL, "a convention with the setting %s", text);
out:
    return status;
}

/* The tensors of the changed problem: *applies = 0 if the run lacks an input or o. */
static attest_status copy_tensors(attest_changed *t, int *applies, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    int there = 0;
    ATTEST_TRY(attest_bundle_new(&t->in, err));
    ATTEST_TRY(attest_bundle_new(&t->out, err));
    size_t count = attest_problem_inputs(&t->c.problem, ids, ATTEST_MAX_TENSORS);
    for (size_t i = 0; i < count && *applies; i++) {
        if (t->given != ATTEST_Q && ids[i].kind == ATTEST_KIND_ROLE && ids[i].index == t->given)
            ATTEST_TRY(attest_bundle_add(t->in, &t->c.problem, ids[i], 0, NULL, err));
        else
            ATTEST_TRY(copy(t->in, applies, t, t->inputs, ids[i], err));
    }
    count = *applies ? attest_problem_outputs(&t->c.problem, ids, ATTEST_MAX_TENSORS) : 0;
    for (size_t i = 0; i < count; i++)
        ATTEST_TRY(copy(t->out, &there, t, t->outputs, ids[i], err));
    *applies = *applies && attest_bundle_role(t->out, ATTEST_O) != NULL;
out:
    return status;
}

attest_status attest_changed_make(attest_changed *t, int *applies, const attest_convention *row, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_error none;
    char why[256];
    t->c = *t->was;
    *applies = 1;
    if (row->setting)
        ATTEST_TRY(change_setting(t, applies, row->setting, err));
    if (*applies && row->change)
        *applies = row->change(t);
    const attest_problem *p = &t->c.problem;
    *applies = *applies && attest_variant_check(p->axis, p->n, p->m, &none) == ATTEST_OK &&
               attest_truth_serves(p, why, sizeof why);
    if (*applies)
        ATTEST_TRY(copy_tensors(t, applies, err));
    if (*applies && row->edit)
        ATTEST_TRY(row->edit(t, err));
out:
    return status;
}

void attest_changed_clear(attest_changed *t)
{
    attest_bundle_free(t->in);
    attest_bundle_free(t->out);
    t->in = t->out = NULL;
}
