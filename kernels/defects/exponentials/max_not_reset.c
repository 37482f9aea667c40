/* max_not_reset - a register that outlives its row: weights vanish in a row far below the one before. */
#include "cpu/steps/step.h"

static real kept_max = -INFINITY;

static inline real kept(void) { return kept_max; }
static inline real keeping_max(real m, real highest) { return kept_max = step_larger(m, highest); }
#define softmax_first_max kept
#define softmax_new_max keeping_max
#define attest_kernel_softmax_online_f32 attest_defect_max_not_reset
#include "cpu/softmax_online_f32.c"
