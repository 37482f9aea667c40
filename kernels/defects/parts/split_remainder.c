/* split_remainder - every part has keys/splits keys, rounded down. */
#include "attest.h"

static int64_t equal_parts(int64_t keys, int64_t n, int64_t splits) { return keys / splits * n; }
#define split_edge equal_parts
#define attest_kernel_softmax_split_f32 attest_defect_split_remainder
#include "cpu/softmax_split_f32.c"
