/* test_taylor_chunk.c - kernels/fast/taylor: taylor-chunk-fast-f32 on every instruction set that this CPU runs,
 * beside the witness; the vectors of avx512 in portable code; threads; tokens that a row does not see.
 */
#include "tests/kernels/fast/isa_suite.h"

Suite *suite_taylor_chunk(void);

attest_status chunked_run_wide(const attest_call *call); /* taylor_chunk_wide.c */

#define KERNEL "taylor-chunk-fast-f32"
#define CAUSAL " mask=causal "

/* Sizes around chunks, blocks of 48 queries and 32 tokens, groups of 6 and 12 queries, panels of 8, 16 and 32 keys,
 * columns of 4, 8 and 16 channels that go by one or two; chunks of one token, and longer than all tokens. */
// clang-format off
static const char *const lines[] = {
    "variant=taylor:1 n=1 m=1 d=1 e=1", "variant=taylor:4 n=3 m=65 d=1 e=257", "variant=taylor:2 n=3 m=5 d=257 e=1",
    "variant=taylor:2 n=33 m=70 d=5 e=33 chunk=16" CAUSAL, "variant=taylor:2 n=70 m=33 d=8 e=16 chunk=7" CAUSAL,
    "variant=taylor:2 n=32 m=32 d=3 e=7 chunk=32" CAUSAL, "variant=taylor:2 n=64 m=64 d=4 e=15 chunk=1" CAUSAL,
    "variant=taylor:3 n=50 m=50 d=4 e=8 chunk=49" CAUSAL, "variant=taylor:3 n=50 m=40 d=4 e=23 mask=causal-br chunk=9",
    "variant=taylor:4 n=40 m=90 d=3 e=40 mask=causal-br chunk=33", "variant=taylor:4 n=99 m=99 d=3 e=4" CAUSAL,
    "variant=taylor:6 n=9 m=9 d=2 e=3 chunk=2" CAUSAL, "variant=term:3 n=40 m=40 d=4 e=9 chunk=8" CAUSAL,
    "variant=term:2 n=20 m=20 d=6 e=4 state=draw chunk=3" CAUSAL, "variant=quadratic n=40 m=40 d=4 e=9 chunk=12" CAUSAL,
    "variant=taylor:2 b=2 hq=6 hkv=2 n=20 m=50 d=4 e=13 chunk=11" CAUSAL,
    "variant=taylor:2 hq=70 hkv=2 n=3 m=5 d=3 e=3 chunk=2" CAUSAL,
    "variant=taylor:2 b=3 n=40 m=40 d=4 e=4 lens=draw chunk=16" CAUSAL,
    "variant=taylor:2 b=3 n=70 m=70 d=4 e=4 lens=draw chunk=16",
    "variant=taylor:3 b=3 n=20 m=40 d=3 e=4 lens=draw mask=causal-br state=draw chunk=5",
    "variant=cosformer n=40 m=40 d=4 e=4 chunk=10" CAUSAL, "variant=elu-taylor:2 n=40 m=40 d=4 e=4 chunk=10" CAUSAL,
    "variant=taylor:2 n=20 m=20 d=6 e=4 rope=100 gates=inout eps=0.5 chunk=6" CAUSAL,
    "variant=taylor:2 n=20 d=4 e=9 norm=layernorm affine=draw eps=0.01 chunk=8",
    "variant=taylor:2 n=40 m=40 d=4 e=20 in=bf16 chunk=16" CAUSAL,
    "variant=taylor:2 n=40 m=40 d=4 e=20 in=f16 out=f32 chunk=16" CAUSAL,
    "variant=taylor:3 n=40 m=40 d=4 e=20 scale=-3 chunk=16" CAUSAL,
};
// clang-format on
static const char *const large[] = {
    "variant=taylor:2 b=2 hq=4 hkv=2 n=200 m=200 d=16 e=64 mask=causal",
    "variant=taylor:2 n=300 m=300 d=16 e=70 mask=causal state=draw",
    "variant=taylor:3 b=3 n=100 m=120 d=10 e=33 lens=draw",
};
static const char *const unseen[] = {
    "variant=taylor:2 n=100 m=100 d=4 e=20 mask=causal chunk=16",
};
static const int64_t tokens[] = { 1, 5, 15, 16, 17, 33, 64, 99 };

static const isa_asked_of *isa_asked(void)
{
    static const isa_asked_of asked = {
        .suite = "taylor_chunk",
        .kernel = KERNEL,
        .wide = chunked_run_wide,
        .seconds = 240,
        ISA_LIST(lines),
        ISA_LIST(large),
        ISA_LIST(unseen),
        ISA_LIST(tokens),
    };
    return &asked;
}

Suite *suite_taylor_chunk(void)
{
    TCase *numbers, *bits;
    return isa_suite(&numbers, &bits);
}
