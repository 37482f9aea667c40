/* class.c - the class of a result: see compare.h. */
#include <stdio.h>

#include "verify/compare/compare.h"

static const char *value_name(const attest_problem *p, uint32_t axis)
{
    return attest_axes[axis].values[attest_axis_value_of(p, axis)].name;
}

void attest_compare_class(char *text, size_t len, const attest_problem *p, uint32_t schedule)
{
    static const char *const schedules[] = {
        [ATTEST_SCHEDULE_UNKNOWN] = "undeclared", [ATTEST_SCHEDULE_TWO_PASS] = "two-pass",
        [ATTEST_SCHEDULE_ONLINE] = "online",      [ATTEST_SCHEDULE_SPLIT] = "split",
        [ATTEST_SCHEDULE_DIRECT] = "direct",      [ATTEST_SCHEDULE_RECURRENT] = "recurrent",
        [ATTEST_SCHEDULE_CHUNK] = "chunk"
    };
    const uint32_t acc = p->in == ATTEST_F64 ? ATTEST_F64 : ATTEST_F32;
    const struct {
        const char *key;
        uint32_t dtype, usual;
    } types[] = {
        { "acc", p->acc, acc }, { "p", p->p, p->acc }, { "out", p->out, p->in }, { "kv", attest_kv_dtype(p), p->in }
    };
    const int adds = attest_axis_value_of(p, ATTEST_AXIS_UPDATE) == ATTEST_UPDATE_ADD;
    size_t at = (size_t)snprintf(text, len, "%s %s %s", value_name(p, adds ? ATTEST_AXIS_WEIGHT : ATTEST_AXIS_UPDATE),
                                 schedules[schedule <= ATTEST_SCHEDULE_CHUNK ? schedule : ATTEST_SCHEDULE_UNKNOWN],
                                 attest_dtype_name(p->in));
    for (size_t k = 0; k < sizeof types / sizeof types[0] && at < len; k++)
        if (types[k].dtype != types[k].usual)
            at += (size_t)snprintf(text + at, len - at, " %s=%s", types[k].key, attest_dtype_name(types[k].dtype));
}
