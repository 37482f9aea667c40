/* rows_sums.c - casts and sums: R-CAST, R-SUM, R-DECAY of pairs, R-GATE on values. */
#include "tests/simulators/rows_numerics.h"

#define SOFTMAX "variant=softmax scale=0.7"
#define HALF SOFTMAX " p=f16"
#define BRAIN SOFTMAX " p=bf16"
#define SEARCHED "wild:3 wild:6 peaked cancel normal"

static const sim_size many[] = { { 2, 1 }, { 3, 2 }, { 8, 1 }, { 22, 4 }, { 64, 1 }, { 0, 0 } };
static const sim_size long_rows[] = { { 22, 1 }, { 512, 1 }, { 0, 0 } };
static const sim_size tiny_values[] = { { 1, 1 }, { 3, 1 }, { 22, 1 }, { 0, 0 } };

// clang-format off
static const sim_row rows[] = {
    { "R-CAST", "the sum adds uncast weights", "p f16", HALF, sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS), 0,
      "o", SEARCHED, many },
    { "R-CAST", "the sum adds cast weights", "p f16, cast in sum", HALF, sim_softmax, { .cast_in_sum = 1 },
      NUMERICS(DECLARED, .cast_in_sum = ATTEST_YES, TWO_PASS), 0, "o", SEARCHED, many },
    { "R-CAST", "the sum adds uncast weights", "p bf16", BRAIN, sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS), 0,
      "o", SEARCHED, many, .quick = 1 },
    { "R-CAST", "the sum adds cast weights", "p bf16, cast in sum", BRAIN, sim_softmax, { .cast_in_sum = 1 },
      NUMERICS(DECLARED, .cast_in_sum = ATTEST_YES, TWO_PASS), 0, "o", SEARCHED, many },
    { "R-CAST", "cut, not rounded", "p f16, rounding unknown", HALF, sim_softmax, { 0 },
      NUMERICS(DECLARED, .p_rounding = ATTEST_ROUNDING_UNKNOWN, TWO_PASS), 0, "o", SEARCHED, many },
    { "R-CAST", "weights underflow in p", "p f16", HALF, sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS), 0, "o",
      "p-underflow wild:5 huge", many },
    { "R-CAST", "online, tiles of 4", "p f16, tile 4", HALF, sim_softmax, { 0 },
      NUMERICS(DECLARED, ONLINE, .tile = 4), 0, "o", SEARCHED " ramp-up", many },
    { "R-CAST", "divided, then cast", "p f16, division unknown", HALF, sim_softmax, { .divide = DIVIDE_THEN_CAST },
      NUMERICS(DECLARED, TWO_PASS), 0, "o", "shares:5.5 shares:7 normal:2", long_rows,
      .known = "underflow of the cast lacks |Z| for a declared schedule" },
    { "R-CAST", "divided, then cast", "p f16, division told", HALF, sim_softmax, { .divide = DIVIDE_THEN_CAST },
      NUMERICS(DECLARED, TWO_PASS, .division = ATTEST_DIVISION_THEN_CAST), 0, "o", "shares:5.5 shares:7 normal:2",
      long_rows },
    { "R-CAST", "divided, then cast", "p bf16, division told", BRAIN, sim_softmax, { .divide = DIVIDE_THEN_CAST },
      NUMERICS(DECLARED, TWO_PASS, .division = ATTEST_DIVISION_THEN_CAST), 0, "o", SEARCHED, many },
    { "R-CAST", "cast, then divided", "p bf16, division told", BRAIN, sim_softmax, { .divide = DIVIDE_AFTER_CAST },
      NUMERICS(DECLARED, TWO_PASS, .division = ATTEST_DIVISION_AFTER_CAST), 0, "o", SEARCHED, many },
    { "R-SUM", "serial", "f32", SOFTMAX, sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS), 0, "o",
      SEARCHED " half-peak", many },
    { "R-SUM", "serial", "acc_unit 2^-11", SOFTMAX, sim_softmax, { 0 },
      NUMERICS(DECLARED, TWO_PASS, .acc_unit = 0x1p-11), 0, "o", SEARCHED " half-peak", many },
    { "R-SUM", "serial", "acc_unit 2^-8", SOFTMAX, sim_softmax, { 0 },
      NUMERICS(DECLARED, TWO_PASS, .acc_unit = 0x1p-8), 0, "o", SEARCHED " half-peak", many },
    { "R-SUM", "serial, range of f16", "acc_unit 2^-11, tiny values", SOFTMAX, sim_softmax, { .narrow_range = 1 },
      NUMERICS(DECLARED, TWO_PASS, .acc_unit = 0x1p-11), 0, "o", "normal:0.001 normal:1e-5", many,
      .known = "underflow of the accumulator's type is missing" },
    { "R-SUM", "pairwise", "acc_unit 2^-11", SOFTMAX, sim_softmax, { .sum = SUM_PAIRS },
      NUMERICS(DECLARED, TWO_PASS, .acc_unit = 0x1p-11), 0, "o", SEARCHED, many },
    { "R-SUM", "blocks of 4", "block 4, acc_unit 2^-11", SOFTMAX, sim_softmax, { .sum = SUM_BLOCKS },
      NUMERICS(DECLARED, TWO_PASS, .block = 4, .acc_unit = 0x1p-11), 0, "o", SEARCHED, many },
    { "R-SUM", "serial", "acc_unit 2^-53", SOFTMAX, sim_softmax, { 0 },
      NUMERICS(DECLARED, TWO_PASS, .acc_unit = 0x1p-53), 0, "o", SEARCHED, many },
    { "R-SUM", "divided before the sum", "f32, tiny values", SOFTMAX, sim_softmax, { .divide = DIVIDE_AFTER_CAST },
      NUMERICS(DECLARED, TWO_PASS), 0, "o", "small-values:129 normal:1e-39 subnormal", tiny_values,
      .known = "underflow of the value products is divided by Z" },
    { "R-SUM", "divided after the sum", "f32, tiny values", SOFTMAX, sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS),
      0, "o", "normal:1e-39 normal:1e-38 subnormal", tiny_values },
    { "R-SUM", "flush to zero", "ftz, tiny values", SOFTMAX, sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS),
      ATTEST_FTZ, "o", "normal:1e-39 normal:1e-38 subnormal", tiny_values },
    { "R-DECAY", "fox: weight times product", "f32", "variant=fox scale=0.7", sim_softmax, { 0 },
      NUMERICS(DECLARED, TWO_PASS), 0, "o", SEARCHED, many },
    { "R-DECAY", "retnet: products", "f32", "variant=retnet scale=0.7", sim_polynomial, { 0 },
      NUMERICS(DECLARED, DIRECT), 0, "o", WILD " cancel", many },
    { "R-DECAY", "retnet: a library power", "f32", "variant=retnet scale=0.7", sim_polynomial,
      { .decay = DECAY_POWER }, NUMERICS(DECLARED, DIRECT), 0, "o", WILD " cancel", many },
    { "R-DECAY", "scalar: products", "f32", "variant=simple-gla scale=0.7", sim_polynomial, { 0 },
      NUMERICS(DECLARED, DIRECT), 0, "o", WILD " cancel", many },
    { "R-DECAY", "vector: on the query", "f32", "variant=gla scale=0.7", sim_polynomial, { 0 },
      NUMERICS(DECLARED, DIRECT), 0, "o", WILD " cancel", many },
    { "R-GATE", "gin v", "f32", SOFTMAX " gates=in", sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS), 0, "o",
      SEARCHED, many },
    { "R-GATE", "gout o", "f32", SOFTMAX " gates=out", sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS), 0, "o",
      SEARCHED, many },
    { "R-GATE", "gout o, flush to zero", "ftz, tiny values", SOFTMAX " gates=out", sim_softmax, { 0 },
      NUMERICS(DECLARED, TWO_PASS), ATTEST_FTZ, "o", "small-gates:127", tiny_values,
      .known = "a flushed gate is missing" },
    { "R-GATE", "gin v, flush to zero", "ftz, tiny gates", SOFTMAX " gates=in", sim_softmax, { 0 },
      NUMERICS(DECLARED, TWO_PASS), ATTEST_FTZ, "o", "small-gates:127", tiny_values },
    { "R-RUN", "two-pass", "serial sums", SOFTMAX, sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS),
      ATTEST_SERIAL_SUMS, "o", SEARCHED " large-products", many },
    { "R-RUN", "online, tiles of 4", "serial sums, tile 4", SOFTMAX, sim_softmax, { 0 },
      NUMERICS(DECLARED, ONLINE, .tile = 4), ATTEST_SERIAL_SUMS, "o", SEARCHED " large-products", many },
    { "R-RUN", "direct, linear", "serial sums", "variant=linear scale=0.7", sim_polynomial, { 0 },
      NUMERICS(DECLARED, DIRECT), ATTEST_SERIAL_SUMS, "o", SEARCHED " large-products", many },
    { "R-CAST-KNOWN", "two-pass, p bf16", "serial sums", BRAIN, sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS),
      ATTEST_SERIAL_SUMS, "o", SEARCHED " cast-edge", many },
};
// clang-format on

const sim_section sim_rows_sums = SECTION(rows);
