/* test_flash.c - kernels/fast/softmax: softmax-flash-f32 on every instruction set that this CPU runs, beside the
 * witness; the blocking of avx512 in portable code; threads; keys that a row does not see.
 */
#include "tests/kernels/fast/fast_scene.h"

Suite *suite_flash(void);

attest_status flash_run_wide(const attest_call *call); /* flash_wide.c */

/* Sizes around tiles of 64 keys, blocks of 48 queries, groups of 6 and 12, panels of 8, 16 and 32. */
// clang-format off
static const char *const lines[] = {
    "n=1 m=1 d=1 e=1", "n=1 m=65 d=1 e=257", "n=3 m=64 d=257 e=1", "n=49 m=129 d=8 e=16",
    "n=13 m=63 d=5 e=33 mask=full",
    "n=65 m=65 d=3 e=17 mask=causal", "n=50 m=140 d=4 e=8 mask=causal-br", "n=140 m=50 d=4 e=8 mask=causal-br",
    "b=2 n=5 m=70 d=4 e=4 mask=causal lens=draw", "b=3 n=61 m=61 d=2 e=2 mask=causal-br lens=draw",
    "n=130 m=130 d=4 e=4 mask=causal window=5", "n=70 m=200 d=4 e=4 mask=causal-br window=64",
    "n=140 m=140 d=4 e=4 window=3", "b=2 hq=6 hkv=2 n=20 m=90 d=4 e=4 mask=causal-br", "hq=3 hkv=1 n=7 m=100 d=6 e=5",
    "n=20 m=100 d=4 e=4 cap=2", "hq=2 n=20 m=100 d=4 e=4 alibi=draw", "n=20 m=100 d=4 e=4 clamp=0.5",
    "n=20 m=100 d=4 e=4 cap=3 alibi=draw clamp=1 norm=sink", "n=20 m=100 d=4 e=4 filter=0.7",
    "n=70 m=100 d=4 e=4 filter=1 mask=causal norm=sink", "n=70 m=70 d=4 e=4 mask=causal decay=retnet",
    "n=70 m=70 d=4 e=4 mask=causal decay=scalar gates=heads", "n=20 m=100 d=4 e=4 eps=0.5",
    "n=20 m=70 d=6 e=4 feature=elu1 rope=100", "n=9 m=70 d=4 e=4 feature=cosformer gates=inout",
    "n=9 m=70 d=4 e=4 gates=pre-out",
    "n=20 m=100 d=4 e=20 in=bf16", "n=20 m=100 d=4 e=20 in=f16", "n=20 m=100 d=4 e=20 in=bf16 out=f32",
    "n=5 m=300 d=4 e=4 scale=40", "n=20 m=150 d=4 e=4 scale=-3 mask=causal",
};
// clang-format on

START_TEST(test_witness) { fast_check_witness("softmax-flash-f32", lines[_i]); }
END_TEST

/* ---- bits ------------------------------------------------------------------------------------------------------ */

START_TEST(test_wide) { fast_check_wide("softmax-flash-f32", lines[_i], flash_run_wide); }
END_TEST

#ifdef _OPENMP /* without it there is one thread */
START_TEST(test_threads)
{
    static const char *const large[] = { "n=400 m=400 d=16 e=16 mask=causal",
                                         "b=2 hq=4 hkv=2 n=130 m=300 d=16 e=16 filter=3",
                                         "n=397 d=33 e=40 decay=retnet mask=causal-br" };
    fast_check_threads("softmax-flash-f32", large[_i]);
}
END_TEST
#endif

/* ---- what a row does not see ------------------------------------------------------------------------------------ */

/* Rows before number `key`, under a causal mask, keep their bits when key and value `key` are NaN. */
START_TEST(test_unseen)
{
    static const int64_t keys[] = { 1, 5, 17, 63, 64, 99 };
    for (int n = 0; n < FAST_ISAS; n++)
        for (size_t i = 0; i < COUNT(keys) && isa_of(n); i++) {
            scene s;
            setenv("FAST_CPU", isa_of(n), 1);
            fast_open(&s, "softmax-flash-f32", "n=100 m=100 d=4 e=20 mask=causal");
            scene_run(&s);
            const attest_tensor *o = attest_bundle_role(s.bundle, ATTEST_O);
            const size_t bytes = sizeof(float) * (size_t)(keys[i] * s.c.problem.e);
            const uint64_t before = attest_fnv(ATTEST_FNV_START, o->data, bytes);
            const attest_tensor *k = attest_bundle_role(s.bundle, ATTEST_K),
                                *v = attest_bundle_role(s.bundle, ATTEST_V);
            for (int64_t c = 0; c < 4; c++)
                ((float *)k->data)[keys[i] * 4 + c] = NAN;
            for (int64_t c = 0; c < 20; c++)
                ((float *)v->data)[keys[i] * 20 + c] = c % 2 ? INFINITY : NAN;
            scene_run(&s);
            ck_assert_msg(attest_fnv(ATTEST_FNV_START, o->data, bytes) == before, "%s: %s: key %d is seen too early",
                          s.where, isa_of(n), (int)keys[i]);
            for (int64_t r = keys[i]; r < 100; r++)
                ck_assert(isnan(((const float *)o->data)[r * 20]));
            scene_close(&s);
        }
}
END_TEST

Suite *suite_flash(void)
{
    Suite *suite = suite_create("flash");
    TCase *numbers = tcase_create("numbers"), *bits = tcase_create("bits");
    tcase_set_timeout(numbers, 120);
    tcase_set_timeout(bits, 120);
    tcase_add_loop_test(numbers, test_witness, 0, COUNT(lines));
    tcase_add_loop_test(bits, test_wide, 0, COUNT(lines));
#ifdef _OPENMP
    tcase_add_loop_test(bits, test_threads, 0, 3);
#endif
    tcase_add_test(bits, test_unseen);
    suite_add_tcase(suite, numbers);
    suite_add_tcase(suite, bits);
    return suite;
}
