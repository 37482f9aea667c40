/* rows_scores.c - features and scores: R-SCORE, R-FEATURE, R-UNIT, R-ROTATE, R-STEP. */
#include "tests/simulators/rows_numerics.h"

#define SOFTMAX "variant=softmax scale=0.7"
#define SEARCHED "wild:3 wild:8 large-products huge"
#define LINEAR "variant=linear scale=0.7"

static const sim_size thirds[] = { { 1, 3 }, { 2, 3 }, { 2, 1 }, { 3, 2 }, { 22, 3 }, { 0, 0 } };
static const sim_size even[] = { { 1, 2 }, { 2, 2 }, { 3, 4 }, { 22, 4 }, { 0, 0 } };

// clang-format off
static const sim_row rows[] = {
    { "R-SCORE", "score scaled", "f32", SOFTMAX, sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS), 0, "o", SEARCHED,
      .quick = 1 },
    { "R-SCORE", "q scaled", "f32", SOFTMAX, sim_softmax, { .scale = SCALE_Q }, NUMERICS(DECLARED, TWO_PASS), 0, "o",
      SEARCHED },
    { "R-SCORE", "k scaled", "f32", SOFTMAX, sim_softmax, { .scale = SCALE_K }, NUMERICS(DECLARED, TWO_PASS), 0, "o",
      SEARCHED },
    { "R-SCORE", "sqrt(scale) on both sides", "scale unknown", SOFTMAX, sim_softmax, { .scale = SCALE_ROOTS },
      NUMERICS(FREE_SCALE, TWO_PASS), 0, "o", SEARCHED, .known = "5 factors, not 4" },
    { "R-SCORE", "divided by sqrt(d), 2 ulp", "scale, division unknown", "variant=softmax", sim_softmax,
      { .scale = SCALE_DIVIDE }, NUMERICS(FREE_SCALE, .div_error = 0, TWO_PASS), 0, "o", SEARCHED, thirds,
      .known = "5 factors, not 4" },
    { "R-SCORE", "score scaled", "scale unknown", SOFTMAX, sim_softmax, { 0 }, NUMERICS(FREE_SCALE, TWO_PASS), 0, "o",
      SEARCHED },
    { "R-SCORE", "pairwise sums", "f32", SOFTMAX, sim_softmax, { .sum = SUM_PAIRS }, NUMERICS(DECLARED, TWO_PASS), 0,
      "o", SEARCHED },
    { "R-SCORE", "fused multiply-adds", "f32", SOFTMAX, sim_softmax, { .sum = SUM_FMA }, NUMERICS(DECLARED, TWO_PASS),
      0, "o", SEARCHED },
    { "R-SCORE", "q scaled", "acc_unit 2^-11", SOFTMAX, sim_softmax, { .scale = SCALE_Q },
      NUMERICS(DECLARED, TWO_PASS, .acc_unit = 0x1p-11), 0, "o", SEARCHED },
    { "R-SCORE", "q scaled", "acc_unit 2^-8", SOFTMAX, sim_softmax, { .scale = SCALE_Q },
      NUMERICS(DECLARED, TWO_PASS, .acc_unit = 0x1p-8), 0, "o", SEARCHED },
    { "R-SCORE", "score scaled", "acc_unit 2^-53", SOFTMAX, sim_softmax, { 0 },
      NUMERICS(DECLARED, TWO_PASS, .acc_unit = 0x1p-53), 0, "o", SEARCHED },
    { "R-SCORE", "q scaled", "in bf16, out bf16", SOFTMAX " in=bf16", sim_softmax, { .scale = SCALE_Q },
      NUMERICS(DECLARED, TWO_PASS), 0, "o", SEARCHED },
    { "R-SCORE", "scale of bf16", "scale bf16", SOFTMAX, sim_softmax, { 0 },
      NUMERICS(FREE_SCALE, .scale_dtype = 1 + ATTEST_BF16, TWO_PASS), 0, "o", SEARCHED },
    { "R-SCORE", "inputs rounded to f32", "in f64, acc f32", SOFTMAX " in=f64 acc=f32 out=f32", sim_softmax, { 0 },
      NUMERICS(DECLARED, TWO_PASS), 0, "o", SEARCHED },
    { "R-SCORE", "score scaled, linear", "f32", LINEAR, sim_polynomial, { 0 }, NUMERICS(DECLARED, DIRECT), 0, "o",
      WILD " large-products cancel" },
    { "R-SCORE", "q scaled, linear", "f32, tiny numbers", LINEAR, sim_polynomial, { .scale = SCALE_Q },
      NUMERICS(DECLARED, DIRECT), 0, "o", "normal:1e-20 subnormal wild:100" },
    { "R-FEATURE", "elu1 by exp", "f32", "variant=linear-elu scale=0.7", sim_polynomial, { 0 },
      NUMERICS(DECLARED, DIRECT), 0, "u", WILD },
    { "R-FEATURE", "elu1 by expm1(x) + 1", "f32, exp unknown", "variant=linear-elu scale=0.7", sim_polynomial,
      { .elu = ELU_EXPM1 }, NUMERICS(DECLARED, .exp_error = 0, DIRECT), 0, "u", WILD },
    { "R-FEATURE", "elu1 by expm1(x) + 1", "f32, exp 2^-23", "variant=linear-elu scale=0.7", sim_polynomial,
      { .elu = ELU_EXPM1 }, NUMERICS(DECLARED, DIRECT), 0, "u", "wild:3 normal:3",
      .known = "expm1(x) + 1 under a declared exp: the header does not say that it is excluded" },
    { "R-FEATURE", "silu", "f32", "variant=linear feature=silu scale=0.7", sim_polynomial, { 0 },
      NUMERICS(DECLARED, DIRECT), 0, "u", WILD },
    { "R-FEATURE", "relu", "in bf16", "variant=linear-relu scale=0.7 in=bf16 out=f32", sim_polynomial,
      { .scale = SCALE_Q }, NUMERICS(DECLARED, DIRECT), 0, "u", WILD },
    { "R-FEATURE", "cosformer: relu(x) cos a", "f32", "variant=cosformer scale=0.7", sim_polynomial, { 0 },
      NUMERICS(DECLARED, DIRECT), 0, "u", WILD, even },
    { "R-UNIT", "silu(x) / norm", "f32", "variant=linear feature=silu-unit scale=0.7", sim_polynomial, { 0 },
      NUMERICS(DECLARED, DIRECT), 0, "u", "wild:3 normal", even },
    { "R-UNIT", "x / norm", "f32", "variant=linear-cos scale=0.7", sim_polynomial, { 0 }, NUMERICS(DECLARED, DIRECT),
      0, "u", WILD, even },
    { "R-UNIT", "x (1 / norm)", "f32", "variant=linear-cos scale=0.7", sim_polynomial, { .norm = NORM_RECIPROCAL },
      NUMERICS(DECLARED, DIRECT), 0, "u", WILD, even },
    { "R-ROTATE", "angle by exp of a product", "unknown functions", "variant=linear rope=10000 scale=0.7 mask=causal",
      sim_polynomial, { 0 }, NUMERICS(FREE_SCALE, .exp_error = 0, DIRECT), 0, "u", WILD, even },
    { "R-STEP", "cap by tanh", "f32", SOFTMAX " cap=5", sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS), 0, "o",
      SEARCHED },
    { "R-STEP", "cap by exponentials", "all unknown", SOFTMAX " cap=5", sim_softmax, { .tanh = TANH_EXP },
      NUMERICS(.schedule = 0), 0, "o", SEARCHED },
    { "R-STEP", "cap by exponentials", "exp 2^-23", SOFTMAX " cap=5", sim_softmax, { .tanh = TANH_EXP },
      NUMERICS(DECLARED, TWO_PASS), 0, "o", SEARCHED " normal:0.01",
      .known = "tanh of exponentials loses a small score" },
    { "R-STEP", "alibi", "f32", SOFTMAX " alibi=draw mask=causal", sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS),
      0, "o", SEARCHED },
    { "R-STEP", "clamp 0.3", "f32", SOFTMAX " clamp=0.3", sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS), 0, "o",
      SEARCHED },
};
// clang-format on

const sim_section sim_rows_scores = SECTION(rows);
