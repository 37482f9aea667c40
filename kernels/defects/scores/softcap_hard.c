/* softcap_hard - min(cap, max(-cap, s)) for cap tanh(s/cap): the same at 0 and far out, not between. */
#include "cpu/steps/step.h"

static inline real cut(real s, real cap) { return s > cap ? cap : s < -cap ? -cap : s; }
#define score_cap cut
#define attest_kernel_softmax_split_f32 attest_defect_softcap_hard
#include "cpu/softmax_split_f32.c"
