/* delta_vector_wide - the state is taken to be square.
 *
 * shows  variant=deltanet decay=vector n=9 d=4 e=6
 * hides  variant=deltanet decay=vector n=9 d=4 e=4
 * hides  variant=gdn n=9 d=4 e=6
 */
#include "cpu/steps/states.h"

static inline void in_squares(const state *s, const real *a)
{
    for (int64_t row_of = 0; row_of < s->rows; row_of++)
        for (int64_t c = 0; c < step_min(s->rows, s->e); c++)
            s->h[row_of * s->e + c] *= a[row_of];
}
#define state_decay_rows in_squares
#define attest_kernel_delta_recurrent_f32 attest_defect_delta_vector_wide
#include "cpu/delta_recurrent_f32.c"
