/* pages_last_short - a length that is a whole number of pages loses the last one: len/T is rounded down from len-1. */
#include "cpu/steps/step.h"

static inline void visible_of_pages(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    const attest_setting *pages = &p->axis[ATTEST_AXIS_PAGES];
    step_visible(p, length, i, first, last);
    if (pages->value == ATTEST_PAGES_NONE || length % pages->order != 0 || length < 2 * (int64_t)pages->order)
        return;
    *last = step_min(*last, length - (int64_t)pages->order);
}
#define step_visible visible_of_pages
#define attest_kernel_taylor_direct_f32 attest_defect_pages_last_short
#include "cpu/taylor_direct_f32.c"
