/* rows.h - private to the room: what every row has, whichever its axis. */
#ifndef ATTEST_AXIS_ROWS_H
#define ATTEST_AXIS_ROWS_H

#include "reference/axis/axis.h"

typedef struct axis_entry {
    uint32_t serves;
    const char *lemma;
} axis_entry;

#define AXIS_ROWS(table) (sizeof(table) / sizeof(table)[0])

/* The entry of `value` in a table of nothing else. */
#define AXIS_ENTRY(table, value) ((value) < AXIS_ROWS(table) ? (table)[value] : (axis_entry){ 0, NULL })

axis_entry axis_weight_entry(uint32_t value);
axis_entry axis_center_entry(uint32_t value);
axis_entry axis_filter_entry(uint32_t value);
axis_entry axis_feature_entry(uint32_t value);
axis_entry axis_rope_entry(uint32_t value);
axis_entry axis_mask_entry(uint32_t value);
axis_entry axis_window_entry(uint32_t value);
axis_entry axis_lens_entry(uint32_t value);
axis_entry axis_lens_q_entry(uint32_t value);
axis_entry axis_packed_entry(uint32_t value);
axis_entry axis_decay_entry(uint32_t value);
axis_entry axis_gates_entry(uint32_t value);
axis_entry axis_norm_entry(uint32_t value);
axis_entry axis_affine_entry(uint32_t value);
axis_entry axis_update_entry(uint32_t value);
axis_entry axis_eps_entry(uint32_t value);
axis_entry axis_clamp_entry(uint32_t value);
axis_entry axis_cap_entry(uint32_t value);
axis_entry axis_alibi_entry(uint32_t value);
axis_entry axis_state_entry(uint32_t value);
axis_entry axis_bias_entry(uint32_t value);
axis_entry axis_attn_mask_entry(uint32_t value);
axis_entry axis_pages_entry(uint32_t value);
axis_entry axis_kv_entry(uint32_t value);
axis_entry axis_decay_input_entry(uint32_t value);
axis_entry axis_dropout_entry(uint32_t value);

#endif
