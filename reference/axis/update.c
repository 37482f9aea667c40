/* update.c - update and state: how a state is written, and from what it starts. */
#include "reference/axis/rows.h"

static const axis_entry updates[] = {
    [ATTEST_UPDATE_ADD] = { AXIS_EVERY, NULL },
    [ATTEST_UPDATE_DELTA] = { AXIS_BALL | AXIS_EXACT | AXIS_STATE | AXIS_FORM, "R-DELTA" },
    [ATTEST_UPDATE_EFLA] = { AXIS_BALL, "R-DELTA" }, /* an exponential in b_t */
};

static const axis_entry states[] = {
    [ATTEST_STATE_NONE] = { AXIS_EVERY, NULL },
    [ATTEST_STATE_DRAW] = { AXIS_BALL | AXIS_EXACT | AXIS_STATE | AXIS_FORM, "R-STATE" },
};

axis_entry axis_update_entry(uint32_t value) { return AXIS_ENTRY(updates, value); }

axis_entry axis_state_entry(uint32_t value) { return AXIS_ENTRY(states, value); }
