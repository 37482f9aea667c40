/* dropout_tail - the last keys, fewer than 8, all have keep of the first of them, as a tile that is read once. */
#include "cpu/steps/dropout.h"

static inline int by_tail(const row *r, int64_t j)
{
    const int64_t whole = r->p->m - r->p->m % 8;
    return dropout_keeps(r, j < whole ? j : whole);
}
#define dropout_keeps by_tail
#define attest_kernel_softmax_two_pass_f32 attest_defect_dropout_tail
#include "cpu/softmax_two_pass_f32.c"
