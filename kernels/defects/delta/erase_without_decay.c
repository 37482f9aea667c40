/* erase_without_decay - w = b (v - k S) where S was not yet multiplied by a_t. */
#include "cpu/steps/chunk.h"

static inline void stay(real *f, real *x, const row *r, int64_t t) { (void)f, (void)x, (void)r, (void)t; }
#define heads_back stay
#define attest_kernel_delta_parallel_f32 attest_defect_erase_without_decay
#include "cpu/delta_parallel_f32.c"
