/* test_flash.c - kernels/fast/softmax: softmax-flash-f32 on every instruction set that this CPU runs, beside the
 * witness; the blocking of avx512 in portable code; threads; keys that a row does not see.
 */
#include "tests/kernels/fast/isa_suite.h"

Suite *suite_flash(void);

attest_status flash_run_wide(const attest_call *call); /* flash_wide.c */

#define KERNEL "softmax-flash-f32"

/* Sizes around tiles of 64 keys, blocks of 48 queries, groups of 6 and 12, panels of 8, 16 and 32. */
// clang-format off
static const char *const lines[] = {
    "variant=softmax n=1 m=1 d=1 e=1", "variant=softmax n=1 m=65 d=1 e=257", "variant=softmax n=3 m=64 d=257 e=1",
    "variant=softmax n=49 m=129 d=8 e=16", "variant=softmax n=13 m=63 d=5 e=33 mask=full",
    "variant=softmax n=65 m=65 d=3 e=17 mask=causal", "variant=softmax n=50 m=140 d=4 e=8 mask=causal-br",
    "variant=softmax n=140 m=50 d=4 e=8 mask=causal-br", "variant=softmax b=2 n=5 m=70 d=4 e=4 mask=causal lens=draw",
    "variant=softmax b=3 n=61 m=61 d=2 e=2 mask=causal-br lens=draw",
    "variant=softmax n=130 m=130 d=4 e=4 mask=causal window=5",
    "variant=softmax n=70 m=200 d=4 e=4 mask=causal-br window=64", "variant=softmax n=140 m=140 d=4 e=4 window=3",
    "variant=softmax b=2 hq=6 hkv=2 n=20 m=90 d=4 e=4 mask=causal-br", "variant=softmax hq=3 hkv=1 n=7 m=100 d=6 e=5",
    "variant=softmax n=20 m=100 d=4 e=4 cap=2", "variant=softmax hq=2 n=20 m=100 d=4 e=4 alibi=draw",
    "variant=softmax hq=3 n=20 m=100 d=4 e=4 alibi=usual",
    "variant=softmax b=2 hq=2 n=20 m=100 d=4 e=4 bias=head clamp=1",
    "variant=softmax n=20 m=100 d=4 e=4 clamp=0.5",
    "variant=softmax n=20 m=100 d=4 e=4 cap=3 alibi=draw clamp=1 norm=sink",
    "variant=softmax n=20 m=100 d=4 e=4 filter=0.7",
    "variant=softmax n=70 m=100 d=4 e=4 filter=1 mask=causal norm=sink",
    "variant=softmax n=70 m=70 d=4 e=4 mask=causal decay=retnet",
    "variant=softmax n=70 m=70 d=4 e=4 mask=causal decay=scalar gates=heads",
    "variant=softmax n=20 m=100 d=4 e=4 eps=0.5", "variant=softmax n=20 m=70 d=6 e=4 feature=elu1 rope=100",
    "variant=softmax n=9 m=70 d=4 e=4 feature=cosformer gates=inout",
    "variant=softmax n=9 m=70 d=4 e=4 gates=pre-out", "variant=softmax n=20 m=100 d=4 e=20 in=bf16",
    "variant=softmax n=20 m=100 d=4 e=20 in=f16", "variant=softmax n=20 m=100 d=4 e=20 in=bf16 out=f32",
    "variant=softmax n=5 m=300 d=4 e=4 scale=40", "variant=softmax n=20 m=150 d=4 e=4 scale=-3 mask=causal",
};
// clang-format on
static const char *const large[] = {
    "variant=softmax n=400 m=400 d=16 e=16 mask=causal",
    "variant=softmax b=2 hq=4 hkv=2 n=130 m=300 d=16 e=16 filter=3",
    "variant=softmax n=397 d=33 e=40 decay=retnet mask=causal-br",
};
static const char *const unseen[] = {
    "variant=softmax n=100 m=100 d=4 e=20 mask=causal",
};
static const int64_t tokens[] = { 1, 5, 17, 63, 64, 99 };

static const isa_asked_of *isa_asked(void)
{
    static const isa_asked_of asked = {
        .suite = "flash",
        .kernel = KERNEL,
        .wide = flash_run_wide,
        .seconds = 120,
        ISA_LIST(lines),
        ISA_LIST(large),
        ISA_LIST(unseen),
        ISA_LIST(tokens),
    };
    return &asked;
}

Suite *suite_flash(void)
{
    TCase *numbers, *bits;
    return isa_suite(&numbers, &bits);
}
