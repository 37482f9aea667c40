/* test_linear_state_bf16.c - kernels/fast/linear: linear-chunk-state-bf16 on every instruction set that this CPU runs,
 * beside the witness; the vectors of avx512 in portable code; threads; tokens that a row does not see; what is stored.
 */
#include "tests/kernels/fast/isa_suite.h"

Suite *suite_linear_state_bf16(void);

attest_status linear_state_bf16_run_wide(const attest_call *call); /* linear_state_bf16_wide.c */

#define KERNEL "linear-chunk-state-bf16"

/* Blocks of 32 tokens and chunks that end inside them; the loops are those of test_linear.c. */
// clang-format off
static const char *const lines[] = {
    "variant=linear n=1 m=1 d=1 e=1", "variant=linear n=3 m=65 d=1 e=257",
    "variant=linear n=70 m=33 d=8 e=16 mask=causal", "variant=linear n=40 m=90 d=4 e=8 mask=causal-br chunk=20",
    "variant=linear feature=elu1 n=65 d=7 e=65 mask=causal chunk=9",
    "variant=linear feature=relu b=3 n=40 m=40 d=4 e=4 lens=draw mask=causal norm=length",
    "variant=retnet n=67 d=5 e=70 chunk=9", "variant=retnet b=3 n=40 d=4 e=4 lens=draw mask=causal-br state=draw",
    "variant=gla n=100 d=16 e=20 chunk=7", "variant=gla n=67 d=17 e=70 chunk=9 state=draw",
    "variant=simple-gla n=90 d=8 e=8 chunk=1 in=bf16 out=f32",
};
// clang-format on
static const char *const large[] = {
    "variant=retnet b=2 hq=4 hkv=2 n=300 d=64 e=64",
    "variant=gla b=1 hq=1 n=400 d=80 e=300 state=draw",
};
static const char *const unseen[] = {
    "variant=retnet n=100 d=4 e=20",
    "variant=gla chunk=5 n=100 d=4 e=20",
};
static const int64_t tokens[] = { 1, 7, 31, 32, 63, 99 };

static const isa_asked_of *isa_asked(void)
{
    static const isa_asked_of asked = {
        .suite = "linear_state_bf16",
        .kernel = KERNEL,
        .wide = linear_state_bf16_run_wide,
        .seconds = 120,
        ISA_LIST(lines),
        ISA_LIST(large),
        ISA_LIST(unseen),
        ISA_LIST(tokens),
    };
    return &asked;
}

/* Every entry of ht and zt is a number of bf16, the nearest one to what linear-chunk-f32 has after one block; some are
 * not the same. */
START_TEST(test_stored)
{
    static const char line[] = "variant=linear feature=elu1 n=20 d=5 e=7 mask=causal";
    static const attest_tensor_id ids[] = { { ATTEST_KIND_HT, 1 }, { ATTEST_KIND_ZT, 1 } };
    for (int n = 0; n < FAST_ISAS; n++) {
        scene narrow, wide;
        int64_t differ = 0;
        if (!isa_of(n))
            continue;
        setenv("FAST_CPU", isa_of(n), 1);
        isa_open(&narrow, KERNEL, line);
        isa_open(&wide, "linear-chunk-f32", line);
        scene_run(&narrow);
        scene_run(&wide);
        for (size_t i = 0; i < COUNT(ids); i++) {
            const attest_tensor *a = attest_bundle_get(narrow.bundle, ids[i]);
            const attest_tensor *b = attest_bundle_get(wide.bundle, ids[i]);
            ck_assert(a && b);
            for (int64_t at = 0; at < (int64_t)(attest_tensor_bytes(a) / sizeof(float)); at++) {
                const double stored = attest_load(a, at), full = attest_load(b, at);
                ck_assert_double_eq(stored, attest_to_f64(ATTEST_BF16, attest_from_f64(ATTEST_BF16, full)));
                differ += stored != full;
            }
        }
        ck_assert_int_gt(differ, 20);
        scene_close(&narrow);
        scene_close(&wide);
    }
}
END_TEST

/* What divides by sums of the states. */
START_TEST(test_refused)
{
    static const char *const refused[] = { "variant=linear norm=sum n=4 d=2", "variant=linear-elu n=4 d=2",
                                           "variant=linear norm=rms n=4 d=2" };
    scene s;
    for (size_t n = 0; n < COUNT(refused); n++)
        ck_assert_msg(!scene_serves(&s, scene_kernel(KERNEL), refused[n]), "%s", refused[n]);
}
END_TEST

Suite *suite_linear_state_bf16(void)
{
    TCase *numbers, *bits;
    Suite *suite = isa_suite(&numbers, &bits);
    tcase_add_test(bits, test_stored);
    tcase_add_test(numbers, test_refused);
    return suite;
}
