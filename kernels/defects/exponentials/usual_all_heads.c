/* usual_all_heads - 2^(-8(h+1)/Hq) for every head: shows where their number is no power of two. */
#include "cpu/steps/step.h"

static inline real of_all_heads(int64_t h, int64_t heads) { return exp2f(-8 * (real)(h + 1) / (real)heads); }
#define score_usual of_all_heads
#define attest_kernel_softmax_online_f32 attest_defect_usual_all_heads
#include "cpu/softmax_online_f32.c"
