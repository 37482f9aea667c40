/* dropout_by_rate - kept weights are divided by R, not by 1-R: shows where R is not a half. */
#include "cpu/steps/dropout.h"

static inline real by_rate(const attest_problem *p) { return (real)(1 / p->axis[ATTEST_AXIS_DROPOUT].number); }
#define dropout_factor by_rate
#define attest_kernel_softmax_split_f32 attest_defect_dropout_by_rate
#include "cpu/softmax_split_f32.c"
