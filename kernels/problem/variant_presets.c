/* variant_presets.c - the table of presets: names of points in the axes.
 *
 * A row lists the settings that differ from the axes' defaults (exp, sum, full mask, no gates, ...): name, argument,
 * how many settings, the settings, formula, what it stands for.
 */
#include "kernels/problem/variant.h"

#include <math.h>

// clang-format off
#define SET(axis, value) { ATTEST_AXIS_##axis, ATTEST_##axis##_##value, 0, 0.0 }
#define SET_ORDER(axis, value, order) { ATTEST_AXIS_##axis, ATTEST_##axis##_##value, order, 0.0 }
#define SET_NUMBER(axis, value, number) { ATTEST_AXIS_##axis, ATTEST_##axis##_##value, 0, number }

#define TAYLOR_P SET_ORDER(WEIGHT, TAYLOR, ATTEST_ORDER_FROM_NAME)
#define LINEAR SET_ORDER(WEIGHT, POWER, 1)
#define NO_NORM SET(NORM, NONE)
#define CAUSAL SET(MASK, CAUSAL)
#define CLAMP_5 SET_NUMBER(CLAMP, SET, 5.0)

const attest_preset attest_presets[] = {
    { "softmax", ATTEST_ARG_NONE, 0, { { 0 } }, "o = sum_j e^s v / sum_j e^s", "eq. 1; App. C with mask=full" },
    { "softmax1", ATTEST_ARG_NONE, 1, { SET(NORM, SINK) }, "o = sum_j e^s v / (sum_j e^s + e^sink)",
      "Miller's denominator is the case sink = 0" },
    { "taylor", ATTEST_ARG_ORDER, 1, { TAYLOR_P }, "o = sum_j T_P(s) v / sum_j T_P(s)",
      "recurrent softmax truncated at P" },
    { "term", ATTEST_ARG_ORDER, 2, { SET_ORDER(WEIGHT, TERM, ATTEST_ORDER_FROM_NAME), NO_NORM },
      "o = sum_j s^P/P! v", "the P-th RNN of the sum; term:1 is linear attention (eq. 3)" },
    { "quadratic", ATTEST_ARG_NONE, 2, { SET_ORDER(WEIGHT, POWER, 2), NO_NORM }, "o = sum_j s^2 v", "App. B" },
    { "linear", ATTEST_ARG_NONE, 2, { LINEAR, NO_NORM }, "o = sum_j s v", "eq. 2, identity maps" },
    { "linear-elu", ATTEST_ARG_NONE, 2, { LINEAR, SET(FEATURE, ELU1) },
      "o = sum_j s v / sum_j s, phi = elu+1", "Katharopoulos" },
    { "linear-relu", ATTEST_ARG_NONE, 2, { LINEAR, SET(FEATURE, RELU) },
      "o = sum_j s v / sum_j s, phi = relu", "linear attention with ReLU features" },
    { "cosformer", ATTEST_ARG_NONE, 2, { LINEAR, SET(FEATURE, COSFORMER) },
      "o = sum_j s v / sum_j s, s = relu(q).relu(k) cos(pi(i-j)/(2 max(N,M)))", "cosFormer" },
    { "linear-cos", ATTEST_ARG_NONE, 4, { LINEAR, SET(FEATURE, UNIT), NO_NORM, SET(GATES, IN) },
      "o = sum_j s gin v, phi = unit", "cosine attention; the paper's gin is (visible keys)^-sigma" },
    { "elu-taylor", ATTEST_ARG_ORDER, 2, { TAYLOR_P, SET(FEATURE, ELU1) },
      "o = sum_j T_P(s) v / sum_j T_P(s), phi = elu+1", "App. F" },
    { "relu-taylor", ATTEST_ARG_ORDER, 2, { TAYLOR_P, SET(FEATURE, RELU) },
      "o = sum_j T_P(s) v / sum_j T_P(s), phi = relu", "App. F" },
    { "cos-taylor", ATTEST_ARG_ORDER, 2, { TAYLOR_P, SET(FEATURE, UNIT) },
      "o = sum_j T_P(s) v / sum_j T_P(s), phi = unit", "App. F" },
    { "shifted", ATTEST_ARG_ORDER, 2, { TAYLOR_P, SET(CENTER, MAX) },
      "o = sum_j T_P(s-max) v / sum_j T_P(s-max)", "the Taylor note (P=1)" },
    { "filtered", ATTEST_ARG_NUMBER, 3,
      { SET_ORDER(WEIGHT, TAYLOR, 1), SET(CENTER, MAX), SET_NUMBER(FILTER, TAU, NAN) },
      "o = sum_j T_1(s-max) v / sum_j T_1(s-max) over s > max-TAU", "the Taylor note's score filtering" },
    { "gate", ATTEST_ARG_NONE, 3, { CLAMP_5, SET(NORM, LENGTH), SET(GATES, OUT) },
      "o = gout/t sum_j e^min(5,s) v", "eq. 5" },
    { "divlen", ATTEST_ARG_NONE, 2, { CLAMP_5, SET(NORM, LENGTH) }, "o = 1/t sum_j e^min(5,s) v", "/S ablation" },
    { "no-denominator", ATTEST_ARG_NONE, 2, { CLAMP_5, NO_NORM }, "o = sum_j e^min(5,s) v", "ablation" },
    { "floor-denominator", ATTEST_ARG_NONE, 2, { CLAMP_5, SET_NUMBER(NORM, FLOOR, 1.0) },
      "o = sum_j e^min(5,s) v / max(sum_j e^min(5,s), 1)", "ablation" },
    { "l2norm", ATTEST_ARG_NONE, 1, { SET(NORM, L2) }, "o = u/norm2(u), u = sum_j e^s v", "eq. 6" },
    { "rmsnorm", ATTEST_ARG_NONE, 1, { SET(NORM, RMS) }, "o = u/sqrt(mean u^2), u = sum_j e^s v", "eq. 6" },
    { "layernorm", ATTEST_ARG_NONE, 1, { SET(NORM, LAYERNORM) },
      "o = (u-mean u)/sqrt(var u), u = sum_j e^s v", "eq. 6" },
    { "gated-softmax", ATTEST_ARG_NONE, 2, { NO_NORM, SET(GATES, INOUT) }, "o = gout sum_j e^s gin v", "App. E" },
    { "retnet", ATTEST_ARG_NONE, 4, { LINEAR, NO_NORM, SET(DECAY, RETNET), CAUSAL },
      "o = sum_{j<=i} gamma^(i-j) s v", "RetNet, SLA's baseline" },
    { "gla", ATTEST_ARG_NONE, 4, { LINEAR, NO_NORM, SET(DECAY, VECTOR), CAUSAL },
      "S_t = diag(a_t) S_{t-1} + k_t^T v_t, o = scale q S", "gated linear attention, SLA's baseline" },
    { "simple-gla", ATTEST_ARG_NONE, 4, { LINEAR, NO_NORM, SET(DECAY, SCALAR), CAUSAL },
      "S_t = a_t S_{t-1} + k_t^T v_t, o = scale q S", "GLA with one decay a head, SLA's baseline" },
    { "deltanet", ATTEST_ARG_NONE, 4, { LINEAR, NO_NORM, SET(UPDATE, DELTA), CAUSAL },
      "S_t = S_{t-1} + k_t^T b_t (v_t - k_t S_{t-1}), o = scale q S", "DeltaNet, SLA's baseline" },
    { "gdn", ATTEST_ARG_NONE, 5, { LINEAR, NO_NORM, SET(UPDATE, DELTA), SET(DECAY, SCALAR), CAUSAL },
      "S' = a_t S_{t-1}, S_t = S' + k_t^T b_t (v_t - k_t S'), o = scale q S", "gated DeltaNet, SLA's baseline" },
    { "efla", ATTEST_ARG_NONE, 4, { LINEAR, NO_NORM, SET(UPDATE, EFLA), CAUSAL },
      "deltanet with b_t := (1-e^(-b_t r))/r, r = norm2(k_t)^2", "error-free linear attention, the note's reference" },
    { "sla", ATTEST_ARG_NONE, 4, { LINEAR, NO_NORM, SET(GATES, HEADS), CAUSAL },
      "o = gout sum_{j<=i} s gin v, gates = softmax over heads", "SLA eqs. 3-6 (eq. 3 unmasked: mask=full)" },
    { "sla-retnet", ATTEST_ARG_NONE, 5, { LINEAR, NO_NORM, SET(DECAY, RETNET), SET(GATES, HEADS), CAUSAL },
      "retnet with softmax gates over heads", "SLA eqs. 10-11" },
    { "sla-gla", ATTEST_ARG_NONE, 5, { LINEAR, NO_NORM, SET(DECAY, VECTOR), SET(GATES, HEADS), CAUSAL },
      "gla with softmax gates over heads", "SLA eqs. 12-13" },
    { "sla-deltanet", ATTEST_ARG_NONE, 5, { LINEAR, NO_NORM, SET(UPDATE, DELTA), SET(GATES, HEADS), CAUSAL },
      "deltanet with softmax gates over heads", "SLA eqs. 14-16 literally" },
    { "sla-gdn", ATTEST_ARG_NONE, 6,
      { LINEAR, NO_NORM, SET(UPDATE, DELTA), SET(DECAY, SCALAR), SET(GATES, HEADS), CAUSAL },
      "gdn with softmax gates over heads", "SLA eqs. 14-16 with decay" },
    { "fox", ATTEST_ARG_NONE, 2, { SET(DECAY, SCALAR), CAUSAL },
      "o = sum_{j<=i} D e^s v / sum_{j<=i} D e^s, D = product of a_t", "forgetting attention" },
    { "based", ATTEST_ARG_NONE, 1, { SET_ORDER(WEIGHT, TAYLOR, 2) },
      "o = sum_j T_2(s) v / sum_j T_2(s)", "Based" },
};
// clang-format on

const size_t attest_preset_count = sizeof attest_presets / sizeof attest_presets[0];
