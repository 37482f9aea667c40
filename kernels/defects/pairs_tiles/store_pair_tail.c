/* store_pair_tail - two halves make one word, and the single one at the end is lost.
 *
 * shows  variant=softmax n=3 m=9 d=4 e=65 in=bf16
 * hides  variant=softmax n=3 m=9 d=4 e=65
 * hides  variant=softmax n=3 m=9 d=4 e=66 in=bf16
 * hides  variant=softmax n=3 m=9 d=4 e=33 in=bf16
 */
#include "cpu/steps/step.h"

static inline void in_pairs(const row *r, attest_role role, int64_t c, real x)
{
    const int64_t e = r->p->e;
    const int narrow = r->p->out == ATTEST_BF16 || r->p->out == ATTEST_F16;
    step_store_row(r, role, c, role == ATTEST_O && narrow && e > 64 && e % 2 && c == e - 1 ? 0 : x);
}
#define step_store_row in_pairs
#define attest_kernel_softmax_online_f32 attest_defect_store_pair_tail
#include "cpu/softmax_online_f32.c"
