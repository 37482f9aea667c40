/* empty_split - more parts than keys: 0/0 and e^NaN. */
#include "cpu/steps/softmax.h"

static int64_t every_part(const attest_problem *p, int64_t keys)
{
    (void)keys;
    return p->splits;
}
static int always(const sums *part)
{
    (void)part;
    return 1;
}
#define split_count every_part
#define split_adds always
#define attest_kernel_softmax_split_f32 attest_defect_empty_split
#include "cpu/softmax_split_f32.c"
