/* test_linear.c - kernels/fast/linear: linear-chunk-f32 on every instruction set that this CPU runs, beside the
 * witness; the vectors of avx512 in portable code; threads; tokens that a row does not see.
 */
#include "tests/kernels/fast/isa_suite.h"

Suite *suite_linear(void);

attest_status linear_run_wide(const attest_call *call); /* linear_wide.c */

#define KERNEL "linear-chunk-f32"
#define CAUSAL " mask=causal "

/* Sizes around blocks of 32 tokens, parts of 8, slices of 64 channels, rows of 6 and 12, panels of 8, 16 and 32; chunks
 * that end inside a block. */
// clang-format off
static const char *const lines[] = {
    "variant=linear n=1 m=1 d=1 e=1", "variant=linear n=3 m=65 d=1 e=257", "variant=linear n=70 m=33 d=257 e=1",
    "variant=linear n=33 m=70 d=5 e=33" CAUSAL, "variant=linear n=70 m=33 d=8 e=16" CAUSAL,
    "variant=linear n=50 m=40 d=4 e=8 mask=causal-br", "variant=linear n=40 m=90 d=4 e=8 mask=causal-br chunk=20",
    "variant=linear-elu n=65 d=7 e=65" CAUSAL, "variant=linear-elu b=2 hq=6 hkv=2 n=20 m=50 d=4 e=130 chunk=7",
    "variant=linear-relu b=3 n=40 m=40 d=4 e=4 lens=draw" CAUSAL "eps=0.5",
    "variant=linear-relu b=3 n=40 m=50 d=4 e=4 lens=draw norm=floor:1", "variant=cosformer n=40 m=40 d=4 e=4" CAUSAL,
    "variant=linear-cos n=40 m=40 d=6 e=4 rope=100" CAUSAL, "variant=term:1 n=40 m=40 d=6 e=4 norm=sink" CAUSAL,
    "variant=retnet n=1 d=3 e=2", "variant=retnet n=100 d=16 e=20", "variant=retnet n=67 d=5 e=70 chunk=9 state=draw",
    "variant=retnet b=3 n=40 d=4 e=4 lens=draw", "variant=retnet b=3 n=40 d=4 e=4 lens=draw mask=causal-br state=draw",
    "variant=retnet n=40 d=4 e=9 norm=layernorm affine=draw eps=0.01", "variant=sla-retnet hq=4 hkv=2 n=40 d=4 e=4",
    "variant=gla n=1 d=3 e=2", "variant=gla n=100 d=16 e=20", "variant=gla n=67 d=17 e=70 chunk=9 state=draw",
    "variant=gla n=37 d=257 e=3 chunk=24", "variant=gla b=3 n=40 d=4 e=4 lens=draw chunk=13",
    "variant=gla b=3 n=40 d=4 e=4 lens=draw mask=causal-br state=draw",
    "variant=gla hq=4 hkv=2 n=40 d=4 e=4 norm=sum feature=elu1",
    "variant=sla-gla hq=4 n=40 d=4 e=4 chunk=3", "variant=simple-gla n=90 d=8 e=8 chunk=1 state=draw",
    "variant=linear-elu n=40 d=19 e=4 in=bf16 out=f32", "variant=linear n=40 d=21 e=4 feature=silu norm=none",
    "variant=linear n=40 d=9 e=4 feature=silu-unit in=f16 out=f32", "variant=linear-elu n=40 d=20 e=4 rope=100",
    "variant=simple-gla n=90 d=8 e=8 chunk=1000 gates=pre-out norm=rms", "variant=simple-gla n=90 d=8 e=8 in=bf16",
    "variant=gla n=70 d=8 e=8 in=f16 out=f32", "variant=retnet n=70 d=8 e=8 scale=-3 in=bf16 out=f32",
};
// clang-format on
static const char *const large[] = {
    "variant=retnet b=2 hq=4 hkv=2 n=300 d=64 e=64",
    "variant=gla b=1 hq=1 n=400 d=80 e=300 state=draw",
    "variant=linear-elu b=5 n=300 m=200 d=40 e=70 lens=draw",
};
static const char *const unseen[] = {
    "variant=linear mask=causal n=100 m=100 d=4 e=20",
    "variant=retnet n=100 d=4 e=20",
    "variant=gla n=100 d=4 e=20",
    "variant=gla chunk=5 n=100 d=4 e=20",
};
static const int64_t tokens[] = { 1, 7, 8, 17, 31, 32, 63, 99 };

static const isa_asked_of *isa_asked(void)
{
    static const isa_asked_of asked = {
        .suite = "linear",
        .kernel = KERNEL,
        .wide = linear_run_wide,
        .seconds = 120,
        ISA_LIST(lines),
        ISA_LIST(large),
        ISA_LIST(unseen),
        ISA_LIST(tokens),
    };
    return &asked;
}

Suite *suite_linear(void)
{
    TCase *numbers, *bits;
    return isa_suite(&numbers, &bits);
}
