/* rows_states.c - states: R-STATE, R-HT, R-DELTA. */
#include "tests/simulators/rows_numerics.h"

static const sim_size small[] = { { 1, 1 }, { 2, 1 }, { 3, 2 }, { 22, 2 }, { 22, 4 }, { 0, 0 } };
static const sim_size line[] = { { 1, 1 }, { 2, 1 }, { 3, 2 }, { 22, 4 }, { 64, 1 }, { 0, 0 } };

#define STATE(type) .state_dtype = 1 + ATTEST_##type
#define LINEAR "variant=linear mask=causal scale=0.7"
#define SEARCHED "wild:2 wild:6 cancel normal"
#define NARROW "underflow of the state's type is missing"

// clang-format off
static const sim_row rows[] = {
    { "R-STATE", "linear, score scaled", "f32", LINEAR, sim_recurrent, { 0 }, NUMERICS(DECLARED, RECURRENT), 0, "o", SEARCHED, line, .quick = 1 },
    { "R-STATE", "linear, scale on the result", "f32", LINEAR, sim_recurrent, { .power_late = 1 }, NUMERICS(DECLARED, RECURRENT), 0, "o", SEARCHED, line },
    { "R-STATE", "linear, q scaled", "f32", LINEAR, sim_recurrent, { .scale = SCALE_Q }, NUMERICS(DECLARED, RECURRENT), 0, "o", SEARCHED, line },
    { "R-STATE", "linear", "state bf16", LINEAR, sim_recurrent, { 0 }, NUMERICS(DECLARED, RECURRENT, STATE(BF16)), 0, "o", SEARCHED, line },
    { "R-STATE", "linear", "state f16", LINEAR, sim_recurrent, { 0 }, NUMERICS(DECLARED, RECURRENT, STATE(F16)), 0, "o", "cancel normal", line },
    { "R-STATE", "linear, small values", "state f16", LINEAR, sim_recurrent, { 0 }, NUMERICS(DECLARED, RECURRENT, STATE(F16)), 0, "o",
      "normal:0.001 normal:1e-4", line, .known = NARROW },
    { "R-STATE", "linear, tiny values", "state bf16", LINEAR, sim_recurrent, { 0 }, NUMERICS(DECLARED, RECURRENT, STATE(BF16)), 0, "o",
      "normal:1e-20", line, .known = NARROW },
    { "R-STATE", "linear", "acc_unit 2^-11", LINEAR, sim_recurrent, { 0 }, NUMERICS(DECLARED, RECURRENT, .acc_unit = 0x1p-11), 0, "o", SEARCHED, line },
    { "R-STATE", "linear", "acc_unit 2^-8", LINEAR, sim_recurrent, { 0 }, NUMERICS(DECLARED, RECURRENT, .acc_unit = 0x1p-8), 0, "o", SEARCHED, line },
    { "R-STATE", "taylor:2, quotient", "f32", "variant=taylor:2 mask=causal scale=0.7", sim_recurrent, { 0 }, NUMERICS(DECLARED, RECURRENT), 0, "o", SEARCHED, small },
    { "R-STATE", "taylor:2, z", "f32", "variant=taylor:2 mask=causal scale=0.7", sim_recurrent, { 0 }, NUMERICS(DECLARED, RECURRENT), 0, "z", SEARCHED, small },
    { "R-STATE", "taylor:3, u", "f32", "variant=taylor:3 mask=causal scale=0.7", sim_recurrent, { .power_late = 1 }, NUMERICS(DECLARED, RECURRENT), 0, "u", SEARCHED, small },
    { "R-STATE", "taylor:2, u", "state f16", "variant=taylor:2 mask=causal scale=0.7", sim_recurrent, { 0 }, NUMERICS(DECLARED, RECURRENT, STATE(F16)), 0, "u", "cancel normal", small },
    { "R-STATE", "retnet", "f32", "variant=retnet scale=0.7", sim_recurrent, { 0 }, NUMERICS(DECLARED, RECURRENT), 0, "o", SEARCHED, line },
    { "R-STATE", "gla", "f32", "variant=gla scale=0.7", sim_recurrent, { 0 }, NUMERICS(DECLARED, RECURRENT), 0, "o", SEARCHED, line },
    { "R-STATE", "gla", "state bf16", "variant=gla scale=0.7", sim_recurrent, { 0 }, NUMERICS(DECLARED, RECURRENT, STATE(BF16)), 0, "o", SEARCHED, line },
    { "R-STATE", "linear in chunks of 4", "chunk 4", LINEAR " chunk=4", sim_chunk, { 0 }, NUMERICS(DECLARED, CHUNK), 0, "o", SEARCHED, line },
    { "R-STATE", "retnet in chunks of 4", "chunk 4", "variant=retnet scale=0.7 chunk=4", sim_chunk, { 0 }, NUMERICS(DECLARED, CHUNK), 0, "o", SEARCHED, line },
    { "R-STATE", "retnet in chunks of 4, powers", "chunk 4", "variant=retnet scale=0.7 chunk=4", sim_chunk, { .decay = DECAY_POWER }, NUMERICS(DECLARED, CHUNK), 0, "o", SEARCHED, line },
    { "R-HT", "linear", "f32", LINEAR, sim_recurrent, { 0 }, NUMERICS(DECLARED, RECURRENT), 0, "ht.1", SEARCHED, line },
    { "R-HT", "linear", "state bf16", LINEAR, sim_recurrent, { 0 }, NUMERICS(DECLARED, RECURRENT, STATE(BF16)), 0, "ht.1", SEARCHED, line, .quick = 1 },
    { "R-HT", "linear, small values", "state f16", LINEAR, sim_recurrent, { 0 }, NUMERICS(DECLARED, RECURRENT, STATE(F16)), 0, "ht.1",
      "normal:0.001 normal:1e-4", line, .known = NARROW },
    { "R-HT", "taylor:2", "f32", "variant=taylor:2 mask=causal scale=0.7", sim_recurrent, { 0 }, NUMERICS(DECLARED, RECURRENT), 0, "ht.2", SEARCHED, small },
    { "R-HT", "retnet", "f32", "variant=retnet scale=0.7", sim_recurrent, { 0 }, NUMERICS(DECLARED, RECURRENT), 0, "ht.1", SEARCHED, line },
    { "R-DELTA", "token by token", "f32", "variant=deltanet scale=0.7", sim_delta, { 0 }, NUMERICS(DECLARED, RECURRENT), 0, "o", SEARCHED, line, .quick = 1 },
    { "R-DELTA", "token by token", "state bf16", "variant=deltanet scale=0.7", sim_delta, { 0 }, NUMERICS(DECLARED, RECURRENT, STATE(BF16)), 0, "o", SEARCHED, line },
    { "R-DELTA", "token by token, small values", "state f16", "variant=deltanet scale=0.7", sim_delta, { 0 }, NUMERICS(DECLARED, RECURRENT, STATE(F16)), 0, "o",
      "normal:0.001 normal:1e-4", line, .known = NARROW },
    { "R-DELTA", "token by token", "acc_unit 2^-11", "variant=deltanet scale=0.7", sim_delta, { 0 }, NUMERICS(DECLARED, RECURRENT, .acc_unit = 0x1p-11), 0, "o", SEARCHED, line },
    { "R-DELTA", "chunks of 4", "chunk 4", "variant=deltanet scale=0.7 chunk=4", sim_delta_chunk, { 0 }, NUMERICS(DECLARED, CHUNK), 0, "o", SEARCHED, line },
    { "R-DELTA", "one chunk", "chunk 64", "variant=deltanet scale=0.7 chunk=64", sim_delta_chunk, { 0 }, NUMERICS(DECLARED, CHUNK), 0, "o", SEARCHED, line },
    { "R-DELTA", "gdn, token by token", "f32", "variant=gdn scale=0.7", sim_delta, { 0 }, NUMERICS(DECLARED, RECURRENT), 0, "o", SEARCHED, line },
    { "R-DELTA", "gdn, chunks of 4", "chunk 4", "variant=gdn scale=0.7 chunk=4", sim_delta_chunk, { 0 }, NUMERICS(DECLARED, CHUNK), 0, "o", SEARCHED, line },
    { "R-DELTA", "gdn, flush to zero", "ftz", "variant=gdn scale=0.7", sim_delta, { 0 }, NUMERICS(DECLARED, RECURRENT), ATTEST_FTZ, "o", "normal normal:1e-19", line },
    { "R-DELTA", "the state", "f32", "variant=deltanet scale=0.7", sim_delta, { 0 }, NUMERICS(DECLARED, RECURRENT), 0, "ht.1", SEARCHED, line },
    { "R-DELTA", "efla by expm1", "f32", "variant=efla scale=0.7", sim_delta, { 0 }, NUMERICS(DECLARED, RECURRENT), 0, "o", SEARCHED, line },
    { "R-DELTA", "efla by 1 - exp(-x)", "f32", "variant=efla scale=0.7", sim_delta, { .rate = RATE_EXP }, NUMERICS(DECLARED, RECURRENT), 0, "o",
      SEARCHED " normal:0.01", line, .known = "1 - exp(-x) loses a small x" },
};
// clang-format on

const sim_section sim_rows_states = SECTION(rows);
