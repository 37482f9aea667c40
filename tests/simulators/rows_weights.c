/* rows_weights.c - weights: R-EXP, R-ONLINE, R-MERGE, R-SINK, R-CENTER, R-POLY. */
#include "tests/simulators/rows_numerics.h"

#define SOFTMAX "variant=softmax scale=0.7"
#define SEARCHED "wild:3 wild:6 peaked huge"

static const sim_size many[] = { { 2, 1 }, { 3, 2 }, { 8, 1 }, { 22, 4 }, { 64, 1 }, { 0, 0 } };
static const sim_size short_scores[] = { { 1, 1 }, { 2, 1 }, { 3, 2 }, { 22, 4 }, { 0, 0 } };

// clang-format off
static const sim_row rows[] = {
    { "R-EXP", "base e", "f32", SOFTMAX, sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS), 0, "o", SEARCHED },
    { "R-EXP", "base e", "exp 2^-9", SOFTMAX, sim_softmax, { 0 }, NUMERICS(DECLARED, .exp_error = 0x1p-9, TWO_PASS), 0, "o", SEARCHED, .quick = 1 },
    { "R-EXP", "base e", "all unknown", SOFTMAX, sim_softmax, { 0 }, NUMERICS(.schedule = 0), 0, "o", SEARCHED },
    { "R-EXP", "base 2, scores first", "base 2", SOFTMAX, sim_softmax, { .exp = EXP_BASE2 }, NUMERICS(BASE2, TWO_PASS), 0, "o", SEARCHED },
    { "R-EXP", "base 2, difference first", "base 2", SOFTMAX, sim_softmax, { .exp = EXP_BASE2_LAST }, NUMERICS(BASE2, TWO_PASS), 0, "o", SEARCHED },
    { "R-EXP", "base 2, fma(s, c, -fl(m c))", "base 2", SOFTMAX, sim_softmax, { .exp = EXP_FMA }, NUMERICS(BASE2, TWO_PASS), 0, "o", SEARCHED },
    { "R-EXP", "base e, weights underflow", "f32", SOFTMAX, sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS), 0, "o", "wild:10 huge wild:60" },
    { "R-EXP", "base e, flush to zero", "ftz", SOFTMAX, sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS), ATTEST_FTZ, "o", "wild:10 huge wild:60" },
    { "R-ONLINE", "tiles of 1", "tile 1", SOFTMAX, sim_softmax, { 0 }, NUMERICS(DECLARED, ONLINE, .tile = 1), 0, "o", SEARCHED " ramp-up", many },
    { "R-ONLINE", "tiles of 4", "tile 4", SOFTMAX, sim_softmax, { 0 }, NUMERICS(DECLARED, ONLINE, .tile = 4), 0, "o", SEARCHED " ramp-up", many, .quick = 1 },
    { "R-ONLINE", "tiles of 4, exp 2^-9", "tile 4, exp 2^-9", SOFTMAX, sim_softmax, { 0 },
      NUMERICS(DECLARED, ONLINE, .exp_error = 0x1p-9, .tile = 4), 0, "o", SEARCHED " ramp-up", many },
    { "R-ONLINE", "tiles of 1, base 2", "base 2, tile 1", SOFTMAX, sim_softmax, { .exp = EXP_BASE2 },
      NUMERICS(BASE2, ONLINE, .tile = 1), 0, "o", SEARCHED " ramp-up", many },
    { "R-ONLINE", "tiles of 4, fma", "base 2, tile 4", SOFTMAX, sim_softmax, { .exp = EXP_FMA },
      NUMERICS(BASE2, ONLINE, .tile = 4), 0, "o", SEARCHED " ramp-up", many },
    { "R-ONLINE", "tiles of 1", "tile 1, acc_unit 2^-11", SOFTMAX, sim_softmax, { 0 },
      NUMERICS(DECLARED, ONLINE, .tile = 1, .acc_unit = 0x1p-11), 0, "o", SEARCHED " ramp-up", many },
    { "R-ONLINE", "o += w/l (v - o)", "tile 1", SOFTMAX, sim_mean, { 0 }, NUMERICS(DECLARED, ONLINE, .tile = 1), 0, "o",
      SEARCHED " ramp-up cancel", many, .known = "a running mean rounds v - o, and the sums of both" },
    { "R-ONLINE", "o += w/l (v - o)", "all unknown", SOFTMAX, sim_mean, { 0 }, NUMERICS(.schedule = 0), 0, "o",
      SEARCHED " ramp-up cancel", many },
    { "R-MERGE", "by lse, quotient", "splits 2", SOFTMAX " splits=2", sim_softmax, { 0 },
      NUMERICS(DECLARED, SPLIT, .splits = 2), 0, "o", SEARCHED, many },
    { "R-MERGE", "by lse, no division", "splits 2", SOFTMAX " splits=2", sim_softmax, { .merge = MERGE_FREE },
      NUMERICS(DECLARED, SPLIT, .splits = 2), 0, "o", SEARCHED, many },
    { "R-MERGE", "by maxima", "splits 4", SOFTMAX " splits=4", sim_softmax, { .merge = MERGE_SUMS },
      NUMERICS(DECLARED, SPLIT, .splits = 4), 0, "o", SEARCHED, many },
    { "R-MERGE", "by lse, base 2", "splits 4, base 2", SOFTMAX " splits=4", sim_softmax, { .exp = EXP_BASE2 },
      NUMERICS(BASE2, SPLIT, .splits = 4), 0, "o", SEARCHED, many },
    { "R-SINK", "sink added last", "f32", "variant=softmax1 scale=0.7", sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS), 0, "o", SEARCHED },
    { "R-CENTER", "maximum", "f32", "variant=shifted:3 scale=0.7", sim_polynomial, { 0 }, NUMERICS(DECLARED, DIRECT), 0, "o", WILD, short_scores },
    { "R-CENTER", "minimum", "f32", "variant=taylor:3 center=min scale=0.7", sim_polynomial, { 0 }, NUMERICS(DECLARED, DIRECT), 0, "o", WILD, short_scores },
    { "R-CENTER", "middle", "f32", "variant=taylor:3 center=mid scale=0.7", sim_polynomial, { 0 }, NUMERICS(DECLARED, DIRECT), 0, "o", WILD, short_scores },
    { "R-POLY", "Horner, division", "f32", "variant=taylor:5", sim_polynomial, { 0 }, NUMERICS(DECLARED, DIRECT), 0, "z", WILD, .quick = 1 },
    { "R-POLY", "Horner, division", "f32", "variant=taylor:48", sim_polynomial, { 0 }, NUMERICS(DECLARED, DIRECT), 0, "z", "wild:2 wild:8", short_scores },
    { "R-POLY", "Horner, division", "division 2^-9", "variant=taylor:5", sim_polynomial, { 0 },
      NUMERICS(DECLARED, .div_error = 0x1p-9, DIRECT), 0, "z", WILD, .known = "the division counts as u, not as declared" },
    { "R-POLY", "Horner, division of 2 ulp", "division unknown", "variant=taylor:9", sim_polynomial, { 0 },
      NUMERICS(DECLARED, .div_error = 0, DIRECT), 0, "z", WILD, .known = "the division counts as u, not as 4u" },
    { "R-POLY", "Horner, rounded reciprocals", "f32", "variant=taylor:9", sim_polynomial, { .poly = POLY_RECIPROCAL },
      NUMERICS(DECLARED, DIRECT), 0, "z", WILD, .known = "4 factors a level, not 3" },
    { "R-POLY", "powers and coefficients", "f32", "variant=taylor:9", sim_polynomial, { .poly = POLY_POWERS },
      NUMERICS(DECLARED, DIRECT), 0, "z", WILD },
    { "R-POLY", "Horner, tiny scores", "f32", "variant=taylor:5", sim_polynomial, { 0 }, NUMERICS(DECLARED, DIRECT), 0, "z", "normal:1e-20 subnormal", short_scores },
    { "R-POLY", "Horner, large scores", "f32", "variant=taylor:48", sim_polynomial, { 0 }, NUMERICS(DECLARED, DIRECT), 0, "o", "wild:5 normal:3 normal", short_scores },
    { "R-POLY", "term: x^P / P!", "f32", "variant=term:5", sim_polynomial, { 0 }, NUMERICS(DECLARED, DIRECT), 0, "u", WILD, short_scores },
    { "R-POLY", "term: x^P (1 / P!)", "f32", "variant=term:5", sim_polynomial, { .poly = POLY_RECIPROCAL }, NUMERICS(DECLARED, DIRECT), 0, "u", WILD, short_scores },
    { "R-POLY", "power: x^P", "f32", "variant=linear weight=power:5", sim_polynomial, { 0 }, NUMERICS(DECLARED, DIRECT), 0, "u", WILD, short_scores },
};
// clang-format on

const sim_section sim_rows_weights = SECTION(rows);
