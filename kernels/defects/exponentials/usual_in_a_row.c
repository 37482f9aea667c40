/* usual_in_a_row - the heads beyond a power of two go on in the slopes of twice as many heads, 2^(-8(h+1)/2P), and do
 * not take every second one from their start. */
#include "cpu/steps/step.h"

static inline real in_a_row(int64_t h, int64_t heads)
{
    int64_t powers = 1;
    while (2 * powers <= heads)
        powers *= 2;
    return exp2f((h < powers ? -8 : -4) * (real)(h + 1) / (real)powers);
}
#define score_usual in_a_row
#define attest_kernel_softmax_split_f32 attest_defect_usual_in_a_row
#include "cpu/softmax_split_f32.c"
