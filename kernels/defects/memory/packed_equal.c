/* packed_equal - packed sequences are taken to have n tokens each: entry b begins at token b*n. */
#include "attest.h"

static inline int64_t start_of_equal(const attest_tensors *t, attest_role side, int64_t b, int64_t n)
{
    const attest_tensor *starts = t->role[side];
    const int64_t all = ((const int64_t *)starts->data)[(starts->shape[0] - 1) * starts->stride[0]];
    const int64_t own = ((const int64_t *)starts->data)[(b + 1) * starts->stride[0]] -
                        ((const int64_t *)starts->data)[b * starts->stride[0]];
    return b * n + own > all ? all - own : b * n;
}
#define entries_start(t, side, b) start_of_equal(t, side, b, p->m) /* p: the problem of all entries */
#define attest_kernel_delta_recurrent_f32 attest_defect_packed_equal
#include "cpu/delta_recurrent_f32.c"
