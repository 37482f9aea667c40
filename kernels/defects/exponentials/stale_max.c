/* stale_max - weights of later tiles exceed 1, and overflow where scores rise by 88. */
#include "cpu/steps/step.h"

static inline real first_tile(real m, real highest) { return m == -(real)INFINITY ? highest : m; }
#define softmax_new_max first_tile
#define attest_kernel_softmax_online_f32 attest_defect_stale_max
#include "cpu/softmax_online_f32.c"
