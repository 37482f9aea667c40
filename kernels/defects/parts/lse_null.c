/* lse_null - lse of a part is stored only if the row's lse is asked for; else the merge reads what is not there. */
#include "cpu/steps/softmax.h"

static real if_asked(const row *r, const sums *part) { return r->t->role[ATTEST_LSE] ? softmax_lse(part) : 0; }
#define split_lse if_asked
#define attest_kernel_softmax_split_f32 attest_defect_lse_null
#include "cpu/softmax_split_f32.c"
