/* rows_outputs.c - outputs: R-PLAIN, R-LENGTH, R-FLOOR, R-ROOT, R-LSE, R-OUT, R-DIVISION. */
#include "tests/simulators/rows_numerics.h"

#define SOFTMAX "variant=softmax scale=0.7"
#define SEARCHED "wild:3 wild:6 peaked cancel normal"

static const sim_size few[] = { { 1, 1 }, { 2, 1 }, { 3, 2 }, { 22, 4 }, { 0, 0 } };

// clang-format off
static const sim_row rows[] = {
    { "R-ROOT", "l2, range of f16", "acc_unit 2^-11", "variant=softmax scale=0.7 norm=l2", sim_softmax,
      { .narrow_range = 1 }, NUMERICS(DECLARED, TWO_PASS, .acc_unit = 0x1p-11), 0, "o", "normal normal:4", NULL },
    { "R-PLAIN", "u, direct", "f32", SOFTMAX, sim_softmax, { 0 }, NUMERICS(DECLARED, DIRECT), 0, "u",
      "wild:3 wild:6 normal", few },
    { "R-PLAIN", "z, direct", "f32", SOFTMAX, sim_softmax, { 0 }, NUMERICS(DECLARED, DIRECT), 0, "z",
      "wild:3 wild:6 normal", few },
    { "R-PLAIN", "u, shift undone", "f32", SOFTMAX, sim_softmax, { .undo_shift = 1 }, NUMERICS(DECLARED, TWO_PASS), 0,
      "u", "wild:3 wild:6 normal", few },
    { "R-PLAIN", "z, shift undone, base 2", "base 2", SOFTMAX, sim_softmax, { .undo_shift = 1, .exp = EXP_BASE2 },
      NUMERICS(BASE2, TWO_PASS), 0, "z", "wild:3 wild:6 normal", few },
    { "R-PLAIN", "o of norm=none", "f32", "variant=no-denominator scale=0.7", sim_softmax, { 0 },
      NUMERICS(DECLARED, DIRECT), 0, "o", SEARCHED, few },
    { "R-LENGTH", "o = u / t", "f32", "variant=divlen scale=0.7", sim_softmax, { 0 }, NUMERICS(DECLARED, DIRECT), 0,
      "o", SEARCHED, few },
    { "R-FLOOR", "o = u / max(z, F)", "f32", "variant=floor-denominator scale=0.7", sim_softmax, { 0 },
      NUMERICS(DECLARED, DIRECT), 0, "o", SEARCHED, few },
    { "R-ROOT", "l2", "f32", "variant=l2norm scale=0.7", sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS), 0, "o",
      SEARCHED, few },
    { "R-ROOT", "l2 by a reciprocal", "f32", "variant=l2norm scale=0.7", sim_softmax, { .norm = NORM_RECIPROCAL },
      NUMERICS(DECLARED, TWO_PASS), 0, "o", SEARCHED, few },
    { "R-ROOT", "rms", "f32", "variant=rmsnorm scale=0.7", sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS), 0, "o",
      SEARCHED, few },
    { "R-ROOT", "layernorm", "f32", "variant=layernorm scale=0.7", sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS),
      0, "o", SEARCHED, few },
    { "R-ROOT", "layernorm of 8", "f32", "variant=layernorm scale=0.7", sim_softmax, { 0 },
      NUMERICS(DECLARED, TWO_PASS), 0, "o", SEARCHED, few, .e = 8 },
    { "R-ROOT", "rms of 8, gate before", "f32", "variant=rmsnorm gates=pre-out scale=0.7", sim_softmax, { 0 },
      NUMERICS(DECLARED, TWO_PASS), 0, "o", SEARCHED, few, .e = 8 },
    { "R-ROOT", "rms of 8", "acc_unit 2^-11", "variant=rmsnorm scale=0.7", sim_softmax, { 0 },
      NUMERICS(DECLARED, TWO_PASS, .acc_unit = 0x1p-11), 0, "o", SEARCHED, few, .e = 8 },
    { "R-ROOT", "layernorm of 8", "acc_unit 2^-11", "variant=layernorm scale=0.7", sim_softmax, { 0 },
      NUMERICS(DECLARED, TWO_PASS, .acc_unit = 0x1p-11), 0, "o", SEARCHED, few, .e = 8 },
    { "R-ROOT", "rms of 8", "division 2^-9", "variant=rmsnorm scale=0.7", sim_softmax, { .norm = NORM_RECIPROCAL },
      NUMERICS(DECLARED, TWO_PASS, .div_error = 0x1p-9), 0, "o", SEARCHED, few, .e = 8 },
    { "R-ROOT", "rms of 8", "f32", "variant=rmsnorm scale=0.7", sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS), 0,
      "o", SEARCHED, few, .e = 8 },
    { "R-ROOT", "rms, eps, gain and shift", "f32", "variant=rmsnorm scale=0.7 eps=0.001 affine=draw", sim_softmax,
      { 0 }, NUMERICS(DECLARED, DIRECT), 0, "o", SEARCHED, few },
    { "R-ROOT", "rms, gain and shift, flush to zero", "ftz", "variant=rmsnorm scale=0.7 eps=0.001 affine=draw",
      sim_softmax, { 0 }, NUMERICS(DECLARED, DIRECT), ATTEST_FTZ, "o", "small-gates:127 wild:3", few, .e = 32 },
    { "R-LSE", "max + log z", "f32", SOFTMAX, sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS), 0, "lse",
      "wild:3 wild:6 normal huge", few },
    { "R-ROOT", "rms, gate before, flush to zero", "ftz", "variant=rmsnorm gates=pre-out eps=0.001 scale=0.7",
      sim_softmax, { 0 }, NUMERICS(DECLARED, DIRECT), ATTEST_FTZ, "o", "small-gates:127", few },
    { "R-LSE", "of base 2", "base 2, lse of base 2", SOFTMAX, sim_softmax, { .exp = EXP_BASE2 },
      NUMERICS(BASE2, TWO_PASS), ATTEST_LSE_BASE2, "lse", "wild:3 wild:6 normal huge", few },
    { "R-LSE", "base 2 inside", "base 2", SOFTMAX, sim_softmax, { .exp = EXP_BASE2 }, NUMERICS(BASE2, TWO_PASS), 0,
      "lse", "wild:3 wild:6 normal huge", few },
    { "R-LSE", "online, tiles of 1", "tile 1", SOFTMAX, sim_softmax, { 0 }, NUMERICS(DECLARED, ONLINE, .tile = 1), 0,
      "lse", "wild:3 wild:6 normal huge", few },
    { "R-LSE", "merged", "splits 2", SOFTMAX " splits=2", sim_softmax, { 0 }, NUMERICS(DECLARED, SPLIT, .splits = 2),
      0, "lse", "wild:3 wild:6 normal huge", few },
    { "R-OUT", "rounded to bf16", "out bf16", SOFTMAX " out=bf16", sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS),
      0, "o", SEARCHED, few, .quick = 1 },
    { "R-OUT", "rounded to f16", "out f16", SOFTMAX " out=f16", sim_softmax, { 0 }, NUMERICS(DECLARED, TWO_PASS), 0,
      "o", SEARCHED " normal:1e-7", few },
    { "R-DIVISION", "a division of 2^-9", "division 2^-9", SOFTMAX, sim_softmax, { 0 },
      NUMERICS(DECLARED, .div_error = 0x1p-9, TWO_PASS), 0, "o", SEARCHED, few },
};
// clang-format on

const sim_section sim_rows_outputs = SECTION(rows);
