/* split_last_short - ceil(keys/splits) keys a part, and no bound: keys past the diagonal count, or past the end. */
#include "attest.h"

static int64_t rounded_parts(int64_t keys, int64_t n, int64_t splits) { return (keys + splits - 1) / splits * n; }
#define split_edge rounded_parts
#define attest_kernel_softmax_split_f32 attest_defect_split_last_short
#include "cpu/softmax_split_f32.c"
