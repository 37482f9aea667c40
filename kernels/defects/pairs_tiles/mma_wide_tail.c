/* mma_wide_tail - wide heads take a loop without a tail.
 *
 * shows  variant=softmax n=3 m=9 d=130 e=4 in=bf16 p=bf16
 * hides  variant=softmax n=3 m=9 d=144 e=4 in=bf16 p=bf16
 * hides  variant=softmax n=3 m=9 d=34 e=4 in=bf16 p=bf16
 */
#define mma_channels(dim) ((dim) > 128 ? (dim) / MMA_K * MMA_K : (dim))
#define attest_kernel_softmax_mma_bf16 attest_defect_mma_wide_tail
#include "model/softmax_mma_bf16.c"
