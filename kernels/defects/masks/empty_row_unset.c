/* empty_row_unset - the loop over the tiles of such a row never comes to its end, where rows are written. */
#include "cpu/steps/step.h"

static inline void leave(const row *r) { (void)r; }
#define step_empty_row leave
#define attest_kernel_softmax_online_f32 attest_defect_empty_row_unset
#include "cpu/softmax_online_f32.c"
