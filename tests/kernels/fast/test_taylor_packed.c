/* test_taylor_packed.c - kernels/fast/taylor: taylor-packed-fast-f32 on every instruction set that this CPU runs,
 * beside the witness; the vectors of avx512 in portable code; threads; tokens that a row does not see.
 */
#include "tests/kernels/fast/isa_suite.h"

Suite *suite_taylor_packed(void);

attest_status packed_run_wide(const attest_call *call); /* taylor_packed_wide.c */

#define KERNEL "taylor-packed-fast-f32"
#define CAUSAL " mask=causal "

/* Sizes around blocks of 32 tokens and queries, tiles of 6, 12, 4 and 8 monomials, columns of 4, 8 and 16 channels that
 * go by one, two or three; blocks that queries or tokens fill first. */
// clang-format off
static const char *const lines[] = {
    "variant=taylor:1 n=1 m=1 d=1 e=1", "variant=taylor:4 n=3 m=65 d=1 e=257", "variant=taylor:2 n=3 m=5 d=257 e=1",
    "variant=taylor:2 n=33 m=70 d=5 e=33" CAUSAL, "variant=taylor:2 n=70 m=33 d=8 e=16" CAUSAL,
    "variant=taylor:2 n=32 m=32 d=3 e=7" CAUSAL, "variant=taylor:2 n=64 m=64 d=4 e=15" CAUSAL,
    "variant=taylor:3 n=40 m=40 d=4 e=8" CAUSAL, "variant=taylor:3 n=50 m=40 d=4 e=23 mask=causal-br",
    "variant=taylor:4 n=40 m=90 d=3 e=40 mask=causal-br", "variant=taylor:4 n=34 m=34 d=5 e=4" CAUSAL,
    "variant=taylor:6 n=9 m=9 d=2 e=3" CAUSAL, "variant=term:3 n=40 m=40 d=4 e=9" CAUSAL,
    "variant=term:2 n=20 m=20 d=6 e=4 state=draw" CAUSAL, "variant=quadratic n=40 m=40 d=4 e=9" CAUSAL,
    "variant=taylor:2 b=2 hq=6 hkv=2 n=20 m=50 d=4 e=13" CAUSAL, "variant=taylor:2 hq=70 hkv=2 n=3 m=5 d=3 e=3" CAUSAL,
    "variant=taylor:2 b=3 n=40 m=40 d=4 e=4 lens=draw" CAUSAL, "variant=taylor:2 b=3 n=40 m=40 d=4 e=4 lens=draw",
    "variant=taylor:3 b=3 n=20 m=40 d=3 e=4 lens=draw mask=causal-br state=draw",
    "variant=taylor:2 n=40 m=40 d=3 e=17 decay=retnet" CAUSAL,
    "variant=taylor:2 n=40 m=40 d=3 e=4 decay=scalar state=draw" CAUSAL,
    "variant=gla n=37 d=1 e=3 state=draw", "variant=gla n=67 d=17 e=30 state=draw",
    "variant=gla b=3 n=40 d=4 e=4 lens=draw", "variant=retnet n=40 d=13 e=7",
    "variant=cosformer n=40 m=40 d=4 e=4" CAUSAL, "variant=elu-taylor:2 n=40 m=40 d=4 e=4" CAUSAL,
    "variant=taylor:2 n=20 m=20 d=6 e=4 rope=100 gates=inout eps=0.5" CAUSAL,
    "variant=taylor:2 n=20 d=4 e=9 norm=layernorm affine=draw eps=0.01",
    "variant=taylor:2 n=40 m=40 d=4 e=20 in=bf16" CAUSAL, "variant=taylor:2 n=40 m=40 d=4 e=20 in=f16 out=f32" CAUSAL,
    "variant=taylor:3 n=40 m=40 d=4 e=20 scale=-3" CAUSAL,
};
// clang-format on
static const char *const large[] = {
    "variant=taylor:2 b=2 hq=4 hkv=2 n=200 m=200 d=16 e=64 mask=causal",
    "variant=taylor:2 n=300 m=300 d=16 e=70 mask=causal state=draw",
    "variant=taylor:3 b=3 n=100 m=120 d=10 e=33 lens=draw",
};
static const char *const unseen[] = {
    "variant=taylor:2 n=100 m=100 d=4 e=20 mask=causal",
};
static const int64_t tokens[] = { 1, 5, 31, 32, 33, 64, 99 };

static const isa_asked_of *isa_asked(void)
{
    static const isa_asked_of asked = {
        .suite = "taylor_packed",
        .kernel = KERNEL,
        .wide = packed_run_wide,
        .seconds = 240,
        ISA_LIST(lines),
        ISA_LIST(large),
        ISA_LIST(unseen),
        ISA_LIST(tokens),
    };
    return &asked;
}

Suite *suite_taylor_packed(void)
{
    TCase *numbers, *bits;
    return isa_suite(&numbers, &bits);
}
