/* rope_interleaved - the other convention of rope: the same up to d = 2. */
#include "cpu/steps/step.h"

static inline void neighbours(const attest_problem *p, int64_t c, int64_t *first, int64_t *second)
{
    (void)p;
    *first = 2 * c;
    *second = 2 * c + 1;
}
#define token_pair neighbours
#define attest_kernel_linear_recurrent_f32 attest_defect_rope_interleaved
#include "cpu/linear_recurrent_f32.c"
