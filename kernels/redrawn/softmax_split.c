/* softmax_split.c - softmax-split-f32 with its roundings redrawn: redrawn.h.  A part's quotient has the digits of the
 * declared state_dtype. */
#include "redraw.h"

#include "cpu/steps/softmax.h"

static inline real redraw_share(const sums *part, int64_t c)
{
    return (real)redraw_digits(part->u[c] / part->l, redraw_now.state_digits);
}

#define split_share redraw_share
#define attest_kernel_softmax_split_f32 attest_redrawn_softmax_split
#include "cpu/softmax_split_f32.c"
