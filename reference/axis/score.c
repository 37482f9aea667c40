/* score.c - the steps of a score: softcap, position bias, clamp, and the filter on scores (R-STEP, R-FILTER-BOUND). */
#include "reference/axis/rows.h"

static const axis_entry caps[] = {
    [ATTEST_CAP_NONE] = { AXIS_EVERY, NULL },
    [ATTEST_CAP_SET] = { AXIS_BALL, "R-STEP" }, /* tanh */
};

static const axis_entry alibis[] = {
    [ATTEST_ALIBI_NONE] = { AXIS_EVERY, NULL },
    [ATTEST_ALIBI_DRAW] = { AXIS_BALL | AXIS_EXACT, "R-STEP" },
};

static const axis_entry clamps[] = {
    [ATTEST_CLAMP_NONE] = { AXIS_EVERY, NULL },
    [ATTEST_CLAMP_SET] = { AXIS_BALL | AXIS_EXACT | AXIS_DD, "R-STEP" },
};

static const axis_entry filters[] = {
    [ATTEST_FILTER_NONE] = { AXIS_EVERY, NULL },
    [ATTEST_FILTER_TAU] = { AXIS_BALL | AXIS_EXACT, "R-FILTER-BOUND" },
};

axis_entry axis_cap_entry(uint32_t value) { return AXIS_ENTRY(caps, value); }

axis_entry axis_alibi_entry(uint32_t value) { return AXIS_ENTRY(alibis, value); }

axis_entry axis_clamp_entry(uint32_t value) { return AXIS_ENTRY(clamps, value); }

axis_entry axis_filter_entry(uint32_t value) { return AXIS_ENTRY(filters, value); }
