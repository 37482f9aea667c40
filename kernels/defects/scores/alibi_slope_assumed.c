/* alibi_slope_assumed - 2^(-8(h+1)/Hq), whatever the tensor of slopes says: that of alibi=usual where Hq is a power of
 * two. */
#include "cpu/steps/step.h"

static inline real usual_slope(const row *r) { return exp2f(-8 * (real)(r->h + 1) / (real)r->p->hq); }
#define score_slope usual_slope
#define attest_kernel_softmax_two_pass_f32 attest_defect_alibi_slope_assumed
#include "cpu/softmax_two_pass_f32.c"
