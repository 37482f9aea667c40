/* axis.c - who serves which value of which axis: one look at the row, whichever the axis. */
#include "reference/axis/axis.h"

#include "reference/axis/rows.h"

static axis_entry (*const entries[ATTEST_AXIS_COUNT])(uint32_t value) = {
    [ATTEST_AXIS_WEIGHT] = axis_weight_entry,
    [ATTEST_AXIS_CENTER] = axis_center_entry,
    [ATTEST_AXIS_FILTER] = axis_filter_entry,
    [ATTEST_AXIS_FEATURE] = axis_feature_entry,
    [ATTEST_AXIS_ROPE] = axis_rope_entry,
    [ATTEST_AXIS_MASK] = axis_mask_entry,
    [ATTEST_AXIS_WINDOW] = axis_window_entry,
    [ATTEST_AXIS_LENS] = axis_lens_entry,
    [ATTEST_AXIS_DECAY] = axis_decay_entry,
    [ATTEST_AXIS_GATES] = axis_gates_entry,
    [ATTEST_AXIS_NORM] = axis_norm_entry,
    [ATTEST_AXIS_AFFINE] = axis_affine_entry,
    [ATTEST_AXIS_UPDATE] = axis_update_entry,
    [ATTEST_AXIS_EPS] = axis_eps_entry,
    [ATTEST_AXIS_CLAMP] = axis_clamp_entry,
    [ATTEST_AXIS_CAP] = axis_cap_entry,
    [ATTEST_AXIS_ALIBI] = axis_alibi_entry,
    [ATTEST_AXIS_STATE] = axis_state_entry,
    [ATTEST_AXIS_BIAS] = axis_bias_entry,
    [ATTEST_AXIS_ATTN_MASK] = axis_attn_mask_entry,
    [ATTEST_AXIS_PAGES] = axis_pages_entry,
    [ATTEST_AXIS_KV] = axis_kv_entry,
    [ATTEST_AXIS_DECAY_INPUT] = axis_decay_input_entry,
    [ATTEST_AXIS_DROPOUT] = axis_dropout_entry,
    [ATTEST_AXIS_LENS_Q] = axis_lens_q_entry,
    [ATTEST_AXIS_PACKED] = axis_packed_entry,
};

uint32_t axis_serves(uint32_t axis, uint32_t value)
{
    return axis < ATTEST_AXIS_COUNT ? entries[axis](value).serves : 0;
}

const char *axis_lemma(uint32_t axis, uint32_t value)
{
    return axis < ATTEST_AXIS_COUNT ? entries[axis](value).lemma : NULL;
}

int axis_served(const attest_problem *p, uint32_t who, uint32_t unread, uint32_t *refused)
{
    const int newer = attest_axis_unserved(p, ATTEST_AXES_KNOWN);
    if (newer >= 0) {
        if (refused)
            *refused = (uint32_t)newer;
        return 0;
    }
    for (uint32_t axis = 0; axis < ATTEST_AXIS_COUNT; axis++) {
        if (unread >> axis & 1u || (axis_serves(axis, p->axis[axis].value) & who) == who)
            continue;
        if (refused)
            *refused = axis;
        return 0;
    }
    return 1;
}
