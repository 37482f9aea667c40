/* flash_serve.h - what softmax-flash-bf16 and softmax-amx-bf16 serve and declare: all but how their products are made.
 */
#ifndef ATTEST_FAST_FLASH_SERVE_H
#define ATTEST_FAST_FLASH_SERVE_H

#include "fast/exp.h"
#include "fast/softmax/flash.h"

static int flash_serves_bf16(const attest_call *call)
{
    static const serve_table table = {
        .axis = { [ATTEST_AXIS_FILTER] = SERVE_FILTER,
                  [ATTEST_AXIS_MASK] = SERVE_ALL_MASKS,
                  [ATTEST_AXIS_WINDOW] = SERVE_WINDOW,
                  [ATTEST_AXIS_LENS] = SERVE_LENS,
                  [ATTEST_AXIS_DECAY] = SERVE_SCALAR_DECAYS,
                  [ATTEST_AXIS_DECAY_INPUT] = SERVE_DECAY_INPUT,
                  [ATTEST_AXIS_GATES] = SERVE_BIT(ATTEST_GATES_NONE) | SERVE_BIT(ATTEST_GATES_OUT) |
                                        SERVE_BIT(ATTEST_GATES_PRE_OUT),
                  [ATTEST_AXIS_NORM] = SERVE_SUM_OR_SINK,
                  [ATTEST_AXIS_EPS] = SERVE_EPS,
                  [ATTEST_AXIS_CLAMP] = SERVE_CLAMP,
                  [ATTEST_AXIS_CAP] = SERVE_CAP,
                  [ATTEST_AXIS_ALIBI] = SERVE_ALIBI,
                  [ATTEST_AXIS_BIAS] = SERVE_BIAS },
        .in = SERVE_BIT(ATTEST_BF16),
        .acc = SERVE_BIT(ATTEST_F32),
        .p = SERVE_BIT(ATTEST_BF16),
        .out = SERVE_UP_TO_F32,
    };
    return serve_check(&table, call);
}

static const attest_numerics flash_bf16_numerics = {
    STEP_ARITHMETIC,    STEP_CAST,           .exp_error = FAST_EXP_ERROR, .schedule = ATTEST_SCHEDULE_ONLINE,
    .tile = FLASH_KEYS, .block = FLASH_KEYS,
};

#endif
