/* test_decode.c - kernels/fast/softmax: softmax-decode-f32 on every instruction set that this CPU runs, beside the
 * witness; the blocking of avx512 in portable code; threads; parts without a key.
 */
#include "tests/kernels/fast/isa_suite.h"

Suite *suite_decode(void);

attest_status decode_run_wide(const attest_call *call); /* decode_wide.c */

#define KERNEL "softmax-decode-f32"

/* Sizes around tiles of 64 keys, products of 4 keys, groups of 6 and 12 rows, vectors of 16 channels; fewer tiles than
 * parts; rows that share a KV head. */
// clang-format off
static const char *const lines[] = {
    "variant=softmax n=1 m=1 d=1 e=1 splits=4", "variant=softmax n=2 m=130 d=4 e=4 splits=9999",
    "variant=softmax n=1 m=65 d=16 e=16 splits=2",
    "variant=softmax n=1 m=64 d=64 e=64 splits=1", "variant=softmax n=1 m=63 d=257 e=257 splits=3",
    "variant=softmax n=1 m=1000 d=32 e=48 splits=8", "variant=softmax n=1 m=321 d=17 e=33 splits=5",
    "variant=softmax n=7 m=130 d=4 e=5 splits=3 mask=full", "variant=softmax hq=8 hkv=2 n=1 m=300 d=16 e=32 splits=4",
    "variant=softmax hq=12 hkv=1 n=1 m=129 d=8 e=8 splits=2",
    "variant=softmax b=2 hq=6 hkv=3 n=5 m=200 d=6 e=7 splits=4 mask=causal-br",
    "variant=softmax n=13 m=13 d=5 e=3 splits=2 mask=causal",
    "variant=softmax b=3 n=2 m=190 d=4 e=4 splits=3 lens=draw",
    "variant=softmax b=2 n=9 m=150 d=4 e=16 splits=2 mask=causal-br window=70",
    "variant=softmax n=2 m=100 d=4 e=4 cap=2 splits=2", "variant=softmax hq=2 n=2 m=100 d=4 e=4 alibi=draw splits=2",
    "variant=softmax hq=3 n=2 m=100 d=4 e=4 alibi=usual splits=2",
    "variant=softmax b=2 hq=2 n=2 m=100 d=4 e=4 bias=full splits=2",
    "variant=softmax n=3 m=100 d=4 e=4 clamp=0.5 splits=2", "variant=softmax n=2 m=100 d=4 e=4 norm=sink splits=2",
    "variant=softmax n=3 m=100 d=4 e=4 eps=0.5 splits=2", "variant=softmax n=2 m=100 d=4 e=16 gates=heads splits=2",
    "variant=softmax n=4 m=70 d=6 e=4 feature=elu1 rope=100 splits=2",
    "variant=softmax n=3 m=70 d=4 e=4 feature=cosformer gates=inout splits=3",
    "variant=softmax n=3 m=100 d=16 e=32 in=bf16 splits=2", "variant=softmax n=3 m=100 d=4 e=20 in=f16 splits=2",
    "variant=softmax n=2 m=300 d=4 e=4 scale=40 splits=5", "variant=softmax n=2 m=300 d=16 e=16 scale=-3 splits=4",
    "variant=softmax n=256 m=70 d=2 e=2 splits=2 mask=causal",
};
// clang-format on
static const char *const large[] = {
    "variant=softmax n=1 m=40000 d=64 e=64 splits=7",
    "variant=softmax b=2 hq=4 hkv=2 n=3 m=9000 d=40 e=33 splits=5 mask=causal-br",
};

static const isa_asked_of *isa_asked(void)
{
    static const isa_asked_of asked = {
        .suite = "decode",
        .kernel = KERNEL,
        .wide = decode_run_wide,
        .seconds = 120,
        ISA_LIST(lines),
        ISA_LIST(large),
    };
    return &asked;
}

/* More queries are served by softmax-flash-f32. */
START_TEST(test_limit)
{
    char why[256] = "";
    scene s;
    ck_assert(!scene_serves(&s, scene_kernel(KERNEL), "variant=softmax n=257 m=2 d=1 e=1"));
    ck_assert(!attest_kernel_supports(attest_own(s.kernel), &s.c.problem, why, sizeof why));
    ck_assert_msg(strstr(why, "256") != NULL, "%s", why);
}
END_TEST

Suite *suite_decode(void)
{
    TCase *numbers, *bits;
    Suite *suite = isa_suite(&numbers, &bits);
    tcase_add_test(numbers, test_limit);
    return suite;
}
