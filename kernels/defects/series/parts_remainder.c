/* parts_remainder - keys after splits * floor(N/splits) belong to no part. */
#include "cpu/steps/step.h"

static inline int64_t whole_parts(int64_t keys, int64_t n, int64_t splits) { return keys / splits * n; }
#define split_first whole_parts
#define attest_kernel_taylor_split_f32 attest_defect_parts_remainder
#include "cpu/taylor_split_f32.c"
