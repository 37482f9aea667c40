/* alibi_signed - slope (i-j) without abs(): right under causal masks. */
#include "cpu/steps/step.h"

static inline real signed_bias(real s, real slope, int64_t distance) { return s - slope * (real)distance; }
#define score_alibi signed_bias
#define attest_kernel_softmax_split_f32 attest_defect_alibi_signed
#include "cpu/softmax_split_f32.c"
