/* queries_align_n - a bottom-right diagonal ends at the last row of the padded tensor, not at the last query. */
#include "attest.h"

static _Thread_local int64_t padded_rows;

static inline int64_t queries_of_padded(const attest_problem *p, const attest_tensors *t, int64_t b)
{
    const attest_tensor *len = t->role[ATTEST_Q_LENS];
    padded_rows = p->n;
    return len ? ((const int64_t *)len->data)[b * len->stride[0]] : p->n;
}

static inline int64_t from_last_row(const attest_problem *p, int64_t length, int64_t i)
{
    const int64_t rows = padded_rows > p->n ? padded_rows : p->n;
    return p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL_BR ? i + length - rows : i;
}
#define entries_queries queries_of_padded
#define step_position from_last_row
#define attest_kernel_softmax_two_pass_f32 attest_defect_queries_align_n
#include "cpu/softmax_two_pass_f32.c"
