/* bench_lines.c - the problems of `attest bench` where none is given. */
#include "verify/bench/bench_table.h"

#define LIST(lines)                                                                                                    \
    {                                                                                                                  \
        (lines), sizeof(lines) / sizeof(lines)[0]                                                                      \
    }

static const char *const reference_lines[] = {
    "variant=softmax mask=causal n=128 d=64",         "variant=softmax mask=causal n=512 d=64",
    "variant=softmax mask=causal n=512 d=64 in=bf16", "variant=softmax n=512 d=64",
    "variant=taylor:4 mask=causal n=512 d=64",        "variant=taylor:6 mask=causal n=512 d=64",
    "variant=taylor:4 mask=causal n=64 d=8 scale=1",
};
static const char *const kernel_lines[] = {
    "variant=softmax mask=causal n=512 d=64",  "variant=softmax mask=causal n=512 d=64 in=bf16",
    "variant=taylor:2 mask=causal n=512 d=16", "variant=linear-elu mask=causal n=512 d=64",
    "variant=gdn mask=causal n=512 d=64",
};
/* Work enough for a GPU. */
static const char *const cuda_lines[] = {
    "variant=softmax mask=causal hq=32 n=4096 d=64 in=bf16 p=bf16",
    "variant=softmax mask=causal hq=16 n=4096 d=128 in=bf16 p=bf16",
    "variant=softmax hq=32 hkv=8 n=1 m=65536 d=128 splits=16",
    "variant=softmax mask=causal hq=32 n=4096 d=64",
    "variant=taylor:2 mask=causal hq=32 n=4096 d=16",
    "variant=linear-elu mask=causal hq=32 n=4096 d=64",
    "variant=gdn mask=causal hq=32 n=4096 d=64",
};

attest_bench_lines attest_bench_lines_of(int kernels, uint32_t device)
{
    static const attest_bench_lines reference = LIST(reference_lines), cpu = LIST(kernel_lines),
                                    cuda = LIST(cuda_lines);
    return !kernels ? reference : device == ATTEST_CUDA ? cuda : cpu;
}
