/* property_list.h - private to props/: the properties, each defined in the property_*.c that checks it; properties.c
 * lists them.  A new property is one definition and one line in the list. */
#ifndef ATTEST_PROPERTIES_H
#define ATTEST_PROPERTIES_H

#include "props/property.h"

#define ATTEST_PROPERTY_LIST(ROW)                                                                                      \
    ROW(truth)                                                                                                         \
    ROW(query_permutation)                                                                                             \
    ROW(batch_permutation)                                                                                             \
    ROW(batch_alone)                                                                                                   \
    ROW(heads_alone)                                                                                                   \
    ROW(shared_heads)                                                                                                  \
    ROW(value_channels)                                                                                                \
    ROW(key_permutation)                                                                                               \
    ROW(channel_rotation)                                                                                              \
    ROW(zero_channels)                                                                                                 \
    ROW(sign_flip)                                                                                                     \
    ROW(unit_gates)                                                                                                    \
    ROW(unit_decay)                                                                                                    \
    ROW(unit_affine)                                                                                                   \
    ROW(zero_bias)                                                                                                     \
    ROW(bias_shift)                                                                                                    \
    ROW(alibi_bias)                                                                                                    \
    ROW(open_mask)                                                                                                     \
    ROW(mask_tensor)                                                                                                   \
    ROW(keep_all)                                                                                                      \
    ROW(zero_slope)                                                                                                    \
    ROW(full_length)                                                                                                   \
    ROW(wide_clamp)                                                                                                    \
    ROW(wide_filter)                                                                                                   \
    ROW(far_sink)                                                                                                      \
    ROW(low_floor)                                                                                                     \
    ROW(zero_decay)                                                                                                    \
    ROW(zero_write)                                                                                                    \
    ROW(repeated_write)                                                                                                \
    ROW(state_composition)                                                                                             \
    ROW(zero_state)                                                                                                    \
    ROW(chunk_size)                                                                                                    \
    ROW(split_count)                                                                                                   \
    ROW(repeat)                                                                                                        \
    ROW(layout)                                                                                                        \
    ROW(o_alone)                                                                                                       \
    ROW(cache_scales)                                                                                                  \
    ROW(value_scaling)                                                                                                 \
    ROW(value_sign)                                                                                                    \
    ROW(key_query_scaling)                                                                                             \
    ROW(scale_folding)                                                                                                 \
    ROW(term_homogeneity)                                                                                              \
    ROW(causal_prefix)                                                                                                 \
    ROW(unseen_keys)                                                                                                   \
    ROW(prefix_alone)                                                                                                  \
    ROW(length_alone)                                                                                                  \
    ROW(wide_window)                                                                                                   \
    ROW(last_row)                                                                                                      \
    ROW(last_rows)                                                                                                     \
    ROW(square_mask)                                                                                                   \
    ROW(fully_masked)                                                                                                  \
    ROW(hull)                                                                                                          \
    ROW(constant_value)                                                                                                \
    ROW(value_additivity)                                                                                              \
    ROW(duplicate_keys)                                                                                                \
    ROW(equal_keys)                                                                                                    \
    ROW(score_shift)                                                                                                   \
    ROW(one_hot)                                                                                                       \
    ROW(monotone)                                                                                                      \
    ROW(lse_of_z)                                                                                                      \
    ROW(lagrange)                                                                                                      \
    ROW(order_sum)                                                                                                     \
    ROW(zero_query)                                                                                                    \
    ROW(one_key)                                                                                                       \
    ROW(dyadic)

#define ATTEST_PROPERTY_DECLARE(name) extern const attest_property attest_property_##name;
ATTEST_PROPERTY_LIST(ATTEST_PROPERTY_DECLARE)
#undef ATTEST_PROPERTY_DECLARE

/* What several properties ask of a problem or a kernel. */
static inline uint32_t prop_axis(const attest_problem *p, attest_axis which) { return p->axis[which].value; }

/* Nothing in the formula reads a position. */
int prop_no_positions(const attest_problem *p);
int prop_has_bias(const attest_problem *p); /* alibi or bias */

/* A row's bits do not depend on the other rows. */
int prop_rows_independent(const attest_prop_kernel *k);

/* The order of its sums is fixed by the keys alone: serial, or token by token. */
int prop_order_declared(const attest_prop_kernel *k);

/* What the tensor a holds of a decay that forgets nothing. */
static inline double prop_unit_decay(const attest_problem *p) { return attest_log_decays(p) ? 0 : 1; }

/* Decays are multiplied, token by token or in a tree (R-DECAY): not exponentials of sums of logarithms. */
int prop_decays_multiplied(const attest_prop_kernel *k);

/* The feature map is one of `set`: bits 1 << ATTEST_FEATURE_*. */
int prop_feature_in(const attest_problem *p, uint32_t set);

/* For violations: o and the states ht are off by part*(1 + |x|). */
void prop_violate_by(const attest_bundle *outputs, double part);
/* ..part = n + m. */
void prop_violate_by_tokens(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs);

/* Each axis that is set has its own part in o and the states. */
void prop_violate_by_axes(const attest_problem *p, const attest_bundle *inputs, const attest_bundle *outputs);

/* How each lemma of a tolerance is told. */
#define PROP_BITS_OR_BOUNDS "bits if the kernel's rows are independent (batch-invariant), else both runs' bounds"
#define PROP_BOUNDS "both runs' bounds (R-JUDGE)"

#endif
